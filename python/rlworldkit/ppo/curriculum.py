"""Curricula: a share of the games, ``--curriculum-share``, starts from states that the curriculum chooses.

These games, the last ones of a batch, are the *curriculum games*; the others are the *natural games*. Natural games
always start at the beginning, and only they count in the metrics.

``archive`` starts from states that the run itself has reached. After every rollout the current state of every game is
added to an archive on the device. Its kind is the game's level (defined by the world) and whether the return so far is
below the mean of the archived states of that level. The kind to start from is drawn uniformly among the kinds reached
so far, so that each state of a rare kind is replayed more often, with new random draws every time
(``JaxEnv.reseed``). All other curricula are defined by the world (``JaxEnv.curricula``). Several curricula, as in
``archive+late``, share the curriculum games equally.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import Mesh

from rlworldkit.jax.batching import choose, where_wanted
from rlworldkit.jax.env import JaxEnv, State
from rlworldkit.ppo import parallel
from rlworldkit.ppo.config import ARCHIVE, TrainConfig

SLOTS = 32
"""Number of states that are kept of each kind, the newest ones."""
BANDS = 2
"""Kinds per level: states with a return so far below the level's mean, and the others."""
_LEAST_CHUNK, _CHUNK_SHARE = 16, 128
"""Chunks in which a world's curriculum starts games: 16, or 1/128 of the games, about as many as end in a step."""
Start = Callable[[Array], State]


class EpisodeState(NamedTuple):
    """Games in progress, leaves (n, …), with length, return and event counts of their episodes so far."""

    games: State
    steps: Array  # int32
    returns: Array  # float32
    event_counts: Mapping[str, Array] = {}  # int32


class Archive(NamedTuple):
    """Reached states. kept: leaves (kinds × slots, …), grouped by kind. written: int32 (kinds,), all states written."""

    kept: EpisodeState
    written: Array


def empty_archive(config: TrainConfig, env: JaxEnv, games: State) -> Archive | None:
    """Make an empty archive for games like these; None if the curriculum needs none."""
    if ARCHIVE not in config.curricula:
        return None
    kinds = BANDS * env.levels
    begun = EpisodeState(games, jnp.zeros(1, jnp.int32), jnp.zeros(1))
    blank = jax.tree.map(lambda leaf: jnp.zeros((kinds * SLOTS, *leaf.shape[1:]), leaf.dtype), begun)
    return Archive(blank, jnp.zeros(kinds, jnp.int32))


def archived(env: JaxEnv, archive: Archive, reached: EpisodeState, levels: Array) -> Archive:
    """Add the states of all these games, whose levels are int32 (n,), to the archive.

    The slots of a kind are a ring buffer. If more states than slots arrive at once, those of the last games stay.
    """
    kinds = BANDS * env.levels
    kind = BANDS * levels + (reached.returns >= _mean_returns(archive)[levels])
    of_kind = kind[:, None] == jnp.arange(kinds)
    before = jnp.take_along_axis(jnp.cumsum(of_kind, axis=0), kind[:, None], axis=1)[:, 0] - 1
    place = kind * SLOTS + (archive.written[kind] + before) % SLOTS
    # if several games write to one slot, the last one wins; scattering all of them has no defined order
    writer = jnp.full(kinds * SLOTS, -1).at[place].max(jnp.arange(len(levels)))
    written = jax.tree.map(lambda leaf: leaf[writer], reached)
    return Archive(choose(writer >= 0, written, archive.kept), archive.written + of_kind.sum(axis=0, dtype=jnp.int32))


def _mean_returns(archive: Archive) -> Array:
    """Mean return so far of the archived states of each level, (levels,); 0 for a level without states."""
    filled = jnp.arange(SLOTS) < archive.written[:, None]
    returns = jnp.where(filled.ravel(), archive.kept.returns, 0.0).reshape(-1, BANDS * SLOTS).sum(axis=1)
    return returns / jnp.maximum(filled.reshape(-1, BANDS * SLOTS).sum(axis=1), 1)


def drawn(archive: Archive, key: Array, count: int) -> EpisodeState:
    """Draw states to start from, leaves (count, …); they are meaningless while the archive is empty."""
    kind_key, slot_key = jax.random.split(key)
    is_reached = archive.written > 0
    kind = jax.random.categorical(kind_key, jnp.where(is_reached, 0.0, -jnp.inf), shape=(count,))
    filled = jnp.clip(archive.written[kind], 1, SLOTS)
    slot = jax.random.randint(slot_key, (count,), 0, filled)
    begun: EpisodeState = jax.tree.map(lambda leaf: leaf[kind * SLOTS + slot], archive.kept)
    return begun


def begin(
    config: TrainConfig,
    env: JaxEnv,
    mesh: Mesh | None,
    archive: Archive | None,
    new: EpisodeState,
    ended: Array,
    key: Array,
) -> EpisodeState:
    """Move curriculum games that ``ended``, bool (games,), from their ``new`` state to a start of the curriculum."""
    start_key, chance_key = jax.random.split(key)
    seeds = jax.random.bits(chance_key, (config.num_envs, 2), jnp.uint32)
    number = jnp.arange(config.num_envs)
    begun = new
    for part, name in enumerate(config.curricula):
        wanted = ended & (number >= config.natural_games) & (number % len(config.curricula) == part)
        if archive is not None and name == ARCHIVE:
            from_archive = drawn(archive, start_key, config.num_envs)
            games = parallel.over_games(env.reseed, mesh)(from_archive.games, seeds)
            begun = choose(wanted & jnp.any(archive.written > 0), from_archive._replace(games=games), begun)
        else:
            start = jax.vmap(env.curricula()[name])

            def started(wanted: Array, seeds: Array, games: State, start: Start = start) -> State:
                return where_wanted(wanted, start, seeds, games, _LEAST_CHUNK, _CHUNK_SHARE)

            begun = begun._replace(games=parallel.on_each_device(started, mesh)(wanted, seeds, begun.games))
    return begun
