"""The script that draws the roofline: what it counts, the line that it lays through steps, and what it tells."""

import runpy
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from hackmatrix import rules
from hackmatrix.networks import NETWORKS
from worldkit.purejaxrl.networks import make_network
from worldkit.purejaxrl.params import Params

FEATURES, OTHERS, SEEN = {"centred": 16, "conv": 8}, 33 + 12, 4 * 81
"""Of a cell; numbers that are not of the board, with row and column one-hot; bytes of a compact observation."""
LAST = 256 * 256 + 256 * (rules.NUM_ACTIONS + 1)
"""Multiply-adds after the first hidden layer."""


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).parents[2] / "python" / "scripts" / "roofline.py"))


def params_of(name: str) -> Params:
    network = make_network(name, NETWORKS[name], rules.NUM_ACTIONS, 256, 2)
    shapes: Params = jax.eval_shape(network.init, jax.random.key(0), jnp.zeros((1, rules.OBSERVATION_SIZE)))
    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)


def bytes_of(params: Params) -> int:
    return 4 * sum(leaf.size for leaf in jax.tree.leaves(params))


def test_a_plain_network_multiplies_each_weight_once_and_backwards_what_it_learned_once_more(
    script: dict[str, Any],
) -> None:
    params, first = params_of("mlp"), rules.OBSERVATION_SIZE * 256
    told, learned = script["evaluating"](params, 3), script["learning"](params, 3)
    assert told == (2 * 3 * (first + LAST), bytes_of(params) + 3 * (SEEN + 4 * 29))
    assert learned == (2 * 3 * (2 * first + 3 * LAST), 2 * bytes_of(params) + 3 * (SEEN + 28 + 20 + 8 * 512))


@pytest.mark.parametrize("name", FEATURES)
def test_of_the_board_only_its_cells_are_counted(name: str, script: dict[str, Any]) -> None:
    features, rounds = FEATURES[name], 2 if name == "conv" else 0
    cells = 36 * len(rules.CELL_FEATURES) * features
    told = rounds * (36 + 4 * 30) * features * features  # a cell, and those of its neighbours that are on the board
    board, others = 36 * features * 256, OTHERS * 256
    params = params_of(name)
    assert script["evaluating"](params, 1).operations == 2 * (cells + told + board + others + LAST)
    learned = script["learning"](params, 1)
    assert learned.operations == 2 * (2 * cells + 3 * told + 3 * board + 2 * others + 3 * LAST)
    kept = 36 * features * (1 + rounds) + 512
    assert learned.moved == 2 * bytes_of(params) + SEEN + 28 + 20 + 8 * kept


def test_the_line_through_steps_on_a_line_is_that_line(script: dict[str, Any]) -> None:
    steps = {games: 1e-4 + 2e-6 * games for games in (8, 64, 4096)}
    assert script["line_through"](steps) == pytest.approx((1e-4, 2e-6))


def test_few_operations_for_a_byte_are_bound_by_memory_and_many_by_products(script: dict[str, Any]) -> None:
    ceilings = script["Ceilings"](400e9, 800e9, 50e9)
    assert [ceilings.at(intensity) for intensity in (2, 8, 100)] == [100e9, 400e9, 400e9]
    assert ceilings.or_higher(script["Ceilings"](300e9, 900e9, 40e9)) == script["Ceilings"](400e9, 900e9, 50e9)


def test_tables_and_picture_tell_what_was_measured(script: dict[str, Any]) -> None:
    ceilings = script["Ceilings"](400e9, 800e9, 50e9)
    point = script["Point"]("mlp", "forward", 256, script["Work"](2_000_000_000, 20_000_000), 0.01)
    assert "| `mlp`, forward of 256 | 2 | 20 | 100 | 10 ms | 200 | 50% |" in script["points_table"]([point], ceilings)
    timed, line = script["steps_tables"]({8: 116e-6, 1024: 2148e-6}, ceilings)
    assert "| 1,024 | 2,148 µs | 2,148 µs | 476,723 |" in timed
    assert "| one game more | 2.00 µs |" in line
    assert script["picture"](ceilings, [point]).startswith(b"\x89PNG")
