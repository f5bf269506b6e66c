"""A third engine of Orchard, in JAX: one game as pure functions, which rlworldkit batches."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from rlworldkit.jax.exact import divided

SIDE, CELLS = 4, 16
PICK, REST = 4, 5
GOLDEN = (0x7F4A7C15, 0x9E3779B9)
FACTORS = ((0x1CE4E5B9, 0xBF58476D), (0x133111EB, 0x94D049BB))

Int64Pair = tuple[Array, Array]
"""A 64-bit number as two uint32 words, low first: JAX has no wider ones unless told so."""


class Orchard(NamedTuple):
    """One game; ``fruit`` is the ripeness in each cell, int32 (16,), 0 without an apple."""

    seed: Int64Pair
    walker: Array
    wasp: Array
    hp: Array
    score: Array
    turn: Array
    fruit: Array


def _product(a: Array, b: int) -> Int64Pair:
    """The whole product of two 32-bit numbers."""
    a_low, a_high = a & 0xFFFF, a >> 16
    b_low, b_high = jnp.uint32(b & 0xFFFF), jnp.uint32(b >> 16)
    middle = ((a_low * b_low) >> 16) + ((a_low * b_high) & 0xFFFF) + ((a_high * b_low) & 0xFFFF)
    low = ((a_low * b_low) & 0xFFFF) | (middle << 16)
    return low, a_high * b_high + ((a_low * b_high) >> 16) + ((a_high * b_low) >> 16) + (middle >> 16)


def _times(a: Int64Pair, factor: tuple[int, int]) -> Int64Pair:
    low, high = _product(a[0], factor[0])
    return low, high + a[0] * jnp.uint32(factor[1]) + a[1] * jnp.uint32(factor[0])


def _plus(a: Int64Pair, b: Int64Pair) -> Int64Pair:
    low = a[0] + b[0]
    return low, a[1] + b[1] + (low < a[0]).astype(jnp.uint32)


def _folded(a: Int64Pair, by: int) -> Int64Pair:
    """A number with itself, shifted right, on top."""
    return a[0] ^ ((a[0] >> by) | (a[1] << (32 - by))), a[1] ^ (a[1] >> by)


def mix(value: Int64Pair) -> Int64Pair:
    """O-DRAW: splitmix64's finaliser."""
    return _folded(_times(_folded(_times(_folded(value, 30), FACTORS[0]), 27), FACTORS[1]), 31)


def draw(seed: Int64Pair, turn: Array | int, site: Array | int) -> Array:
    """O-DRAW: the word (uint32) of an address; ``turn`` and ``site`` may be arrays."""
    count = jnp.asarray(64 * turn + site + 1).astype(jnp.uint32)
    low, high = _product(count, GOLDEN[0])
    offset = low, high + count * jnp.uint32(GOLDEN[1])
    return mix(_plus(seed, offset))[1]


def moved(cell: Array, way: Array) -> tuple[Array, Array]:
    """The next cell in a direction, and whether the board goes on there (else the cell is unchanged)."""
    row = cell // SIDE + jnp.array([-1, 1, 0, 0])[way]
    column = cell % SIDE + jnp.array([0, 0, -1, 1])[way]
    inside = (row >= 0) & (row < SIDE) & (column >= 0) & (column < SIDE)
    return jnp.where(inside, SIDE * row + column, cell), inside


def start(seed: Int64Pair) -> Orchard:
    """O-START."""
    cells = jnp.arange(CELLS)
    walker, wasp = ((draw(seed, 0, site) % CELLS).astype(jnp.int32) for site in (1, 2))
    wasp = jnp.where(wasp == walker, (wasp + 1) % CELLS, wasp)
    grows = (draw(seed, 0, 16 + cells) % 4 == 0) & (cells != walker)
    fruit = jnp.where(grows, 1 + draw(seed, 0, 32 + cells) % 3, 0).astype(jnp.int32)
    lonely = (cells == (walker + 5) % CELLS).astype(jnp.int32)
    zero = jnp.int32(0)
    return Orchard(seed, walker, wasp, zero + 2, zero, zero, jnp.where(grows.any(), fruit, lonely))


def is_over(game: Orchard) -> Array:
    """O-END."""
    return (game.hp == 0) | ~(game.fruit > 0).any()


def mask(game: Orchard) -> Array:
    """O-MOVE, O-PICK, O-REST, O-END: bool (6,)."""
    ways = [moved(game.walker, jnp.int32(way))[1] for way in range(4)]
    return jnp.stack([*ways, game.fruit[game.walker] > 0, jnp.bool_(True)]) & ~is_over(game)


class Turn(NamedTuple):
    """Result of a turn: components in thousandths, int32 (3,), and whether the game is over."""

    components: Array
    terminated: Array


def turn(game: Orchard, action: Array, prices: ArrayLike) -> tuple[Orchard, Turn]:
    """One action and the wasp's answer (O-MOVE to O-REWARD). ``prices``: int32 (3,), in thousandths."""
    valid = mask(game)[action]
    picked = jnp.where(valid & (action == PICK), game.fruit[game.walker], 0)
    walker = jnp.where(valid & (action < PICK), moved(game.walker, action % 4)[0], game.walker)
    hp = jnp.where(valid & (action == REST), jnp.minimum(3, game.hp + 1), game.hp)
    count = game.turn + valid
    wasp = jnp.where(valid, moved(game.wasp, (draw(game.seed, count, 0) % 4).astype(jnp.int32))[0], game.wasp)
    stung = valid & (wasp == walker)
    fruit = game.fruit.at[game.walker].add(-picked)
    after = Orchard(game.seed, walker, wasp, hp - stung, game.score + picked, count, fruit)
    components = (jnp.stack([valid, picked, stung]) * jnp.asarray(prices)).astype(jnp.int32)
    return after, Turn(components, is_over(after) | ~valid)


def observation(game: Orchard) -> Array:
    """Float32 (34,), as the plain engine's."""
    cells = jnp.arange(CELLS)
    places = jnp.where(cells == game.walker, 1.0, jnp.where(cells == game.wasp, 0.5, 0.0))
    head = jnp.stack([divided(game.hp, 3), divided(jnp.minimum(game.score, 50), 50)])
    return jnp.concatenate([head, divided(game.fruit, 3), places.astype(jnp.float32)])


def next_seed(game: Orchard) -> Int64Pair:
    """O-NEXT."""
    return mix(game.seed)


def pair(seed: Array) -> Int64Pair:
    """A seed, uint32 (2,), as a wide number."""
    seed = jax.numpy.asarray(seed, jnp.uint32)
    return seed[0], seed[1]
