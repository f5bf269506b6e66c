"""MinAtar's ports in Gymnax and pgx-minatar with the draws of the study, and without sticky actions."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from chance import numbers_of, script
from minatar_games import TAKEN, TERMINAL, Game, lists, texts, whole
from numpy.typing import ArrayLike

from rlparity import State
from rlparity.adapters.single import Outcome, SingleGame


class Port(SingleGame):
    """What is the same for both ports. ``functions``: reset, step and observe, jitted once for all games."""

    has_states = True

    def __init__(self, game: Game, functions: tuple[Callable[..., Any], ...]) -> None:
        self._game, (self._reset, self._step, self._observe) = game, functions

    def begin(self, seed: int) -> ArrayLike:
        self._seed, self._taken = seed, 0
        self._state = self._reset(numbers_of(seed, 0))
        return self._seen()

    def _seen(self) -> ArrayLike:
        return np.asarray(self._observe(self._state)).astype(bool)

    def act(self, action: int) -> Outcome:
        import jax

        self._taken += 1
        answer = self._step(numbers_of(self._seed, self._taken), self._state, action)
        observation, self._state, reward, terminated, truncated = jax.device_get(answer)
        return Outcome(observation.astype(bool), np.float32(reward), bool(terminated), bool(truncated))

    def pull(self) -> State:
        state = {name: self._value(name) for name in (*self._game.fields, TERMINAL)}
        return texts(state) | {TAKEN: self._taken}

    def _value(self, name: str) -> Any:
        raise NotImplementedError

    def push(self, state: State) -> ArrayLike:
        self.begin(state["seed"])
        self._taken = state[TAKEN]
        self._state = self._placed(lists(state))
        return self._seen()

    def _placed(self, state: State) -> Any:
        raise NotImplementedError


class Gymnax(Port):
    """A game of Gymnax."""

    def _value(self, name: str) -> Any:
        if name == "terminate_timer":
            return 2500 - int(self._state.time)
        value = whole(getattr(self._state, name))
        if name == "entities":
            return [entity[:4] if entity[4] else None for entity in value]
        if name in self._game.lists:
            return sorted(value[: int(getattr(self._state, self._game.lists[name].count))])
        return value

    def _placed(self, state: State) -> Any:
        values: dict[str, Any] = {}
        for name in (*self._game.fields, TERMINAL):
            value = state[name]
            if name == "terminate_timer":
                name, value = "time", 2500 - value
            elif name == "entities":
                value = [[0] * 5 if entity is None else [*entity, 1] for entity in value]
            elif name in self._game.lists:
                values[self._game.lists[name].count] = len(value)
                value = value + [[0] * self._game.lists[name].width] * (100 - len(value))
            values[name] = value
        return self._state.replace(
            **{name: np.array(value, np.asarray(getattr(self._state, name)).dtype) for name, value in values.items()}
        )


class Pgx(Port):
    """A game of pgx-minatar."""

    def _value(self, name: str) -> Any:
        value = whole(getattr(self._state, f"_{name}"))
        if name == "entities":
            return [None if entity[0] == 99 else entity for entity in value]
        if name in self._game.lists:
            return sorted(entity for entity in value if entity != [-1] * len(entity))
        return value

    def _placed(self, state: State) -> Any:
        values: dict[str, Any] = {}
        for name in (*self._game.fields, TERMINAL):
            old, value = np.asarray(getattr(self._state, f"_{name}")), state[name]
            if name == "entities":
                value = [[99] * 4 if entity is None else entity for entity in value]
            elif name in self._game.lists:
                value = (value + [[-1] * old.shape[1]] * len(old))[: len(old)]
            values[f"_{name}"] = np.array(value, old.dtype)
        return self._state.replace(terminated=values["_terminal"], **values)


def gymnax(game: Game) -> Callable[[], Gymnax]:
    """A maker of Gymnax's games, which are compiled when the first one is made."""

    def functions() -> tuple[Callable[..., Any], ...]:
        import gymnax as library
        import jax

        env, params = library.make(f"{game.gymnax}-MinAtar")
        script([importlib.import_module(f"gymnax.environments.minatar.{game.name}")], game.gymnax_places)

        def step(row: Any, state: Any, action: Any) -> tuple[Any, ...]:
            observation, state, reward, done, _ = env.step_env(row, state, action, params)
            return observation, state, reward, done, env.is_truncated(state, params) & ~done

        reset = jax.jit(lambda row: env.reset_env(row, params)[1])
        return reset, jax.jit(step), jax.jit(lambda state: env.get_obs(state, params))

    return _made(game, Gymnax, functions)


def pgx(game: Game) -> Callable[[], Pgx]:
    """A maker of pgx-minatar's games, which are compiled when the first one is made."""

    def functions() -> tuple[Callable[..., Any], ...]:
        import jax

        module = importlib.import_module(f"pgx_minatar.{game.name}")
        script([module], game.pgx_places)
        env = getattr(module, f"MinAtar{game.gymnax}")(sticky_action_prob=0)

        def step(row: Any, state: Any, action: Any) -> tuple[Any, ...]:
            state = env.step(state, action, row)
            return state.observation, state, state.rewards[0], state.terminated, state.truncated

        return jax.jit(env._init), jax.jit(step), jax.jit(env.observe)

    return _made(game, Pgx, functions)


def _made(game: Game, kind: type[Any], functions: Callable[[], tuple[Callable[..., Any], ...]]) -> Callable[[], Any]:
    compiled: list[tuple[Callable[..., Any], ...]] = []

    def make() -> Any:
        if not compiled:
            compiled.append(functions())
        return kind(game, compiled[0])

    return make
