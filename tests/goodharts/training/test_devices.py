"""Torch's device and precision, and several processes that train one network: its games are the same, and so is it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from command_line import run

from goodharts import devices
from goodharts.devices import choose_device, mixed_precision
from goodharts.training.jobs import read_checkpoint
from goodharts.training.parallel import Processes
from goodharts.training.torch_ppo import TorchTrainer
from goodharts.training.train_ppo import main
from rlparity.errors import UsageError

from .small_runs import small_config
from .test_training import folder as folder


def test_a_device_is_chosen_by_its_name_and_rank_or_refused_with_those_that_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(UsageError, match=r"^There is no device cuda:7 here: choose one of cpu, cuda:0, cuda:1\.$"):
        choose_device("cuda:7")
    for name in ("mps", "gpu", "cpu:1", "cuda:x", "", "CPU", "\0"):
        with pytest.raises(UsageError, match=r"^There is no device "):
            choose_device(name)
    # processes on one machine take a GPU each
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert choose_device("cuda") == torch.device("cuda:1")
    assert choose_device("cuda:0") == torch.device("cuda:0")


def test_auto_is_the_first_accelerator_else_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert choose_device() == torch.device("cpu")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device() == torch.device("mps")
    with pytest.raises(UsageError, match=r"choose one of cpu, mps\.$"):
        choose_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    assert choose_device() == torch.device("cuda:0")


@pytest.mark.parametrize(
    ("flags", "precision"), [("fpu amx_bf16 amx_tile", torch.bfloat16), ("fpu avx512_bf16", None), (None, None)]
)
def test_cpus_compute_in_bfloat16_where_they_have_amx(
    flags: str | None, precision: torch.dtype | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "cpuinfo"
    if flags is not None:
        info.write_text(f"model name : some\nflags : {flags}\n", encoding="utf-8")
    monkeypatch.setattr(devices, "_CPU_INFO", info)
    assert mixed_precision(torch.device("cpu")) is precision
    assert mixed_precision(torch.device("cpu"), is_wanted=False) is None


CHECKPOINT = Path("models/ppo_ground_truth.checkpoint.pth")


@pytest.mark.long
def test_two_processes_learn_what_one_learns_but_for_rounding_and_one_goes_on_with_it(folder: Path) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command = [*launcher, "-m", "goodharts.training.train_ppo", "--updates", "3"]
    launched = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert launched.returncode == 0, launched.stderr
    assert launched.stdout.count("ground_truth: trained after update 3, 384 steps") == 1
    together = read_checkpoint(CHECKPOINT)
    alone = TorchTrainer("ground_truth", small_config(updates=3))
    rows = [alone.step().metrics for _ in range(3)]
    found, wanted = together.arrays, alone.arrays()
    for name, array in wanted.items():
        if name.startswith((".games", ".noise", ".shuffle")):
            assert np.array_equal(found[name], array), name
        else:
            np.testing.assert_allclose(found[name], array, rtol=1e-4, atol=1e-5, err_msg=name)
    (log,) = Path("logs").glob("*_episodes.csv")
    assert len(log.read_text(encoding="utf-8").splitlines()) == 1 + sum(row["train/num_episodes"] for row in rows)
    assert main(["--resume", "--updates", "4"]) == 0
    assert read_checkpoint(CHECKPOINT).progress.updates == 4


def test_processes_train_with_torch_and_share_the_games_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    sentence = "torchrun is for --engine torch: start --engine jax without it, in one process.\n"
    assert run(main, "--engine", "jax").refusal() == sentence
    assert [list(Processes(rank, 2).share(6)) for rank in range(2)] == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(UsageError, match=r"^7 games cannot be shared by 2 processes: give --num-envs a multiple\.$"):
        Processes(0, 2).share(7)
    with pytest.raises(UsageError, match="2 processes cannot split the batch into 128 minibatches evenly"):
        TorchTrainer("proxy", small_config(minibatches=128), processes=Processes(0, 2))
