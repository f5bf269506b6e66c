"""Prices: declared by a world, changed when its engines are opened, and the same on both sides."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import rlparity
from faulty_orchard import WORLD
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from rlparity import UsageError, World
from rlparity.core.guard import GuardedEngine
from rlparity.core.lockstep import Settings, run
from rlparity.core.prices import changed_prices, draw_prices, price_values, read_prices
from rlparity.core.trace import read_trace


def components(world: World, engine: str, actions: list[int]) -> list[list[int]]:
    """The components of each of these actions in game 1, in thousandths."""
    opened = GuardedEngine(world, engine, 1)
    opened.reset(np.array([1], np.uint64), np.arange(1))
    return [opened.step(np.array([action], np.int32)).components[0].tolist() for action in actions]


def test_prices_are_given_in_reward_and_kept_in_units_of_components() -> None:
    world = WORLD.with_prices({"sting": "-0.25", "fruit": 0.3})
    assert price_values(world) == (-10, 300, -250)
    assert changed_prices(world) == {"fruit": 0.3, "sting": -0.25}
    assert (price_values(WORLD), changed_prices(WORLD)) == ((-10, 100, -500), {})
    assert changed_prices(WORLD.with_prices({"sting": -0.5})) == {}


@pytest.mark.parametrize("engine", ["plain", "planes"])
def test_engines_pay_the_prices_that_they_are_opened_with(engine: str) -> None:
    assert components(WORLD, engine, [5])[0][0] == -10
    assert components(WORLD.with_prices({"step": 0.7}), engine, [5])[0][0] == 700


@hypothesis_settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_engines_agree_under_drawn_prices(seed: int) -> None:
    found = run(draw_prices(WORLD, seed), ("plain", "planes"), Settings(source="directed", steps=20, games=8))
    assert found.divergences == []


def test_drawn_prices_depend_on_the_seed_and_never_replace_given_ones() -> None:
    drawn = [price_values(draw_prices(WORLD, seed)) for seed in range(100)]
    assert drawn == [price_values(draw_prices(WORLD, seed)) for seed in range(100)]
    assert all(
        price.low <= value <= price.high for each in drawn for price, value in zip(WORLD.prices, each, strict=True)
    )
    assert len(set(drawn)) > 70
    assert any(0 in each for each in drawn)
    given_prices = WORLD.with_prices({"step": 0})
    assert draw_prices(given_prices, 1) == given_prices
    assert sum(draw_prices(WORLD, seed, 0.25) != WORLD for seed in range(400)) in range(60, 140)


@pytest.mark.parametrize(
    ("prices", "fault"),
    [
        (
            {"stings": 1},
            "world 'orchard' has no price 'stings' (did you mean 'sting'?): its prices are step, fruit, sting.",
        ),
        ({"sting": "much"}, "the price sting must be a number from -10 to 10, got 'much'."),
        ({"sting": 10.001}, "the price sting must be a number from -10 to 10, got 10.001."),
        ({"sting": float("nan")}, "the price sting must be a number from -10 to 10, got nan."),
        ({"sting": True}, "the price sting must be a number from -10 to 10, got True."),
        ({"sting": [1]}, "the price sting must be a number from -10 to 10, got a value of type list."),
        ({"sting": "0.0005"}, "the price sting must be a multiple of 0.001, got '0.0005'."),
    ],
)
def test_a_price_that_the_world_does_not_have_is_one_sentence(prices: dict[str, object], fault: str) -> None:
    with pytest.raises(UsageError) as error:
        WORLD.with_prices(prices)
    assert str(error.value) == fault
    with pytest.raises(UsageError, match=r"^world 'orchard' has no price '\w+': its prices are none\.$"):
        replace(WORLD, prices=()).with_prices(prices)


def test_flags_go_over_a_file(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text("sting = -3\nfruit = 0.4\n")
    assert read_prices(["fruit=0.2"], path) == {"sting": -3, "fruit": "0.2"}


@pytest.mark.parametrize("word", ["sting", "sting=", "=3", ""])
def test_a_word_that_is_no_price_is_one_sentence(word: str) -> None:
    with pytest.raises(UsageError, match=r"^--price takes NAME=VALUE, such as kills=0\.4, got "):
        read_prices([word], None)


def test_commands_take_prices_and_traces_keep_them(tmp_path: Path) -> None:
    ran = rlparity("run", "--steps", "20", "--games", "8", "--price", "sting=-3", "--json")
    assert (ran.code, ran.json["prices"]) == (0, {"sting": -3.0})
    found = rlparity("run", "--engines", "plain,restless", "--out", tmp_path, "--price", "sting=-3")
    assert (found.code, read_trace(tmp_path / "trace.json").prices) == (1, {"sting": -3.0})
    assert rlparity("replay", tmp_path / "trace.json").code == 1
    drawn = rlparity("run", "--steps", "20", "--games", "8", "--seed", "5", "--draw-prices", "--json")
    assert (drawn.code, drawn.json["prices"]) == (0, changed_prices(draw_prices(WORLD, 5)))
    refused = rlparity("run", "--price", "stings=1")
    assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_rewards_shows_what_a_price_changes_and_accepts_none_of_it() -> None:
    shown = rlparity("rewards", "--price", "fruit=0.2", "--json")
    assert {change["component"] for change in shown.json["changes"]} == {"fruit"}
    assert all(change["after"] == 2 * change["before"] for change in shown.json["changes"])
    refused = rlparity("rewards", "--price", "fruit=0.2", "--accept")
    assert (refused.code, "--accept renews episodes with the game's own prices" in refused.err) == (2, True)
