"""The game: reset, step and the step of a trainer with auto-reset (B1, C1-C5, P-UNDO, R3, R6).

The functions with a leading underscore work on batches, every leaf ``(games,)``; the public ones on one
game, and under `vmap` they run the batch code (`batching`).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hackmatrix.jax_env import (
    beings,
    enemy_turn,
    movement,
    observation,
    programs,
    random,
    rewards,
    siphon,
    stage,
    tables,
)
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env.actions import is_over, is_valid, note_decision, valid_actions
from hackmatrix.jax_env.batching import batch_native, computed_once, where_wanted
from hackmatrix.jax_env.marks import note
from hackmatrix.jax_env.random import Site
from hackmatrix.jax_env.state import Seed, Snapshot, State, blank_snapshot, choose

_CHUNK = 64
"""Games whose stage is generated side by side; about one in thirty needs one in a step."""


class StepResult(NamedTuple):
    """What a step gave, besides the new state."""

    components: Array
    """The 15 reward components in thousandths (int32, table W)."""
    terminated: Array
    """hp 0, victory or an invalid action (C4)."""
    stage_complete: Array
    death: Array
    victory: Array
    invalid_action: Array


class _Played(NamedTuple):
    """A step up to the point where the next stage would be generated."""

    state: State
    result: StepResult
    needs_stage: Array


# ------------------------------------------------------------------------------------------------ start


class _Start(NamedTuple):
    player: Array
    credits: Array
    energy: Array
    siphons: Array


def _start_of_game(seed: Seed) -> _Start:
    """B1: the player's corner and bonus."""
    event = jnp.zeros_like(seed.low)
    corner = bb.index_of(random.pick(bb.CORNERS, random.cell_words(seed, event, Site.START)))
    bonus = random.below(random.word(seed, event, Site.BONUS, 0), 3)
    note(lambda: {"B1.credits": bonus == 0, "B1.energy": bonus == 1, "B1.siphon": bonus == 2})
    return _Start(corner, 10 * (bonus == 0), 11 * (bonus == 1), 1 * (bonus == 2))


def _new_game(seed: Seed, start: _Start) -> State:
    """A new game before its first stage is generated."""
    shape = seed.low.shape
    blank = blank_snapshot(shape)
    zero = jnp.zeros(shape, jnp.int32)
    now = blank._replace(
        player=start.player,
        hp=zero + tables.MAX_HP,
        credits=start.credits.astype(jnp.int32),
        energy=start.energy.astype(jnp.int32),
        siphons=start.siphons.astype(jnp.int32),
        attack=zero + 1,
        stage=zero + 1,
    )
    return State(now, blank, jnp.zeros(shape, bool), zero, zero, seed, jnp.zeros(shape, jnp.uint32))


def _enter_stage(state: State, wanted: Array) -> State:
    """B2-B8 in the games where ``wanted`` holds: a new board and an empty history."""
    now = state.now
    needs = stage.Needs(now.player, now.enemies, now.transmissions, now.stage, state.seed, state.event)
    nothing = jax.tree.map(lambda leaf: jnp.zeros(wanted.shape, leaf.dtype), jax.eval_shape(stage.generate, needs))
    board = where_wanted(wanted, stage.generate, needs, nothing, _CHUNK)
    return state._replace(
        now=choose(wanted, stage.enter(now, board), now),
        history=choose(wanted, blank_snapshot(wanted.shape), state.history),
        has_history=state.has_history & ~wanted,
        kills=jnp.where(wanted, 0, state.kills),
        pickups=jnp.where(wanted, 0, state.pickups),
    )


def _reset(seed: Seed) -> State:
    state = _new_game(seed, _start_of_game(seed))
    return _enter_stage(state, jnp.ones(seed.low.shape, bool))


# ------------------------------------------------------------------------------------------------- step


def _record(state: State, ends_turn: Array, undone: Array) -> State:
    """P-UNDO: a turn records the state before it; UNDO brings the record back and leaves none."""
    blank = blank_snapshot(ends_turn.shape)
    fresh = ends_turn | undone
    return state._replace(
        now=choose(undone, state.history, state.now),
        history=choose(ends_turn, state.now, choose(undone, blank, state.history)),
        has_history=(state.has_history | ends_turn) & ~undone,
        kills=jnp.where(fresh, 0, state.kills),
        pickups=jnp.where(fresh, 0, state.pickups),
    )


class _Acted(NamedTuple):
    now: Snapshot
    kills: Array
    picked_up: Array
    completed: Array
    missed: siphon.Missed


class _Aim(NamedTuple):
    blow: beings.Strike
    step: bb.Cells
    """The cell that a direction leads to; empty when it attacks."""


def _aim(now: Snapshot, action: Array, program: Array, warped: bb.Cells) -> _Aim:
    """What the action strikes and where it leads, before it changes anything."""
    move = movement.move(now, action)
    blow = programs.blow_of(now, program, warped)
    blow = blow._replace(removed=blow.removed | move.blow.removed, hit=blow.hit | move.blow.hit)
    return _Aim(blow, move.target)


