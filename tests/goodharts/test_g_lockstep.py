"""The torch engine, the JAX engine and the plain-Python reading play the same games, bit for bit, and count alike."""

from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from reading_worlds import PAIRED, SIMILAR, world_of
from single_games import made
from torch.utils._python_dispatch import TorchDispatchMode

from goodharts.rules import DEFAULT_NUMBERS, MODES, Numbers
from goodharts.torch_env import env, placement
from goodharts.torch_env.rewards import Rewards
from goodharts.torch_env.tables import PRICES as DEFAULT_PRICES
from goodharts.world import WORLDS, evaluation_world, open_torch
from rlparity import EngineOptions
from rlparity.core.lockstep import Settings, run
from rlparity.testing import assert_lockstep
from rlworldkit.jax import engine as jax_engine

READING, JAX = ("torch", "reading"), ("torch", "jax")
READ = [pytest.param(mode, marks=pytest.mark.long if mode in SIMILAR else ()) for mode in MODES]
"""Modes to compare with the reading; [tool.rlparity] in pyproject.toml compares two modes with JAX in every run."""


@pytest.mark.parametrize("mode", READ)
def test_a_directed_run_is_identical_and_hits_every_mark(mode: str) -> None:
    assert_lockstep(PAIRED[mode], READING, source="directed", games=24, steps=40, seed=1, coverage=())


@pytest.mark.parametrize("mode", READ)
def test_games_from_their_start_are_identical_where_each_is_followed_by_the_next(mode: str) -> None:
    outcome = assert_lockstep(PAIRED[mode], READING, games=6, steps=120, seed=9, auto_reset=True)
    assert outcome.episodes > 0 or mode == "proxy"


@pytest.mark.parametrize("engine", ["torch", pytest.param("jax", marks=pytest.mark.long)])
def test_G7_with_auto_reset_marks_count_one_look_of_each_game_in_a_step(engine: str) -> None:
    world = world_of("proxy", Numbers(max_steps=2))
    games = world.engines[engine](3, EngineOptions(marks=True))
    games.reset(np.arange(3, dtype=np.uint64), np.arange(3))
    ended = [bool(games.step_restarting(np.zeros(3, np.int32)).ended.all()) for _ in range(4)]
    marks = games.marks()
    assert marks is not None
    assert (ended, marks[[*world.marks].index("G7.look")]) == ([False, True] * 2, 3 * 5)
    assert world.engines[engine](3).marks() is None


EMPTY = Numbers(min_food=0, max_food=0, min_poison=0, max_poison=1)
MANY = Numbers(min_food=2000, max_food=2100, min_poison=900, max_poison=900)
UPSIDE_DOWN = replace(MANY, start_energy=30, step_energy=0, food_energy=-20, poison_energy=7, max_steps=9)
CLIPPED = replace(MANY, food_interest=250, poison_interest=-4000, reward_clip=900)


CROWDED = Numbers(min_food=8000, max_food=8000, min_poison=8000, max_poison=8000)


@pytest.mark.long
def test_G6_marks_of_an_evaluation_are_counted_alike_with_its_deaths() -> None:
    world = evaluation_world(MODES["proxy"], Numbers(start_energy=9))
    outcome = assert_lockstep(world, JAX, games=6, steps=40, seed=2, auto_reset=True, coverage=0.0)
    assert outcome.marks[1][[*world.marks].index("G5.starved")] > 0


@pytest.mark.parametrize(
    ("mode", "pair", "numbers"),
    [
        *(
            pytest.param(mode, READING, UPSIDE_DOWN, marks=pytest.mark.long if mode in SIMILAR else ())
            for mode in MODES
        ),
        *(pytest.param(mode, READING, CLIPPED, marks=() if mode == "proxy" else pytest.mark.long) for mode in MODES),
        ("ground_truth", READING, EMPTY),
        pytest.param("ground_truth", JAX, UPSIDE_DOWN, marks=pytest.mark.long),
        pytest.param("proxy_mortal", JAX, replace(CLIPPED, max_steps=9), marks=pytest.mark.long),
    ],
)
def test_G9_games_by_other_numbers_than_the_published_ones_are_identical(
    mode: str, pair: tuple[str, str], numbers: Numbers
) -> None:
    world = replace(world_of(mode, numbers), draws=False)  # an empty grid is the same from every seed
    assert_lockstep(world, pair, games=2, steps=15, seed=0, auto_reset=True)


def test_G3_so_many_items_that_most_draws_hit_some_are_placed_alike() -> None:
    placed = []
    for engine in READING:
        games, only = world_of("ground_truth", CROWDED).engines[engine](1), np.zeros(1, np.intp)
        games.reset(np.array([42], np.uint64), only)
        games.step(np.zeros(1, np.int32))
        placed += games.get_state(only)
    assert placed[0] == placed[1]


