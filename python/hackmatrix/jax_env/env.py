"""The game: reset, step and the step of a trainer with auto-reset (B1, C1-C5, R3, R6).

Functions work on batches, every leaf ``(games,)``. The public functions, and those decorated with ``_on_games``, take
one game; under `vmap` they run the batch code (`batching`).
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import beings, enemy_turn, movement, observation, programs, rewards, siphon, stage
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env.actions import is_over, is_valid, valid_actions
from hackmatrix.jax_env.random import Site, cell_words, pick
from hackmatrix.jax_env.state import Snapshot, State, blank_snapshot
from hackmatrix.jax_env.tables import Action
from rlworldkit.jax.batching import batch_native, choose, computed_once, where_wanted
from rlworldkit.jax.marks import Marks, collecting, mark, words_so_far
from rlworldkit.jax.threefry import EventDraws, Seed, below, next_seed

P = ParamSpec("P")
R = TypeVar("R")
PHASES = (
    *("action (V, S, P)", "turn (E1, E2)", "arrivals (E3)", "moves (E4-E9)", "spawns (E10, E11)", "recovery (E12)"),
    *("stage (B2-B8)", "approach (W1)"),
)
"""The phases of a step, in order."""
Note = Callable[[str, Array, State], State]
"""Callback at the end of a phase: takes its name, the games that ran it and the state after it, which it returns."""
_LEAST_CHUNK, _CHUNK_SHARE = 64, 32
"""Chunk of games that get a stage together: 64, or a 32nd of the batch where that is more; about as many need one."""


class StepResult(NamedTuple):
    """Output of a step, besides the new state."""

    counts: rewards.PriceCounts
    """What the step is paid for (W); ``rewards.components`` multiplies it by the prices."""
    terminated: Array
    """hp 0, victory or an invalid action (C4)."""
    stage_complete: Array
    death: Array
    victory: Array
    invalid_action: Array


_BONUSES = {"credits": 10, "energy": 11, "data_siphons": 1}
"""B1: the bonuses, of which a game gets one."""


def _start_of_game(seed: Seed) -> dict[str, Array]:
    """B1: the player's corner and bonus, under the names of a snapshot."""
    draws = EventDraws(seed, jnp.zeros_like(seed.low))
    corner = bb.index_of(pick(bb.CORNERS, cell_words(draws, Site.START)))
    mark("R5.cell", lambda: jnp.ones(corner.shape, bool))
    bonus = below(draws.word(Site.BONUS, 0), 3)
    mark("R5.below", lambda: jnp.ones(bonus.shape, bool))
    mark("B1.credits", lambda: bonus == 0)
    mark("B1.energy", lambda: bonus == 1)
    mark("B1.siphon", lambda: bonus == 2)
    gifts = {name: jnp.where(bonus == i, jnp.int32(gift), 0) for i, (name, gift) in enumerate(_BONUSES.items())}
    return {"player": corner, **gifts}


def _new_game(seed: Seed, start: Mapping[str, Any]) -> State:
    """A new game before its first stage is generated."""
    shape = seed.low.shape
    blank, zero = blank_snapshot(shape), jnp.zeros(shape, jnp.int32)
    now = blank._replace(**start, hp=zero + rules.MAX_HP, attack_damage=zero + 1, stage=zero + 1)
    return State(now, blank, jnp.zeros(shape, bool), zero, zero, seed, jnp.zeros(shape, jnp.uint32))


def _enter_stage(state: State, wanted: Array) -> State:
    """B2-B8 in the games where ``wanted`` holds: a new board and an empty history."""
    now = state.now
    draws = EventDraws(state.seed, state.event_number)
    needs = stage.Needs(now.player, now.enemies, now.transmissions, now.stage, draws)
    # traced for its shapes only: the marks of this trace must not be collected with those of the game
    shapes, _ = jax.eval_shape(collecting(stage.generate), needs)
    nothing = jax.tree.map(lambda leaf: jnp.zeros(wanted.shape, leaf.dtype), shapes)
    board = where_wanted(wanted, stage.generate, needs, nothing, _LEAST_CHUNK, _CHUNK_SHARE)
    return state._replace(
        now=choose(wanted, stage.enter(now, *board), now),
        history=choose(wanted, blank_snapshot(wanted.shape), state.history),
        has_history=state.has_history & ~wanted,
        kills_since_history=jnp.where(wanted, 0, state.kills_since_history),
        pickups_since_history=jnp.where(wanted, 0, state.pickups_since_history),
    )


def _aim(now: Snapshot, action: Array, program: Array, warped: bb.Cells) -> tuple[beings.AttackEffects, bb.Cells]:
    """The targets of the action, and the cell that a direction leads to (empty when it attacks), before any change."""
    attack, target = movement.move(now, action)
    blow = programs.blow_of(now, program, warped)
    return blow._replace(removed=blow.removed | attack.removed, hit=blow.hit | attack.hit), target


