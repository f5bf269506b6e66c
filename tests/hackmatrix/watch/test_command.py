"""The command as a person types it: in a terminal, a window, a pipe and a film, and what it refuses."""

import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hackmatrix.cli.main import main
from tests.terminals import in_terminal

SCRIPTS = Path(__file__).resolve().parents[3] / "python" / "scripts"
WATCH = SCRIPTS / "watch_jax_agent.py"
SIZE = 42, 110
"""Lines and columns of a terminal with room for a page."""


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


def test_the_documented_lines_work_in_a_pipe(
    swift_built: None,
    run_folder: Path,
    params: Path,
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkpoints").symlink_to(run_folder)
    for script, words, episodes in (
        (WATCH, [params, "--episodes", "3", "--hidden-dim", "16", "--num-layers", "2"], 3),
        (SCRIPTS / "watch_trained_agent.py", ["--model", model], 1),
        (WATCH, ["--latest"], 1),
        (WATCH, [params.parent], 1),
    ):
        monkeypatch.setattr(sys, "argv", [str(script), *map(str, words), "--max-steps", "2"])
        with pytest.raises(SystemExit, match="0"):
            runpy.run_path(str(script), run_name="__main__")
        output = capsys.readouterr().out
        assert output.count("└") == 3 * episodes, "every board is printed"
        assert "\x1b" not in output
        assert output.splitlines()[-1].startswith(f"game {episodes - 1}: truncated in stage 1 after 2 steps, return ")


def test_keys_in_a_terminal_pause_step_and_ctrl_c_quits_and_it_is_as_before(swift_built: None, params: Path) -> None:
    def act(terminal: int, wait_for: Callable[[str], None], process: int) -> None:
        wait_for("step 0")
        os.write(terminal, b" ")
        wait_for("paused")
        os.write(terminal, b"s")
        wait_for("step 1")
        os.write(terminal, b"++")
        wait_for("paused, 1 actions/s")
        os.write(terminal, b"n")
        wait_for("game 1, step 0")
        os.write(terminal, b"\x03")

    words = [sys.executable, str(WATCH), str(params), "--episodes", "3", "--speed", "0.25"]
    output, code, is_as_before = in_terminal(words, act, SIZE)
    assert (code, is_as_before) == (0, True)
    assert "\x1b[?1049l" in output, "the screen before is shown again"
    after = output.rpartition("\x1b[?1049l")[2]
    assert [line.split(" in ")[0] for line in after.splitlines()] == ["game 0: left", "game 1: left"]


@pytest.mark.parametrize("name", ["film.mp4", "page.html"])
def test_a_record_that_is_not_finished_leaves_the_older_one(
    swift_built: None, params: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    path = tmp_path / name
    path.write_bytes(b"an older one")
    monkeypatch.setattr("rlworldkit.show.watch.terminal.print_frame", broken)
    assert main(["watch", str(params), "--record", str(path), "--render", "ansi"]) == 3
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(name, b"an older one")]
