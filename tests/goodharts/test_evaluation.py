"""Evaluation (G6, G11): lives that are the same whatever is played beside them, their figures, and comparisons."""

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from command_line import run
from evaluated import evaluated, evaluation_by_hand, lives_of, small_model, write_models
from matplotlib.image import imread
from numpy.typing import NDArray
from scipy import stats

from goodharts.architecture import NetworkKind
from goodharts.cli.evaluate import written
from goodharts.cli.main import main
from goodharts.config import Config
from goodharts.evaluation.lives import CPU_BATCH, play
from goodharts.evaluation.report import (
    FIGURES,
    EvaluationResult,
    Lives,
    as_json,
    as_sentence,
    figures,
    read_results,
)
from goodharts.models import numbers_of, write_model
from goodharts.rules import DEFAULT_NUMBERS, MODES, Numbers
from goodharts.world import evaluation_world, game_seeds
from rlworldkit.agents.agent import LIKELIEST, AgentPlayer, Choice, Lookahead, Player, agent_of_logits, uniform

# What lives say together


def test_G11_the_figures_of_lives_made_by_hand() -> None:
    lives = lives_of((0, 10, 3, 1, True), (0, 30, 0, 0, True), (1, 20, 0, 2, True), (1, 20, 1, 0, False))
    found = figures(lives)
    assert {name: value for name, value in found.items() if name not in FIGURES} == {
        "games": 2,
        "steps": 80,
        "lives": 4,
        "deaths": 3,
        "lives_still_going_on": 1,
    }
    means = {name: found[name]["mean"] for name in FIGURES}
    assert means == pytest.approx(
        {
            "energy_per_1000_steps": 1000 * (4 * 1.0 - 3 * 2.0 - 80 * 0.01) / 80,
            "efficiency": (0.75 + 0.0 + 1.0) / 3,  # the life that ate nothing is left out
            "survival": 80 / 4,  # the one still going on counts as its 20 steps
            "deaths_per_1000_steps": 1000 * 3 / 80,
            "food_per_1000_steps": 1000 * 4 / 80,
            "poison_per_1000_steps": 1000 * 3 / 80,
            "pooled_efficiency": 4 / 7,
            "ate_nothing": 1 / 4,
            "censored": 1 / 4,
        }
    )