def _act(now: Snapshot, action: Array, valid: Array, draws: EventDraws) -> tuple[Snapshot, Array, Array, Array, Array]:
    """The player's action, its cost included and UNDO's restoring excluded (V, S, P, C3).

    Returns the snapshot after it, kills and pickups (int32), whether it completed the stage (bool), and the amount
    that a siphon missed (int32).
    """
    action = jnp.where(valid, action, -1)
    program = jnp.where(action >= rules.FIRST_PROGRAM, action, -1)
    siphons = action == rules.SIPHON
    is_move = (action >= 0) & (action < rules.SIPHON)
    missed = siphon.missed_by_siphon(now, siphons)

    now = programs.pay(now, action, valid)
    warped = programs.warp_target(now, program, draws)
    blow, entered = computed_once(jnp.any(valid), _aim, now, action, program, warped)
    now = programs.crash_blocks(now, program)
    now, kills = beings.strike(now, blow, is_move)
    now, poly_kills = programs.poly(now, program, draws)
    now = programs.push_or_pull(now, program)
    now = programs.change_cells(now, program)
    now = programs.change_scalars(now, program)
    now = siphon.siphon(now, siphons)

    picked_up = bb.overlaps(entered, now.pickups).astype(jnp.int32)
    destination = entered | warped
    now = now._replace(
        player=jnp.where(bb.is_any(destination), bb.index_of(destination), now.player),
        data_siphons=beings.saturating(now.data_siphons + picked_up),
        pickups=now.pickups & ~entered,
    )
    completed = bb.overlaps(destination, bb.single(now.exit))  # C3
    mark("C3.move", lambda: completed & is_move)
    mark("C3.warp", lambda: completed & ~is_move)
    stage_after = now.stage + completed.astype(jnp.int32)
    mark("C3.fullHP", lambda: completed & (now.hp == rules.MAX_HP))
    mark("C3.victory", lambda: completed & (stage_after == rules.WON_STAGE))
    mark("C5", lambda: completed & (stage_after < rules.WON_STAGE))
    hp = jnp.where(completed, jnp.minimum(now.hp + 1, rules.MAX_HP), now.hp)
    return now._replace(hp=hp, stage=stage_after), kills + poly_kills, picked_up, completed, missed


def _play(given: State, action: Array, note: Note = lambda *phase: phase[2]) -> tuple[State, StepResult, Array]:
    """Play a step except generating the next stage; the last result flags the games that need it (bool)."""
    before, action = given.now, action.astype(jnp.int32)
    valid = is_valid(given, action)
    mark("C1.invalid", lambda: ~valid)
    event_number = given.event_number + valid.astype(jnp.uint32)  # R3
    mark("R3", lambda: valid)
    mark("R3.wrapped", lambda: valid & (event_number == 0))
    draws = EventDraws(given.seed, event_number)
    undone = valid & (action == Action.UNDO)
    waits = action == Action.WAIT
    mark("P-WAIT", lambda: valid & waits)
    ends_turn = valid & ((action <= rules.SIPHON) | waits)  # C2
    mark("C2.turnEnds", lambda: ends_turn)
    mark("C2.turnStays", lambda: valid & ~ends_turn)

    state = programs.keep_history(given, ends_turn, undone)._replace(event_number=event_number)
    now, kills, picked_up, completed, missed = _act(state.now, action, valid, draws)
    state = programs.count_since_history(state, kills, picked_up)._replace(now=now)
    state = note("action (V, S, P)", valid, state)
    now = enemy_turn.enemy_turn(
        state.now, ends_turn & ~completed, draws, lambda name, runs, now: note(name, runs, state._replace(now=now)).now
    )

    events = rewards.StepEvents(
        valid=valid,
        completed=completed,
        undone=undone,
        reset=valid & (action == Action.RESET),
        kills=jnp.where(undone, -given.kills_since_history, kills),  # W3
        pickups=jnp.where(undone, -given.pickups_since_history, picked_up),
        missed=missed,
    )
    counts, closest_approach = rewards.count(before, now, events)
    now = now._replace(closest_approach=closest_approach)
    state = state._replace(now=now)
    victory = completed & (now.stage >= rules.WON_STAGE)  # C4
    mark("C4.victory", lambda: victory)
    death = valid & (now.hp <= 0)
    mark("C4.death", lambda: death)
    mark("C4.invalid", lambda: ~valid)
    mark("C4.afterEnd", lambda: ~valid & is_over(given))
    needs_stage = completed & ~victory
    state = note("approach (W1)", valid & ~needs_stage, state)
    result = StepResult(
        counts=counts,
        terminated=~valid | is_over(state),
        stage_complete=completed,
        death=death,
        victory=victory,
        invalid_action=~valid,
    )
    return state, result, needs_stage