def _act(now: Snapshot, action: Array, valid: Array, seed: Seed, event: Array) -> _Acted:
    """The player's action, its cost included and UNDO's restoring excluded (V, S, P, C3)."""
    action = jnp.where(valid, action, -1)
    program = jnp.where(action >= tables.FIRST_PROGRAM_ACTION, action, -1)
    siphons = action == tables.SIPHON_ACTION
    is_move = (action >= 0) & (action < tables.SIPHON_ACTION)
    missed = computed_once(jnp.any(siphons), siphon.missed_by_siphon, now)
    missed = jax.tree.map(lambda amount: jnp.where(siphons, amount, 0), missed)
    note(
        lambda: {
            "W2.onBlock": siphons & bb.overlaps(bb.single(now.player), now.blocks),
            "W2.missed": missed.credits + missed.energy > 0,
            "W2.best": siphons & (missed.credits + missed.energy == 0),
        }
    )

    now = programs.pay(now, action, valid)
    warped = programs.warp_target(now, program, seed, event)
    programs.note_programs(now, program, warped)
    aim = computed_once(jnp.any(valid), _aim, now, action, program, warped)
    now = programs.crash_blocks(now, program)
    now, kills = beings.strike(now, aim.blow, is_move)
    now, poly_kills = programs.poly(now, program, seed, event)
    now = programs.push_or_pull(now, program)
    now = programs.change_cells(now, program)
    now = programs.change_scalars(now, program)
    now = siphon.siphon(now, siphons)

    destination = aim.step | warped
    picked_up = bb.overlaps(aim.step, now.pickups)
    completed = bb.overlaps(destination, bb.single(now.exit))
    siphons_held = now.siphons + picked_up.astype(jnp.int32)
    stage_after = now.stage + completed.astype(jnp.int32)
    note(
        lambda: {
            "A7.saturated": siphons_held > tables.MAX_COUNTER,
            "C3.move": completed & is_move,
            "C3.warp": completed & ~is_move,
            "C3.fullHP": completed & (now.hp == tables.MAX_HP),
            "C3.victory": completed & (stage_after == tables.WON_STAGE),
            "C5": completed & (stage_after < tables.WON_STAGE),
        }
    )
    now = now._replace(
        player=jnp.where(bb.is_any(destination), bb.index_of(destination), now.player),
        siphons=beings.saturating(siphons_held, tables.MAX_COUNTER),
        pickups=now.pickups & ~aim.step,
        hp=jnp.where(completed, jnp.minimum(now.hp + 1, tables.MAX_HP), now.hp),
        stage=stage_after,
    )
    return _Acted(now, kills + poly_kills, picked_up.astype(jnp.int32), completed, missed)


def _play(state: State, action: Array) -> _Played:
    before, was_over = state.now, is_over(state)
    valid = is_valid(state, action)
    event = state.event + valid.astype(jnp.uint32)  # R3
    undone = valid & (action == tables.UNDO)
    ends_turn = valid & ((action <= tables.SIPHON_ACTION) | (action == tables.WAIT))  # C2

    note_decision(state, action)
    record = state.history
    facts_kills, facts_pickups = -state.kills, -state.pickups  # what UNDO repays (W3)
    state = _record(state, ends_turn, undone)
    acted = _act(state.now, action, valid, state.seed, event)
    now = enemy_turn.enemy_turn(acted.now, ends_turn & ~acted.completed, state.seed, event)

    facts = rewards.Facts(
        valid=valid,
        completed=acted.completed,
        undone=undone,
        reset=valid & (action == tables.RESET),
        kills=jnp.where(undone, facts_kills, acted.kills),
        pickups=jnp.where(undone, facts_pickups, acted.picked_up),
        missed=acted.missed,
    )
    gained, closest = rewards.shaping(before, now, facts)
    now = now._replace(closest=closest)
    since_record = jnp.where(state.has_history, 1, 0)
    counted = state.kills + since_record * acted.kills
    state = state._replace(
        now=now,
        kills=beings.saturating(counted, tables.MAX_COUNTER),
        pickups=beings.saturating(state.pickups + since_record * acted.picked_up, tables.MAX_COUNTER),
        event=event,
    )
    victory = acted.completed & (now.stage >= tables.WON_STAGE)
    death = valid & (now.hp <= 0)
    result = StepResult(
        components=rewards.components(before, now, facts, gained),
        terminated=~valid | is_over(state),
        stage_complete=acted.completed,
        death=death,
        victory=victory,
        invalid_action=~valid,
    )
    note(
        lambda: {
            "A7.saturated": (since_record == 1) & (counted > tables.MAX_COUNTER),
            "C1.invalid": ~valid,
            "C2.turnEnds": ends_turn,
            "C2.turnStays": valid & ~ends_turn,
            "C4.invalid": ~valid,
            "C4.afterEnd": ~valid & was_over,
            "C4.death": death,
            "C4.victory": victory,
            "R3": valid,
            "R3.wrapped": valid & (event == 0),
            "P-UNDO": undone,
            "P-UNDO.record": ends_turn,
            "P-UNDO.unpaid": undone & (record.credits < tables.CREDIT_COST[tables.UNDO]),
        }
    )
    return _Played(state, result, acted.completed & ~victory)


