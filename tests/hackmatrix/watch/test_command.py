"""The command as a person types it: in a terminal, a window, a pipe and a film, and what it refuses."""

import io
import os
import runpy
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.screen import Screen

from hackmatrix.cli.main import main
from hackmatrix.world import WORLD
from rlworldkit.agents.agent import AgentPlayer
from rlworldkit.agents.choice import LIKELIEST, Choice
from rlworldkit.agents.reader import read_agent
from rlworldkit.envs.episodes import Episodes
from rlworldkit.render.show import show_of
from rlworldkit.show.watch.controls import Controls
from rlworldkit.show.watch.frames import games
from rlworldkit.show.watch.text import page
from tests.hackmatrix.conftest import CommandRefused
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


def test_in_80_columns_and_24_lines_there_is_a_small_board_with_the_decision_and_the_rewards(
    swift_built: None, params: Path
) -> None:
    def page_of(step: int, size: tuple[int, int]) -> list[str]:
        console = Console(width=size[0], height=size[1], file=io.StringIO(), record=True)
        console.print(Screen(page(played[step], Controls(4), "best, likeliest actions", size, panels)))
        return [line.rstrip() for line in console.export_text().splitlines()]

    panels = show_of(WORLD).panels(WORLD, "swift")
    with closing(Episodes(WORLD, 1, engine="swift", max_episode_steps=3)) as episodes:
        (game,) = games(episodes, AgentPlayer(read_agent(WORLD, params), Choice(LIKELIEST)), 0, 1)
        played = list(game)
    lines = page_of(2, (80, 24))
    assert lines[0] == "game 0, step 2  4 actions/s  best, likeliest actions"
    assert (lines[1][:11], lines[1][56:]) == ("5         │", " stage 1 of 8, turn 2")
    assert lines[14] == "space pause   s one step   + - faster, slower   n next game   q quit"
    assert lines[15].split()[::2] == ["action", "reward", "episode"]
    assert "reward still expected" in lines[16]
    assert any(line.split()[-3:-2] == ["total"] for line in lines[16:])
    assert len(lines) == 24
    earned = np.full(len(WORLD.components), 0.5)
    crowded = replace(played[2], earned=earned, components=np.arange(len(earned)) // 12)
    played[2] = crowded
    shown = [line.split() for line in page_of(2, (80, 24))[15:]]
    assert [line[-1] for line in shown[:9]] == ["episode", *["+0.500"] * 6, "…", "+7.500"]
    assert shown[1][-2][0] == "+", "components of the step come first"
    assert page_of(2, (40, 12))[0] == "The terminal has 40 columns and 12"


@pytest.mark.parametrize("name", ["film.mp4", "page.html"])
def test_a_record_that_is_not_finished_leaves_the_older_one(
    swift_built: None, params: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    path = tmp_path / name
    path.write_bytes(b"an older one")
    monkeypatch.setattr("rlworldkit.show.watch.text.print_frame", broken)
    assert main(["watch", str(params), "--record", str(path), "--render", "ansi"]) == 3
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(name, b"an older one")]


def test_mistakes_are_one_sentence(refused: CommandRefused, params: Path, tmp_path: Path) -> None:
    for words, sentence in (
        ([params, "--latest"], "give one agent to watch: a file or a folder (PATH or --model), or --latest"),
        (["--latest", tmp_path], "There is no params_*.npz or checkpoint_*.pkl in"),
        ([tmp_path], f"There is no agent in {tmp_path}"),
        ([params, "--render", "human"], "There is no display to open a window on"),
        ([params, "--record", "film.avi"], "--record writes .mp4, .gif, .png or .html, not 'film.avi'"),
        ([params, "--record", "/no/such/folder/film.mp4"], "cannot be written"),
        ([params, "--hidden-dim", "64"], "--hidden-dim 16"),
    ):
        assert sentence in refused("watch", *words)
