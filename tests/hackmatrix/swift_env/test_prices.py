"""Prices of the Swift engine: set by name or by place, refused where they are none, told, and paid."""

import json
import subprocess
from typing import Any

import numpy as np
import pytest

from hackmatrix.prices import PRICES
from hackmatrix.rules import COMPONENTS
from hackmatrix.swift_env import SwiftEngine
from hackmatrix.swift_env.process import binary_path
from hackmatrix.world import open_swift
from rlparity import EngineOptions

pytestmark = pytest.mark.usefixtures("swift_built")

DISTINCT = tuple(10_007 + 101 * place for place in range(len(PRICES)))
BY_NAME = {price.name: value for price, value in zip(PRICES, DISTINCT, strict=True)}
LEFT, RIGHT, UNDO = 2, 3, 14
AT_THE_EXIT = {"player": {"row": 5, "col": 4, "score": 9999, "credits": 9999, "energy": 9999}, "stage": 8}
TO_UNDO = {
    "player": {"row": 0, "col": 0, "credits": 9},
    "ownedPrograms": [UNDO],
    "history": {"player": {"row": 0, "col": 0, "credits": 9}},
    "killsSinceHistory": 4,
    "pickupsSinceHistory": 1,
}


def answers(*commands: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers of the JSON mode."""
    asked = "".join(json.dumps(command) + "\n" for command in commands)
    done = subprocess.run([binary_path(), "--headless-cli"], input=asked, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def set_prices(prices: Any) -> dict[str, Any]:  # noqa: ANN401 - what is refused, too
    return {"action": "setPrices", "prices": prices}


def paid(state: dict[str, Any], action: int, prices: tuple[int, ...] | None) -> dict[str, int]:
    """The components of an action that are not 0, in thousandths."""
    engine = open_swift(1, EngineOptions(prices=prices))
    engine.set_state([state], np.array([0]))
    step = engine.step(np.array([action], np.int32))
    assert step.reward.dtype == np.float32
    assert step.reward[0] == np.float32(step.components[0].sum(dtype=np.int64)) / np.float32(1000)
    engine.close()
    return {name: int(value) for name, value in zip(COMPONENTS, step.components[0], strict=True) if value}


def test_prices_by_name_are_those_of_the_declaration_and_are_paid() -> None:
    told, _, undone = answers(
        set_prices(BY_NAME),
        {"action": "setState", "state": TO_UNDO},
        {"action": "step", "actionIndex": UNDO},
    )
    assert told == {"prices": BY_NAME}
    breakdown = {name: value for name, value in undone["info"]["reward_breakdown"].items() if value}
    assert breakdown == {
        "step_penalty": BY_NAME["step_penalty"] / 1000,
        "kills": -4 * BY_NAME["kills"] / 1000,
        "data_siphon": -BY_NAME["data_siphon"] / 1000,
        "resource_gain": -BY_NAME["resource_gain"] / 1000,
    }


@pytest.mark.parametrize(
    ("prices", "fault"),
    [
        ({"kills": 1, "kill": 1}, "unknown field prices.kill; the fields are damage_penalty, "),
        ({"kills": 1, "victory": 2**31}, "prices.victory must be an integer from -2147483648 to 2147483647"),
        ({"kills": 1, "victory": -(2**31) - 1}, "prices.victory must be an integer from "),
        ({"kills": 1, "victory": None}, "prices.victory must be an integer from "),
        ({"kills": 1, "victory": [1]}, "prices.victory must be an integer from "),
        ({"kills": 0.4}, "prices.kills must be an integer from "),
        ([1], "prices must be an object"),
        (None, "prices must be an object"),
    ],
)
def test_what_is_no_price_is_refused_and_changes_nothing(prices: object, fault: str) -> None:
    before, refused, after = answers(set_prices({}), set_prices(prices), set_prices({}))
    assert refused["error"].startswith(fault)
    assert after == before


def test_all_games_of_a_process_have_its_prices() -> None:
    with SwiftEngine(3, EngineOptions(prices=DISTINCT)) as engine:
        engine.set_state([{"player": {"row": row, "col": 1}} for row in range(3)], np.arange(3))
        assert engine.step(np.full(3, LEFT, np.int32)).components[:, 0].tolist() == [BY_NAME["step_penalty"]] * 3
        engine.reset(np.arange(3, dtype=np.uint64), np.arange(3))
        assert engine.rules()["rewards"]["prices"]["kills"] == [BY_NAME["kills"]]


@pytest.mark.parametrize("bound", ["low", "high"])
def test_the_greatest_reward_of_prices_in_range_is_exact(bound: str) -> None:
    prices = {price.name: getattr(price, bound) for price in PRICES}
    assert paid(AT_THE_EXIT, RIGHT, tuple(prices.values())) == {
        "step_penalty": prices["step_penalty"],
        "stage_completion": prices["stage_completion_8"],
        "distance_shaping": prices["distance_shaping"],
        "victory": prices["victory"] + 9999 * prices["victory_per_score"],
        "resource_holding": 2 * 9999 * prices["resource_holding"],
    }
