"""The command as a person types it: in a terminal, a window, a pipe and a film, and what it refuses."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import imageio_ffmpeg
import pygame
import pytest
from PIL import Image

from hackmatrix.cli.main import main
from tests.terminals import PATIENCE, in_terminal
from worldkit.render.window import Window

ROOT = Path(__file__).resolve().parents[3]
WATCH = [sys.executable, str(ROOT / "python" / "scripts" / "watch_jax_agent.py")]
WATCH_SB3 = [sys.executable, str(ROOT / "python" / "scripts" / "watch_trained_agent.py")]
BOARD_LINES = 26
SIZE = 42, 110
"""Lines and columns of a terminal with room for a page."""


def piped(words: list[str], folder: Path) -> str:
    """What a command prints to a pipe."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says that it cannot do, in one line, with exit code 2."""
    with pytest.raises(SystemExit) as caught:
        main(["watch", *words])
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    return said


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
    checkpoint = str(next(run_folder.rglob("checkpoint_10.pkl")))
    short = ["--max-steps", "2"]
    for words, episodes in (
        ([*WATCH, str(params), "--episodes", "3", "--hidden-dim", "16", "--num-layers", "2"], 3),
        (["watch", checkpoint], 1),
        (["watch", "--latest"], 1),
        (["watch", str(params.parent)], 1),
        ([*WATCH_SB3, "--model", str(model)], 1),
    ):
        if words[0] == "watch":
            assert main([*words, *short]) == 0
            said = capsys.readouterr().out
        else:
            said = piped([*words, *short], tmp_path)
        assert said.count("└") == 3 * episodes, "every board is printed"
        assert "\x1b" not in said
        assert said.splitlines()[-1].startswith(f"game {episodes - 1}: truncated in stage 1 after 2 steps, return ")


def test_a_block_of_text_has_the_board_the_decision_and_the_rewards(
    swift_built: None, params: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", str(params), "--stochastic", "--max-steps", "1", "--render", "ansi"]) == 0
    caption, *lines = capsys.readouterr().out.splitlines()
    assert caption == "params_1.npz, drawn actions, swift"
    assert lines[0] == "game 0, step 0"
    assert lines[1].endswith("stage 1 of 8, turn 0")
    assert lines[1 + BOARD_LINES].startswith("the game begins")
    second = lines.index("", 1 + BOARD_LINES) + 1
    assert lines[second].startswith("game 0: truncated in stage 1 after 1 step, return ")
    decision = "\n".join(lines[second + 1 + BOARD_LINES :])
    assert "value" in decision
    assert decision.count("▸") == 1
    assert "%" in decision
    assert "step_penalty            -0.010    -0.010" in decision


def test_keys_in_a_terminal_pause_step_and_quit_and_it_is_as_before(swift_built: None, params: Path) -> None:
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
        os.write(terminal, b"q")

    words = [*WATCH, str(params), "--episodes", "3", "--speed", "0.25"]
    said, code, is_as_before = in_terminal(words, act, SIZE)
    assert (code, is_as_before) == (0, True)
    assert "\x1b[?1049l" in said, "the screen before is shown again"
    after = said.rpartition("\x1b[?1049l")[2]
    assert [line.split(" in ")[0] for line in after.splitlines()] == ["game 0: left", "game 1: left"]


@pytest.mark.parametrize(("key", "number", "expected"), [(b"\x03", None, 0), (None, signal.SIGTERM, 130)])
def test_whatever_ends_it_the_terminal_is_as_before(
    swift_built: None, params: Path, key: bytes | None, number: signal.Signals | None, expected: int
) -> None:
    def act(terminal: int, wait_for: Callable[[str], None], process: int) -> None:
        wait_for("step 1")
        if key is not None:
            os.write(terminal, key)
        if number is not None:
            os.kill(process, number)

    said, code, is_as_before = in_terminal([*WATCH, str(params)], act, SIZE)
    assert (code, is_as_before) == (expected, True)
    assert "\x1b[?1049l" in said


def test_a_terminal_that_is_too_small_is_one_sentence(swift_built: None, params: Path) -> None:
    said, code, _ = in_terminal([*WATCH, str(params)], lambda *_: None, (24, 80))
    assert code == 2
    assert said.strip().splitlines()[-1].startswith("The terminal has 80 columns and 24 lines and watching needs ")


def test_a_window_shows_moments_and_takes_keys(
    swift_built: None, params: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    sizes = []
    show = Window.show

    def shown(window: Window, picture: pygame.Surface) -> None:
        show(window, picture)
        sizes.append(picture.get_size())
        if len(sizes) in (2, 4):
            key = {2: "n", 4: "q"}[len(sizes)]
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, unicode=key, key=ord(key)))

    monkeypatch.setattr(Window, "show", shown)
    assert main(["watch", str(params), "--render", "human", "--episodes", "9", "--speed", "20"]) == 0
    assert set(sizes) == {(1260, 640)}
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("game 0: left in stage 1 after 1 step,")
    assert second.startswith("game 1: left")
    assert not pygame.display.get_init()


