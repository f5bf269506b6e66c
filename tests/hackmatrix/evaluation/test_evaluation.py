"""Evaluation: choices of actions, whole episodes, the same on either engine, and figures that say what they claim."""

import json
import math
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from hackmatrix import jax_env
from hackmatrix.cli.main import main
from hackmatrix.env import HackMatrixJaxEnv
from hackmatrix.rules import ACTIONS, COMPONENTS, EVENTS
from hackmatrix.score import SCORE
from hackmatrix.world import WORLD
from rlparity.threefry import seed_pairs
from rlworldkit.agents.agent import AgentPlayer, Choice, Player, drawn, likeliest, probabilities
from rlworldkit.agents.reader import read_agent
from rlworldkit.evaluation.play import _ActionCounts, ending_of, play_episodes
from rlworldkit.evaluation.report import as_json, share, summary
from rlworldkit.score import Episode
from tests.hackmatrix.rules.builders import state
from tests.hackmatrix.rules.movers import virus

GAMES = 8  # the width that other tests have the JAX engine compiled for


def chance(seed: int) -> Player:
    return AgentPlayer(read_agent(WORLD, "random"), Choice(player_seed=seed))


@pytest.fixture(scope="module")
def by_chance(swift_built: None) -> list[Episode]:
    return play_episodes(WORLD, chance(0), 7, 60, engine="swift", num_envs=16)


def test_both_engines_give_the_same_episodes(swift_built: None, params: Path) -> None:
    player = AgentPlayer(read_agent(WORLD, params), Choice(player_seed=3))
    swift, jax_played = (
        play_episodes(WORLD, player, 7, 20, engine=engine, num_envs=GAMES) for engine in ("swift", "jax")
    )
    assert swift == jax_played
    assert [episode.seed for episode in swift] == list(range(7, 27))


def test_the_seed_of_the_player_alone_changes_episodes_not_how_many_are_played_side_by_side(
    by_chance: list[Episode],
) -> None:
    assert play_episodes(WORLD, chance(0), 7, 60, engine="swift", num_envs=7) == by_chance
    assert play_episodes(WORLD, chance(1), 7, 60, engine="swift", num_envs=16) != by_chance
    assert {episode.ending for episode in by_chance} <= {"died", "won"}, "only valid actions are chosen"


def test_the_walk_takes_the_shortest_way_and_beats_chance(by_chance: list[Episode]) -> None:
    walked = play_episodes(WORLD, AgentPlayer(read_agent(WORLD, "walk")), 7, 60, engine="swift", num_envs=16)
    assert np.mean([episode.stats["highest_stage"] for episode in walked]) > 2
    assert np.mean([episode.stats["return"] for episode in walked]) > np.mean(
        [episode.stats["return"] for episode in by_chance]
    )
    assert all(episode.stats["actions"]["siphon"] == 0 for episode in walked)


def test_the_summary_is_that_of_the_episodes(by_chance: list[Episode]) -> None:
    figures = summary(WORLD, by_chance)
    returns = np.array([episode.stats["return"] for episode in by_chance])
    assert figures["episodes"] == 60
    assert figures["return"]["mean"] == pytest.approx(returns.mean())
    margin = 1.959964 * returns.std(ddof=1) / math.sqrt(60)
    assert figures["return"]["high"] == pytest.approx(returns.mean() + margin, abs=0.2 * margin)
    counts = [use["uses"] for use in figures["actions"].values()]
    assert all(0 <= use["low"] <= use["mean"] <= use["high"] for use in counts)
    parts = sum(value["mean"] for value in figures["reward"].values())
    assert parts == pytest.approx(returns.mean())
    assert sum(figures["stages"].values()) == sum(figures["endings"].values()) == 60
    assert sum(figures["died_beside"].values()) == figures["endings"]["died"]
    # Wilson's interval of 0 in 60 (Newcombe 1998's formula, worked by hand)
    assert figures["win_rate"] == pytest.approx({"mean": 0.0, "low": 0.0, "high": 0.0602}, abs=1e-4)


def test_what_one_episode_cannot_tell_is_a_text_in_json(by_chance: list[Episode]) -> None:
    figures = json.loads(as_json(summary(WORLD, by_chance[:1])), parse_constant=pytest.fail)
    length = by_chance[0].stats["steps"]
    assert figures["length"] == {"mean": length, "low": "-Infinity", "high": "Infinity"}
    assert figures["actions"]["HACK"]["at_once"] == {"mean": "NaN", "low": 0.0, "high": 1.0}


