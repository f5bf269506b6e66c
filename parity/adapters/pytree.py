"""A JAX environment of pure functions as an engine of single games: Gymnax, and whatever else has a pytree as state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from parity.adapters.single import Outcome, SingleGame
from parity.engine import State

TAKEN = "taken"


class PytreeGame(SingleGame):
    """One game of an environment whose functions are jitted here, once for all games that share them.

    Args:
        reset: ``reset(key) -> (observation, state)``.
        step: ``step(key, state, action) -> (observation, state, reward, terminated)``, without auto-reset.
        observe: ``observe(state) -> observation``, after ``push``.
        mask: ``mask(state) -> (actions,) bool``; None: all actions are valid.
        to_dict: the state (a pytree of numpy arrays) as JSON values; by default each leaf under its path, and how many
            actions were ``taken``, from which the key of the next step is derived.
        from_dict: ``from_dict(dict, state) -> state``, where ``state`` shows the form; the reverse of ``to_dict``.
    """

    has_states = True

    def __init__(
        self,
        reset: Callable[..., Any],
        step: Callable[..., Any],
        observe: Callable[..., Any],
        mask: Callable[..., Any] | None = None,
        to_dict: Callable[[Any], State] | None = None,
        from_dict: Callable[[State, Any], Any] | None = None,
    ) -> None:
        self._reset, self._step, self._observe, self._mask = reset, step, observe, mask
        self._to_dict, self._from_dict = to_dict, from_dict or with_leaves

    def begin(self, seed: int) -> ArrayLike:
        import jax

        self._key, self._taken = jax.random.key(seed), 0
        observation, self._state = self._reset(self._key)
        return np.asarray(observation)

    def act(self, action: int) -> Outcome:
        import jax

        self._taken += 1
        key = jax.random.fold_in(self._key, self._taken)
        observation, self._state, reward, terminated = jax.device_get(self._step(key, self._state, action))
        return Outcome(observation, float(reward), bool(terminated), False)

    def mask(self) -> ArrayLike | None:
        return None if self._mask is None else np.asarray(self._mask(self._state))

    def pull(self) -> State:
        import jax

        state = jax.device_get(self._state)
        return self._to_dict(state) if self._to_dict else {**leaves_of(state), TAKEN: self._taken}

    def push(self, state: State) -> ArrayLike:
        self.begin(state["seed"])
        self._taken = state.get(TAKEN, 0)
        self._state = self._from_dict(state, self._state)
        return np.asarray(self._observe(self._state))


def gymnax_game(env: Any, params: Any, **options: Any) -> Callable[[], PytreeGame]:  # noqa: ANN401 - Gymnax's
    """A maker of games of a Gymnax environment; ``options`` are those of ``PytreeGame``."""
    import jax

    def step(key: Any, state: Any, action: int) -> tuple[Any, ...]:  # noqa: ANN401 - pytrees
        observation, state, reward, done, _ = env.step_env(key, state, action, params)
        return observation, state, reward, done

    reset = jax.jit(lambda key: env.reset_env(key, params))
    functions = reset, jax.jit(step), jax.jit(lambda state: env.get_obs(state, params))
    return lambda: PytreeGame(*functions, **options)


def leaves_of(state: Any) -> State:  # noqa: ANN401 - a pytree
    """Each leaf of a state as JSON values under its path, such as ``player.hp``."""
    import jax

    leaves, _ = jax.tree_util.tree_flatten_with_path(state)
    return {jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf).tolist() for path, leaf in leaves}


def with_leaves(values: State, state: Any) -> Any:  # noqa: ANN401 - a pytree
    """The state with these leaves, in the types of ``state``; the reverse of ``leaves_of``."""
    import jax

    def leaf_of(path: Any, old: Any) -> Any:  # noqa: ANN401 - an array
        return np.asarray(values[jax.tree_util.keystr(path, simple=True, separator=".")], np.asarray(old).dtype)

    return jax.tree_util.tree_map_with_path(leaf_of, state)
