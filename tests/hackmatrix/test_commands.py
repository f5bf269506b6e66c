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
