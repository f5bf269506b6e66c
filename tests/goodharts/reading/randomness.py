"""Random words and the draws made from them (G10)."""

from functools import lru_cache

WORD = 2**32 - 1
ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
PARITY = 0x1BD11BDA

FOOD_COUNT, POISON_COUNT, PLACE, REAPPEAR, RESPAWN = 1, 2, 3, 4, 5

Pair = tuple[int, int]


@lru_cache(maxsize=2**15)
def threefry(key: Pair, counter: Pair) -> Pair:
    """Threefry-2x32 with 20 rounds, as its authors describe it: rounds by fours, each four with the next keys."""
    schedule = (key[0], key[1], PARITY ^ key[0] ^ key[1])
    left, right = (counter[0] + schedule[0]) & WORD, (counter[1] + schedule[1]) & WORD
    for four in range(5):
        for turn in ROTATIONS[:4] if four % 2 == 0 else ROTATIONS[4:]:
            left = (left + right) & WORD
            right = left ^ ((right << turn) & WORD | right >> (32 - turn))
        left = (left + schedule[(four + 1) % 3]) & WORD
        right = (right + schedule[(four + 2) % 3] + four + 1) & WORD
    return left, right


def word(key: Pair, event: int, site: int, index: int) -> int:
    """The random word at an address (G10)."""
    return threefry(key, (event, site * 65536 + index // 2))[index % 2]


def from_range(drawn: int, low: int, high: int) -> int:
    """From a word, low + below (high − low + 1) (G10), where ``below`` is R5 of HackMatrix."""
    return low + (drawn * (high - low + 1) >> 32)


def key_of_seed(seed: int) -> Pair:
    """A number of 64 bits as a key, its lower word first."""
    return seed & WORD, seed >> 32


def key_of_game(seed: int, game: int) -> Pair:
    """The key of game ``game`` in a run with ``seed`` (G10)."""
    return threefry(key_of_seed(seed), (WORD, 1 + game))
