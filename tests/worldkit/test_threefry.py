"""Addressed words against their published and their own definitions, in plain integers."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.random import threefry_2x32

from worldkit.jax.threefry import Draws, Seed, below, next_seed, trainer_seeds
from worldkit.threefry import seed_pair, seed_pairs, threefry2x32

SEEDS = [0, 1, 7, 2**32 - 1, 2**32, 2**53, 2**64 - 1, 81985529216486895]


def split(seed: int) -> list[int]:
    """Low and high word."""
    return [seed & 0xFFFFFFFF, seed >> 32]


def output(seed: int, counter: tuple[int, int]) -> list[int]:
    """Both words of one output, by JAX's own generator."""
    key, block = jnp.array(split(seed), jnp.uint32), jnp.array(counter, jnp.uint32)
    return np.asarray(threefry_2x32(key, block)).tolist()


@pytest.mark.parametrize(
    ("key", "counter", "words"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_the_published_known_answers(key: tuple[int, int], counter: tuple[int, int], words: tuple[int, int]) -> None:
    low, high, first, second = (jnp.uint32(word) for word in (*key, *counter))
    assert [int(word) for word in threefry2x32(Seed(low, high), (first, second))] == list(words)


def test_a_word_has_one_address_however_it_is_asked_for() -> None:
    draws = Draws(Seed(*map(jnp.uint32, split(SEEDS[-1]))), jnp.uint32(5))
    expected = [output(SEEDS[-1], (5, (9 << 16) + index // 2))[index % 2] for index in range(12, 18)]
    assert [int(draws.word(9, index)) for index in range(12, 18)] == expected
    assert draws.words(9, 6, group=2).tolist() == expected


def test_words_have_the_shape_of_their_batch() -> None:
    seeds = Seed(jnp.arange(3, dtype=jnp.uint32), jnp.zeros(3, jnp.uint32))
    words = Draws(seeds, jnp.uint32([4, 5, 6])).words(1, 8)
    assert words.shape == (8, 3)
    assert int(words[3, 2]) == output(2, (6, (1 << 16) + 1))[1]


def test_an_integer_below_n_is_exact() -> None:
    words = jnp.array([0, 2**32 - 1, 2**31, 214748364, 214748365], jnp.uint32)
    assert below(words, 20).tolist() == [0, 19, 10, 0, 1]
    assert [int(below(jnp.uint32(2**32 - 1), n)) for n in range(1, 37)] == list(range(36))


@pytest.mark.parametrize("seed", SEEDS)
def test_seeds_as_pairs_of_words(seed: int) -> None:
    made = seed_pair(seed)
    assert made.dtype == np.uint32
    assert made.tolist() == split(seed)
    assert seed_pairs(np.array([seed, 1], np.uint64)).tolist() == [split(seed), [1, 0]]


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_of_more_than_64_bits_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match=r"outside 0\.\.2\*\*64-1"):
        seed_pair(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_seeds_that_follow_from_seeds(seed: int) -> None:
    assert [int(word) for word in next_seed(Seed(*map(jnp.uint32, split(seed))))] == output(seed, (2**32 - 1, 0))
    games = trainer_seeds(seed, 5)
    assert games.dtype == jnp.uint32
    assert games.tolist() == [output(seed, (2**32 - 1, 1 + game)) for game in range(5)]
