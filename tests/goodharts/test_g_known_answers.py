"""Recorded games of Goodharts, and that every rule is tested."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading.randomness import key_of_game
from reading_worlds import world_of

GAMES = json.loads((Path(__file__).parent / "known-answers-goodharts.json").read_text())["games"]
QUICK = ("ground_truth-5", "proxy-191")


def cases() -> list[Any]:
    """Every game on the reading, most amid others on torch, and some alone and on JAX; all where minutes count."""
    found = []
    for game in GAMES:
        name = f"{game['mode']}-{game['game']}"
        for engine, width in (("reading", 1), ("torch", 8), ("torch", 1), ("jax", 1)):
            quick = name in QUICK or engine == "reading" or (game["game"] > 0 and (engine, width) == ("torch", 8))
            marks = () if quick else pytest.mark.long
            found.append(pytest.param(game, engine, width, id=f"{name}-{engine}-{width}", marks=marks))
    return found


@pytest.mark.parametrize(("game", "engine", "width"), cases())
def test_an_engine_plays_the_published_game_alone_and_beside_others(
    game: dict[str, Any], engine: str, width: int
) -> None:
    world, number = world_of(game["mode"], evaluating=game["evaluating"]), game["game"]
    keys = world.game_seeds(int(game["seed"]), number + width)
    assert (int(keys[number]) & 0xFFFFFFFF, int(keys[number]) >> 32) == key_of_game(int(game["seed"]), number)
    slots, slot = np.arange(width), width - 1
    games = world.engines[engine](width)
    games.reset(keys[number:][::-1], slots)
    assert games.get_state(slots[slot:]) == [game["first"]]
    ends = []
    for at, (action, components) in enumerate(zip(game["actions"], game["components"], strict=True)):
        step = games.step_restarting(np.full(width, action, np.int32))
        assert step.components[slot].tolist() == components
        if step.ended[slot]:
            ends.append([at, "terminated" if step.terminated[slot] else "truncated"])
    assert ends == game["ends"]
    assert games.get_state(slots[slot:]) == [game["last"]]
    assert (2 * step.observation[slot]).reshape(2, -1).tolist() == game["lastObservation"]


HERE = Path(__file__).parent
RULES = re.findall(r"^- \*\*(G\d+)\*\*", (HERE.parents[1] / "docs/reference/goodharts.md").read_text(), re.MULTILINE)


def test_every_rule_of_the_rulebook_has_a_test_named_after_it() -> None:
    assert [f"G{number}" for number in range(1, 14)] == RULES
    trees = [ast.parse(path.read_text()) for path in HERE.rglob("test_*.py")]
    names = [node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    named = {rule for name in names if name.startswith("test_") for rule in re.findall(r"(?<=_)G\d+(?=_|$)", name)}
    assert set(RULES) <= named
