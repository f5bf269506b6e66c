"""Weights & Biases never stands in the way of a run."""

import json
import os
import socket
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import create_autospec

import pytest

from rlworldkit.runs.run import Run
from rlworldkit.runs.wandb_run import Tracking, WandbRun


def opened(folder: Path, said: list[str], run_id: str | None = None, **tracking: bool) -> WandbRun:
    """A run that tells ``said``, after its step 40."""
    return WandbRun(said.append, folder, Tracking(**tracking), {"lr": 1.0}, run_id=run_id, after=40)  # type: ignore[arg-type]


class Homeless:
    """The client where there is no home folder."""

    @property
    def api_key(self) -> str:
        raise RuntimeError("Could not determine home directory.")


def unreachable(**_: object) -> None:
    import wandb  # takes seconds, which processes that run other tests need not spend

    raise wandb.errors.CommError("the network is down\nand more")


@pytest.mark.parametrize(
    ("name", "stand_in", "why"),
    [
        ("rlworldkit.runs.wandb_run.find_spec", lambda name: None, "it is not installed (pip install wandb)"),
        ("wandb.api", SimpleNamespace(api_key=None), "nobody is logged in (`wandb login`, or WANDB_MODE=offline)"),
        ("wandb.api", Homeless(), "Could not determine home directory"),
        ("wandb.api", SimpleNamespace(api_key="key"), "the network is down"),
    ],
    ids=["not installed", "not logged in", "cannot be imported", "no network"],
)
def test_a_client_that_cannot_begin_is_one_line(
    name: str, stand_in: object, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setattr(name, stand_in)
    monkeypatch.setattr("wandb.init", unreachable)
    opened(tmp_path, said).write({"a": 1.0, "update": 1})
    assert said == [f"W&B is left out: {why}; --no-wandb silences this."]


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - a mock
    """A stand-in for the client on line, which takes what the real one takes, and remembers it."""
    import wandb

    client = create_autospec(wandb.Run, instance=True)
    client.id = "abc"
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setattr("wandb.api", SimpleNamespace(api_key="key"))
    monkeypatch.setattr("wandb.init", create_autospec(wandb.init, return_value=client))
    return client


def asked() -> dict[str, Any]:
    """The options of the last ``wandb.init``."""
    init: Any = import_module("wandb").init
    return init.call_args.kwargs if init.called else {}


@pytest.mark.parametrize("call", ["init", "log", "log_artifact", "finish"])
def test_a_call_that_never_returns_is_one_line(
    call: str,
    tmp_path: Path,
    client: Any,  # noqa: ANN401 - a mock
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    released, begun, torn_down = threading.Event(), threading.Event(), threading.Event()

    def hang(*_: object, **__: object) -> None:
        begun.set()
        released.wait()

    monkeypatch.setattr(import_module("wandb") if call == "init" else client, call, hang)
    monkeypatch.setattr("wandb.teardown", torn_down.set)
    monkeypatch.setattr("rlworldkit.runs.wandb_run._CALL_SECONDS", 0.05)
    monkeypatch.setattr("rlworldkit.runs.wandb_run._FINISH_SECONDS", 0.06)
    run = opened(tmp_path, said)
    for update in (1, 2):
        run.write({"a": 1.0, "update": update})
        run.upload(tmp_path / "params_1.npz")
    run.close()
    seconds = 0.06 if call == "finish" else 0.05
    assert said == [f"W&B is left out: it gave no answer within {seconds} seconds; --no-wandb silences this."]
    assert begun.is_set()
    assert torn_down.wait(10), "its own process would be waited for"
    released.set()


SESSION = """
import sys
from pathlib import Path
from rlworldkit.runs import wandb_run

wandb_run._CALL_SECONDS = 0.5
run = wandb_run.WandbRun(print, Path(sys.argv[1]), wandb_run.Tracking(), {})
run.close()
print("went on")
"""


@pytest.mark.long
def test_a_server_that_never_answers_holds_up_neither_the_run_nor_its_end(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a process of its own, whose end W&B could hold up too
        plain = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-c", SESSION, str(tmp_path)],
            env={**plain, "WANDB_API_KEY": "0" * 40, "WANDB_BASE_URL": url},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    left_out = "W&B is left out: it gave no answer within 0.5 seconds; --no-wandb silences this."
    assert done.stdout.splitlines() == [left_out, "went on"]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, {"id": None}),
        ({"run_id": "abc"}, {"id": "abc", "resume": "allow"}),
        ({"run_id": "abc", "rewind": True}, {"resume_from": "abc?_step=40"}),  # W&B refuses the others beside it
    ],
    ids=["new", "resumed", "rewound"],
)
def test_a_run_begins_goes_on_or_is_rewound_on_the_server(
    options: dict[str, Any],
    wanted: dict[str, Any],
    tmp_path: Path,
    client: Any,  # noqa: ANN401 - a mock
) -> None:
    said: list[str] = []
    run = opened(tmp_path, said, **options)
    run.write({"a": 1.0, "update": 41})
    run.close()
    assert {name: value for name, value in asked().items() if name in ("id", "resume", "resume_from")} == wanted
    client.log.assert_called_once_with({"a": 1.0, "update": 41}, step=41)
    assert said == []


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(
    ("mode", "options", "why"),
    [
        ("offline", {"run_id": "abc"}, "W&B is offline, and only its server rewinds a run"),
        ("online", {"run_id": None}, "the run has no id on W&B"),
        ("online", {"run_id": "abc", "enabled": False}, "W&B is left out"),
        ("disabled", {"run_id": "abc"}, "W&B is left out"),
    ],
)
def test_a_rewind_that_cannot_act_says_so(
    mode: str, options: dict[str, Any], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setenv("WANDB_MODE", mode)
    opened(tmp_path, said, rewind=True, **options)
    assert said == [f"--rewind has no effect: {why}."]
    assert "resume_from" not in asked()


@pytest.mark.usefixtures("client")
def test_a_run_that_is_resumed_without_wandb_keeps_its_id_for_the_next_time(tmp_path: Path) -> None:
    for tracking, is_resumed in ((Tracking(), False), (Tracking(enabled=False), True), (Tracking(), True)):
        with Run(tmp_path, tracking=tracking) as run:
            run.begin({"lr": 1.0}, 10, is_resumed=is_resumed)
        assert json.loads((tmp_path / "config.json").read_text())["wandb_id"] == "abc"
    assert asked()["id"] == "abc"  # None the first time