def test_closing_the_window_ends_it(swift_built: None, params: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    show = Window.show

    def shown(window: Window, picture: pygame.Surface) -> None:
        show(window, picture)
        if window.is_open:
            pygame.event.post(pygame.event.Event(pygame.QUIT))

    monkeypatch.setattr(Window, "show", shown)
    assert main(["watch", str(params), "--render", "human", "--episodes", "9"]) == 0


@pytest.mark.parametrize("name", ["film.mp4", "film.gif"])
def test_a_film_has_a_picture_of_every_moment(swift_built: None, params: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"an older one")
    words = ["watch", str(params), "--record", str(path), "--episodes", "2", "--max-steps", "3", "--render", "ansi"]
    assert main([*words, "--speed", "10"]) == 0
    assert [file.name for file in tmp_path.iterdir()] == [name]
    if path.suffix == ".mp4":
        frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
        assert (frames, seconds) == (8, 0.8)
    else:
        with Image.open(path) as film:
            assert (film.n_frames, film.size, film.info["duration"]) == (8, (1260, 640), 100)


@pytest.mark.parametrize("name", ["film.mp4", "page.html"])
def test_a_record_that_is_not_finished_leaves_the_older_one(
    swift_built: None, params: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    path = tmp_path / name
    path.write_bytes(b"an older one")
    monkeypatch.setattr("worldkit.watch.text.print_frame", broken)
    with pytest.raises(RuntimeError):
        main(["watch", str(params), "--record", str(path), "--render", "ansi"])
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(name, b"an older one")]


def test_mistakes_are_one_sentence(capsys: pytest.CaptureFixture[str], params: Path, tmp_path: Path) -> None:
    one = str(params)
    assert "give one agent to watch" in refused([one, "--latest"], capsys)
    assert "There is no params_*.npz or checkpoint_*.pkl in" in refused(["--latest", str(tmp_path)], capsys)
    assert f"There is no agent in {tmp_path}" in refused([str(tmp_path)], capsys)
    assert "is no agent" in refused(["x" * 300], capsys)
    assert "There is no display to open a window on" in refused([one, "--render", "human"], capsys)
    assert "--record writes .mp4, .gif or .html, not 'film.avi'" in refused([one, "--record", "film.avi"], capsys)
    assert "cannot write" in refused([one, "--record", "/no/such/folder/film.mp4"], capsys)
    assert "not allowed with argument" in refused([one, "--deterministic", "--stochastic"], capsys)
    assert "--speed" in refused([one, "--speed", "0"], capsys)
    assert "--hidden-dim 16" in refused([one, "--hidden-dim", "64"], capsys)


def test_a_missing_engine_is_one_sentence(
    params: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HACKMATRIX_BINARY", str(tmp_path / "nothing"))
    assert "./swift-build" in refused([str(params)], capsys)


def test_the_first_board_needs_no_jax_and_no_extra(swift_built: None, params: Path) -> None:
    check = f"""
import sys
for name in ("jax", "flax", "gymnasium", "pygame", "torch", "imageio_ffmpeg", "matplotlib"):
    sys.modules[name] = None
from hackmatrix.cli.main import main
sys.exit(main(["watch", {str(params)!r}, "--max-steps", "1"]))
"""
    assert piped([sys.executable, "-c", check], ROOT).count("└") == 2
