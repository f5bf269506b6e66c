"""``hackmatrix explain``: what it prints and writes, and how it ends."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from hackmatrix import rules
from hackmatrix.cli.main import main
from rlparity.core.trace import Action, Case, Trace, write_trace
from tests.hackmatrix.conftest import CommandRefused
from tests.hackmatrix.rules.builders import state
from tests.hackmatrix.rules.movers import daemon

PAID = ("--price", "step_penalty=-0.01", "--price", "distance_shaping=0.05")
BOTH = ("--engines", "swift,jax")
START = (*PAID, "--seed", "7", "--engines", "swift", "--actions")


def explain(*words: str | Path) -> tuple[object, str]:
    ran = run(main, "explain", *words)
    return ran.code, ran.out


def traced(path: Path, *actions: Action, prices: Mapping[str, float] = {}, **fields: Any) -> Path:  # noqa: ANN401
    case = Case(actions, **({"seed": 7} | fields if "state" not in fields else fields))
    write_trace(Trace("hackmatrix", ("swift", "jax"), case, prices=prices), path)
    return path


def test_numbers_and_names_in_any_case_are_the_same_game(swift_built: None) -> None:
    told = explain(*START, "up,RIGHT,Wait,siph+")
    assert told == explain(*START, "0,3,10,16")
    code, printed = told
    assert code == 0
    assert "step 0: up (0)\n" in printed
    assert "distance_shaping      +0.050  = 0.05 x 1: closest approach 9 -> 8" in printed
    assert "swift played 4 steps; the rewards recomputed from table W agree." in printed
    legend = " ".join(printed.partition("signs\n")[2].split())
    for sign in (">D1 daemon comes in 1 turn", "[7]+4 7 points, spawns 4", "e3 energy", "ds data siphon to pick up"):
        assert sign in legend
    assert "C1, W2 and the like: rules of hackmatrix-rules.md" in legend
    assert not any(line.endswith(" ") for line in printed.splitlines())


def test_C1_C4_invalid_actions_are_one_line_and_the_game_goes_on_also_after_its_end(
    swift_built: None, tmp_path: Path
) -> None:
    code, printed = explain(*START, "siphon,up")
    assert code == 0
    assert "step 0: siphon (4): invalid here; nothing changes" in printed
    assert "(C1)\n\nstep 1: up (0)\n" in printed
    dying = state(daemon(2, 3), hp=1, stage=2, owned="wait", energy=1)
    code, printed = explain(traced(tmp_path / "t.json", 10, 0, state=dying), "--engines", "swift")
    assert code == 0
    assert "step 0: WAIT (10): the player died\n" in printed
    assert "step 1: up (0): invalid, the game is over (C4)" in printed


def test_R6_restarts_of_a_trace_begin_the_next_game(swift_built: None, tmp_path: Path) -> None:
    written = explain(traced(tmp_path / "a.json", 4, "restart", 0), "--engines", "swift")
    by_itself = explain(traced(tmp_path / "b.json", 4, 0, auto_reset=True), "--engines", "swift")
    for code, printed in (written, by_itself):
        assert code == 0
        assert "restart, the next game has seed" in printed
    assert written[1].split("restart,")[1].split("step 2")[0] == by_itself[1].split("restart,")[1].split("step 1")[0]


def test_both_engines_are_shown_side_by_side(swift_built: None, tmp_path: Path) -> None:
    target = tmp_path / "told.json"
    assert main(["explain", *PAID, *BOTH, "--seed", "7", "--actions", "up,up,right", "--json", str(target)]) == 0
    told = json.loads(target.read_text())
    assert (told["engines"], told["agree"]) == (["swift", "jax"], True)
    assert [step["step"] for step in told["steps"]] == [None, 0, 1, 2]
    last = told["steps"][-1]
    assert last["components"]["distance_shaping"] == {
        "engines": [50, 50],
        "table_w": 50,
        "from": "0.05 x 1: closest approach 7 -> 6",
    }
    assert last["total"] == [40, 40]
    assert last["state"]["closestApproach"] == 6


def test_prices_of_a_trace_and_of_flags_are_paid_and_read(swift_built: None, tmp_path: Path) -> None:
    hit = state(daemon(2, 3), owned="wait", energy=1)
    path = traced(tmp_path / "t.json", 10, state=hit, prices={"damage_penalty": -2, "step_penalty": 0.5})
    file = tmp_path / "prices.toml"
    file.write_text("damage_penalty = -3\nresource_gain = 0\n")
    for words, damage in (((), -2), (("--prices", file), -3), (("--prices", file, "--price", "damage_penalty=4"), 4)):
        code, printed = explain(path, *BOTH, *words, "--json", tmp_path / "told.json")
        assert code == 0
        assert json.loads((tmp_path / "told.json").read_text())["prices"]["damage_penalty"] == damage
        assert f"{damage:+.3f}  | {damage:+.3f}  = {damage} x 1: hp 3 -> 2" in printed
        assert "= 0.5 x 1: a valid action" in printed
        assert ("resource_gain" in printed) is (damage == -2)
        assert "swift and jax agree on 1 step; the rewards recomputed from table W agree." in printed


def test_engines_that_differ_are_marked_and_the_code_is_1(doctored: None) -> None:
    code, printed = explain(*PAID, *BOTH, "--seed", "7", "--actions", "right,up")
    assert code == 1
    assert "kills                 +0.000  != +0.300  = 0.3 x 0: removed nothing that counts" in printed
    assert "total                 -0.010  != +0.290" in printed
    assert "swift and jax DIFFER in step 1; the rewards recomputed from table W agree." in printed


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--seed", "7"), "nothing to play"),
        (("t.json", "--seed", "7"), "give either TRACE or --seed and --actions"),
        (("no/such.json",), "no/such.json"),
        ((*START, "up,fly"), "'fly' is no action"),
        ((*START, str(rules.NUM_ACTIONS)), f"'{rules.NUM_ACTIONS}' is no action"),
        ((*START, "up,"), "'' is no action"),
        ((*START, "up", "--from", "1"), "steps 0 ... 0"),
        ((*START, "up", "--json", "/no/such/folder/f"), "/no/such/folder/f"),
        (("--seed", "7", "--actions", "up", "--engines", "swift,plain"), "swift,plain"),
    ],
)
def test_a_mistake_gets_one_sentence_and_code_2(refused: CommandRefused, words: tuple[str, ...], named: str) -> None:
    assert named in refused("explain", *words)


def test_a_trace_that_cannot_be_explained_gets_one_sentence(
    swift_built: None, refused: CommandRefused, tmp_path: Path
) -> None:
    path = tmp_path / "t.json"
    path.write_text("{}")
    assert "is no trace" in refused("explain", path)
    for named in ("orchard", "harmful:WORLD", "harmful:\n"):  # nothing that a trace names is imported
        write_trace(Trace(named, ("plain", "planes"), Case((0,), seed=1)), path)
        assert f"is a trace of world {named!r}: give one of world 'hackmatrix'" in refused("explain", path)
    assert f"action {rules.NUM_ACTIONS}" in refused("explain", traced(path, rules.NUM_ACTIONS))
    assert "hp" in refused("explain", traced(path, 0, state=state(hp=4)), "--engines", "swift")
    said = run(main, "explain", traced(path), "--engines", "swift")
    assert (said.code, "t.json holds no actions, so that there is no step to explain" in said.err) == (2, True)
