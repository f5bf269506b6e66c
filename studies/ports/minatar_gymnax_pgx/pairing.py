"""The five games of MinAtar, and their ports in Gymnax and pgx-minatar, with the same draws and no sticky actions."""

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import starts
from chance import NumpyDraws, numbers_of, rotated_choice, script
from numpy.typing import ArrayLike

from parity import State, World
from parity.adapters.pairing import Pairing
from parity.adapters.single import Outcome, SingleGame

TAKEN, TERMINAL, MOVES = "taken", "terminal", "nlurdf"
Path = tuple[int, ...]


@dataclass(frozen=True)
class Lists:
    """A list of entities: the width of an entity, and what Gymnax calls the number of those that its buffer holds."""

    width: int
    count: str


@dataclass(frozen=True)
class Game:
    """A game: its moves, channels and state fields; where Gymnax's and pgx's keys have their numbers."""

    name: str
    gymnax: str
    moves: str
    channels: int
    fields: tuple[str, ...]
    lists: Mapping[str, Lists] = field(default_factory=dict)
    gymnax_places: Mapping[Path, int] = field(default_factory=dict)
    pgx_places: Mapping[Path, int] = field(default_factory=dict)


GAMES = (
    Game(
        "breakout", "Breakout", "nlr", 4,
        ("ball_y", "ball_x", "ball_dir", "pos", "brick_map", "strike", "last_x", "last_y"),
    ),
    Game(
        "space_invaders", "SpaceInvaders", "nlrf", 6,
        ("pos", "f_bullet_map", "e_bullet_map", "alien_map", "alien_dir", "enemy_move_interval", "alien_move_timer",
         "alien_shot_timer", "ramp_index", "shot_timer"),
    ),
    Game(
        "asterix", "Asterix", "nlurd", 4,
        ("player_x", "player_y", "entities", "spawn_speed", "spawn_timer", "move_speed", "move_timer", "ramp_timer",
         "ramp_index"),
        gymnax_places={(0,): 0, (1,): 1, (2,): 2},
        pgx_places={(1,): 0, (2,): 1, (3,): 2},
    ),
    Game(
        "freeway", "Freeway", "nud", 7, ("cars", "pos", "move_timer", "terminate_timer"),
        gymnax_places={(0,): 0, (1,): 1},
        pgx_places={(1, 0): 0, (1, 1): 1, (1,): 1},
    ),
    Game(
        "seaquest", "Seaquest", "nlurdf", 10,
        ("oxygen", "diver_count", "sub_x", "sub_y", "sub_or", "f_bullets", "e_bullets", "e_fish", "e_subs", "divers",
         "e_spawn_speed", "e_spawn_timer", "d_spawn_timer", "move_speed", "ramp_index", "shot_timer", "surface"),
        lists={"f_bullets": Lists(3, "f_bullet_count"), "e_bullets": Lists(3, "e_bullet_count"),
               "e_fish": Lists(4, "e_fish_count"), "e_subs": Lists(5, "e_subs_count"),
               "divers": Lists(4, "divers_count")},
        gymnax_places={(0, 0): 0, (0, 1): 2, (1, 0): 3, (1, 1): 4},
        pgx_places={(1,): 0, (2,): 1, (3,): 2, (4,): 3, (5,): 4},
    ),
)  # fmt: skip


def whole(value: Any) -> Any:
    """A value as integers in lists."""
    return np.asarray(value).astype(int).tolist()


def texts(state: State) -> State:
    """A state with its lists as texts, so that each differs as one field."""
    return {name: json.dumps(value) if isinstance(value, list) else value for name, value in state.items()}


def lists(state: State) -> State:
    """The reverse of ``texts``."""
    return {name: json.loads(value) if isinstance(value, str) else value for name, value in state.items()}


class Original(SingleGame):
    """A game of MinAtar itself. Its state has the actions taken, which say what is drawn next."""

    has_states = True

    def __init__(self, game: Game) -> None:
        module = importlib.import_module(f"minatar.environments.{game.name}")
        self._game, self._draws = game, NumpyDraws()
        self._env = module.Env(ramping=True)
        self._env.random = self._draws
        self._actions = [MOVES.index(move) for move in game.moves]
        if game.name == "asterix":
            # where it may choose among free places only, ports choose in another order: here all choose the same
            self._draws.randint = self._free_place
        if game.name == "seaquest":
            spawn_diver = self._env._spawn_diver

            def spawn() -> None:
                self._draws.next = 3  # whether or not an enemy was drawn before
                spawn_diver()

            self._env._spawn_diver = spawn

    def _free_place(self, number_of_places: int) -> int:
        free = [place for place in range(8) if self._env.entities[place] is None]
        chosen = rotated_choice(self._draws.take(), free.__contains__, 8)
        assert chosen is not None
        return free.index(chosen)

    def begin(self, seed: int) -> ArrayLike:
        self._seed, self._taken = seed, 0
        self._draws.begin(numbers_of(seed, 0))
        self._env.reset()
        return np.asarray(self._env.state())

    def act(self, action: int) -> Outcome:
        self._taken += 1
        self._draws.begin(numbers_of(self._seed, self._taken))
        reward, terminal = self._env.act(self._actions[action])
        return Outcome(np.asarray(self._env.state()), np.float32(reward), bool(terminal), False)

    def pull(self) -> State:
        state = {name: self._value(name) for name in (*self._game.fields, TERMINAL)}
        return texts(state) | {TAKEN: self._taken}

    def _value(self, name: str) -> Any:
        value = getattr(self._env, name)
        if name == "entities":
            return [None if entity is None else whole(entity) for entity in value]
        return sorted(map(whole, value)) if name in self._game.lists else whole(value)

    def push(self, state: State) -> ArrayLike:
        self.begin(state["seed"])
        self._taken, state = state[TAKEN], lists(state)
        for name in (*self._game.fields, TERMINAL):
            value = state[name]
            old = getattr(self._env, name)
            setattr(self._env, name, np.array(value, old.dtype) if isinstance(old, np.ndarray) else type(old)(value))
        return np.asarray(self._env.state())


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

    def push(self, state: State) -> ArrayLike:
        self.begin(state["seed"])
        self._taken = state[TAKEN]
        self._state = self._placed(lists(state))
        return self._seen()

    def _placed(self, state: State) -> Any:
        raise NotImplementedError


class Gymnax(Port):
    """A game of Gymnax."""

    def pull(self) -> State:
        state = {name: self._value(name) for name in (*self._game.fields, TERMINAL)}
        return texts(state) | {TAKEN: self._taken}

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

    def pull(self) -> State:
        state = {name: self._value(name) for name in (*self._game.fields, TERMINAL)}
        return texts(state) | {TAKEN: self._taken}

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


def original(game: Game) -> Callable[[], Original]:
    """A maker of the original's games."""
    return lambda: Original(game)


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


def world_of(game: Game) -> World:
    """The three of a game, as a world. That it draws is left unsaid: some games begin in one or two states."""
    pairing = Pairing(
        name=f"minatar-{game.name}",
        games={"minatar": original(game), "gymnax": gymnax(game), "pgx": pgx(game)},
        actions=tuple(game.moves),
        observation_shape=(10, 10, game.channels),
        state_fields=(*game.fields, TERMINAL, TAKEN),
        draws=False,
        starts={"made": lambda rng: texts(getattr(starts, game.name)(rng))},
    )
    return replace(pairing.world(), shrinkers=(lambda state: map(texts, starts.smaller(lists(state))),))


BREAKOUT, SPACE_INVADERS, ASTERIX, FREEWAY, SEAQUEST = map(world_of, GAMES)
