"""Several processes that train one network: the run's games are the same, and so is what is learned."""

import datetime
import os
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch.distributed as dist

from goodharts.training.jobs import read_checkpoint
from goodharts.training.parallel import Processes
from goodharts.training.torch_ppo import TorchTrainer
from goodharts.training.train_ppo import main
from rlparity.errors import UsageError

from .small_runs import small_config
from .test_training import folder as folder

CHECKPOINT = Path("models/ppo_ground_truth.checkpoint.pth")
COMMAND = ["-m", "goodharts.training.train_ppo", "--updates", "3"]


@pytest.mark.long
def test_two_processes_learn_what_one_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is the first of two, with the variables that torchrun sets."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2"}
    env = {**os.environ, **shared, "RANK": "1", "LOCAL_RANK": "1"}
    second = subprocess.Popen(
        [sys.executable, *COMMAND], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    soon = partial(dist.init_process_group, timeout=datetime.timedelta(minutes=2))  # should the second one fail
    with monkeypatch.context() as patch:
        patch.setattr(dist, "init_process_group", soon)
        for name, value in {**shared, "RANK": "0", "LOCAL_RANK": "0"}.items():
            patch.setenv(name, value)
        assert main(COMMAND[2:]) == 0
    output, _ = second.communicate(timeout=60)
    assert (second.returncode, output) == (0, "")
    check_against_one_process()

    # what two processes began, one goes on with
    assert main(["--resume", "--updates", "4"]) == 0
    assert read_checkpoint(CHECKPOINT).progress.updates == 4


@pytest.mark.long
def test_torchrun_starts_them(folder: Path) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    launched = subprocess.run([*launcher, *COMMAND], capture_output=True, text=True, timeout=300, check=False)
    assert launched.returncode == 0, launched.stderr
    assert launched.stdout.count("ground_truth: trained after update 3, 384 steps") == 1
    check_against_one_process()


def check_against_one_process() -> None:
    """The checkpoint and the log here are those of one process, but for rounding."""
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


def test_games_are_shared_in_order_or_not_at_all() -> None:
    assert [list(Processes(rank, 2).share(6)) for rank in range(2)] == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(UsageError, match=r"^7 games cannot be shared by 2 processes: give --num-envs a multiple\.$"):
        Processes(0, 2).share(7)
    with pytest.raises(UsageError, match="2 processes cannot split the batch into 128 minibatches evenly"):
        TorchTrainer("proxy", small_config(minibatches=128), processes=Processes(0, 2))
