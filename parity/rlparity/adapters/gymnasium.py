"""Adapters of Gymnasium environments and vector environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rlparity.adapters.draws import SharedGenerator
from rlparity.adapters.observations import as_array, declared, json_of, with_float32
from rlparity.adapters.single import MASK, SEED, TAKEN, NextSeed, Outcome, SingleGame, SingleGames
from rlparity.engine import Array, BatchStep, Slots, State
from rlparity.errors import UsageError
from rlparity.spaces import Box

if TYPE_CHECKING:
    import gymnasium


class GymGame(SingleGame):
    """One game of ``make()``.

    Args:
        make: makes a new environment, without wrappers that draw random numbers, and without ``render_mode="human"``.
        to_dict: returns the complete state of the unwrapped environment as JSON values; or the names of the attributes
            that hold it. None: a state is the seed and the actions since.
        from_dict: ``from_dict(dict, env)`` restores a state in an environment that was just reset. None: it sets the
            attributes that the dict names.
        start: ``start(seed)`` returns a state to begin in instead of the reset's, such as ``starts_of`` gives.
        observe: observes the current state of the unwrapped environment; required with ``to_dict`` and ``start``.
        mask: returns the valid actions of the unwrapped environment; required with ``to_dict`` where the mask is in the
            infos. None: ``action_mask`` of the infos, or the environment's method ``action_masks``.
        shared_draws: replace ``np_random`` by a ``SharedGenerator`` with these ``sites``. States then also hold the
            number of actions ``taken``, which is the step count of a ``TimeLimit`` wrapper, too.
        generator: a replacement of ``np_random`` other than ``SharedGenerator``; its ``begin(seed, turn)`` is called
            before each turn, the reset being turn 0.
        float32: round float64 rewards and observations to float32, for ports to JAX.
        show: ``show(observation)`` returns what is compared of it; the observation space is then not compared.
    """

    def __init__(
        self,
        make: Callable[[], gymnasium.Env[Any, Any]],
        to_dict: Callable[[Any], State] | Sequence[str] | None = None,
        from_dict: Callable[[State, Any], None] | None = None,
        observe: Callable[[Any], Any] | None = None,
        mask: Callable[[Any], ArrayLike] | None = None,
        *,
        shared_draws: bool = False,
        sites: Mapping[str, int] | None = None,
        generator: Any = None,
        start: Callable[[int], State] | None = None,
        float32: bool = False,
        show: Callable[[Any], Any] | None = None,
    ) -> None:
        if observe is None and (to_dict or start):
            raise UsageError("it has to_dict or start alone: give observe, too, which says what a state shows")
        self._env, self._observe, self._float32, self._show = make(), observe, float32, show
        self._generator = SharedGenerator(sites) if shared_draws else generator
        self._seed = self._taken = 0
        if self._env.render_mode == "human":
            self._env.close()
            raise UsageError("its environment opens a window: make it without render_mode='human'")
        self._to_dict = to_dict if to_dict is None or callable(to_dict) else partial(_attributes, names=to_dict)
        self._from_dict, self._start = from_dict or _set_attributes, start
        self._inner: Any = self._env.unwrapped
        self._first = _first_action(self._env.action_space)
        self.has_states = to_dict is not None
        self._mask = mask or getattr(type(self._inner), "action_masks", None)
        self.info = {}

    def begin(self, seed: int) -> Any:
        self._seed, self._taken = seed, 0
        self._draw_next()
        observation, self.info = self._env.reset(seed=None if self._generator else seed)
        if self._start and self._observe:
            self._from_dict(self._start(seed), self._inner)
            observation = self._observe(self._inner)
        return self._shown(observation)

    def _draw_next(self) -> None:
        """Set the generator to the words of the current turn."""
        if self._generator:
            self._generator.begin(self._seed, self._taken)
            self._inner.np_random = self._generator

    def act(self, action: Any) -> Outcome:
        self._taken += 1
        self._draw_next()
        step: tuple[Any, ...] = self._env.step(action + self._first if self._first else action)
        observation, reward, terminated, truncated, self.info = step
        reward = np.float32(reward) if self._float32 else reward
        return Outcome(self._shown(observation), reward if np.ndim(reward) else float(reward), terminated, truncated)

    def _shown(self, observation: Any) -> Any:
        observation = self._show(observation) if self._show else observation
        return with_float32(as_array(observation)) if self._float32 else observation

    def mask(self) -> ArrayLike | None:
        return self._mask(self._inner) if self._mask else (self.info or {}).get(MASK)

    def declarations(self) -> Mapping[str, Any]:
        values = _declared(self._env, self._env.observation_space, self._env.action_space)
        if self._show:
            del values["observation_space"]
        return values

    def pull(self) -> State:
        assert self._to_dict is not None
        return self._to_dict(self._inner) | ({TAKEN: self._taken} if self._generator else {})

    def push(self, state: State) -> Any:
        assert self._observe is not None
        self._env.reset()  # an environment that has ended would refuse to step
        self._seed, self._taken = state[SEED], state.get(TAKEN, 0)
        env: Any = self._env
        while env is not self._inner:
            if "_elapsed_steps" in vars(env):  # Gymnasium's TimeLimit
                env._elapsed_steps = self._taken
            env = env.env
        self._from_dict(state, self._inner)
        self.info = {}
        return as_array(self._shown(self._observe(self._inner))).copy()

    def close(self) -> None:
        self._env.close()


def _attributes(env: Any, names: Sequence[str]) -> State:
    return {name: json_of(getattr(env, name), named=False) for name in names}


def _set_attributes(state: State, env: Any) -> None:
    """Set attributes of an environment, each converted to its current type."""
    for name, value in state.items():
        if name in (SEED, TAKEN):
            continue
        old = getattr(env, name)
        setattr(env, name, np.array(value, old.dtype) if isinstance(old, np.ndarray) else type(old)(value))


class VectorGames(SingleGames):
    """Engine of one vector environment ``make(games)``, which is compared without states.

    It must not auto-reset (``autoreset_mode=AutoresetMode.DISABLED``), and its ``reset`` must take a list of seeds and
    the option ``reset_mask``, as those of ``gymnasium.make_vec`` do. Setting a state replays the actions of all games.
    """

    def __init__(
        self,
        games: int,
        make: Callable[[int], gymnasium.vector.VectorEnv[Any, Any, Any]],
        actions: int | Box,
        next_seed: NextSeed,
    ) -> None:
        self._env: Any = make(games)
        mode = self._env.metadata.get("autoreset_mode")
        if getattr(mode, "name", mode) != "DISABLED":
            self._env.close()
            raise UsageError("its games restart by themselves: make it with autoreset_mode=AutoresetMode.DISABLED")
        self._first = _first_action(self._env.single_action_space)
        self._rows = [VectorRow() for _ in range(games)]
        super().__init__(games, iter(self._rows).__next__, actions, next_seed)

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> Array:
        self._seeds[slots] = seeds
        nothing = np.zeros(self.games)
        observation, infos = self._begin(slots)
        self._show("reset", slots, observation, nothing, nothing, nothing, infos)
        return super().reset(seeds, slots)

    def _begin(self, slots: Slots) -> tuple[Any, Any]:
        mask = np.zeros(self.games, np.bool_)
        mask[slots] = True
        return self._env.reset(seed=self._seeds.tolist(), options=None if mask.all() else {"reset_mask": mask})

    def _show(
        self, call: str, slots: Slots, observation: Any, reward: Any, terminated: Any, truncated: Any, infos: Any
    ) -> None:
        shown = as_array(_batched(self._env.single_observation_space, observation), axes=1).copy()
        self._demand_form(shown.dtype, shown.shape[1:], call)
        for slot in slots:
            outcome = Outcome(shown[slot], float(reward[slot]), terminated[slot], truncated[slot])
            self._rows[slot].outcome, self._rows[slot].info = outcome, _info_of(infos, int(slot))

    def step(self, actions: NDArray[Any]) -> BatchStep:
        is_over = np.array([end is not None for end in self._ends])
        if is_over.any():  # step a hidden new game in place of each ended one
            self._begin(np.flatnonzero(is_over))
        step = self._env.step((actions + self._first).astype(self._env.single_action_space.dtype))
        self._show("step", np.flatnonzero(~is_over), *step)
        return super().step(actions)

    def _checked(self, slot: int, observation: Any, call: str) -> Array:
        return observation  # a row of an array that was checked already

    def set_state(self, states: Sequence[State], slots: Slots) -> Array:
        for state, slot in zip(states, slots, strict=True):
            self._seeds[slot], self._taken[slot] = state[SEED], self._actions_in(state)
        histories = [*self._taken]
        longest = max(map(len, histories))
        # delay each game so that all finish their actions together; until its reset, a game plays any action
        late = np.array([longest - len(taken) for taken in histories])
        any_action = next((taken[0] for taken in histories if taken), 0)
        self.reset(self._seeds.copy(), np.arange(self.games))
        for time in range(longest):
            given = zip(histories, late.tolist(), strict=True)
            self.step(np.array([taken[time - wait] if time >= wait else any_action for taken, wait in given]))
            if (begin := np.flatnonzero(late == time + 1)).size:
                self.reset(self._seeds[begin], begin)
        return np.stack([self._rows[slot].outcome.observation for slot in slots])

    def declarations(self) -> Mapping[str, Any]:
        spaces = self._env.single_observation_space, self._env.single_action_space
        return {**_declared(self._env, *spaces), **super().declarations()}

    def close(self) -> None:
        self._env.close()


class VectorRow(SingleGame):
    """One game of a vector environment: returns its row of the last reset or step of all games."""

    outcome: Outcome

    def begin(self, seed: int) -> Any:
        return self.outcome.observation

    def act(self, action: Any) -> Outcome:
        return self.outcome

    def mask(self) -> ArrayLike | None:
        return (self.info or {}).get(MASK)


@dataclass(frozen=True)
class VectorSide:
    """Vector environment as a side of a Pairing. make: ``make(games)``, as for ``VectorGames``."""

    make: Callable[[int], gymnasium.vector.VectorEnv[Any, Any, Any]]


def _info_of(infos: Mapping[str, Any], slot: int) -> dict[str, Any]:
    """Extract the infos of one game from a vector environment's, which are arrays with ``_name`` flags of presence."""
    own = {name: value for name, value in infos.items() if (flags := infos.get(f"_{name}")) is None or flags[slot]}
    parts = {name: value for name, value in own.items() if not (name.startswith("_") and name[1:] in infos)}
    return {name: _info_of(value, slot) if isinstance(value, Mapping) else value[slot] for name, value in parts.items()}


