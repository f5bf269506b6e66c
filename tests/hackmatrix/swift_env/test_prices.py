"""Prices of the Swift engine in its JSON mode: set by name, refused where they are none, told, and paid."""

import json
import subprocess
from typing import Any

import pytest

from hackmatrix.prices import PRICES
from hackmatrix.swift_env.process import binary_path

pytestmark = pytest.mark.usefixtures("swift_built")

BY_NAME = {price.name: 10_007 + 101 * place for place, price in enumerate(PRICES)}
UNDO = 14
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
