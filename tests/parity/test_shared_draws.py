"""Draws that an original of Gymnasium and its port share: the words, the generator, and whole ports of ``studies``."""

import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from orchard.env import ENV

from rlparity import EngineError, World
from rlparity.adapters import Draws, GymGame, Pairing, PytreeGame, SharedGenerator, jax_env_game
from rlparity.adapters.draws import NORMAL_WORDS, draws_of
from rlparity.core.lockstep import Settings, run
from rlparity.core.verdict import Verdict
from rlworldkit.jax import threefry

PORTS = Path(__file__).resolve().parents[2] / "studies" / "ports"
ENGINES = "gymnasium", "jax"
SETTINGS = {  # with a seed whose games soon meet what the faults change
    "taxi": Settings(seed=4, games=4, steps=250, source="directed", invalid=0.2),
    "blackjack": Settings(seed=4, games=4, steps=60),
}


def generator(seed: int = 7, turn: int = 3, **sites: int) -> SharedGenerator:
    made = SharedGenerator(sites)
    made.begin(seed, turn)
    return made


def test_words_are_those_that_rlworldkit_has_at_the_same_address() -> None:
    seed, index = 5 + (9 << 32), np.arange(6, dtype=np.uint32)
    theirs = threefry.EventDraws(threefry.Seed(jnp.uint32(5), jnp.uint32(9)), jnp.uint32(3))
    for site in (0, 2):
        words = Draws(*(word[None] for word in draws_of(seed, 3))).words(index, site)
        assert words.tolist() == [int(theirs.word(site, int(each))) for each in index]


def test_a_port_draws_what_the_generator_draws() -> None:
    @jax.jit
    def port(draws: Draws) -> Any:  # noqa: ANN401 - arrays
        normal = draws.normal(NORMAL_WORDS * jnp.arange(2) + 8)
        return draws.random(0), draws.integers(-2, 5, jnp.arange(1, 4)), draws.permutation(4, 4), normal

    drawn = generator()
    theirs = drawn.random(), drawn.integers(-2, 5, 3), drawn.permutation(4), drawn.normal(size=2)
    for mine, other in zip(port(draws_of(7, 3)), theirs, strict=True):
        assert np.asarray(mine, np.float64).tolist() == np.asarray(other, np.float64).tolist()


def test_draws_are_as_those_of_numpy() -> None:
    drawn, numpy = generator(), np.random.default_rng(0)
    values = [10, 20, 30]
    calls: dict[str, list[dict[str, Any]]] = {
        "random": [{}, {"size": (2, 3)}],
        "uniform": [{}, {"low": -1, "high": np.array([1.0, 2.0])}, {"size": 4}],
        "integers": [{"low": 3}, {"low": 3, "high": 5, "size": 4}, {"low": [1, 2], "high": 9}],
        "normal": [{}, {"loc": 3, "scale": [1.0, 2.0]}, {"size": 2}],
        "choice": [{"a": 3}, {"a": values, "size": 2, "replace": False}, {"a": values, "p": [0, 0.5, 0.5], "size": 9}],
        "permutation": [{"x": 5}, {"x": values}],
    }
    for name, words in calls.items():
        for each in words:
            mine, theirs = (np.asarray(getattr(side, name)(**each)) for side in (drawn, numpy))
            assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype), (name, each)
    shuffled = [*range(9)]
    drawn.shuffle(shuffled)
    assert sorted(shuffled) == [*range(9)] != shuffled
    assert {drawn.choice(values, p=[0, 1, 0]) for _ in range(9)} == {20}
    assert set(drawn.integers(0, 1, 50, endpoint=True)) == {0, 1}
    numbers = drawn.normal(size=4000)
    assert abs(numbers.mean()) < 0.1
    assert 0.9 < numbers.std() < 1.1
    with pytest.raises(EngineError, match="has no probabilities without replacement"):
        drawn.choice(values, size=2, replace=False, p=[0, 0.5, 0.5])


def test_sites_keep_what_one_rule_draws_from_shifting_another() -> None:
    def spawn(source: SharedGenerator) -> float:
        return float(source.random())

    one, other = generator(spawn=1), generator(spawn=1)
    one.random(5)
    assert spawn(one) == spawn(other) != generator().random()


def test_draws_depend_on_seed_and_turn() -> None:
    assert len({generator(seed, turn).random() for seed in (1, 2) for turn in (0, 1)}) == 4


