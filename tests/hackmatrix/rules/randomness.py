"""Random words (R4, R5, R6), in plain Python."""

from functools import lru_cache

WORD = 2**32 - 1
ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)

START, BONUS, EXIT, BLOCK_COUNT, BLOCK_CELL, QUESTION, DATA, POINTS, PROGRAM, AMOUNT, RESOURCE = range(1, 12)
STAGE_CELL, STAGE_TYPE, SCHEDULE_CELL, SCHEDULE_TYPE, SIPHON_CELL, SIPHON_TYPE = range(12, 18)
WARP, POLY, ORDER, STEP = range(18, 22)


@lru_cache(maxsize=2**16)
def threefry(key: tuple[int, int], counter: tuple[int, int]) -> tuple[int, int]:
    """Threefry-2x32 with 20 rounds (Salmon et al. 2011), both words 32 bits (R4)."""
    keys = (*key, 0x1BD11BDA ^ key[0] ^ key[1])
    x, y = (counter[0] + keys[0]) & WORD, (counter[1] + keys[1]) & WORD
    for done in range(20):
        turn = ROTATIONS[done % 8]
        x = (x + y) & WORD
        y = ((y << turn | y >> (32 - turn)) & WORD) ^ x
        if done % 4 == 3:
            injection = done // 4 + 1
            x = (x + keys[injection % 3]) & WORD
            y = (y + keys[(injection + 1) % 3] + injection) & WORD
    return x, y


def key_of(seed: int) -> tuple[int, int]:
    """The key of a 64-bit seed: its low and its high word (R4)."""
    return seed & WORD, seed >> 32


def word(seed: int, event: int, site: int, index: int) -> int:
    """The random word at an address (R4)."""
    return threefry(key_of(seed), (event, site * 65536 + index // 2))[index % 2]


def below(drawn: int, n: int) -> int:
    """Integer below n (R5)."""
    return drawn * n >> 32


def next_seed(seed: int) -> int:
    """The seed of the game that follows one with ``seed`` (R6)."""
    low, high = threefry(key_of(seed), (WORD, 0))
    return low | high << 32
