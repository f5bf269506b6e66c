"""The state of a game: planes over the cells and a few scalars (A3-A7, P-UNDO).

There are no lists of entities, so nothing can overflow. One game takes ``state_bytes()`` bytes (under
1,000), history included. Every leaf has the batch shape: a scalar for one game, ``(games,)`` for many.
From one step to the next its sets of cells are kept as two words each (`halves`).
"""

from typing import NamedTuple, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.bitboard import EMPTY, Cells, Number
from hackmatrix.jax_env.halves import kept
from worldkit.jax.threefry import Seed


class Snapshot(NamedTuple):
    """Everything that P-UNDO records: a state without history, seed and event number."""

    # the player (A7)
    player: Array
    """Cell index (uint32)."""
    hp: Array
    credits: Array
    energy: Array
    data_siphons: Array
    attack_damage: Array
    score: Array
    owned_programs: Array
    """Bit p (uint32) for the p-th row of table P."""
    # the board (A3, A4)
    blocks: Cells
    questions: Cells
    """Blocks that still hide what they hold."""
    program_blocks: Cells
    """Blocks that hold a program, hidden or not; all other blocks hold data."""
    points: Number
    """Data points of a block."""
    content: Number
    """The program that a block holds, as its row of table P."""
    spawn_count: Number
    """Of a block."""
    cell_credits: Number
    cell_energy: Number
    siphoned: Cells
    siphon_centers: Cells
    """Cells from which a siphon was made (`siphon_centre`)."""
    pickups: Cells
    exit: Array
    """Cell index (uint32)."""
    # enemies (A5) and transmissions (A6), never both in a cell, so they share planes
    enemies: Cells
    transmissions: Cells
    enemy_type: Number
    """Of an enemy or of a coming one."""
    enemy_hp: Number
    stunned: Cells
    from_siphon: Cells
    from_schedule: Cells
    timer: Number
    """Turns that an enemy stays disabled, or turns remaining of a transmission."""
    last_known: Number
    """Last known cell of a cryptog; 0 for everything else."""
    # the stage (B2)
    stage: Array
    turn: Array
    """uint32."""
    show_activated: Array
    scheduled_tasks_disabled: Array
    """CALM is on."""
    step_active: Array
    """Whether the next enemy turn is skipped (E1)."""
    atk_plus_uses: Array
    """In this stage."""
    scheduled_task_interval: Array
    """Spawn interval (uint32)."""
    next_scheduled_task_turn: Array
    """uint32."""
    pending_siphon_transmissions: Array
    closest_approach: Array
    """To the exit in this stage (W1)."""


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


Tree = TypeVar("Tree")

# NumPy scalars are arrays to JAX, but not to the type checker
_U32, _I32, _BOOL = cast(Array, np.uint32(0)), cast(Array, np.int32(0)), cast(Array, np.bool_(False))


def _up_to(most: int) -> Number:
    """A number per cell, 0 everywhere, with the planes that 0..most needs."""
    return (EMPTY,) * most.bit_length()


BLANK_SNAPSHOT: Snapshot = Snapshot(
    player=_U32,
    hp=_I32,
    credits=_I32,
    energy=_I32,
    data_siphons=_I32,
    attack_damage=_I32,
    score=_I32,
    owned_programs=_U32,
    blocks=EMPTY,
    questions=EMPTY,
    program_blocks=EMPTY,
    points=_up_to(tables.MAX_POINTS),
    content=_up_to(rules.NUM_PROGRAMS - 1),
    spawn_count=_up_to(tables.MAX_SPAWN_COUNT),
    cell_credits=_up_to(tables.MAX_AMOUNT),
    cell_energy=_up_to(tables.MAX_AMOUNT),
    siphoned=EMPTY,
    siphon_centers=EMPTY,
    pickups=EMPTY,
    exit=_U32,
    enemies=EMPTY,
    transmissions=EMPTY,
    enemy_type=_up_to(len(rules.ENEMIES) - 1),
    enemy_hp=_up_to(max(enemy.max_hp for enemy in tables.ENEMIES)),
    stunned=EMPTY,
    from_siphon=EMPTY,
    from_schedule=EMPTY,
    timer=_up_to(tables.MAX_TIMER),
    last_known=_up_to(rules.NUM_CELLS - 1),
    stage=_I32,
    turn=_U32,
    show_activated=_BOOL,
    scheduled_tasks_disabled=_BOOL,
    step_active=_BOOL,
    atk_plus_uses=_I32,
    scheduled_task_interval=_U32,
    next_scheduled_task_turn=_U32,
    pending_siphon_transmissions=_I32,
    closest_approach=_I32,
)
"""All zeros, as NumPy scalars: the history of a game that has none, and the dtype and planes of every leaf."""

BLANK_STATE = kept(
    State(
        now=BLANK_SNAPSHOT,
        history=BLANK_SNAPSHOT,
        has_history=_BOOL,
        kills_since_history=_I32,
        pickups_since_history=_I32,
        seed=Seed(_U32, _U32),
        event_number=_U32,
    )
)
"""The same of a whole state, as it is kept."""


def blank_snapshot(shape: tuple[int, ...]) -> Snapshot:
    """A snapshot of zeros with the given batch shape."""
    return jax.tree.map(lambda leaf: jnp.zeros(shape, leaf.dtype), BLANK_SNAPSHOT)


def choose(condition: Array, yes: Tree, no: Tree) -> Tree:
    """``yes`` where the condition (bool, batch shape) holds, else ``no``, on every leaf of a pytree."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def state_bytes() -> int:
    """Bytes that one game takes in memory."""
    return sum(leaf.nbytes for leaf in jax.tree.leaves(BLANK_STATE))
