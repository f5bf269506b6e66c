"""The command as a person types it: in a terminal of its own, and what it refuses."""

import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hackmatrix.cli.main import main
from rlparity.core.trace import read_trace
from rlparity.errors import INTERRUPTED_EXIT_CODE, install_command
from rlworldkit.cli import play
from rlworldkit.show.play.app import PlayApp
from tests.hackmatrix.conftest import CommandRefused
from tests.terminals import in_terminal

PLAY = [sys.executable, "-m", "hackmatrix.cli.main", "play"]
SIZE = 24, 80
"""Lines and columns: the least that playing needs."""
Wait = Callable[[str], None]


def test_a_game_in_a_terminal_is_saved_on_leaving_and_the_terminal_is_as_before(
    swift_built: None, run_folder: Path, tmp_path: Path
) -> None:
    def act(terminal: int, wait_for: Wait, _: int) -> None:
        wait_for("stage 1 of 8")
        os.write(terminal, b"\x1b[A")
        wait_for("step 1, you")
        os.write(terminal, b" ")
        wait_for("step 2, agent")
        os.write(terminal, b"q")

    agent = ["--agent", str(run_folder / "hackmatrix-20260102-000000-seed0"), "--speed", "4"]
    output, code, is_as_before = in_terminal([*PLAY, "--seed", "7", *agent], act, SIZE, tmp_path)
    assert (code, is_as_before) == (0, True)
    assert re.search(r"game 7: left in stage \d after \d+ steps, return ", output.rpartition("\x1b[?1049l")[2])
    assert "Saved: hackmatrix-7.json" in output
    assert read_trace(tmp_path / "hackmatrix-7.json").case.actions[0] == 0


def test_an_engine_that_dies_ends_a_game_that_is_saved_and_said(swift_built: None, tmp_path: Path) -> None:
    def act(terminal: int, wait_for: Wait, process: int) -> None:
        wait_for("stage 1 of 8")
        os.write(terminal, b"\x1b[A")
        wait_for("step 1, you")
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGKILL)
        os.write(terminal, b"\x1b[A")

    output, code, is_as_before = in_terminal([*PLAY, "--seed", "7", "--save", "mine.json"], act, SIZE, tmp_path)
    assert (code, is_as_before) == (2, True)
    assert read_trace(tmp_path / "mine.json").case.actions == (0,)
    assert "was killed by signal 9" in output
    assert "The game is saved up to step 1." in output


def test_a_game_that_a_signal_ends_has_its_code(swift_built: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for check in ("_check_terminal", "require_room"):
        monkeypatch.setattr(play, check, lambda *_: None)
    monkeypatch.setattr(PlayApp, "run", lambda app: setattr(app, "was_stopped", True))
    assert main(["play", "--seed", "7"]) == INTERRUPTED_EXIT_CODE == 130


def test_a_pipe_and_a_missing_extra_are_one_sentence(refused: CommandRefused, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Playing needs a terminal" in refused("play")
    monkeypatch.setattr(play, "find_spec", lambda _: None)
    command = install_command("rlworldkit[play]")
    assert refused("play") == f"This command needs textual: run `{command}`.\n"