@pytest.mark.parametrize("pair", [READING, JAX], ids=["reading", "jax"])
def test_G6_evaluations_which_go_on_on_the_same_grid_are_identical(pair: tuple[str, str]) -> None:
    world = world_of("proxy", evaluating=True)
    assert assert_lockstep(world, pair, games=5, steps=110, seed=0, auto_reset=True).episodes >= 5


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (env, "_WORDS_AHEAD", 1),
        (env, "_WORDS_AHEAD", 300),
        (env, "_MOST_STEPS_AHEAD", 7),
        (env, "_STARTED_AT_ONCE", 1),
        (placement, "_pairs_expected", lambda items: 5),
    ],
)
def test_G3_G10_how_much_is_drawn_in_one_go_changes_nothing(
    module: ModuleType, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, value)
    world = PAIRED["ground_truth"]
    outcome = assert_lockstep(world, READING, source="directed", games=6, steps=20, seed=0, auto_reset=True)
    assert outcome.episodes >= 2


@pytest.mark.skipif(
    not torch.cuda.is_available(), reason="there is no GPU here: the engine is compared on the CPU only"
)
@pytest.mark.parametrize("evaluating", [False, True])
def test_G10_a_game_is_the_same_on_a_gpu(evaluating: bool) -> None:
    mode = MODES["ground_truth_handhold"]
    engines = {name: partial(open_torch, mode, device=name, evaluating=evaluating) for name in ("cpu", "cuda")}
    world = replace(WORLDS[mode.name], engines=engines)
    assert_lockstep(world, ("cpu", "cuda"), games=40, steps=150, seed=0, auto_reset=True)


@pytest.mark.long
@pytest.mark.parametrize(("games", "steps"), [(1, 700), (7, 700), (300, 700), (2000, 150)])
def test_G10_engines_are_identical_at_any_width(games: int, steps: int) -> None:
    outcome = assert_lockstep(PAIRED["ground_truth"], JAX, games=games, steps=steps, seed=3, auto_reset=True)
    assert outcome.episodes > 0


@pytest.mark.long
@pytest.mark.parametrize("source", ["uniform", "directed"])
@pytest.mark.parametrize("auto_reset", [False, True])
@pytest.mark.parametrize("pair", [READING, JAX], ids=["reading", "jax"])
@pytest.mark.parametrize("mode", MODES)
def test_long_games_and_their_marks_are_identical(
    mode: str, pair: tuple[str, str], auto_reset: bool, source: str
) -> None:
    assert_lockstep(
        PAIRED[mode], pair, source=source, games=48, steps=1100, seed=5, auto_reset=auto_reset, coverage=0.0
    )


# Prices


ALIKE = ("ground_truth", "ground_truth_blinded", "proxy_mortal")
"""Modes that are paid as others are."""
UNCLIPPED = Numbers(reward_clip=10**9)
PRICES, ODD = WORLDS["proxy"].prices, (-7, 12_345_679, 0, -99_999_989)
SHORT = Settings(source="directed", games=5, steps=8)


@pytest.mark.parametrize(
    ("mode", "other", "numbers"),
    [
        *(pytest.param(mode, "reading", UNCLIPPED, marks=pytest.mark.long if mode in ALIKE else ()) for mode in MODES),
        ("ground_truth_handhold", "jax", replace(UPSIDE_DOWN, reward_clip=900)),
    ],
)
def test_G9_G12_engines_agree_at_any_prices_by_other_numbers_without_compiling_anew(
    mode: str, other: str, numbers: Numbers
) -> None:
    world, compiled = world_of(mode, numbers), set[int]()
    for prices in (tuple(price.low for price in PRICES), tuple(price.high for price in PRICES), ODD):
        assert run(replace(world, price_values=prices), ("torch", other), SHORT).divergences == []
        compiled.add(len(jax_engine._PROGRAMS))
    assert len(compiled) == 1


@pytest.mark.parametrize("engine", ["reading", "torch", "jax"])
def test_G12_what_food_is_worth_changes_no_energy(engine: str) -> None:
    world = PAIRED["ground_truth_handhold"].with_prices({"food": 0.25, "step": -1})
    games, slots = world.engines[engine](1, EngineOptions(prices=world.price_values)), np.arange(1)
    games.set_state([made(food=[(1, 0)], energy=500)], slots)
    step = games.step(np.array([6], np.int32))
    assert step.components[0, :4].tolist() == [-100_000, 25_000, 0, 0]
    assert games.get_state(slots)[0]["energy"] == 500 - 10 + 1000


class _Divisors(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """What tensors are divided by."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        if func.overloadpacket in (torch.ops.aten.div, torch.ops.aten.div_):
            self.found.append(args[1])
        return func(*args, **(kwargs or {}))


def test_G12_torch_divides_rewards_by_a_tensor_since_cuda_multiplies_by_the_reciprocal_of_a_number() -> None:
    rewards = Rewards(DEFAULT_PRICES["handhold"], DEFAULT_NUMBERS.reward_clip, torch.device("cpu"))
    with _Divisors() as divisors:
        total = rewards.total(torch.tensor([[-1, 7, 0, 0, 0], [-3, 0, 0, 0, 5]]))
    assert total.tolist() == [np.float32(6) / np.float32(100_000), np.float32(2) / np.float32(100_000)]
    assert [isinstance(each, torch.Tensor) for each in divisors.found] == [True]
