"""Adapters of JAX environments made of pure functions: Gymnax, pgx, Jumanji and others."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rlparity.adapters.draws import draws_of, key_of
from rlparity.adapters.observations import as_array, declared, range_of
from rlparity.adapters.single import TAKEN, Outcome, SingleGame
from rlparity.engine import State
from rlparity.errors import EngineError


class PytreeGame(SingleGame):
    """One game of an environment of pure functions, which are compiled with `jax.jit` unless they already are.

    ``reset`` gets the key ``key_of(seed, 0)``, the step of turn n (the first is 1) ``key_of(seed, n)``. With
    ``shared_draws`` both get ``rlparity.adapters.draws.Draws`` instead of a key, with ``draws`` its result.

    Args:
        reset: ``reset(key) -> (observation, state)``.
        step: ``step(key, state, action) -> (observation, state, reward, terminated)``, without auto-reset; a flag
            ``truncated`` may follow. An observation is an array, or a dict, tuple or dataclass of arrays.
        observe: ``observe(state) -> observation``, used after ``push``; None: a state is the seed and the actions.
        mask: ``mask(state) -> (actions,) bool``; None: all actions are valid.
        to_dict: converts the state (a pytree of numpy arrays) to JSON values; by default each leaf under its path.
        from_dict: ``from_dict(dict, state) -> state``, the inverse of ``to_dict``; its ``state`` is a template.
        shared_draws: share random numbers with a ``GymGame`` that has ``shared_draws``.
        draws: ``draws(seed, turn)`` returns the random numbers of a turn, such as those of an original; 0 is the reset.
        time_limit: number of actions after which a game is truncated, as by ``TimeLimit``; 0: never.
        declares: spaces and other declarations, as ``observations.declared`` returns, to compare with the other side.

    Without ``to_dict``, or with shared or given draws, a state also holds the number of actions ``taken``.
    """

    def __init__(
        self,
        reset: Callable[..., Any],
        step: Callable[..., Any],
        observe: Callable[..., Any] | None = None,
        mask: Callable[..., Any] | None = None,
        to_dict: Callable[[Any], State] | None = None,
        from_dict: Callable[[State, Any], Any] | None = None,
        *,
        shared_draws: bool = False,
        draws: Callable[[int, int], Any] | None = None,
        time_limit: int = 0,
        declares: Mapping[str, Any] | None = None,
    ) -> None:
        self._draws: Any = draws_of if shared_draws else draws or compiled(key_of)
        self._counts_turns = shared_draws or draws is not None or to_dict is None
        self._time_limit = time_limit
        self._reset, self._step = compiled(reset), compiled(step)
        self._observe, self._mask = observe and compiled(observe), mask and compiled(mask)
        self._to_dict, self._from_dict = to_dict, from_dict or with_leaves
        self._declares = {**({"time_limit": time_limit} if time_limit else {}), **(declares or {})}
        self.has_states = observe is not None

    def begin(self, seed: int) -> Any:
        import jax

        self._seed, self._taken = seed, 0
        observation, self._state = self._reset(self._draws(seed, 0))
        return jax.device_get(observation)

    def act(self, action: Any) -> Outcome:
        import jax

        self._taken += 1
        observation, self._state, *rest = self._step(self._draws(self._seed, self._taken), self._state, action)
        observation, *rest = jax.device_get((observation, *rest))
        if len(rest) not in (2, 3) or any(isinstance(part, Mapping) for part in rest):
            wanted = "give observation, state, reward, terminated and perhaps truncated"
            raise EngineError(f"its step gives {2 + len(rest)} values, or infos among them: {wanted}")
        reward, terminated, *truncated = rest
        is_late = 0 < self._time_limit <= self._taken
        is_cut = np.logical_or(truncated[0], is_late) if truncated else is_late
        return Outcome(observation, reward if np.ndim(reward) else float(reward), terminated, is_cut)

    def declarations(self) -> Mapping[str, Any]:
        return self._declares

    def mask(self) -> ArrayLike | None:
        return None if self._mask is None else np.asarray(self._mask(self._state))

    def pull(self) -> State:
        import jax

        state = jax.device_get(self._state)
        values = self._to_dict(state) if self._to_dict else leaves_of(state)
        return {**values, TAKEN: self._taken} if self._counts_turns else values

    def push(self, state: State) -> Any:
        assert self._observe is not None
        self.begin(state["seed"])
        self._taken = state.get(TAKEN, 0)
        self._state = self._from_dict(state, self._state)
        return as_array(self._observe(self._state)).copy()

    def origins(
        self, before: State, action: Any, states: tuple[State, State], fields: Sequence[str]
    ) -> Sequence[tuple[Path, int]]:
        if not self.has_states:
            return ()
        import jax

        from rlparity.adapters.jax_lines import lines_that_differ

        def play(state: Any, action: Any) -> tuple[Any, dict[str, Any]]:
            observation, state, reward, *ends = self._step(draws, state, action)
            shown = {"reward": reward, **dict(zip(("terminated", "truncated"), ends, strict=False))}
            return state, shown | {"observation": observation}

        game = copy(self)  # leave this game's own state alone
        game.begin(before["seed"])
        form, turn = game._state, before.get(TAKEN, 0) + 1
        draws = jax.tree.map(jax.numpy.asarray, self._draws(before["seed"], turn))
        start, own, other = (self._from_dict(state, jax.device_get(form)) for state in (before, *states))
        return lines_that_differ(play, (start, action), (own, other), fields)


@lru_cache(256)  # all games of an environment share the compiled functions
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the function in `jax.jit`, unless it already is."""
    import jax

    return function if isinstance(function, jax.stages.Wrapped) else jax.jit(function)


