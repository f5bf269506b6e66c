"""Environments by name on the command line, such as ``gym:CartPole-v1``; the World is derived from their spaces.

- ``gym:ID``, ``gymvec:ID``: Gymnasium, single and with ``gymnasium.make_vec``; an ID ``module:ID`` imports a module.
- ``gymnax:ID``, ``pgx:ID``, ``jumanji:ID``, ``envpool:ID``, ``jaxmarl:ID``: environments of these libraries.
- ``pettingzoo:MODULE``: the module's ``parallel_env()``, such as ``pettingzoo:mpe2.simple_tag_v3``.
- ``dm_env:MODULE:FUNCTION``: the function's result for ``seed=...``, such as ``dm_env:my.catch:Catch``.

They get the same seeds and actions, and are compared without states. To compare states, or engines with different
random generators, write a ``rlparity.Pairing``.
"""

import pkgutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rlparity.adapters.agents import ParallelGame, jaxmarl_game, joint_actions
from rlparity.adapters.gymnasium import GymGame, VectorSide, require_fixed_form
from rlparity.adapters.observations import Shape, as_array, declared, range_of, shape_of
from rlparity.adapters.pairing import Maker, Pairing
from rlparity.adapters.pytree import gymnax_game, jumanji_game, pgx_game
from rlparity.adapters.single import MASK, Outcome, SingleGame
from rlparity.errors import FOREIGN_FAULTS, ParityError, UsageError, install_command
from rlparity.spaces import Box, box_of
from rlparity.world import World

WORLD = "environments"
"""Name of the worlds of named environments."""
_MOST_NAMES = 2**16
"""Largest Discrete space whose actions get names; larger ones become a Box of one integer."""


class Environment(NamedTuple):
    """An environment of a library. space: its action space, or the number of actions. observation: an example."""

    make: Maker
    space: Any
    observation: Any
    players: int = 1


def is_named(engine: str) -> bool:
    """Whether an engine name is one of a known library's environment, such as ``gym:ID``."""
    return engine.partition(":")[0] in _KINDS and ":" in engine


def shared_world(worlds: Mapping[str, World]) -> World:
    """Merge the worlds of several environments into one; raises UsageError where their spaces do not agree."""
    (first, one), *others = worlds.items()
    for name, other in others:
        for mine, theirs in zip(_spaces(one), _spaces(other), strict=True):
            if mine != theirs:
                raise UsageError(
                    f"{first} has {mine}, and {name} {theirs}: write a rlparity.Pairing that says how one becomes the "
                    "other."
                )
    return replace(one, engines={name: world.engines[name] for name, world in worlds.items()})


def environment(name: str) -> World:
    """Make the world of one named environment; raises UsageError where its library lacks it or cannot make it."""
    kind, _, what = name.partition(":")
    if not is_named(name):
        raise UsageError(f"there is no environment '{name}': give {', '.join(f'{each}:...' for each in _KINDS)}.")
    try:
        make, space, observation, players = _KINDS[kind](what)
        return environments_world({name: make}, _actions(space), shape_of(observation), players)
    except ParityError as error:
        raise UsageError(f"{name} cannot be played: {str(error).removesuffix('.')}.") from error
    except FOREIGN_FAULTS as error:  # libraries raise various exceptions for an unknown name
        missing = (getattr(error, "name", None) or "").partition(".")[0] if isinstance(error, ImportError) else ""
        if missing and not what.startswith(missing):
            raise UsageError(f"{name} needs {missing}: {install_command(missing)}.") from error
        said = " ".join(str(error).split())[:300].rstrip(".?!")
        raise UsageError(f"{name} cannot be made: {type(error).__name__}: {said}.") from error


def described_world(description: Mapping[str, Any]) -> World:
    """Make the world, without engines, of a remote environment from the output of ``describe_world``."""
    parts = {part: tuple(shape) for part, shape in description.get("observation_fields", {}).items()}
    shape = parts or tuple(description["observation_shape"])
    actions = box_of(description.get("action_space")) or tuple(description["actions"])
    return environments_world({}, actions, shape, description.get("players", 1))


def environments_world(
    games: Mapping[str, Maker], actions: tuple[str, ...] | Box, shape: Shape, players: int = 1
) -> World:
    """Make the world of named environments with these spaces."""
    # draws=None: the environments may be deterministic or not
    return Pairing(WORLD, games, actions, shape, players=players, draws=None).world()


def _actions(space: Any) -> tuple[str, ...] | Box:
    """Convert an action space or spec to action names or a Box; raises UsageError for an unsupported one."""
    if isinstance(space, int):
        return tuple(map(str, range(space)))
    shape = tuple(getattr(space, "shape", None) or ())
    count = getattr(space, "nvec", getattr(space, "num_values", getattr(space, "n", None)))
    if count is not None and shape == ():
        return tuple(map(str, range(int(count)))) if count <= _MOST_NAMES else Box(0, int(count) - 1, (), "int64")
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
    if np.dtype(space.dtype).itemsize > 8:
        raise UsageError(f"actions of {space.dtype} cannot be chosen: those of at most 64 bits can.")
    low, high = (tuple(np.broadcast_to(side, shape).ravel().tolist()) for side in bounds)
    return Box(low, high, shape, str(np.dtype(space.dtype)))


