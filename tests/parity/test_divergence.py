"""A divergence as JSON: what differs and where, its signature, and the commands to run next."""

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import ORCHARD, orchard, rlparity, run
from faulty_orchard import WORLD, changed, picks_more
from numpy.typing import NDArray
from orchard.planes import PlanesEngine

from rlparity import BatchStep
from rlparity.cli.main import main
from rlparity.core.compare import Difference
from rlparity.core.trace import Case, Trace
from rlparity.tools.divergence import ROOM, signature
from rlparity.tools.report import Report


def divergences(engine: str, *words: str | Path, world: str = ORCHARD) -> list[dict[str, Any]]:
    """The divergences of a run of ``plain`` and another engine."""
    ran = rlparity("run", "--engines", f"plain,{engine}", *words, "--json", world=world)
    assert ran.code == 1
    return ran.json["divergences"]


def painless(_: PlanesEngine, step: BatchStep) -> BatchStep:
    """A step whose stings cost no reward."""
    return replace(step, components=step.components * np.array([1, 1, 0], np.int32))


FAULTS = {**WORLD.engines, "generous": picks_more(), "painless": changed(step=painless)}


def test_a_signature_is_that_of_the_fault_whatever_the_seed_the_folder_and_the_games(tmp_path: Path) -> None:
    signatures = set()
    for name in ("restless", "generous", "painless", "forgetful", "nan", "double"):
        world = orchard(engines={"plain": FAULTS["plain"], "other": FAULTS[name]})
        of_fault = {
            found["signature"]
            for seed, games in (("0", "20"), ("123456789", "16"))
            for found in divergences("other", "--seed", seed, "--games", games, "--out", tmp_path / seed, world=world)
        }
        assert len(of_fault) == 1, name
        signatures |= of_fault
    assert len(signatures) == 6


def test_a_part_of_the_state_has_one_signature_whichever_entity_or_number_of_it_differs() -> None:
    def of(field: str, *actions: int) -> str:
        trace = Trace("orchard", ("plain", "other"), Case(actions, seed=0), (Difference(field, 1, 2),))
        return signature(Report(WORLD, trace, (), ()))

    assert of("state.player.row", 0) == of("state.player.column", 1) != of("state.wasp.row", 0)
    assert of("state.enemies[0].hp", 0) == of("state.enemies[1].row", 0)
    assert of("components[sting]", 0) != of("components[step]", 0)
    assert of("state.player.row") == of("state.wasp.row") != of("observation[0]"), "a start differs as a whole"


def test_a_divergence_says_what_differs_where_and_after_what(tmp_path: Path) -> None:
    (found,) = divergences("restless", "--out", tmp_path)
    assert found["headline"] == "plain and restless differ after 1 action: rest (5)."
    assert [*found["start"]["state"]] == ["seed", "walker", "wasp", "hp", "score", "turn", "apples"]
    assert found["actions"] == [{"action": 5, "name": "rest (5)"}]
    assert found["differences"][0] == {"field": "state.hp", "expected": 2, "observed": 1}
    assert [each["field"] for each in found["differences"]] == ["state.hp", "observation[0: hp]"]
    assert (found["phase"], found["left_out"]) == ("The engines first differ in phase 'walker'.", {})
    assert (found["rules"], found["suspects"]) == (["O-REST", "O-WASP"], ["O-REST"])
    assert found["rule_texts"]["O-WASP"] == "After each valid action the wasp flies one cell in a drawn direction."
    lines = {(Path(each["file"]).name, each["text"], each["about"]) for each in found["sources"]}
    assert ("plain.py", 'self.marks["rest"] += 1', "O-REST, mark rest") in lines
    assert ("faulty_orchard.py", "def rest(self) -> None:", "O-REST, mark rest") in lines
    again = rlparity("replay", tmp_path / "trace.json", "--json").json["divergence"]
    for name in ("signature", "headline", "start", "actions", "differences", "phase", "rules", "sources"):
        assert again[name] == found[name]


def test_text_and_json_name_the_same_next_command_and_all_of_them_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = "run", "--engines", "plain,restless", "--out", "my reports"
    text = rlparity(*words).out
    (found,) = rlparity(*words, "--json").json["divergences"]
    argv = {each["purpose"]: each["argv"] for each in found["next"]}
    assert [*argv] == ["replay", "debug", "write a test"]
    (line,) = [line for line in text.splitlines() if line.startswith("Replay with: ")]
    assert shlex.split(line.removeprefix("Replay with: ")) == found["next"][0]["argv"] == argv["replay"]
    for _, *again in argv.values():
        assert run(main, *again).code == 1
    assert "assert_case" in (tmp_path / argv["write a test"][-1]).read_text()


class Plain(PlanesEngine):
    """Its states have a long list and a text."""

    fault = False

    def get_state(self, slots: NDArray[np.intp]) -> list[dict[str, Any]]:
        states, is_wrong = super().get_state(slots), self.fault and self.games == 1
        return [{**each, "long": [int(is_wrong)] * 2000, "name": "x" * (1 + 20_000 * is_wrong)} for each in states]

    def state_arrays(self) -> None:
        """None: dicts are compared."""


class Blurred(Plain):
    """All of the list differs, and the text is too long."""

    fault = True


def test_values_are_cut_to_a_size_and_the_cause_is_not(tmp_path: Path) -> None:
    world = orchard(engines={"plain": Plain, "blurred": Blurred})
    (found,) = divergences("blurred", "--games", "1", "--out", tmp_path, world=world)
    shown = [found[name] for name in ("start", "actions", "differences")]
    assert len(json.dumps(shown)) < 1.2 * ROOM
    assert found["differences"][0]["field"] == "state.long[0]"
    assert found["left_out"]["differences"] == 2001 - len(found["differences"]) > 0
    written = json.loads((tmp_path / "trace.json").read_text())
    assert len(written["differences"]) == 2001