def _declared(env: Any, observations: Any, actions: Any) -> dict[str, Any]:
    limit = getattr(env.spec, "max_episode_steps", None) or vars(env).get("_max_episode_steps")
    rewards = getattr(env.unwrapped, "reward_range", None)
    return {**declared("gymnasium", observations, actions, rewards), "time_limit": limit}


def require_fixed_form(space: gymnasium.Space[Any]) -> None:
    """Raise UsageError for observation spaces without a fixed shape, such as Sequence."""
    if (kind := type(space).__name__) in ("Sequence", "Graph", "OneOf"):
        raise UsageError(f"observations in a {kind} have no fixed form: write a rlparity.Pairing that gives them one.")
    parts: Any = getattr(space, "spaces", ())
    for part in parts.values() if isinstance(parts, Mapping) else parts:
        require_fixed_form(part)


def _batched(space: Any, shown: Any) -> Any:
    """Convert batched observations to arrays where Gymnasium has a tuple with one for each game, such as for Text."""
    parts = getattr(space, "spaces", None)
    if isinstance(parts, Mapping):
        return {name: _batched(part, shown[name]) for name, part in parts.items()}
    if isinstance(parts, tuple):
        return tuple(map(_batched, parts, shown))
    return np.array(shown) if isinstance(shown, tuple) else shown


def _first_action(space: Any) -> Any:
    """Return the ``start`` of a Discrete space, which is added to actions 0, 1, …; 0 for others."""
    return getattr(space, "start", 0) if space.shape == () else 0