def _gym(what: str) -> Environment:
    import gymnasium

    with closing(gymnasium.make(what)) as env:
        require_fixed_form(env.observation_space)
        spaces = env.action_space, env.observation_space.sample()
    return Environment(lambda: GymGame(lambda: gymnasium.make(what)), *spaces)


def _gymvec(what: str) -> Environment:
    import gymnasium
    from gymnasium.vector import AutoresetMode

    parts = {"autoreset_mode": AutoresetMode.DISABLED}
    make = partial(gymnasium.make_vec, what, vectorization_mode="sync", vector_kwargs=parts)
    return _gym(what)._replace(make=VectorSide(make))


def _gymnax(what: str) -> Environment:
    import gymnax

    env, params = gymnax.make(what)
    return _playing(gymnax_game(env, params, observe=None), env.action_space(params))


def _pgx(what: str) -> Environment:
    import pgx

    env: Any = pgx.make(what)  # type: ignore[arg-type, unused-ignore]
    return _playing(pgx_game(env, observe=None), env.num_actions, env.num_players)


def _jumanji(what: str) -> Environment:
    import jumanji

    env: Any = jumanji.make(what)
    return _playing(jumanji_game(env), env.action_spec, *env.reward_spec.shape)


def _envpool(what: str) -> Environment:
    import envpool

    make = partial(envpool.make, what, env_type="gymnasium", num_envs=1)
    return _playing(lambda: EnvPoolGame(lambda seed: make(seed=seed)), make(seed=0).action_space)


def _dm_env(what: str) -> Environment:
    import dm_env  # noqa: F401 - says what is missing

    make: Any = pkgutil.resolve_name(what)
    env: Any = make(seed=0)
    players = getattr(env.reward_spec(), "shape", ())
    return _playing(lambda: DmEnvGame(lambda seed: make(seed=seed)), env.action_spec(), *players)


def _jaxmarl(what: str) -> Environment:
    import jaxmarl

    env: Any = jaxmarl.make(what)
    return _playing(jaxmarl_game(env), joint_actions(env, env.agents), len(env.agents))


def _pettingzoo(what: str) -> Environment:
    make = import_module(what).parallel_env
    with closing(make()) as env:
        agents = [*env.possible_agents]
        return _playing(lambda: ParallelGame(make), joint_actions(env, agents), len(agents))


def _playing(make: Callable[[], SingleGame], space: Any, players: int = 1) -> Environment:
    """Make an Environment, with its first observation as the example."""
    return Environment(make, space, make().begin(0), players)


class DmEnvGame(SingleGame):
    """One game of ``make(seed)``, a ``dm_env.Environment``. An end with a discount above 0 is a truncation."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make
        self._env: Any = None

    def begin(self, seed: int) -> Any:
        self.close()
        self._env = self._make(seed)
        return self._env.reset().observation

    def act(self, action: Any) -> Outcome:
        step = self._env.step(action)
        goes_on = np.greater(step.discount, 0)
        reward = step.reward if np.ndim(step.reward) else float(step.reward)
        return Outcome(step.observation, reward, step.last() & ~goes_on, step.last() & goes_on)

    def declarations(self) -> Mapping[str, Any]:
        if self._env is None:  # no game has begun
            return {}
        rewards = range_of(self._env.reward_spec())
        return declared("dm_env", self._env.observation_spec(), self._env.action_spec(), rewards)

    def close(self) -> None:
        if self._env is not None:
            self._env.close()


class EnvPoolGame(SingleGame):
    """One game of ``make(seed)``, a pool of one environment with ``env_type="gymnasium"``."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make
        self._pool: Any = None

    def begin(self, seed: int) -> Any:
        self._pool = self._make(seed)
        observation, infos = self._pool.reset()
        return self._shown(observation, infos)

    def _shown(self, observation: Any, infos: Mapping[str, Any]) -> Any:
        self.info = {name: value[0] for name, value in infos.items() if not isinstance(value, Mapping)}
        return as_array(observation, axes=1)[0]

    def act(self, action: Any) -> Outcome:
        given = np.asarray(action)[None]
        observation, reward, terminated, truncated, infos = self._pool.step(given)
        return Outcome(self._shown(observation, infos), float(reward[0]), terminated[0], truncated[0])

    def mask(self) -> ArrayLike | None:
        return None if self.info is None else self.info.get(MASK)

    def declarations(self) -> Mapping[str, Any]:
        if self._pool is None:
            return {}
        spaces = declared("gymnasium", self._pool.observation_space, self._pool.action_space)
        return {**spaces, "time_limit": self._pool.spec.config.max_episode_steps}


def _spaces(world: World) -> Iterator[str]:
    """Describe the spaces that the sides must agree on, in words."""
    parts = ", ".join(f"{part} {shape}" for part, shape in world.observation_fields.items())
    yield f"observations of {parts or world.observation_shape}"
    space = world.action_space
    yield f"{space} for actions" if space else f"{len(world.actions)} actions"
    yield f"{world.players} player{'s' * (world.players > 1)}"


_MAKERS = _gym, _gymvec, _gymnax, _pgx, _jumanji, _envpool, _dm_env, _jaxmarl, _pettingzoo
_KINDS: dict[str, Callable[[str], Environment]] = {make.__name__.removeprefix("_"): make for make in _MAKERS}
