"""The state of a game: planes over the cells and a few scalars (A3-A7, P-UNDO).

There are no lists of entities, so nothing can overflow. One game takes ``state_bytes()`` bytes (under
1,000), history included. Every leaf has the batch shape: a scalar for one game, ``(games,)`` for many.
Between steps each set of cells is stored as two words (``WordPair``).
"""

import re
from functools import cache
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.bitboard import EMPTY, Cells, Number, to_pairs
from rlworldkit.jax.threefry import Seed

# NumPy scalars are arrays to JAX, but not to the type checker
_U32, _I32, _BOOL = cast(Array, np.uint32(0)), cast(Array, np.int32(0)), cast(Array, np.bool_(False))


def _up_to(most: int) -> Number:
    """A number per cell, 0 everywhere, with as many planes as values 0..most need."""
    return (EMPTY,) * most.bit_length()


class Snapshot(NamedTuple):
    """Everything that P-UNDO records: a state without history, seed and event number. By default all is 0."""

    # the player (A7)
    player: Array = _U32
    """Cell index (uint32)."""
    hp: Array = _I32
    credits: Array = _I32
    energy: Array = _I32
    data_siphons: Array = _I32
    attack_damage: Array = _I32
    score: Array = _I32
    owned_programs: Array = _U32
    """Bit p (uint32) for the p-th row of table P."""
    # the board (A3, A4)
    blocks: Cells = EMPTY
    questions: Cells = EMPTY
    """Blocks that still hide their content."""
    program_blocks: Cells = EMPTY
    """Blocks that hold a program, hidden or not; all other blocks hold data."""
    points: Number = _up_to(tables.MAX_POINTS)
    """Data points of a block."""
    content: Number = _up_to(rules.NUM_PROGRAMS - 1)
    """The program that a block holds, as its row of table P."""
    spawn_count: Number = _up_to(tables.MAX_SPAWN_COUNT)
    """Spawn count of a block."""
    cell_credits: Number = _up_to(tables.MAX_AMOUNT)
    cell_energy: Number = _up_to(tables.MAX_AMOUNT)
    siphoned: Cells = EMPTY
    siphon_centers: Cells = EMPTY
    """Cells from which a siphon was made (`siphon_centre`)."""
    pickups: Cells = EMPTY
    exit: Array = _U32
    """Cell index (uint32)."""
    # enemies (A5) and transmissions (A6), never both in a cell, so they share planes
    enemies: Cells = EMPTY
    transmissions: Cells = EMPTY
    enemy_type: Number = _up_to(len(rules.ENEMIES) - 1)
    """Type of an enemy, or of the enemy that a transmission will become."""
    enemy_hp: Number = _up_to(max(tables.ENEMIES).max_hp)
    stunned: Cells = EMPTY
    from_siphon: Cells = EMPTY
    from_schedule: Cells = EMPTY
    timer: Number = _up_to(tables.MAX_TIMER)
    """Turns that an enemy stays disabled, or turns remaining of a transmission."""
    last_known: Number = _up_to(rules.NUM_CELLS - 1)
    """Last known cell of a cryptog; 0 for everything else."""
    # the stage (B2)
    stage: Array = _I32
    turn: Array = _U32
    """uint32."""
    show_activated: Array = _BOOL
    scheduled_tasks_disabled: Array = _BOOL
    """CALM is on."""
    step_active: Array = _BOOL
    """The next enemy turn is skipped (E1)."""
    atk_plus_uses: Array = _I32
    """Uses of ATK+ in this stage."""
    scheduled_task_interval: Array = _U32
    """Spawn interval (uint32)."""
    next_scheduled_task_turn: Array = _U32
    """uint32."""
    pending_siphon_transmissions: Array = _I32
    closest_approach: Array = _I32
    """Fewest steps to the exit so far in this stage (W1)."""


class State(NamedTuple):
    """One game, complete: the same state and the same actions give the same game (R1)."""

    now: Snapshot
    history: Snapshot
    """The record that UNDO brings back; blank while ``has_history`` is false."""
    has_history: Array
    kills_since_history: Array
    """W3."""
    pickups_since_history: Array
    """W3."""
    seed: Seed
    event_number: Array
    """uint32 (R3)."""


BLANK_SNAPSHOT = Snapshot()
"""All zeros, as NumPy scalars: the history of a game that has none, and the dtype and planes of every leaf."""

BLANK_STATE = to_pairs(
    State(BLANK_SNAPSHOT, BLANK_SNAPSHOT, _BOOL, _I32, _I32, seed=Seed(_U32, _U32), event_number=_U32)
)
"""A whole state of zeros, in the form that is stored between steps (``WordPair``)."""


@cache
def field_of(word: str) -> str:
    """The snapshot field for a word of the protocol: ``data_siphons`` for ``dataSiphons``."""
    return re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", word)


def blank_snapshot(shape: tuple[int, ...]) -> Snapshot:
    """A snapshot of zeros with the given batch shape."""
    return jax.tree.map(lambda leaf: jnp.zeros(shape, leaf.dtype), BLANK_SNAPSHOT)


def state_bytes() -> int:
    """Bytes that one game takes in memory."""
    return sum(leaf.nbytes for leaf in jax.tree.leaves(BLANK_STATE))
