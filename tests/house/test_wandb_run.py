"""Weights & Biases never stands in the way of a run."""

from pathlib import Path

import pytest
import wandb

from hackmatrix.wandb_run import WandbRun


def opened(folder: Path, said: list[str], *, is_wanted: bool = True) -> WandbRun:
    """A run that tells ``said``."""
    config = {"lr": 1.0}
    return WandbRun(said.append, is_wanted=is_wanted, folder=folder, project="hackmatrix", name="mine", config=config)


def test_not_wanted_is_not_worth_a_word(tmp_path: Path) -> None:
    said: list[str] = []
    run = opened(tmp_path, said, is_wanted=False)
    run.write({"a": 1.0, "update": 1})
    run.close()
    assert (run.run_id, said) == (None, [])


def test_not_installed_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("hackmatrix.wandb_run.find_spec", lambda name: None)
    opened(tmp_path, said).write({"a": 1.0, "update": 1})
    assert said == ['W&B is left out: it is not installed (pip install "hackmatrix[wandb]"); --no-wandb silences this.']


def test_not_logged_in_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setattr("wandb.api", type("Api", (), {"api_key": None}))
    opened(tmp_path, said)
    assert len(said) == 1
    assert "nobody is logged in" in said[0]


def test_a_server_that_cannot_be_reached_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(**_: object) -> None:
        raise wandb.errors.CommError("the network is down\nand more")

    said: list[str] = []
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setattr("wandb.api", type("Api", (), {"api_key": "key"}))
    monkeypatch.setattr("wandb.init", unreachable)
    run = opened(tmp_path, said)
    run.write({"a": 1.0, "update": 1})
    assert said == ["W&B is left out: the network is down; --no-wandb silences this."]


def test_a_run_that_fails_later_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        id = "abc"

        def log(self, *_: object, **__: object) -> None:
            raise RuntimeError("the disk is full")

    said: list[str] = []
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setattr("wandb.init", lambda **_: Failing())
    run = opened(tmp_path, said)
    assert run.run_id == "abc"
    run.write({"a": 1.0, "update": 1})
    run.write({"a": 2.0, "update": 2})
    run.close()
    assert said == ["W&B is left out: the disk is full; --no-wandb silences this."]