def _restart(state: State, wanted: Array) -> State:
    """R6: new games, their stage not generated yet, in place of those where ``wanted`` holds."""
    seed = next_seed(state.seed)
    mark("R6", lambda: wanted)
    nothing = {"player": jnp.zeros_like(seed.low), **dict.fromkeys(_BONUSES, jnp.zeros(wanted.shape, jnp.int32))}
    start = where_wanted(wanted, _start_of_game, seed, nothing, _LEAST_CHUNK, _CHUNK_SHARE)
    return choose(wanted, _new_game(seed, start), state)


def _on_games(core: Callable[P, R]) -> Callable[P, R]:
    on_one: Callable[P, R] = wraps(core)(batch_native(bb.on_pairs(core)))
    return on_one


@_on_games
def _at_stage(seed: Seed, number: Array) -> State:
    new = _new_game(seed, _start_of_game(seed))
    return _enter_stage(new._replace(now=new.now._replace(stage=number)), jnp.ones(seed.low.shape, bool))


@_on_games
def step(state: State, action: Array) -> tuple[State, StepResult]:
    """One action (int32 scalar). Invalid and out-of-range actions change nothing and terminate (C1)."""
    state, result, needs_stage = _play(state, action)
    return _enter_stage(state, needs_stage), result


@_on_games
def phases(state: State, action: Array) -> dict[str, tuple[Array, State, Marks]]:
    """The ``PHASES`` of ``step`` by name: whether each happened (bool scalar), the state after it, the words so far."""
    told: dict[str, tuple[Array, State, Marks]] = {}

    def note(name: str, happened: Array, state: State) -> State:
        # ends fusion: otherwise XLA would compile all earlier phases again for the outputs of each phase
        state = computed_once(jnp.any(state.now.stage > 0), lambda state: state, state)
        told[name] = happened, state, words_so_far()
        return state

    state, _, needs_stage = _play(state, action, note)
    return told | {"stage (B2-B8)": (needs_stage, _enter_stage(state, needs_stage), words_so_far())}


@_on_games
def _step_auto_reset(state: State, action: Array) -> tuple[State, StepResult, State]:
    state, result, needs_stage = _play(state, action)
    # a terminated game generates no stage, so one pass makes the stages of completed and of new games
    restarted = _restart(state, result.terminated)
    return _enter_stage(restarted, needs_stage | result.terminated), result, state


@_on_games
def _step_truncating(state: State, action: Array, truncate: Array) -> tuple[State, StepResult, State]:
    state, result, needs_stage = _play(state, action)
    # a truncated game may have completed a stage in this very step, and its last state shows the new one
    state = _enter_stage(state, needs_stage)
    ended = result.terminated | truncate
    return _enter_stage(_restart(state, ended), ended), result, state


def reset(seed: Array) -> State:
    """A new game with its first stage (B1-B8). ``seed``: uint32 ``(2,)``, low word first."""
    return at_stage(seed, jnp.int32(1))


def at_stage(seed: Array, number: Array) -> State:
    """As ``reset``, but the game begins in stage ``number``, int32 1-8, with the enemies of that stage."""
    seed = jnp.asarray(seed, jnp.uint32)
    return _at_stage(Seed(seed[0], seed[1]), jnp.asarray(number, jnp.int32))


def step_auto_reset(state: State, action: Array, truncate: Array | None = None) -> tuple[State, StepResult, State]:
    """As ``step``; a game that ends is replaced by a new one with the seed of R6.

    ``truncate`` (bool scalar) ends a game from outside. The third value is the state before the
    replacement; it is complete for games that ended and is meant for their last observation.
    """
    return _step_auto_reset(state, action) if truncate is None else _step_truncating(state, action, truncate)


@_on_games
def restart(state: State, wanted: Array) -> State:
    """The game that follows, with the seed of R6, where ``wanted`` (bool scalar) holds, else the game as it is."""
    return _enter_stage(_restart(state, wanted), wanted)


@_on_games
def mask(state: State) -> Array:
    """The valid actions (M1-M3): bool ``(28,)``."""
    return jnp.stack(valid_actions(state), axis=-1)


@_on_games
def compact(state: State) -> Array:
    """The packed observation: uint32 ``(PACKED_SIZE,)``; ``expand`` makes the floats."""
    return jnp.stack(observation.pack(state.now), axis=-1)


def observe(state: State) -> Array:
    """The observation (O1-O4): float32 ``(1545,)`` in [0, 1]."""
    return observation.expand(compact(state))
