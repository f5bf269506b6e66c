"""Prices of the reward: changed when engines are opened, and the same on torch, JAX and the reading (G12)."""

from dataclasses import replace

import numpy as np
import pytest
from reading_worlds import world_of
from single_games import made

from goodharts.rules import MODES, Numbers
from goodharts.world import WORLDS
from rlparity import EngineOptions
from rlparity.core.lockstep import Settings, run
from rlworldkit.jax import engine as jax_engine

ALIKE = ("ground_truth", "ground_truth_blinded", "proxy_mortal")
"""Modes that are paid as others are."""
UNCLIPPED = Numbers(reward_clip=10**9)
PRICES, ODD = WORLDS["proxy"].prices, (-7, 12_345_679, 0, -99_999_989)
SHORT = Settings(source="directed", games=5, steps=8)


@pytest.mark.parametrize(
    ("mode", "other"),
    [
        *(pytest.param(mode, "reading", marks=pytest.mark.long if mode in ALIKE else ()) for mode in MODES),
        ("ground_truth_handhold", "jax"),
    ],
)
def test_G12_engines_agree_at_any_prices_without_compiling_anew(mode: str, other: str) -> None:
    world, compiled = world_of(mode, UNCLIPPED), set[int]()
    for prices in (tuple(price.low for price in PRICES), tuple(price.high for price in PRICES), ODD):
        assert run(replace(world, price_values=prices), ("torch", other), SHORT).divergences == []
        compiled.add(len(jax_engine._PROGRAMS))
    assert len(compiled) == 1


@pytest.mark.parametrize("engine", ["reading", "torch", "jax"])
def test_G12_what_food_is_worth_changes_no_energy(engine: str) -> None:
    world = world_of("ground_truth_handhold", UNCLIPPED).with_prices({"food": 0.25, "step": -1})
    games, slots = world.engines[engine](1, EngineOptions(prices=world.price_values)), np.arange(1)
    games.set_state([made(food=[(1, 0)], energy=500)], slots)
    step = games.step(np.array([6], np.int32))
    assert step.components[0, :4].tolist() == [-100_000, 25_000, 0, 0]
    assert games.get_state(slots)[0]["energy"] == 500 - 10 + 1000