class Weather(gymnasium.Env[Any, Any]):
    """A number that grows by what is drawn, shown with a third of it; the game ends above 5."""

    observation_space = gymnasium.spaces.Tuple((gymnasium.spaces.Discrete(100), gymnasium.spaces.Box(0, 99, ())))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.level = int(self.np_random.integers(4))
        return self.seen(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.level += int(self.np_random.random() < 0.75) * action
        return self.seen(), 0.1, self.level > 5, False, {}

    def seen(self) -> tuple[int, Any]:
        return self.level, np.array([self.level, 1]) / 3


def weather(limit: int = 9) -> World:
    def observe(level: Any) -> Any:  # noqa: ANN401 - arrays
        return level, jnp.asarray(np.arange(99) / 3, jnp.float32)[jnp.stack([level, jnp.int32(1)])]

    def step(draws: Draws, level: Any, action: Any) -> Any:  # noqa: ANN401 - arrays
        level += (draws.random(0) < 0.75) * action
        return observe(level), level, jnp.float32(0.1), level > 5

    def reset(draws: Draws) -> Any:  # noqa: ANN401 - arrays
        level = draws.integers(0, 4, 0)
        return observe(level), level

    def original() -> GymGame:
        env: Any = gymnasium.wrappers.TimeLimit(Weather(), 9)
        return GymGame(lambda: env, ("level",), observe=Weather.seen, shared_draws=True, float32=True)

    games: dict[str, Any] = {
        "gymnasium": original,
        "jax": lambda: PytreeGame(
            reset,
            step,
            observe,
            to_dict=lambda level: {"level": int(level)},
            from_dict=lambda state, _: np.int32(state["level"]),
            shared_draws=True,
            time_limit=limit,
        ),
    }
    return Pairing("weather", games, ("wait", "go"), {"0": (), "1": (2,)}, state_fields=("level", "taken")).world()


@pytest.mark.parametrize("mode", ["strict", "injected", "resynchronised"])
def test_states_and_limits_of_time_fit_together_in_every_mode(mode: str) -> None:
    settings = Settings(games=4, steps=60, mode=mode)
    outcome = run(weather(), ENGINES, settings)
    assert (outcome.verdict, [*map(str, outcome.reasons)]) == (Verdict.PASS, [])
    assert run(weather(limit=8), ENGINES, settings).divergences


def test_a_jax_env_is_a_side_of_a_pairing() -> None:
    world = Pairing(
        "orchard",
        {"jax": jax_env_game(ENV), "again": jax_env_game(ENV, time_limit=5)},
        ("up", "down", "left", "right", "pick", "rest"),
        (34,),
        state_fields=("walker", "wasp", "hp", "score", "turn", "apples", "taken"),
    ).world()
    (found,) = run(world, ("jax", "again"), Settings(games=4, steps=8)).divergences
    assert [difference.field for difference in found.differences] == ["truncated"]


def port_world(monkeypatch: pytest.MonkeyPatch, pair: str, name: str, old: str = "", new: str = "") -> World:
    """A world of ``studies/ports``, whose port has ``new`` where ``old`` is."""
    text = (PORTS / pair / "port.py").read_text()
    assert not old or text.count(old) == 1, old
    port = ModuleType("port")
    monkeypatch.setitem(sys.modules, "port", port)
    exec(text.replace(old, new) if old else text, vars(port))
    world: World = runpy.run_path(str(PORTS / pair / "pairing.py"))[name]
    return world


@pytest.mark.parametrize(
    ("pair", "name", "old", "new"),
    [
        ("taxi", "RAINY", "is_free(row, column, wanted) & is_free", "is_free"),
        ("taxi", "FICKLE", "other >= destination", "other > destination"),
        ("blackjack", "SAB", "hand.sum() + 10 <= 21", "hand.sum() + 10 < 21"),
        ("blackjack", "NATURAL", "& (result == 1), 1.5", "& (result >= 0), 1.5"),
    ],
)
def test_a_fault_in_a_port_is_found(monkeypatch: pytest.MonkeyPatch, pair: str, name: str, old: str, new: str) -> None:
    assert run(port_world(monkeypatch, pair, name, old, new), ENGINES, SETTINGS[pair]).divergences


@pytest.mark.parametrize(("pair", "name"), [("taxi", "FICKLE"), ("blackjack", "SAB")])
def test_a_port_passes(monkeypatch: pytest.MonkeyPatch, pair: str, name: str) -> None:
    outcome = run(port_world(monkeypatch, pair, name), ENGINES, SETTINGS[pair])
    assert (outcome.verdict, [*map(str, outcome.reasons)]) == (Verdict.PASS, [])