def test_G11_where_nobody_ate_there_is_no_efficiency_and_of_one_game_no_interval() -> None:
    found = figures(lives_of((0, 100, 0, 0, True), (1, 100, 0, 0, True)))
    assert math.isnan(found["efficiency"]["mean"])
    assert math.isnan(found["pooled_efficiency"]["low"])
    assert found["ate_nothing"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    survival = figures(lives_of((0, 10, 1, 1, True), (0, 30, 0, 3, True)))["survival"]
    assert survival["mean"] == 20
    assert math.isnan(survival["low"])
    assert math.isnan(survival["high"])


def test_intervals_are_those_of_a_bootstrap_over_games() -> None:
    rng = np.random.default_rng(1)
    games = np.arange(40).repeat(rng.integers(1, 9, size=40)).tolist()
    rows = [(game, int(rng.integers(1, 50)) + game, 1, 0, True) for game in games]
    found = figures(lives_of(*rows))["survival"]
    steps, lives = (np.bincount([row[0] for row in rows], weights) for weights in ([row[1] for row in rows], None))
    expected = stats.bootstrap(
        (steps, lives),
        lambda steps, lives, axis: steps.sum(axis) / lives.sum(axis),
        paired=True,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(2),
    ).confidence_interval
    assert (found["low"], found["high"]) == pytest.approx(
        (expected.low, expected.high), abs=0.05 * (expected.high - expected.low)
    )
    assert found["high"] - found["low"] > 0.1 * found["mean"]


# Lives


CROWDED = Numbers(evaluation_food=3000, evaluation_poison=3000)
"""A world in which something is eaten in most steps."""
CHANCE = AgentPlayer(agent_of_logits("random", uniform))
_WEIGHTS = (np.arange(242 * 8) % 7).reshape(242, 8).astype(np.float32)
LOOKER = AgentPlayer(
    agent_of_logits("looker", lambda seen, masks: seen.reshape(len(seen), -1) @ _WEIGHTS), Choice(LIKELIEST)
)
"""Goes by what it sees, in whole numbers, which no batch rounds otherwise."""


def lived(
    games: int,
    steps: int,
    player: Player = CHANCE,
    *,
    numbers: Numbers = DEFAULT_NUMBERS,
    mode: str = "ground_truth",
    **how: Any,  # noqa: ANN401 - as play has them
) -> Lives:
    return play(evaluation_world(MODES[mode], numbers), player, games, steps, **how)


def plainly_lived(games: int, steps: int, seed: int, player: Player) -> list[tuple[int, int, int, int, bool]]:
    """The lives of a player, kept in the plainest way from what the engine says."""
    engine = evaluation_world(MODES["ground_truth"], CROWDED).engines["torch"](games)
    seeds, now, over = game_seeds(seed, games), [(0, 0, 0)] * games, []
    seen = engine.reset(seeds, np.arange(games))
    for step in range(steps):
        outcome = engine.step(player(seen, engine.mask(), seeds, np.full(games, step)).astype(np.int32))
        assert outcome.events is not None
        seen = outcome.observation.copy()
        for game, ((age, food, poison), happened) in enumerate(zip(now, outcome.events.tolist(), strict=True)):
            now[game] = age + 1, food + (happened & 1), poison + (happened >> 1 & 1)
            if outcome.terminated[game]:
                over.append((game, *now[game], True))
                now[game] = 0, 0, 0
                seen[game] = engine.restart(np.array([game]))[0]
    over += [(game, *now[game], False) for game in range(games) if now[game][0]]
    return sorted(over, key=lambda row: row[0])


@pytest.mark.parametrize("player", [CHANCE, LOOKER], ids=["random", "looker"])
def test_G11_lives_are_what_happened(player: Player) -> None:
    expected = lives_of(*plainly_lived(6, 210, 5, player))
    assert expected["died"].sum() > 6
    assert np.array_equal(lived(6, 210, player, numbers=CROWDED, seed=5, batch=8), expected)


def test_G6_every_step_of_every_game_belongs_to_one_life() -> None:
    lives = lived(130, 120)
    assert np.bincount(lives["game"], lives["steps"]).tolist() == [120] * 130
    assert lives["steps"].min() >= 1
    assert np.array_equal(lives["energy"] <= -1000, lives["died"])
    assert lives["game"].tolist() == sorted(lives["game"])
    short = lived(5, 30, numbers=Numbers(step_energy=100, evaluation_food=0, evaluation_poison=0))
    assert short["steps"].tolist() == [10] * 15


@pytest.mark.parametrize("kind", ["mlp", "cnn"])
def test_a_game_is_the_same_however_many_are_played(kind: NetworkKind) -> None:
    player = AgentPlayer(small_model(kind=kind).agent(), Choice(LIKELIEST))
    steps = 100 if kind == "mlp" else 10
    few, many = (lived(games, steps, player, seed=3, mode="proxy") for games in (8, CPU_BATCH + 2))
    assert len(few) >= 8
    assert np.array_equal(many[many["game"] < 8], few)


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Torch may use two threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(threads)


def test_each_crew_is_computed_on_one_thread_and_rounds_the_same_whatever_there_are(two_threads: None) -> None:
    found: set[tuple[int, str]] = set()

    def player(*seen: Any) -> NDArray[np.int32]:  # noqa: ANN401 - as a player is asked
        found.add((torch.get_num_threads(), torch.get_float32_matmul_precision()))
        return LOOKER(*seen)

    told: list[int] = []
    lived(CPU_BATCH + 1, 70, player, advanced=told.append)
    assert found == {(1, "highest")}
    assert torch.get_num_threads() == 2
    assert sum(told) == (CPU_BATCH + 1) * 70


def test_a_crew_that_fails_ends_the_others(two_threads: None) -> None:
    calls = itertools.count()
    told: list[int] = []

    def failing(*seen: Any) -> NDArray[np.int32]:  # noqa: ANN401 - as a player is asked
        if next(calls) == 0:
            raise RuntimeError("no memory")
        return LOOKER(*seen)

    with pytest.raises(RuntimeError, match="no memory"):
        lived(3 * CPU_BATCH, 20_000, failing, advanced=told.append)
    assert sum(told) < CPU_BATCH * 20_000


# One evaluation


def test_an_evaluation_is_bit_for_bit_reproducible_and_chance_never_deterministic() -> None:
    one, same = (as_json([evaluated(small_model(), Choice(LIKELIEST))]) for _ in range(2))
    assert one == same
    chance = evaluated(None)
    assert chance == evaluated(None, Choice(LIKELIEST))
    assert (chance.player, chance.model) == ("random", None)


def test_a_search_seeks_what_the_model_was_paid_for_and_does_not_heed() -> None:
    config = Config().over({"evaluation": {"games": 8, "steps": 40, "food": 3000, "poison": 3000}}, "a test")
    model = small_model("ground_truth", prices={"poison": 20.0})
    alone, searching = (
        evaluated(model, choice, config) for choice in (Choice(LIKELIEST), Choice(search=Lookahead(2, 1)))
    )
    assert searching.settings == {**alone.settings, "search": "2×1"}
    poison, more = (each.figures["poison_per_1000_steps"]["mean"] for each in (alone, searching))
    assert more > 2 * poison  # in every life, the first one and those that follow
    assert "a search of 2×1 steps, trained at prices poison 20" in as_sentence(searching)


def test_a_model_lives_in_the_world_that_it_was_trained_in() -> None:
    model = small_model(world={"poison_interestingness": 0.9, "start_energy": 0.25})
    config = Config().over({"evaluation": {"food": 5}, "world": {"start_energy": 2.0}}, "a test")
    world = numbers_of(model.config, config)
    assert (world.poison_interest, world.start_energy, world.evaluation_food) == (900, 250, 5)
    assert numbers_of({}, config).start_energy == 2000


# The command


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two models in ``models``, in which commands run."""
    monkeypatch.chdir(tmp_path)
    write_models(tmp_path / "models", "proxy", "ground_truth")
    return tmp_path


SIZE = ("--games", "4", "--steps", "40")


def test_the_command_evaluates_models_and_chance(models: Path) -> None:
    modes = "proxy,random,ground_truth,proxy"
    ran = run(main, "evaluate", "--mode", modes, *SIZE, "--json", "figures.json", "--seed", "3")
    assert (ran.code, "proxy: 4 games of 40 steps, drawn actions" in ran.out) == (0, True)
    found = json.loads((models / "figures.json").read_text(), parse_constant=pytest.fail)["evaluations"]
    assert [each["player"] for each in found] == ["proxy", "random", "ground_truth"]
    trained = {"update": 7, "timesteps": 4000}
    assert [each["model"] for each in found] == [trained, None, trained]
    assert found[0]["settings"] == {"games": 4, "steps": 40, "seed": 3, "deterministic": False, "device": "cpu"}
    assert found[0]["rules"] == "1"
    assert found[0]["world"]["poison_energy"] == -2000
    assert found[0]["figures"]["steps"] == 160
    assert set(found[0]["figures"]) > set(FIGURES)
    assert found[0]["published"]["survival"] == 29.0
    assert found[1]["published"] is None


def test_a_model_says_its_mode_itself_and_the_configuration_what_flags_do_not(models: Path) -> None:
    write_model(models / "mine.pth", small_model("ground_truth_handhold"))
    (models / "config.toml").write_text("[evaluation]\ngames = 3\nsteps = 50\n")
    for words, said in (
        (("--model", "mine.pth", *SIZE), "ground_truth_handhold: 4 games of 40 steps"),
        (("--mode", "random", "--steps", "20"), "random: 3 games of 20 steps"),
    ):
        ran = run(main, "evaluate", *words)
        assert (ran.code, said in ran.out) == (0, True)


def test_what_was_found_before_an_interruption_is_written(tmp_path: Path) -> None:
    def interrupted() -> Iterator[EvaluationResult]:
        yield evaluation_by_hand()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written(interrupted(), tmp_path / "figures.json")
    assert len(json.loads((tmp_path / "figures.json").read_text())["evaluations"]) == 1


# Comparison


def nobody_ate() -> EvaluationResult:
    """One game of chance, in which there was neither a meal nor a second game to compare with."""
    settings = {"games": 1, "steps": 40, "seed": 0, "deterministic": False, "device": "cpu"}
    return EvaluationResult("random", "1", None, settings, {}, figures(lives_of((0, 40, 0, 0, False))))


BOTH = [evaluation_by_hand(), nobody_ate()]


def test_models_that_there_are_play_and_chance_does_too(models: Path) -> None:
    (models / "models").rename("mine")
    flags = "--games 4 --steps 40 --deterministic --json all.json --picture all.png"
    ran = run(main, "compare", "--models", "mine", *flags.split())
    assert (ran.code, "proxy: 4 games of 40 steps, likeliest actions" in ran.out) == (0, True)
    assert [each.player for each in read_results(models / "all.json")] == ["ground_truth", "proxy", "random"]
    assert imread(models / "all.png").shape[2] == 4


def test_files_of_evaluations_are_compared_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.json").write_text(as_json(BOTH[:1]))
    Path("other.json").write_text(as_json(BOTH[1:]))
    ran = run(main, "compare", "one.json", "other.json", "--json", "-")
    assert (ran.code, ran.out) == (0, as_json(BOTH))
    assert "published" in ran.err


def test_groups_of_models_are_compared_by_a_figure(models: Path) -> None:
    for name in ("one", "other"):
        (models / name / "models").mkdir(parents=True)
        write_model(models / name / "models" / "ppo_proxy.pth", small_model(training={"seed": 7}))
    assert run(main, "export", "other/models/ppo_proxy.pth", "--output", "other.onnx").code == 0
    groups = "--group several=models,one --group one=other.onnx"
    flags = "--games 4 --steps 40 --figure survival --json all.json --markdown - --picture all.png"
    ran = run(main, "compare", *groups.split(), *flags.split())
    assert ran.code == 0
    assert "| several over one |" in ran.out
    found = json.loads((models / "all.json").read_text())
    assert found["score"] == "survival"
    agents = [run["agent"] for run in found["groups"]["several"]["runs"]]
    assert agents == ["models/ppo_ground_truth.pth", "models/ppo_proxy.pth", "one/models/ppo_proxy.pth"]
    assert found["pairs"][0]["paired_seeds"] == [7]
    few = run(main, "compare", *groups.split(), "--games", "1", "--steps", "1")
    assert (few.code, "Every score of group several is NaN: let its runs play more games" in few.err) == (2, True)
    (models / "empty").mkdir()
    assert "There is no model in empty" in run(main, "compare", "--group", "some=one,empty").err
    assert imread(models / "all.png").shape[2] == 4
