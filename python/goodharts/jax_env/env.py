"""The game: reset, step, restart and respawn (G4-G6), for many games, every leaf ``(n, …)``."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from goodharts.jax_env import grid, rewards
from goodharts.jax_env.placement import first_empty, new_episode
from goodharts.jax_env.random import Site
from goodharts.jax_env.rewards import StepEvents
from goodharts.jax_env.state import State, blank
from goodharts.jax_env.tables import Variant
from goodharts.rules import MOVES, SIZE
from rlworldkit.jax.batching import choose, where_wanted
from rlworldkit.jax.int64_pair import wide
from rlworldkit.jax.marks import mark
from rlworldkit.jax.threefry import Seed

_FEWEST, _SHARE = 8, 128
"""Chunk of games that start an episode, or that ate: 8, or a 128th of the batch where that is more. With random play
one game in sixty does either; a game that only fills up a chunk costs as much as one that needs the work."""
_COLUMNS, _ROWS = np.array(MOVES, np.int32).T


class Outcome(NamedTuple):
    """Outcome of a step (n,) besides the new state: events and truncations bool, shaping int32 (G9).

    ``rewards.components`` pays for the events; a death is also the termination.
    """

    events: StepEvents
    shaping: Array
    truncated: Array


def reset(variant: Variant, key: Seed) -> State:
    """New games with these keys, their first placement drawn at event 0 (G3, G10)."""
    games: State = jax.tree.map(jnp.asarray, blank(len(key.low)))
    return _begun(variant, games._replace(key=key), jnp.ones(key.low.shape, bool))


def step(variant: Variant, state: State, action: Array) -> tuple[State, Outcome]:
    """Take one action (n,) in every game, by G5; a game that ended goes on without a restart."""
    promised = rewards.potential(variant, state)
    state = _moved(state, action)
    state = state._replace(event=state.event + 1, steps=state.steps.plus(jnp.int32(1)))
    ate_food, ate_poison = (grid.holds(plane, state.cell()[:, None])[:, 0] for plane in (state.food, state.poison))
    if variant.is_mortal:
        numbers = variant.numbers
        gained = numbers.food_energy * ate_food + numbers.poison_energy * ate_poison - numbers.step_energy
        state = state._replace(energy=state.energy.plus(gained))
        terminated = ~state.energy.is_positive()
    else:
        mark("G5.frozen", lambda: jnp.ones(action.shape, bool))
        terminated = jnp.zeros(action.shape, bool)
    state = _eaten(state, *_once_known(promised, ate_food, ate_poison))
    reached = rewards.potential(variant, state)
    truncated = jnp.zeros_like(terminated) if variant.evaluating else state.steps.is_at_least(variant.numbers.max_steps)
    terminated, truncated = _once_known(reached, terminated, truncated)
    events = StepEvents(ate_food, ate_poison, terminated)
    _mark_step(variant, events, truncated)
    return state, Outcome(events, rewards.shaping(variant, promised, reached, terminated), truncated)


def restart(variant: Variant, state: State, wanted: Array) -> State:
    """Begin a new episode where ``wanted`` (n,), with the draws of the latest step (G6)."""
    mark("G6.restart", lambda: wanted)
    return _begun(variant, state, wanted)


def respawn(variant: Variant, state: State, wanted: Array) -> State:
    """Let agents live again where ``wanted`` (n,), somewhere else on the same grid (G6)."""
    cell = _first_empty(state, Site.RESPAWN, wanted)
    return choose(wanted, _newborn(variant, state.at(cell)), state)


def _begun(variant: Variant, state: State, wanted: Array) -> State:
    """Begin a new episode where ``wanted``, with the draws of the event as it stands (G3)."""
    episode = lambda draws: _newborn(variant, new_episode(draws, variant))  # noqa: E731
    return where_wanted(wanted, episode, state.draws(), state, _FEWEST, _SHARE)


def _newborn(variant: Variant, state: State) -> State:
    """Begin a new life in every game: the energy of a start, and no steps."""
    return state._replace(energy=wide(variant.numbers.start_energy, state.x), steps=wide(0, state.x))


def _moved(state: State, action: Array) -> State:
    """Move the agents (G4), around the torus."""
    x, y = state.x + jnp.asarray(_COLUMNS)[action], state.y + jnp.asarray(_ROWS)[action]
    mark("G4.move", lambda: jnp.ones(action.shape, bool))
    mark("G4.wrap_column", lambda: (x < 0) | (x >= SIZE))
    mark("G4.wrap_row", lambda: (y < 0) | (y >= SIZE))
    return state._replace(x=x % SIZE, y=y % SIZE)


def _eaten(state: State, ate_food: Array, ate_poison: Array) -> State:
    """Move eaten items to the first cell of the draws that is empty and not the agent's (G5)."""
    here = state.cell()
    # the eaten item still occupies the agent's cell, so that nothing reappears there
    new = _first_empty(state, Site.REAPPEAR, ate_food | ate_poison)
    food, poison = grid.moved(state.food, here, new, ate_food), grid.moved(state.poison, here, new, ate_poison)
    return state._replace(food=food, poison=poison)


def _first_empty(state: State, site: Site, wanted: Array) -> Array:
    """The first empty cell of a site's draws where ``wanted`` (n,), elsewhere the agent's: int32 (n,)."""
    games = jnp.arange(len(wanted))
    return where_wanted(wanted, partial(first_empty, state, site), games, state.cell(), _FEWEST, _SHARE)


def _once_known(number: Array, *flags: Array) -> list[Array]:
    """Make flags (n,) depend on a number (n,) that is never negative, so that XLA computes the number first.

    Only data dependencies order the reads and writes of grids; where the order is open, XLA copies all grids in every
    step.
    """
    return [flag & (number >= 0) for flag in flags]


def _mark_step(variant: Variant, events: StepEvents, truncated: Array) -> None:
    mark("G5.food", lambda: events.ate_food)
    mark("G5.poison", lambda: events.ate_poison)
    mark("G5.truncated", lambda: truncated & ~events.died)
    if variant.is_mortal:
        mark("G5.starved", lambda: events.died & ~events.ate_poison)
        mark("G5.poisoned", lambda: events.died & events.ate_poison)
        mark("G5.terminated_and_truncated", lambda: truncated & events.died)
