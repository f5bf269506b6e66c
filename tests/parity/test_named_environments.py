"""Environments by their names on the command line."""

import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from command_line import Ran
from command_line import run as run_command
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Text, Tuple
from gymnasium.vector import AutoresetMode

from rlparity import UsageError
from rlparity.adapters.gymnasium import GymGame, VectorGames, VectorSide
from rlparity.adapters.named import EnvPoolGame
from rlparity.adapters.pairing import Pairing
from rlparity.cli.main import main
from rlparity.core.lockstep import Settings, run
from rlparity.core.verdict import Verdict
from rlparity.engines.registry import load_pair, load_world, world_spec
from rlparity.spaces import action_numbers

CATCH = """
import dm_env, numpy as np
from dm_env import specs

class Catch(dm_env.Environment):
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
    def reset(self):
        self.x, self.moves = self.rng.integers(5), 0
        return dm_env.restart(self.seen())
    def step(self, action):
        self.x, self.moves = (self.x + action - 1) % 5, self.moves + 1
        end = dm_env.termination if self.moves == 6 else dm_env.transition
        return end(reward=float(self.x), observation=self.seen())
    def seen(self):
        return {"x": np.int32(self.x), "moves": np.float32(self.moves)}
    def observation_spec(self):
        return {}
    def action_spec(self):
        return specs.DiscreteArray(3)
"""


def engines(names: str, *words: str | Path) -> Ran:
    return run_command(main, "run", "--engines", names, "--games", "4", "--steps", "40", *words)


@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1", "Blackjack-v1"])
@pytest.mark.parametrize("words", [(), ("--auto-reset",)])
def test_a_vector_environment_is_its_single_ones(name: str, words: tuple[str, ...]) -> None:
    ran = engines(f"gym:{name},gymvec:{name}", "--no-report", *words)
    assert (ran.code, "160 steps compared" in ran.out) == (0, True), ran


def test_environments_that_draw_differently_differ_at_once_and_the_report_says_what_to_do(tmp_path: Path) -> None:
    names = "gym:CartPole-v1,gymnax:CartPole-v1"
    ran = engines(names, "--out", tmp_path)
    assert ran.code == 1
    assert "write a rlparity.Pairing whose games have states, and give --mode injected." in ran.out
    assert f"replay --world {names} " in ran.out
    assert run_command(main, "replay", "--world", names, tmp_path / "trace.json").code == 1
    assert "files must not import modules" in run_command(main, "replay", tmp_path / "trace.json").refusal()


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            "gym:CartPole-v1,gym:Acrobot-v1",
            "gym:CartPole-v1 has observations of (4,), and gym:Acrobot-v1 observations of (6",
        ),
        ("gym:CartPole-v1,gym:Nope-v1", "gym:Nope-v1 cannot be made: NameNotFound: "),
        ("gym:CartPole-v1,gym:no_such_module:CartPole-v1", "gym:no_such_module:CartPole-v1 cannot be made: "),
        pytest.param(
            "gym:CartPole-v1,dm_env:no_such_module:Catch",
            "needs dm_env: ",
            marks=pytest.mark.skipif(find_spec("dm_env") is not None, reason="dm_env is installed"),
        ),
        ("gym:CartPole-v1,mine", "there is no environment 'mine': give "),
        ("mine,gym:CartPole-v1", "there is no environment 'mine': give "),
    ],
)
def test_environments_that_cannot_be_paired_are_one_sentence(names: str, sentence: str) -> None:
    assert sentence in engines(names).refusal()


def test_an_environment_plays_in_another_process() -> None:
    assert engines("gym:Blackjack-v1,gym:Blackjack-v1@cpu", "--no-report").code == 0


LARGEST = np.finfo(np.float64).max
SPACES: list[gymnasium.Space[Any]] = [
    Box(5, np.inf, (2,)),
    Box(-np.inf, -5, (2,), np.float16),
    Box(np.array([5, -np.inf, -LARGEST, 0.5]), np.array([np.inf, -5, LARGEST, np.inf]), dtype=np.float64),
    Box(np.iinfo(np.int64).min, np.iinfo(np.int64).max, (2,), np.int64),
    Box(0, 2**64 - 1, (2,), np.uint64),
    Box(0, 1, (3,), np.bool_),  # type: ignore[arg-type]
    Box(-1, 1, ()),
    Discrete(3, start=-7),
    Discrete(10**12, start=2),
    Discrete(3, dtype=np.uint8),
    MultiDiscrete(np.array([[3, 2], [4, 5]]), start=np.array([[1, -2], [3, 4]])),
    MultiBinary((2, 3)),
]
TEXTS = Dict(a=Text(5, min_length=0), b=Tuple([Discrete(3), Text(4)]))


@pytest.fixture
def registered() -> Iterator[Callable[[gymnasium.Space[Any], gymnasium.Space[Any]], str]]:
    """Registers an environment of these spaces, of actions and observations, that refuses actions outside."""

    def register(actions: gymnasium.Space[Any], shown: gymnasium.Space[Any]) -> str:
        class Played(gymnasium.Env[Any, Any]):
            def __init__(self) -> None:
                self.action_space, self.observation_space = deepcopy((actions, shown))

            def reset(self, *, seed: int | None = None, options: object = None) -> Any:  # noqa: ANN401
                self.observation_space.seed(seed)
                return self.observation_space.sample(), {}

            def step(self, action: Any) -> Any:  # noqa: ANN401
                assert self.action_space.contains(action), repr(action)
                return self.observation_space.sample(), float(np.ravel(action)[0] % 7), False, False, {}

        gymnasium.register("Spaces-v0", lambda **_: Played(), disable_env_checker=True)
        return "gym:Spaces-v0,gymvec:Spaces-v0"

    yield register
    gymnasium.registry.pop("Spaces-v0", None)


