"""Worlds that commands mean when none is named."""

from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import faulty_orchard
import pytest
from command_line import ORCHARD, run

from rlparity import load_world
from rlparity.cli.main import main
from rlparity.core.trace import Case, Trace, write_trace
from rlparity.engines import registry
from rlparity.engines.registry import world_spec
from rlparity.tools.finding import next_commands
from rlparity.world import GROUP

SPECS = {
    "orchard": ORCHARD,
    "meadow": "faulty_orchard:MEADOW",
    "grove": "faulty_orchard:GROVE",
    "broken": "no_such_module:WORLD",
}
TRACE = Trace("orchard", ("plain", "planes"), Case((5,), seed=1))


@pytest.fixture(autouse=True)
def more_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two more worlds to register: one with Orchard's engines and one with other names for them."""
    plain, planes = faulty_orchard.WORLD.engines["plain"], faulty_orchard.WORLD.engines["planes"]
    others = replace(faulty_orchard.WORLD, name="meadow", engines={"cow": plain, "sheep": planes})
    monkeypatch.setattr(faulty_orchard, "MEADOW", others, raising=False)
    monkeypatch.setattr(faulty_orchard, "GROVE", replace(faulty_orchard.WORLD, name="grove"), raising=False)


def register(monkeypatch: pytest.MonkeyPatch, names: str) -> None:
    entries = [EntryPoint(name, SPECS[name], GROUP) for name in names.split()]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries if group == GROUP else [])


def test_the_only_world_is_meant_a_named_one_and_of_several_the_one_that_can_be_imported_and_has_these_engines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    register(monkeypatch, "orchard")
    assert world_spec(None) == world_spec(None, ("swift", "jax")) == "orchard"
    assert load_world() is faulty_orchard.WORLD
    register(monkeypatch, "meadow broken orchard")
    assert world_spec("orchard", ("cow", "sheep")) == "orchard"
    assert world_spec(None, ("plain", "planes")) == "orchard"
    assert load_world("orchard") is faulty_orchard.WORLD
    ran = run(main, "run", "--engines", "cow,sheep", "--games", "2", "--steps", "5")
    assert (ran.code, "cow and sheep: LIMITED" in ran.out) == (0, True)


@pytest.mark.parametrize(
    ("worlds", "engines", "sentence"),
    [
        ("", "plain,planes", "no world is registered: `rlparity init FOLDER` writes one"),
        ("meadow orchard", "", "several worlds are registered (meadow, orchard): give --world NAME."),
        (
            "grove orchard meadow",
            "plain,planes",
            "several worlds have the engines plain,planes (grove, orchard): give --world NAME.",
        ),
        (
            "meadow orchard",
            "plain,sheep",
            "no registered world has the engines plain,sheep (registered: meadow, orchard): give --world NAME",
        ),
        (
            "broken orchard",
            "swift,jax",
            "(registered: broken, orchard; world 'broken' cannot be imported (ModuleNotFoundError: ",
        ),
    ],
)
def test_what_is_not_clear_is_asked_for_in_one_sentence(
    worlds: str, engines: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, worlds)
    assert sentence in run(main, "run", *(["--engines", engines] if engines else [])).refusal()


def test_a_trace_is_replayed_on_its_own_world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    register(monkeypatch, "grove orchard")
    write_trace(TRACE, tmp_path / "t.json")
    program, *words = next_commands(tmp_path / "t.json")[0].argv
    assert program == "rlparity"
    ran = run(main, *words)
    assert (ran.code, "plain and planes agree on this case." in ran.out) == (0, True)


def test_a_trace_imports_no_module_that_it_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "harmful.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    register(monkeypatch, "orchard")
    trace = tmp_path / "t.json"
    for named in ("harmful:WORLD", "harmful", "elsewhere:WORLD", "two\nlines:WORLD", ORCHARD):
        write_trace(replace(TRACE, world=named), trace)
        ran = run(main, "replay", trace)
        said = f"{trace} names the world {named!r}, which is not registered (registered: orchard)"
        assert said in ran.refusal()
        assert "give --world NAME" in ran.err
    assert not (tmp_path / "executed").exists()
    assert run(main, "replay", "--world", ORCHARD, trace).code == 0
