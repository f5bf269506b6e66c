"""The figures of an evaluation, held to SciPy's and to episodes made by hand."""

import numpy as np
import pytest
from scipy import stats

from hackmatrix.rules import ACTIONS, COMPONENTS, EVENTS, SIPHON
from hackmatrix.score import SCORE
from hackmatrix.world import WORLD
from rlworldkit.evaluation.play import _ActionCounts, ending_of
from rlworldkit.evaluation.report import share, summary
from rlworldkit.score import Episode


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


def test_the_report_is_on_the_siphon_and_the_programs() -> None:
    assert SCORE.actions == ACTIONS[SIPHON:]