@pytest.mark.parametrize("space", [*SPACES, TEXTS], ids=str)
def test_every_space_is_played_by_single_and_vector_environments_alike(
    space: gymnasium.Space[Any], registered: Callable[..., str]
) -> None:
    names = registered(*((Discrete(2), space) if space is TEXTS else (space, Discrete(4))))
    world, _, pair = load_pair(names, tuple(names.split(",")))
    assert run(world, pair, Settings(games=4, steps=5)).divergences == []
    if (actions := world.action_space) is not None:  # as a trace has them, and read again
        drawn = actions.sample(np.random.default_rng(0), 64)
        numbers = [action_numbers(each) for each in drawn]
        assert all(map(actions.contains, numbers))
        np.testing.assert_array_equal(actions.array(numbers), drawn)


def test_a_vector_environment_that_restarts_its_games_is_refused() -> None:
    with pytest.raises(UsageError, match=r"make it with autoreset_mode=AutoresetMode\.DISABLED"):
        VectorGames(2, lambda games: gymnasium.make_vec("CartPole-v1", games), 2, lambda seed: seed + 1)


def test_a_vector_environment_keeps_ended_games_and_goes_back_to_states() -> None:
    world = load_world("gymvec:CartPole-v1")
    engine = world.engines["gymvec:CartPole-v1"](3)
    slots = np.arange(3)
    engine.reset(np.array([3, 4, 5], np.uint64), slots)
    ended = [0, 0, 0]
    for _ in range(12):  # pushed to the right, the pole falls
        step = engine.step(np.array([1, 1, 0], np.int32))
        ended = [count + bool(end) for count, end in zip(ended, step.ended, strict=True)]
    assert min(ended) > 1
    assert step.reward.tolist() == [0.0, 0.0, 0.0]
    last, states = step.observation.copy(), engine.get_state(slots)
    engine.reset(np.array([8], np.uint64), slots[1:2])
    assert np.array_equal(engine.set_state(states[1:], slots[1:]), last[1:])
    assert np.array_equal(engine.set_state(states, slots), last)
    engine.close()


class Disturbed(gymnasium.vector.SyncVectorEnv):
    """Its last game takes the action of the first one."""

    def step(self, actions: Any) -> Any:  # noqa: ANN401 - an array, and arrays
        return super().step([*actions[:-1], actions[0]])


def test_games_that_disturb_each_other_in_a_vector_environment_are_found() -> None:
    make = partial(gymnasium.make, "CartPole-v1")

    def vector(games: int) -> Disturbed:
        return Disturbed([make] * games, autoreset_mode=AutoresetMode.DISABLED)

    games: dict[str, Any] = {"vector": VectorSide(vector), "single": partial(GymGame, make)}
    world = Pairing("carts", games, ("left", "right")).world()
    assert world.observation_shape == (4,)
    outcome = run(world, ("vector", "single"), Settings(games=3, steps=40))
    assert (outcome.verdict, outcome.divergences[0].game) == (Verdict.DIVERGENT, 2)
    assert run(world, ("vector", "single"), Settings(games=1, steps=40)).divergences == []


@pytest.mark.parametrize(
    ("package", "name", "players"),
    [
        ("pgx", "pgx:tic_tac_toe", 2),
        ("pgx", "pgx:2048", 1),
        ("jumanji", "jumanji:Snake-v1", 1),
        ("jumanji", "jumanji:Connector-v3", 10),
        ("envpool", "envpool:CartPole-v1", 1),
        ("envpool", "envpool:Pendulum-v1", 1),
        ("dm_env", "dm_env:catching:Catch", 1),
        ("gymnax", "gymnax:Pendulum-v1", 1),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_environments_of_other_libraries_repeat_themselves(
    package: str, name: str, players: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install {package}")
    (tmp_path / "catching.py").write_text(CATCH)
    monkeypatch.syspath_prepend(tmp_path)
    world, _, pair = load_pair(world_spec(None, [name]), (name, name))
    assert world.players == players
    assert run(world, pair, Settings(games=4, steps=20)).divergences == []
    sys.modules.pop("catching", None)


class Pool:
    """A pool of one environment, as EnvPool shows it, whose second action is valid in every other state."""

    taken = 0

    def reset(self) -> tuple[Any, dict[str, Any]]:
        infos = {"action_mask": np.array([[True, self.taken % 2 == 0]]), "players": {"id": np.array([0])}}
        return np.array([self.taken]), infos

    def step(self, action: Any) -> tuple[Any, ...]:  # noqa: ANN401 - an array
        self.taken += 1
        observation, infos = self.reset()
        return observation, np.ones(1), np.zeros(1, bool), np.zeros(1, bool), infos


def test_a_pool_says_which_actions_are_valid() -> None:
    game = EnvPoolGame(lambda seed: Pool())
    assert game.begin(0) == 0
    assert np.asarray(game.mask()).tolist() == [True, True]
    assert game.act(1).observation == 1
    assert np.asarray(game.mask()).tolist() == [True, False]
    assert game.info is not None
    assert game.info.keys() == {"action_mask"}
