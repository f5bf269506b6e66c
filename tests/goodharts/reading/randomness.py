"""The draws made from random words (G10), which are HackMatrix' (R4): its tests have the generator in plain Python."""

from tests.hackmatrix.rules.randomness import WORD, below, key_of, threefry

FOOD_COUNT, POISON_COUNT, PLACE, REAPPEAR, RESPAWN = 1, 2, 3, 4, 5

Pair = tuple[int, int]


def word(key: Pair, event: int, site: int, index: int) -> int:
    """The random word at an address (G10)."""
    return threefry(key, (event, site * 65536 + index // 2))[index % 2]


def from_range(drawn: int, low: int, high: int) -> int:
    """From a word, low + below (high − low + 1) (G10)."""
    return low + below(drawn, high - low + 1)


def key_of_game(seed: int, game: int) -> Pair:
    """The key of game ``game`` in a run with ``seed`` (G10)."""
    return threefry(key_of(seed), (WORD, 1 + game))
