"""The engine computes the same, bit for bit, in the forms that it has for a TPU."""

from collections.abc import Callable
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from hackmatrix.env import ENV
from hackmatrix.jax_env.bitboard import Cells
from hackmatrix.jax_env.random import PAIRED, Site, cell_words, pick, pick_several
from rlworldkit.bench.env import random_valid_actions
from rlworldkit.jax.target import tracing_for
from rlworldkit.jax.threefry import EventDraws, Seed
from tests.hackmatrix.rules.randomness import word

GAMES, CELLS = 256, 36
LARGEST = 2**32 - 1


@pytest.fixture(scope="module", params=["all words", "few words", "largest words"])
def drawn(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sets of cells, uint64 (games,), words, uint32 (games, cells), and numbers of cells, int32 (games,)."""
    random = np.random.default_rng(0)
    words = {
        "all words": random.integers(0, 2**32, (GAMES, CELLS)),
        "few words": random.integers(0, 3, (GAMES, CELLS)),  # ties
        "largest words": random.integers(LARGEST - 1, 2**32, (GAMES, CELLS)),  # those of cells outside a set, too
    }[request.param]
    members = random.random((GAMES, CELLS)) < random.choice([0.0, 0.1, 0.5, 1.0], (GAMES, 1))
    sets = (members.astype(np.uint64) << np.arange(CELLS, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    return sets, words.astype(np.uint32), random.integers(0, 12, GAMES).astype(np.int32)


def expected(sets: np.ndarray, words: np.ndarray, how_many: np.ndarray) -> list[int]:
    """The ``how_many`` cells of each set with the smallest words, the lower ones at ties, as sets."""
    picked = []
    for cells, row, number in zip(sets.tolist(), words.tolist(), how_many.tolist(), strict=True):
        order = sorted((word, cell) for cell, word in enumerate(row) if cells >> cell & 1)
        picked.append(sum(1 << cell for _, cell in order[:number]))
    return picked


@pytest.mark.parametrize("platform", ["cpu", "tpu"])
def test_the_cells_with_the_smallest_words_are_picked(drawn: tuple[Any, ...], platform: str) -> None:
    sets, words, how_many = drawn
    paired = words[:, PAIRED].transpose(1, 2, 0)
    shape = (*PAIRED.shape, -1, 128) if platform == "tpu" else paired.shape
    with jax.enable_x64(True), tracing_for(platform):
        picks: Callable[..., Any] = jax.jit(
            lambda cells, words, number: (pick(Cells(cells), words), pick_several(Cells(cells), words, number, 11))
        )
        one, several = picks(sets, jnp.asarray(paired.reshape(shape)), how_many)
    assert one.word.tolist() == expected(sets, words, np.ones_like(how_many))
    assert several.word.tolist() == expected(sets, words, how_many)


@pytest.mark.parametrize("platform", ["cpu", "tpu"])
def test_cells_have_the_words_of_their_indices(platform: str) -> None:
    low = np.arange(GAMES, dtype=np.uint32)
    with tracing_for(platform):
        draw = jax.jit(lambda low, high, event: cell_words(EventDraws(Seed(low, high), event), Site.WARP, 3))
        words = np.asarray(draw(low, low + 7, low % 5)).reshape(*PAIRED.shape, GAMES)
    for cell, game in product((0, 1, 17, 34, 35), range(0, GAMES, 5)):
        expected = word(game | (game + 7) << 32, game % 5, Site.WARP, 3 * CELLS + cell)
        assert words[cell % 2, cell // 2, game] == expected, (cell, game)


@pytest.mark.long
def test_games_are_the_same() -> None:
    def play(states: Any, key: Array) -> Any:  # noqa: ANN401 - a tree
        def step(carry: tuple[Any, Array], _: None) -> tuple[tuple[Any, Array], Any]:
            states, key = carry
            key, drawn = jax.random.split(key)
            masks = jax.vmap(ENV.mask)(states)
            played = jax.vmap(ENV.step_autoreset)(states, random_valid_actions(drawn, masks))
            return (played.state, key), (masks, played, jax.vmap(ENV.compact)(played.state))

        (states, _), played = jax.lax.scan(step, (states, key), None, length=64)
        return states, played

    results = []
    for platform in ("cpu", "tpu"):
        with tracing_for(platform):
            states = jax.jit(lambda seeds: jax.vmap(ENV.reset)(seeds))(ENV.initial_seeds(0, 1024))
            results.append(jax.jit(lambda states: play(states, jax.random.key(0)))(states))
    jax.tree.map(np.testing.assert_array_equal, *results)
