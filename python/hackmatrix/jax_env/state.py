"""The state of a game: planes over the 36 cells and a few scalars (A3-A7, P-UNDO).

There are no lists of entities, so nothing can overflow. One game takes ``state_bytes()`` bytes (under
1,000), history included. Every leaf has the batch shape: a scalar for one game, ``(games,)`` for many.
"""

from typing import NamedTuple, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from hackmatrix.jax_env.bitboard import Cells, Number


class Seed(NamedTuple):
    """A 64-bit seed as two uint32 words (R1)."""

    low: Array
    high: Array


class Snapshot(NamedTuple):
    """Everything that P-UNDO records: a state without history, seed and event number."""

    # the player (A7)
    player: Array
    """Cell index (uint32)."""
    hp: Array
    credits: Array
    energy: Array
    siphons: Array
    """Data siphons held."""
    attack: Array
    score: Array
    programs: Array
    """Owned programs: bit p (uint32) for the p-th row of table P."""
    # the board (A3, A4)
    blocks: Cells
    questions: Cells
    """Blocks that still hide what they hold."""
    program_blocks: Cells
    """Blocks that hold a program, hidden or not; all other blocks hold data."""
    points: Number
    """Data points of a block (4 digits)."""
    content: Number
    """The program of a block, as its row of table P (5 digits)."""
    spawn: Number
    """Spawn count of a block (4 digits)."""
    cell_credits: Number
    cell_energy: Number
    siphoned: Cells
    centres: Cells
    """Cells from which a siphon was made (`siphon_centre`)."""
    pickups: Cells
    exit: Array
    """Cell index (uint32)."""
    # enemies (A5) and transmissions (A6), never both in a cell, so they share planes
    enemies: Cells
    transmissions: Cells
    kind: Number
    """Enemy type (2 digits), of an enemy or of a coming one."""
    enemy_hp: Number
    stunned: Cells
    from_siphon: Cells
    from_schedule: Cells
    timer: Number
    """Turns that an enemy stays disabled, or that a transmission still needs (8 digits)."""
    last_known: Number
    """Last known cell of a cryptog (6 digits); 0 for everything else."""
    # the stage (B2)
    stage: Array
    turn: Array
    """Turn number (uint32)."""
    show: Array
    calm: Array
    step: Array
    """Whether the next enemy turn is skipped (E1)."""
    attack_boosts: Array
    """Uses of ATK+ in this stage."""
    interval: Array
    """Spawn interval (uint32)."""
    next_spawn: Array
    """Next scheduled turn (uint32)."""
    pending: Array
    """Pending siphon spawns."""
    closest: Array
    """Closest approach to the exit in this stage (W1)."""


class State(NamedTuple):
    """One game, complete: the same state and the same actions give the same game (R1)."""

    now: Snapshot
    history: Snapshot
    """The record that UNDO brings back; blank while ``has_history`` is false."""
    has_history: Array
    kills: Array
    """Kills since the record was made (W3)."""
    pickups: Array
    """Pickups since the record was made (W3)."""
    seed: Seed
    event: Array
    """Event number (uint32, R3)."""


Tree = TypeVar("Tree")

# NumPy scalars are arrays to JAX, but not to the type checker
_U32, _I32, _BOOL = cast(Array, np.uint32(0)), cast(Array, np.int32(0)), cast(Array, np.bool_(False))
_NO_CELLS = Cells(_U32, _U32)


def _number(digits: int) -> Number:
    return (_NO_CELLS,) * digits


BLANK_SNAPSHOT: Snapshot = Snapshot(
    player=_U32, hp=_I32, credits=_I32, energy=_I32, siphons=_I32, attack=_I32, score=_I32, programs=_U32,
    blocks=_NO_CELLS, questions=_NO_CELLS, program_blocks=_NO_CELLS, points=_number(4), content=_number(5),
    spawn=_number(4), cell_credits=_number(2), cell_energy=_number(2), siphoned=_NO_CELLS, centres=_NO_CELLS,
    pickups=_NO_CELLS, exit=_U32,
    enemies=_NO_CELLS, transmissions=_NO_CELLS, kind=_number(2), enemy_hp=_number(2), stunned=_NO_CELLS,
    from_siphon=_NO_CELLS, from_schedule=_NO_CELLS, timer=_number(8), last_known=_number(6),
    stage=_I32, turn=_U32, show=_BOOL, calm=_BOOL, step=_BOOL, attack_boosts=_I32, interval=_U32, next_spawn=_U32,
    pending=_I32, closest=_I32,
)  # fmt: skip
"""All zeros, as NumPy scalars: the history of a game that has none, and the dtype of every leaf."""

BLANK_STATE = State(
    now=BLANK_SNAPSHOT,
    history=BLANK_SNAPSHOT,
    has_history=_BOOL,
    kills=_I32,
    pickups=_I32,
    seed=Seed(_U32, _U32),
    event=_U32,
)


def blank_snapshot(shape: tuple[int, ...]) -> Snapshot:
    """A snapshot of zeros with the given batch shape."""
    return jax.tree.map(lambda leaf: jnp.zeros(shape, leaf.dtype), BLANK_SNAPSHOT)


def choose(condition: Array, yes: Tree, no: Tree) -> Tree:
    """``yes`` where the condition (bool, batch shape) holds, else ``no``, on every leaf of a pytree."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def state_bytes() -> int:
    """Bytes that one game takes in memory."""
    return sum(leaf.nbytes for leaf in jax.tree.leaves(BLANK_STATE))
