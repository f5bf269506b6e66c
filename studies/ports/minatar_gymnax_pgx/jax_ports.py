"""MinAtar's ports in Gymnax and pgx-minatar with the draws of the study, and without sticky actions."""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnax as library
import numpy as np
from chance import numbers_of, script
from minatar_games import TERMINAL, Game, lists, texts, whole

from rlparity import State
from rlparity.adapters import PytreeGame


def ported(game: Game, functions: tuple[Any, Any, Any], value: Any, placed: Any) -> Callable[[], PytreeGame]:
    """A maker of games of a port.

    functions: ``reset(row)``, ``step(row, state, action)`` and ``observe(state)``. value: ``value(game, state, name)``,
    a field of its state as the original has it. placed: ``placed(game, values, state)``, the state with these values.
    """
    reset, step, observe = functions

    def seen(state: Any) -> Any:
        return observe(state).astype(bool)

    def turn(row: Any, state: Any, action: Any) -> tuple[Any, ...]:
        state, *others = step(row, state, action)
        return seen(state), state, *others

    def to_dict(state: Any) -> State:
        return texts({name: value(game, state, name) for name in (*game.fields, TERMINAL)})

    def start(row: Any) -> tuple[Any, Any]:
        state = reset(row)
        return seen(state), state

    def from_dict(values: State, state: Any) -> Any:
        return placed(game, lists(values), state)

    return lambda: PytreeGame(start, turn, seen, to_dict=to_dict, from_dict=from_dict, draws=numbers_of)


def gymnax_value(game: Game, state: Any, name: str) -> Any:
    """A field of Gymnax's state as the original has it."""
    if name == "terminate_timer":
        return 2500 - int(state.time)
    value = whole(getattr(state, name))
    if name == "entities":
        return [entity[:4] if entity[4] else None for entity in value]
    if name in game.lists:
        return sorted(value[: int(getattr(state, game.lists[name].count))])
    return value


def gymnax_placed(game: Game, values: State, state: Any) -> Any:
    """Gymnax's state with the values of the original."""
    new: dict[str, Any] = {}
    for name in (*game.fields, TERMINAL):
        value = values[name]
        if name == "terminate_timer":
            name, value = "time", 2500 - value
        elif name == "entities":
            value = [[0] * 5 if entity is None else [*entity, 1] for entity in value]
        elif name in game.lists:
            new[game.lists[name].count] = len(value)
            value = value + [[0] * game.lists[name].width] * (100 - len(value))
        new[name] = value
    return state.replace(**{name: np.array(each, np.asarray(getattr(state, name)).dtype) for name, each in new.items()})


def pgx_value(game: Game, state: Any, name: str) -> Any:
    """A field of pgx-minatar's state as the original has it."""
    value = whole(getattr(state, f"_{name}"))
    if name == "entities":
        return [None if entity[0] == 99 else entity for entity in value]
    if name in game.lists:
        return sorted(entity for entity in value if entity != [-1] * len(entity))
    return value


def pgx_placed(game: Game, values: State, state: Any) -> Any:
    """pgx-minatar's state with the values of the original."""
    new: dict[str, Any] = {}
    for name in (*game.fields, TERMINAL):
        old, value = np.asarray(getattr(state, f"_{name}")), values[name]
        if name == "entities":
            value = [[99] * 4 if entity is None else entity for entity in value]
        elif name in game.lists:
            value = (value + [[-1] * old.shape[1]] * len(old))[: len(old)]
        new[f"_{name}"] = np.array(value, old.dtype)
    return state.replace(terminated=new["_terminal"], **new)


def gymnax(game: Game) -> Callable[[], PytreeGame]:
    """A maker of Gymnax's games."""
    env, params = library.make(f"{game.gymnax}-MinAtar")
    script([importlib.import_module(f"gymnax.environments.minatar.{game.name}")], game.gymnax_places)

    def step(row: Any, state: Any, action: Any) -> tuple[Any, ...]:
        _, state, reward, done, _ = env.step_env(row, state, action, params)
        return state, reward, done, env.is_truncated(state, params) & ~done

    functions = lambda row: env.reset_env(row, params)[1], step, partial(env.get_obs, params=params)
    return ported(game, functions, gymnax_value, gymnax_placed)


def pgx(game: Game) -> Callable[[], PytreeGame]:
    """A maker of pgx-minatar's games."""
    module = importlib.import_module(f"pgx_minatar.{game.name}")
    script([module], game.pgx_places)
    env = getattr(module, f"MinAtar{game.gymnax}")(sticky_action_prob=0)

    def step(row: Any, state: Any, action: Any) -> tuple[Any, ...]:
        state = env.step(state, action, row)
        return state, state.rewards[0], state.terminated, state.truncated

    return ported(game, (env._init, step, env.observe), pgx_value, pgx_placed)
