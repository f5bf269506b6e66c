"""Environments by their names on the command line: ``gym:CartPole-v1``, whose spaces say what a world must know.

- ``gym:ID``, ``gymvec:ID``: of Gymnasium, single and in ``gymnasium.make_vec``; ``module:ID`` imports a module first.
- ``gymnax:ID``, ``pgx:ID``, ``jumanji:ID``, ``envpool:ID``: of these libraries.
- ``dm_env:MODULE:FUNCTION``: what the function gives for ``seed=...``, such as ``dm_env:my.catch:Catch``.

They get the same seeds and actions, and are compared by what they show. Whoever wants states compared, or engines that
draw differently, writes a ``parity.Pairing``.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from parity.adapters.observations import Shape, as_array
from parity.adapters.pairing import Maker, Pairing
from parity.errors import ParityError, UsageError, install_command
from parity.spaces import Box
from parity.world import EngineFactory, World

WORLD = "environments"
"""The name of every world of named environments."""


def is_named(engine: str) -> bool:
    """Tell whether an engine is an environment of a known library."""
    return engine.partition(":")[0] in _KINDS and ":" in engine


def named_world(names: Iterable[str], described: Callable[[str], tuple[Mapping[str, Any], EngineFactory]]) -> World:
    """The world of some environments, by what ``described`` tells of each that is elsewhere, and its engine.

    Raises UsageError where one cannot be made, or where their spaces do not agree.
    """
    worlds = {name: _described(name, *described(name)) if "@" in name else environment(name) for name in names}
    (first, one), *others = worlds.items()
    for name, other in others:
        for mine, theirs in zip(_spaces(one), _spaces(other), strict=True):
            if mine != theirs:
                raise UsageError(
                    f"{first} has {mine}, and {name} {theirs}: write a parity.Pairing that says how one becomes the "
                    "other."
                )
    return replace(one, engines={name: world.engines[name] for name, world in worlds.items()})


def environment(name: str) -> World:
    """The world of one environment; raises UsageError where its library lacks it or it cannot be made."""
    kind, _, what = name.partition(":")
    if not is_named(name):
        raise UsageError(f"there is no environment '{name}': give {', '.join(f'{each}:...' for each in _KINDS)}.")
    try:
        return _KINDS[kind](name, what)
    except ParityError:
        raise
    except Exception as error:  # whatever a library raises for a name that it does not know
        missing = (getattr(error, "name", None) or "").partition(".")[0] if isinstance(error, ImportError) else ""
        if missing and not what.startswith(missing):
            raise UsageError(f"{name} needs {missing}: {install_command(missing)}.") from error
        said = " ".join(str(error).split())[:300].rstrip(".?!")
        raise UsageError(f"{name} cannot be made: {type(error).__name__}: {said}.") from error


def _described(name: str, description: Mapping[str, Any], factory: EngineFactory) -> World:
    """The world of an environment that is elsewhere."""
    space = description.get("action_space")
    if space is not None:
        low, high = (tuple(side) if isinstance(side, list) else side for side in (space["low"], space["high"]))
        space = Box(low, high, tuple(space["shape"]), space["dtype"])
    parts = {part: tuple(shape) for part, shape in description.get("observation_fields", {}).items()}
    shape = parts or tuple(description["observation_shape"])
    actions = space or tuple(description["actions"])
    return replace(environments_world({}, actions, shape, description.get("players", 1)), engines={name: factory})


def _shape(observation: Any) -> Shape:  # noqa: ANN401 - an example
    array = as_array(observation)
    fields: Mapping[str, Any] = array.dtype.fields or {}
    return {part: field[0].shape for part, field in sorted(fields.items())} if fields else array.shape


def environments_world(
    games: Mapping[str, Maker], actions: tuple[str, ...] | Box, shape: Shape, players: int = 1
) -> World:
    """The world of named environments with these spaces."""
    # an environment without chance is one, too
    return Pairing(WORLD, games, actions, shape, players=players, draws=False).world()


def _actions(space: Any) -> tuple[str, ...] | Box:  # noqa: ANN401 - of any library
    """The actions of a space or spec; raises UsageError for one that is neither discrete nor of numbers."""
    shape = tuple(getattr(space, "shape", None) or ())
    count = getattr(space, "nvec", getattr(space, "num_values", getattr(space, "n", None)))
    if count is not None and shape == ():
        return tuple(map(str, range(int(count))))
    start = np.asarray(getattr(space, "start", 0))
    if type(space).__name__ == "MultiBinary":
        bounds: tuple[Any, ...] = 0, 1
    elif count is not None:
        bounds = start, start + np.asarray(count) - 1
    else:
        names = ("low", "minimum"), ("high", "maximum")
        bounds = tuple(getattr(space, one, getattr(space, other, None)) for one, other in names)
    if any(side is None for side in bounds):
        raise UsageError(f"actions in a {type(space).__name__} cannot be chosen: Discrete, MultiDiscrete and Box can.")
    low, high = (tuple(np.broadcast_to(side, shape).ravel().tolist()) for side in bounds)
    return Box(low, high, shape, str(np.dtype(space.dtype)))


def _gym(name: str, what: str) -> World:
    import gymnasium

    from parity.adapters.gymnasium import GymGame

    def make() -> GymGame:
        return GymGame(lambda: gymnasium.make(what))

    return environments_world({name: make}, *_gym_spaces(what))


def _gym_spaces(what: str) -> tuple[tuple[str, ...] | Box, Shape]:
    import gymnasium

    env = gymnasium.make(what)
    spaces = _actions(env.action_space), _shape(env.observation_space.sample())
    env.close()
    return spaces


def _gymvec(name: str, what: str) -> World:
    import gymnasium
    from gymnasium.vector import AutoresetMode

    from parity.adapters.gymnasium import VectorSide

    def make(games: int) -> Any:  # noqa: ANN401 - a vector environment
        parts = {"autoreset_mode": AutoresetMode.DISABLED}
        return gymnasium.make_vec(what, games, vectorization_mode="sync", vector_kwargs=parts)

    return environments_world({name: VectorSide(make)}, *_gym_spaces(what))


def _gymnax(name: str, what: str) -> World:
    import gymnax
    import jax

    from parity.adapters.pytree import gymnax_game

    env, params = gymnax.make(what)
    observation, _ = env.reset_env(jax.random.key(0), params)
    return environments_world(
        {name: gymnax_game(env, params, observe=None)}, _actions(env.action_space(params)), _shape(observation)
    )


def _pgx(name: str, what: str) -> World:
    import pgx

    from parity.adapters.pytree import pgx_game

    env: Any = pgx.make(what)  # type: ignore[arg-type, unused-ignore]
    make = pgx_game(env, observe=None)
    actions = tuple(map(str, range(env.num_actions)))
    return environments_world({name: make}, actions, _shape(make().begin(0)), env.num_players)


def _jumanji(name: str, what: str) -> World:
    import jumanji

    from parity.adapters.pytree import jumanji_game

    env: Any = jumanji.make(what)
    actions, make = _actions(env.action_spec), jumanji_game(env)
    players = env.reward_spec.shape
    return environments_world({name: make}, actions, _shape(make().begin(0)), players[0] if players else 1)


def _envpool(name: str, what: str) -> World:
    import envpool

    from parity.adapters.seeded import EnvPoolGame

    def make(seed: int) -> Any:  # noqa: ANN401 - EnvPool's
        return envpool.make(what, env_type="gymnasium", num_envs=1, seed=seed)

    game: Maker = lambda: EnvPoolGame(make)  # noqa: E731
    return environments_world({name: game}, _actions(make(0).action_space), _shape(EnvPoolGame(make).begin(0)))


def _dm_env(name: str, what: str) -> World:
    import dm_env  # noqa: F401 - says what is missing

    from parity.adapters.seeded import DmEnvGame

    factory: Any = pkgutil.resolve_name(what)
    env: Any = factory(seed=0)

    def make() -> DmEnvGame:
        return DmEnvGame(lambda seed: factory(seed=seed))

    players = getattr(env.reward_spec(), "shape", ())
    shape = _shape(make().begin(0))
    return environments_world({name: make}, _actions(env.action_spec()), shape, players[0] if players else 1)


def _spaces(world: World) -> Iterator[str]:
    """What the sides must agree about, in words."""
    parts = ", ".join(f"{part} {shape}" for part, shape in world.observation_fields.items())
    yield f"observations of {parts or world.observation_shape}"
    space = world.action_space
    yield f"{space} for actions" if space else f"{len(world.actions)} actions"
    yield f"{world.players} player{'s' * (world.players > 1)}"


_KINDS: dict[str, Callable[[str, str], World]] = {
    "gym": _gym,
    "gymvec": _gymvec,
    "gymnax": _gymnax,
    "pgx": _pgx,
    "jumanji": _jumanji,
    "envpool": _envpool,
    "dm_env": _dm_env,
}
