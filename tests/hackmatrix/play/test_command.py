"""The command as a person types it: in a terminal of its own, and what it refuses."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hackmatrix.cli.main import main
from parity.errors import install_command
from parity.trace import read_trace
from tests.hackmatrix.watch.conftest import new_params
from tests.terminals import in_terminal
from worldkit.cli import play
from worldkit.ppo.params import save_params

PLAY = [sys.executable, "-m", "hackmatrix.cli.main", "play"]
SIZE = 24, 80
"""Lines and columns: the least that playing needs."""
Wait = Callable[[str], None]


@pytest.fixture
def in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused later than for want of a terminal."""
    monkeypatch.setattr(play, "_check_terminal", lambda: None)


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says that it cannot do, in one line, with exit code 2."""
    with pytest.raises(SystemExit) as caught:
        main(["play", *words])
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1, said
    return said


def test_a_game_in_a_terminal_is_saved_on_leaving_and_the_terminal_is_as_before(
    swift_built: None, tmp_path: Path
) -> None:
    def act(terminal: int, wait_for: Wait, _: int) -> None:
        wait_for("stage 1 of 8")
        os.write(terminal, b"\x1b[A")
        wait_for("step 1, you")
        os.write(terminal, b"q")

    said, code, is_as_before = in_terminal([*PLAY, "--seed", "7"], act, SIZE, tmp_path)
    assert (code, is_as_before) == (0, True)
    assert "game 7: left in stage 1 after 1 step, return 0.040" in said.rpartition("\x1b[?1049l")[2]
    assert "Saved: hackmatrix-7.json" in said
    assert read_trace(tmp_path / "hackmatrix-7.json").case.actions == (0,)


@pytest.mark.parametrize("kind", ["params", "checkpoint", "model", "run"])
def test_the_agent_at_hand_is_any_that_can_be_watched(
    swift_built: None, kind: str, run_folder: Path, params: Path, model: Path, tmp_path: Path
) -> None:
    run = run_folder / "hackmatrix-20260102-000000-seed0"
    agent = {"params": params, "checkpoint": run / "checkpoint_10.pkl", "model": model, "run": run}[kind]

    def act(terminal: int, wait_for: Wait, _: int) -> None:
        wait_for("stage 1 of 8")
        os.write(terminal, b" ")
        wait_for("step 1, agent")
        os.write(terminal, b"q")

    said, code, _ = in_terminal([*PLAY, "--agent", str(agent), "--speed", "20"], act, SIZE, tmp_path)
    assert code == 0, said


def test_a_signal_saves_the_game_and_ends_it(swift_built: None, tmp_path: Path) -> None:
    def act(terminal: int, wait_for: Wait, process: int) -> None:
        wait_for("stage 1 of 8")
        os.write(terminal, b"\x1b[A")
        wait_for("step 1, you")
        os.kill(process, signal.SIGHUP)

    _, code, is_as_before = in_terminal([*PLAY, "--seed", "7", "--save", "mine.json"], act, SIZE, tmp_path)
    assert (code, is_as_before) == (130, True)
    assert read_trace(tmp_path / "mine.json").case.actions == (0,)


def test_an_engine_that_dies_leaves_the_game_saved_and_says_so(swift_built: None, tmp_path: Path) -> None:
    def act(terminal: int, wait_for: Wait, process: int) -> None:
        wait_for("stage 1 of 8")
        os.write(terminal, b"\x1b[A")
        wait_for("step 1, you")
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGKILL)
        os.write(terminal, b"\x1b[A")

    said, code, is_as_before = in_terminal([*PLAY, "--seed", "7", "--save", "mine.json"], act, SIZE, tmp_path)
    assert (code, is_as_before) == (2, True)
    assert "was killed by signal 9" in said
    assert "The game is saved up to step 1." in said
    assert read_trace(tmp_path / "mine.json").case.actions == (0,)


@pytest.mark.parametrize(
    ("size", "variables", "sentence"),
    [
        (
            (23, 80),
            {},
            "The terminal has 80 columns and 23 lines and playing needs 80 columns and 24 lines:",
        ),
        (
            (24, 79),
            {},
            "The terminal has 79 columns and 24 lines and playing needs 80 columns and 24 lines:",
        ),
        ((24, 80), {"TERM": "dumb"}, "The terminal (TERM=dumb) cannot show a screen: play in one that can."),
    ],
)
def test_a_terminal_that_cannot_show_the_game_is_one_sentence(
    size: tuple[int, int], variables: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    said, code, _ = in_terminal(PLAY, lambda *_: None, size, tmp_path, **variables)
    assert code == 2
    assert said.startswith(sentence)
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Playing needs a terminal" in refused([], capsys)


def test_without_textual_one_sentence_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "find_spec", lambda _: None)
    command = install_command("hackmatrix[play]")
    assert refused([], capsys) == f"This command needs textual: run `{command}`.\n"


def test_mistakes_are_one_sentence(in_a_terminal: None, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "--seed" in refused(["--seed", "-1"], capsys)
    assert "--engine" in refused(["--engine", "go"], capsys)
    assert "--speed" in refused(["--speed", "0"], capsys)
    assert "cannot write" in refused(["--save", "/no/such/folder/game.json"], capsys)
    assert "cannot write" in refused(["--save", str(tmp_path)], capsys)


def test_a_file_that_holds_no_agent_of_this_game_is_one_sentence(
    in_a_terminal: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("something else")
    (tmp_path / "damaged.npz").write_text("something else")
    save_params(tmp_path / "other.npz", new_params(actions=6))
    for name, sentence in (
        ("nothing.npz", "does not exist"),
        ("notes.txt", "is no agent that can be watched"),
        ("damaged.npz", "cannot be read"),
        ("other.npz", "another number of actions than the 28 here"),
        ("empty", "There is no agent in"),
    ):
        assert sentence in refused(["--agent", str(tmp_path / name)], capsys)


def test_a_missing_engine_is_one_sentence(
    in_a_terminal: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HACKMATRIX_BINARY", str(tmp_path / "nothing"))
    assert "./swift-build" in refused([], capsys)


def test_the_first_board_needs_no_jax_and_no_other_extra(swift_built: None, tmp_path: Path) -> None:
    blocked = ("jax", "flax", "gymnasium", "pygame", "torch", "matplotlib")
    check = f"""
import sys
for name in {blocked}:
    sys.modules[name] = None
from hackmatrix.cli.main import main
sys.exit(main(["play"]))
"""

    def act(terminal: int, wait_for: Wait, _: int) -> None:
        wait_for("stage 1 of 8")
        os.write(terminal, b"q")

    said, code, _ = in_terminal([sys.executable, "-c", check], act, SIZE, tmp_path)
    assert code == 0, said
    assert list(tmp_path.iterdir()) == [], "nothing was done, so nothing is saved"


def test_help_names_the_keys() -> None:
    answer = subprocess.run([*PLAY, "--help"], capture_output=True, text=True, check=True)
    assert "arrows move" in " ".join(answer.stdout.split())
