"""Several processes that train one network: the run's games are the same, and so is what is learned."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from goodharts.cli.train import main
from goodharts.training.checkpoints import read_checkpoint
from goodharts.training.parallel import Processes
from goodharts.training.trainer import Trainer
from parity.errors import UsageError

from .small_runs import small_config, write_small_config

CHECKPOINT = Path("models/ppo_ground_truth.checkpoint.pth")


def launch(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Train with two processes on the CPU."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command += ["-m", "goodharts.training.train_ppo", *flags]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_two_processes_learn_what_one_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_small_config(tmp_path)
    launched = launch(tmp_path, "--updates", "3")
    assert launched.returncode == 0, launched.stderr
    assert launched.stdout.count("ground_truth: trained after 3 updates, 384 steps") == 1
    together = read_checkpoint(CHECKPOINT)

    alone = Trainer("ground_truth", small_config(updates=3))
    rows = [alone.step().row for _ in range(3)]
    wanted = alone.state()
    for name, tensor in wanted["games"].items():
        assert torch.equal(together.state["games"][name], tensor), name
    assert torch.equal(together.state["noise"], wanted["noise"])
    assert_close(together.state["weights"], wanted["weights"])
    assert_close(together.state["popart"], wanted["popart"])
    (log,) = Path("logs").glob("*_episodes.csv")
    assert len(log.read_text(encoding="utf-8").splitlines()) == 1 + sum(row["episodes"] for row in rows)

    # what two processes began, one goes on with
    assert main(["--resume", "--updates", "4"]) == 0
    assert read_checkpoint(CHECKPOINT).update == 4


def assert_close(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, value in wanted.items():
        torch.testing.assert_close(found[name], value, rtol=1e-4, atol=1e-5, msg=name)


def test_games_are_shared_in_order_or_not_at_all() -> None:
    assert [list(Processes(rank, 2).share(6)) for rank in range(2)] == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(UsageError, match=r"^7 games cannot be shared by 2 processes: give --n-envs a multiple\.$"):
        Processes(0, 2).share(7)
    with pytest.raises(UsageError, match="2 processes cannot split the batch into 128 minibatches evenly"):
        Trainer("proxy", small_config(minibatches=128), processes=Processes(0, 2))