def test_the_command_prints_figures_and_compares_the_engines(
    swift_built: None, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--episodes", "20", "--num-envs", str(GAMES), "--engine", "both", "--json", "-"]
    assert main(["evaluate", "walk", *flags]) == 0
    out = capsys.readouterr()
    assert json.loads(out.out)["episodes"] == 20
    assert "Both engines gave the same episodes." in out.err
    assert "taken at once: in that" in out.err, "columns are explained"
    assert not any(line.endswith(" ") for line in out.err.splitlines())


def test_a_search_s_present_with_another_future_keeps_nothing_of_its_own() -> None:
    """Seeds and event numbers differ; with one seed instead, the states that a search plays on from are the same."""
    states = (jax_env.set_state(state(virus(1, 1), seed=number, eventNumber=number)) for number in (1000, 1001))
    one, other = (jax.tree.leaves(HackMatrixJaxEnv().reseed(each, jnp.array([7, 8], jnp.uint32))) for each in states)
    assert all(map(np.array_equal, one, other))


@pytest.mark.parametrize(("count", "total"), [(0, 60), (1, 7), (30, 60), (59, 60), (60, 60), (3, 3000)])
def test_a_share_has_wilsons_interval(count: int, total: int) -> None:
    found = share(count, total)
    wilson = stats.binomtest(count, total).proportion_ci(method="wilson")
    assert found["mean"] == count / total
    assert (found["low"], found["high"]) == pytest.approx((wilson.low, wilson.high), abs=1e-4)


def episode(seed: int, ending: str, earned: float, *beside: str) -> Episode:
    stats = {"return": earned, "steps": 10 * seed, "reward_breakdown": dict.fromkeys(COMPONENTS, 0.0)}
    zeros = (0,) * len(ACTIONS)
    notes = {"died_beside": beside, "died_beside_siphon_enemy": False}
    return Episode(seed, ending, stats | {"highest_stage": 3}, zeros, zeros, zeros, notes)


def test_wins_are_counted_and_returns_have_a_median() -> None:
    played = [episode(1, "won", 500.0), episode(2, "died", 1.0, "virus"), episode(3, "died", 3.0)]
    figures = summary(WORLD, played)
    assert figures["win_rate"]["mean"] == 1 / 3
    assert figures["return"]["median"] == 3.0
    assert figures["endings"] == {"died": 2, "won": 1}
    assert figures["died_beside"] == {"virus": 1, "nobody": 1}


@pytest.mark.parametrize(
    ("event", "ending"), [("victory", "won"), ("death", "died"), ("invalid_action", "invalid"), (None, "terminated")]
)
def test_C4_an_episode_is_called_by_what_ended_it(event: str | None, ending: str) -> None:
    happened = 0 if event is None else 1 << EVENTS.index(event)
    assert ending_of(WORLD, happened, terminated=True) == ending
    assert ending_of(WORLD, 0, terminated=False) == "truncated"


def test_an_opening_is_taken_at_once_in_the_step_in_which_it_comes() -> None:
    openings = _ActionCounts(1, 3)
    for mask, action in (("110", 1), ("110", 1), ("011", 2), ("110", 0), ("110", 0)):
        openings.add(np.array([[bit == "1" for bit in mask]]), np.array([action], np.int32))
    assert openings.count.tolist() == [[2, 1, 1]]
    assert openings.at_once.tolist() == [[1, 1, 1]]
    openings.start([0])
    openings.add(np.array([[True, False, False]]), np.array([0], np.int32))
    assert (openings.count.tolist(), openings.at_once.tolist()) == ([[1, 0, 0]], [[1, 0, 0]])


@pytest.mark.parametrize(
    ("ending", "from_siphon", "beside", "beside_siphon_enemy"),
    [("died", False, ("glitch",), False), ("died", True, ("glitch",), True), ("won", True, (), False)],
)
def test_only_who_died_has_died_beside_somebody(
    ending: str, from_siphon: bool, beside: tuple[str, ...], beside_siphon_enemy: bool
) -> None:
    near = {"type": "glitch", "row": 2, "col": 3, "spawnedFromSiphon": from_siphon}
    afar = {"type": "virus", "row": 5, "col": 5, "spawnedFromSiphon": True}
    state = {"player": {"row": 2, "col": 2}, "enemies": [near, afar]}
    notes = SCORE.notes(ending, state)
    assert notes == {"died_beside": beside, "died_beside_siphon_enemy": beside_siphon_enemy}


def test_a_draw_is_that_of_jax_random() -> None:
    random, count = np.random.default_rng(5), 2020
    masks = random.random((count, len(ACTIONS))) < 0.4
    masks[:, 0] |= ~masks.any(axis=1)
    logits = (3 * random.normal(size=masks.shape)).astype(np.float32)
    seeds, steps = random.integers(0, 2**64, count, dtype=np.uint64), random.integers(0, 5000, count)
    given = seed_pairs(seeds), steps.astype(np.uint32), jnp.where(masks, logits, -jnp.inf)

    def draw(player_seed: jax.Array, words: jax.Array, step: jax.Array, masked: jax.Array) -> jax.Array:
        key = jax.random.key(player_seed)
        for number in (words[0], words[1], step):
            key = jax.random.fold_in(key, number)
        return jax.random.categorical(key, masked)

    draws = jax.jit(jax.vmap(draw, in_axes=(None, 0, 0, 0)))
    for seed in (3, 2**32 - 1):
        np.testing.assert_array_equal(drawn(logits, masks, seeds, steps, seed), draws(np.uint32(seed), *given))


def test_probabilities_are_those_of_the_valid_actions() -> None:
    logits = np.log([[1, 2, 3, 4]]).astype(np.float32)
    found = probabilities(logits, np.array([[True, True, False, True]]))
    np.testing.assert_allclose(found, [[1 / 7, 2 / 7, 0, 4 / 7]], rtol=1e-6)


def test_the_likeliest_valid_action_is_the_first_of_several() -> None:
    logits = np.array([[1, 5, 5, 9]], np.float32)
    assert likeliest(logits, np.array([[True, True, True, False]])).tolist() == [1]
