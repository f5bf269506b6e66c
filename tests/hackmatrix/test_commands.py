"""Several commands: one sentence where something is missing."""

from dataclasses import replace
from pathlib import Path

import pytest

from hackmatrix.cli.main import main
from hackmatrix.swift_env import process
from hackmatrix.world import WORLD
from rlworldkit.cli import play
from rlworldkit.cli.players import engine_of
from rlworldkit.jax.engine import JaxEngine
from tests.hackmatrix.conftest import CommandRefused

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("command", ["play", "watch", "view", "train-sb3", "explain"])
def test_a_missing_engine_is_one_sentence(
    command: str, params: Path, refused: CommandRefused, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HACKMATRIX_BINARY", str(tmp_path / "nothing"))
    monkeypatch.setattr(play, "_check_terminal", lambda: None)
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.html"
    page.write_text("an older one")
    words: dict[str, list[str | Path]] = {
        "watch": [params],
        "view": [params, "--output", page],
        "train-sb3": ["--no-wandb"],
        "explain": ["--seed", "7", "--engines", "swift", "--actions", "up"],
    }
    assert f"build it with {ROOT}/swift-build" in refused(command, *words.get(command, []))
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert [(file.name, file.read_text()) for file in files] == [("page.html", "an older one")]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("play --engine go", "--engine"),
        ("play --save /no/such/folder/game.json", "cannot be written"),
        ("play --save .", "cannot be written"),
        ("play --agent nothing.npz", "there is no file of parameters"),
        ("watch {params} --latest", "give one agent to watch: a file or a folder (PATH or --model), or --latest"),
        ("watch --latest .", "There is no params_*.npz or checkpoint_*.pkl in"),
        ("watch empty", "There is no agent in empty"),
        ("watch {params} --render human", "There is no display to open a window on"),
        ("watch {params} --record film.avi", "--record writes .mp4, .gif, .png or .html, not 'film.avi'"),
        ("watch {params} --record /no/such/folder/film.mp4", "cannot be written"),
        ("watch {params} --hidden-dim 64", "--hidden-dim 16"),
        ("view /no/such/thing", "there is no /no/such/thing"),
        ("view notes.txt", "is nothing that can be viewed"),
        ("view trace.json", "is no trace"),
        ("view trace.json --max-steps 9", "a trace brings its own game: leave out --max-steps"),
        (
            "view {params} --output /no/such/folder/page.html",
            "/no/such/folder/page.html cannot be written: No such file",
        ),
        ("view {params} --output .", "cannot be written"),
        ("view {params} --hidden-dim 64", "--hidden-dim 16"),
        ("view empty", "holds no run: name a folder that training wrote"),
    ],
)
def test_a_mistake_is_one_sentence(
    words: str, sentence: str, params: Path, refused: CommandRefused, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(play, "_check_terminal", lambda: None)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    for name, content in (("notes.txt", ""), ("trace.json", "{}")):
        Path(name).write_text(content)
    Path("empty").mkdir()
    assert sentence in refused(*words.format(params=params).split())


def test_the_help_of_play_needs_no_engine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("HACKMATRIX_BINARY", str(tmp_path / "nothing"))
    with pytest.raises(SystemExit) as end:
        main(["play", "--help"])
    assert end.value.code == 0
    assert "arrows move and attack" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("engine", "because"), [("swift", "the reference of hackmatrix."), ("jax", "because the Swift ")]
)
def test_the_engine_is_the_reference_where_it_is_built_and_a_line_says_so(
    engine: str, because: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    if engine == "jax":
        monkeypatch.delenv("HACKMATRIX_BINARY", raising=False)
        (tmp_path / "swift-build").touch()
        monkeypatch.setattr(process, "_ROOT", tmp_path)
    assert engine_of(WORLD, None) == engine
    said = capsys.readouterr().err
    assert said.startswith(f"Engine: {engine}, {because}")
    assert (f"{tmp_path}/swift-build" in said, said.count("\n")) == (engine == "jax", 1)
    assert engine_of(WORLD, "jax") == "jax"
    assert engine_of(replace(WORLD, engines={"jax": WORLD.engines["jax"]}), None) == "jax"
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "random", "--episodes", "2", "--max-steps", "3"),
        ("compare", "--group", "a=random", "--episodes", "2", "--max-steps", "3"),
        ("view", "best", "--episodes", "2", "--max-steps", "3"),
        ("watch", "best", "--max-steps", "1", "--render", "ansi"),
        ("explain", "--seed", "7", "--actions", "up"),
    ],
)
def test_no_command_that_plays_needs_jax_where_the_reference_is_built(
    words: tuple[str, ...],
    swift_built: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(JaxEngine, "__init__", lambda *_, **__: pytest.fail("the JAX engine was opened"))
    assert main([*words]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "Engine: swift, the reference of hackmatrix."
    games = {"evaluate": 2, "compare": 2, "view": 2}.get(words[0])
    assert said[1:] == ([] if games is None else [f"Playing {games} games ..."])