def _step(state: State, action: Array) -> tuple[State, StepResult]:
    played = _play(state, action)
    return _enter_stage(played.state, played.needs_stage), played.result


def _restart(state: State, wanted: Array) -> State:
    """R6: new games, their stage not generated yet, in place of those where ``wanted`` holds."""
    seed = random.next_seed(state.seed)
    nothing = _Start(jnp.zeros_like(seed.low), *(jnp.zeros(wanted.shape, jnp.int32) for _ in range(3)))
    note(lambda: {"R6": wanted})
    start = where_wanted(wanted, _start_of_game, seed, nothing, _CHUNK)
    return choose(wanted, _new_game(seed, start), state)


def _restart_whole(state: State, wanted: Array) -> State:
    return _enter_stage(_restart(state, wanted), wanted)


def _step_auto_reset(state: State, action: Array) -> tuple[State, StepResult, State]:
    state, result, needs_stage = _play(state, action)
    # a terminated game generates no stage, so one pass makes the stages of completed and of new games
    restarted = _restart(state, result.terminated)
    return _enter_stage(restarted, needs_stage | result.terminated), result, state


def _step_truncating(state: State, action: Array, truncate: Array) -> tuple[State, StepResult, State]:
    # a truncated game may have completed a stage in this very step, and its last state shows the new one
    state, result = _step(state, action)
    ended = result.terminated | truncate
    return _enter_stage(_restart(state, ended), ended), result, state


# ----------------------------------------------------------------------------------------------- public

_reset_games = batch_native(_reset)
_step_games = batch_native(_step)
_step_auto_reset_games = batch_native(_step_auto_reset)
_step_truncating_games = batch_native(_step_truncating)
_restart_games = batch_native(_restart_whole)
_mask_games = batch_native(lambda state: jnp.stack(valid_actions(state), axis=-1))
_compact_games = batch_native(lambda state: jnp.stack(observation.pack(state.now), axis=-1))


def seed_pair(seed: int) -> np.ndarray:
    """A 64-bit seed as uint32 ``(2,)``: low word, high word. Raises ``ValueError`` outside 0..2**64-1 (R6)."""
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"seed {seed} is outside 0..2**64-1")
    return np.array([seed & 0xFFFFFFFF, seed >> 32], np.uint32)


def seed_pairs(seeds: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """64-bit seeds ``(n,)`` as uint32 ``(n, 2)``: low word, high word."""
    return np.stack([seeds & np.uint64(0xFFFFFFFF), seeds >> np.uint64(32)], axis=1).astype(np.uint32)


def reset(seed: Array) -> State:
    """A new game with its first stage (B1-B8). ``seed``: uint32 ``(2,)``, low word first."""
    seed = jnp.asarray(seed, jnp.uint32)
    return _reset_games(Seed(seed[0], seed[1]))


def step(state: State, action: Array) -> tuple[State, StepResult]:
    """One action (int32 scalar). Invalid and out-of-range actions change nothing and terminate (C1)."""
    return _step_games(state, jnp.asarray(action, jnp.int32))


def step_auto_reset(state: State, action: Array, truncate: Array | None = None) -> tuple[State, StepResult, State]:
    """As ``step``; a game that ends is replaced by a new one with the seed of R6.

    ``truncate`` (bool scalar) ends a game from outside. The third value is the state before the
    replacement; it is complete for games that ended and is meant for their last observation.
    """
    action = jnp.asarray(action, jnp.int32)
    if truncate is None:
        return _step_auto_reset_games(state, action)
    return _step_truncating_games(state, action, truncate)


def restart(state: State, wanted: Array) -> State:
    """Where ``wanted`` (bool scalar) holds the game that follows, with the seed of R6, else the game as it is."""
    return _restart_games(state, wanted)


def mask(state: State) -> Array:
    """The valid actions (M1-M3): bool ``(28,)``."""
    return _mask_games(state)


def compact(state: State) -> Array:
    """The packed observation: uint32 ``(74,)``; ``expand`` makes the floats."""
    return _compact_games(state)


def observe(state: State) -> Array:
    """The observation (O1-O4): float32 ``(1545,)`` in [0, 1]."""
    return observation.expand(compact(state))


def next_seed(seed: Array) -> Array:
    """The seed of the game after one with this seed (R6); uint32 ``(2,)``."""
    seed = jnp.asarray(seed, jnp.uint32)
    return jnp.stack(random.next_seed(Seed(seed[..., 0], seed[..., 1])), axis=-1)


def trainer_seeds(seed: Array, num_games: int) -> Array:
    """The seeds of a trainer's games (R6): uint32 ``(num_games, 2)``."""
    seed = jnp.asarray(seed, jnp.uint32)
    return jnp.stack(random.trainer_seeds(Seed(seed[0], seed[1]), num_games), axis=-1)
