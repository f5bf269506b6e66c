"""Many games of the JAX engine: jitted batch functions, and numpy arrays at the border."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hackmatrix import jax_env
from hackmatrix.games.rows import NUM_FACTS, Flag, Rows
from hackmatrix.jax_env.state import State, choose

Slots = NDArray[np.intp]


class _Seen(NamedTuple):
    """Rows as arrays of JAX; seeds are pairs of words."""

    seeds: Array
    components: Array
    facts: Array
    observation: Array
    mask: Array
    terminated: Array


class JaxGames:
    """``len(seeds)`` games, in slots 0 … n − 1, that start from ``seeds``, uint64 (n,); see ``engines.Games``."""

    def __init__(self, seeds: NDArray[np.uint64]) -> None:
        self._seeds = seeds.copy()
        self._state, seen = _reset(jax_env.seed_pairs(seeds))
        self.opened = _rows(seen)
        self._begun: tuple[State, _Seen] | None = None

    def send_step(self, actions: NDArray[np.int32]) -> None:
        """Begin one action (n,) in every game: JAX dispatches it and returns."""
        self._begun = _step(self._state, actions)

    def receive_step(self) -> Rows:
        """The rows (n) of the step begun."""
        assert self._begun is not None, "receive_step without send_step"
        self._state, seen = self._begun
        self._begun = None
        return _rows(seen)

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> Rows:
        """Start new games from seeds (k,) in these slots."""
        all_seeds = np.zeros(len(self._seeds), np.uint64)
        all_seeds[slots] = seeds
        self._state, seen = _reset_where(self._state, jax_env.seed_pairs(all_seeds), self._chosen(slots))
        return _rows(seen, slots)

    def restart(self, slots: Slots) -> Rows:
        """Start in these slots the games that follow by R6."""
        self._state, seen = _restart(self._state, self._chosen(slots))
        return _rows(seen, slots)

    def get_states(self, slots: Slots | None = None) -> list[dict[str, Any]]:
        """The complete states of these slots, or of all, as the dicts S of the protocol."""
        host: State = jax.device_get(self._state)
        chosen = range(len(self._seeds)) if slots is None else slots
        return [jax_env.get_state(jax.tree.map(lambda leaf, slot=slot: leaf[slot], host)) for slot in chosen]

    def set_states(self, states: Sequence[dict[str, Any]], slots: Slots) -> Rows:
        """Put states (k) into slots (k,), all or, when one raises StateRefused, none."""
        given = [jax_env.set_state(state) for state in states]

        def placed(old: Array, *new: Array) -> NDArray[Any]:
            leaf = np.array(old)
            leaf[slots] = new
            return leaf

        self._state = jax.tree.map(placed, self._state, *given)
        return _rows(_see(self._state), slots)

    def floats(self, rows: Rows) -> NDArray[np.float32]:
        """The observations of rows (r), float32 (r, 1545), in an array of their own."""
        return np.array(rows.observation)

    def close(self) -> None:
        """Nothing: the games are arrays."""

    def _chosen(self, slots: Slots) -> NDArray[np.bool_]:
        chosen = np.zeros(len(self._seeds), np.bool_)
        chosen[slots] = True
        return chosen


def _rows(seen: _Seen, slots: Slots | slice = slice(None)) -> Rows:
    seeds, *rest = (np.asarray(array)[slots] for array in seen)
    return Rows(np.ascontiguousarray(seeds).view(np.uint64)[:, 0], *rest)


def _see(state: State, result: jax_env.StepResult | None = None) -> _Seen:
    """What can be seen of games (n), and what the step gave that led there."""
    games = state.now.stage.shape[0]
    flags = jnp.zeros(games, jnp.uint32)
    if result is not None:
        for flag in (Flag.INVALID_ACTION, Flag.STAGE_COMPLETE, Flag.DEATH, Flag.VICTORY):
            flags += getattr(result, flag.name.lower()) * jnp.uint32(flag)
    facts = [state.now.stage, state.now.score, state.now.hp, state.now.turn]
    columns = [*(fact.astype(jnp.uint32) for fact in facts), flags]
    assert len(columns) == NUM_FACTS
    return _Seen(
        seeds=jnp.stack(state.seed, axis=-1),
        components=jnp.zeros((games, len(jax_env.REWARD_NAMES)), jnp.int32) if result is None else result.components,
        facts=jnp.stack(columns, axis=-1),
        observation=jax.vmap(jax_env.observe)(state),
        mask=jax.vmap(jax_env.mask)(state),
        terminated=jnp.zeros(games, bool) if result is None else result.terminated,
    )


@jax.jit
def _reset(seeds: Array) -> tuple[State, _Seen]:
    state = jax.vmap(jax_env.reset)(seeds)
    return state, _see(state)


@jax.jit
def _reset_where(state: State, seeds: Array, wanted: Array) -> tuple[State, _Seen]:
    state = choose(wanted, jax.vmap(jax_env.reset)(seeds), state)
    return state, _see(state)


@jax.jit
def _restart(state: State, wanted: Array) -> tuple[State, _Seen]:
    state = jax.vmap(jax_env.restart)(state, wanted)
    return state, _see(state)


@jax.jit
def _step(state: State, actions: Array) -> tuple[State, _Seen]:
    state, result = jax.vmap(jax_env.step)(state, actions)
    return state, _see(state, result)