def gymnax_game(env: Any, params: Any, **options: Any) -> Callable[[], PytreeGame]:
    """Factory of games of a Gymnax environment; ``options`` are those of ``PytreeGame``."""

    def step(key: Any, state: Any, action: Any) -> tuple[Any, ...]:
        observation, state, reward, done, _ = env.step_env(key, state, action, params)
        # environments written for older versions have one flag for termination and truncation
        cut = (env.is_truncated(state, params),) if hasattr(env, "is_truncated") else ()
        return observation, state, reward, done, *cut

    functions = {"reset": lambda key: env.reset_env(key, params), "observe": lambda state: env.get_obs(state, params)}
    declares = declared("gymnax", env.observation_space(params), env.action_space(params))
    if (limit := getattr(params, "max_steps_in_episode", None)) is not None:
        declares["time_limit"] = int(limit)
    return lambda: PytreeGame(step=step, **{**functions, "declares": declares, **options})


def pgx_game(env: Any, **options: Any) -> Callable[[], PytreeGame]:
    """Factory of games of a pgx environment; ``options`` are those of ``PytreeGame``.

    Observations are dicts of ``observation``, that of the player to move, and ``current_player``.
    """

    def observe(state: Any) -> dict[str, Any]:
        return {"observation": state.observation, "current_player": state.current_player}

    def reset(key: Any) -> tuple[Any, ...]:
        state = env.init(key)
        return observe(state), state

    def step(key: Any, state: Any, action: Any) -> tuple[Any, ...]:
        state = env.step(state, action, key)
        reward = state.rewards if env.num_players > 1 else state.rewards[0]
        return observe(state), state, reward, state.terminated, state.truncated

    functions = {"observe": observe, "mask": lambda state: state.legal_action_mask}
    return lambda: PytreeGame(reset, step, **functions | options)


def jumanji_game(
    env: Any, show: Callable[[Any], Any] = lambda observation: observation, **options: Any
) -> Callable[[], PytreeGame]:
    """Factory of games of a Jumanji environment; ``options`` are those of ``PytreeGame``.

    All fields of the observation are compared unless ``show`` selects some. Give ``observe`` to compare states: Jumanji
    has no such function.
    """

    def step(_: Any, state: Any, action: Any) -> tuple[Any, ...]:
        state, timestep = env.step(state, action)
        is_cut = timestep.last() & (timestep.discount > 0)
        return show(timestep.observation), state, timestep.reward, timestep.last() & ~is_cut, is_cut

    def reset(key: Any) -> tuple[Any, ...]:
        state, timestep = env.reset(key)
        return show(timestep.observation), state

    declares = declared("dm_env", env.observation_spec, env.action_spec, range_of(env.reward_spec))
    return lambda: PytreeGame(reset, step, **{"declares": declares, **options})


def functional_game(env: Any, params: Any = None, **options: Any) -> Callable[[], PytreeGame]:
    """Factory of games of a functional Gymnasium environment; ``options`` are those of ``PytreeGame``."""
    import jax.numpy as jnp

    def observe(state: Any) -> Any:
        return env.observation(state, None, params)

    def reset(key: Any) -> tuple[Any, Any]:
        state = env.initial(key, params)
        return observe(state), state

    def step(key: Any, state: Any, action: Any) -> tuple[Any, ...]:
        after = env.transition(state, action, key, params)
        reward = jnp.float32(env.reward(state, action, after, key, params))
        return observe(after), after, reward, jnp.bool_(env.terminal(after, key, params))

    return lambda: PytreeGame(reset, step, **{"observe": observe} | options)


def jax_env_game(env: Any, **options: Any) -> Callable[[], PytreeGame]:
    """Factory of games of a ``rlworldkit.jax.env.JaxEnv``; ``options`` are those of ``PytreeGame``.

    The environment is reset with the seed of the game and draws by itself: ``rlworldkit.jax.threefry.Draws`` has the
    same words as ``rlparity.adapters.draws`` at the same addresses. States are those of its ``to_dict``, without seed.
    """
    import jax.numpy as jnp

    def reset(draws: Any) -> tuple[Any, Any]:
        state = env.reset(jnp.stack(draws[:2]))
        return env.observe(state), state

    def step(_: Any, state: Any, action: Any) -> tuple[Any, ...]:
        played = env.step(state, jnp.int32(action))
        return env.observe(played.final), played.final, played.reward, played.terminated, played.truncated

    functions = {"observe": env.observe, "mask": env.mask, "to_dict": env.to_dict}
    functions |= {"from_dict": lambda values, _: env.from_dict(values), "shared_draws": True}
    return lambda: PytreeGame(reset, step, **functions | options)


def leaves_of(state: Any) -> State:
    """Convert each leaf of a state to JSON values under its path, such as ``player.hp``."""
    import jax

    leaves, _ = jax.tree_util.tree_flatten_with_path(state)
    return {jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf).tolist() for path, leaf in leaves}


def with_leaves(values: State, state: Any) -> Any:
    """Restore a state from its leaves, with the structure and dtypes of ``state``; the inverse of ``leaves_of``."""
    import jax

    def leaf_of(path: Any, old: Any) -> Any:
        return np.asarray(values[jax.tree_util.keystr(path, simple=True, separator=".")], np.asarray(old).dtype)

    return jax.tree_util.tree_map_with_path(leaf_of, state)
