"""Curricula: a share of the games, ``--curriculum-share``, begins where the curriculum says.

These games are the last ones of a batch, the *curriculum's*; the others, the *natural* ones, never begin anywhere but
at the beginning, and metrics are theirs alone.

``archive`` begins at states that the run itself has reached. After every rollout all games leave their present state in
an archive on the device, by their level (a world says what that is) and by whether they have earned more or less so far
than the mean of the archive's states of their level. The kind to begin from is drawn evenly among those that were ever
reached, so the rarer a place, the more often each of its states is played on, under another chance every time
(``JaxEnv.reseed``). Other curricula are the world's (``JaxEnv.curricula``). Of several, ``archive+late``, each has as
many games as the others.
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
"""States that are kept of each kind, the newest."""
BANDS = 2
"""Kinds of a level: those that have earned less than its mean, and the others."""
_LEAST_CHUNK, _CHUNK_SHARE = 16, 128
"""Games that begin side by side where the world makes them, or one in so many: that many end in a step, or fewer."""
Start = Callable[[Array], State]


class EpisodeState(NamedTuple):
    """Games in progress, leaves (n, …), with the length and the return of their episodes so far."""

    games: State
    steps: Array  # int32
    returns: Array  # float32
    event_counts: Mapping[str, Array] = {}  # int32


class Archive(NamedTuple):
    """Reached states. kept: leaves (kinds × slots, …), a kind's one after the other. written: int32 (kinds,), ever."""

    kept: EpisodeState
    written: Array


def empty_archive(config: TrainConfig, env: JaxEnv, games: State) -> Archive | None:
    """An archive of nothing for games like these, None where the curriculum needs none."""
    if ARCHIVE not in config.curricula:
        return None
    kinds = BANDS * env.levels
    begun = EpisodeState(games, jnp.zeros(1, jnp.int32), jnp.zeros(1))
    blank = jax.tree.map(lambda leaf: jnp.zeros((kinds * SLOTS, *leaf.shape[1:]), leaf.dtype), begun)
    return Archive(blank, jnp.zeros(kinds, jnp.int32))


def archived(env: JaxEnv, archive: Archive, reached: EpisodeState, levels: Array) -> Archive:
    """The archive after all these games, whose levels are int32 (n,), have left their states in it.

    A kind's slots are written in turn. Where more states than slots come at once, those of the last games stay.
    """
    kinds = BANDS * env.levels
    kind = BANDS * levels + (reached.returns >= _mean_returns(archive)[levels])
    of_kind = kind[:, None] == jnp.arange(kinds)
    before = jnp.take_along_axis(jnp.cumsum(of_kind, axis=0), kind[:, None], axis=1)[:, 0] - 1
    place = kind * SLOTS + (archive.written[kind] + before) % SLOTS
    # of several games that write to one place the last does; a scatter of them all would leave that open
    writer = jnp.full(kinds * SLOTS, -1).at[place].max(jnp.arange(len(levels)))
    written = jax.tree.map(lambda leaf: leaf[writer], reached)
    return Archive(choose(writer >= 0, written, archive.kept), archive.written + of_kind.sum(axis=0, dtype=jnp.int32))


def _mean_returns(archive: Archive) -> Array:
    """The mean return so far of each level's states, (levels,); 0 of none."""
    filled = jnp.arange(SLOTS) < archive.written[:, None]
    returns = jnp.where(filled.ravel(), archive.kept.returns, 0.0).reshape(-1, BANDS * SLOTS).sum(axis=1)
    return returns / jnp.maximum(filled.reshape(-1, BANDS * SLOTS).sum(axis=1), 1)


def drawn(archive: Archive, key: Array, count: int) -> EpisodeState:
    """States to begin from, leaves (count, …); they mean nothing while the archive is empty."""
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
    """Games of which those that ``ended``, bool (games,), have just begun anew: the curriculum's begin elsewhere."""
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
