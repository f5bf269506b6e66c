"""Transfer: whether policies do as well on a second engine, shown by equivalence tests."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from command_line import orchard, rlparity
from faulty_orchard import WORLD, DrawsOtherwise
from numpy.typing import NDArray
from orchard.plain import PlainEngine
from orchard.planes import PlanesEngine
from scipy import stats

from rlparity import BatchStep, Box
from rlparity.core.guard import GuardedEngine
from rlparity.core.settings import Settings
from rlparity.core.sources import uniform_policy
from rlparity.tools.transfer import (
    DIFFERENT,
    EQUIVALENT,
    MOST_ROUNDS,
    NOT_SHOWN,
    equivalence,
    equivalence_tests,
    reason,
)

RNG = np.random.default_rng(5)
GAMES = 100


class GenerousEngine(PlanesEngine):
    """Pays 1 more for one step in ``every``, counted in all games together."""

    every = 1

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        step = super().step(actions)
        self.number = getattr(self, "number", 0) + len(actions)
        step.reward[:] += np.arange(self.number - len(actions), self.number) % self.every == 0
        return step


class RarelyGenerousEngine(GenerousEngine):
    """The same in 0.1% of the steps."""

    every = 1000


class CutOffEngine(PlainEngine):
    """A time limit ends every game at its first step."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        step = super().step(actions)
        return replace(step, truncated=~step.terminated)


def test_the_value_of_what_a_time_limit_cuts_off_is_learned() -> None:
    learner = pytest.importorskip("rlparity.tools.learner")
    world = replace(WORLD, engines={"plain": CutOffEngine})
    with closing(GuardedEngine(world, "plain", 3)) as engine:
        games = learner.EngineVecEnv(world, engine, 0)
        games.step_async(engine.mask().argmax(1))
        following, _, ended, infos = games.step_wait()
    assert ended.all()
    assert all(info["TimeLimit.truncated"] for info in infos)
    assert not any((info["terminal_observation"] == row).all() for info, row in zip(infos, following, strict=True))


def results_of(other: Any, share: float = 0.05) -> tuple[dict[str, Any], str]:  # noqa: ANN401 - an engine's class
    """The tests of uniform play by measure, and the reason."""
    world = replace(WORLD, engines={"plain": PlainEngine, "other": other})
    settings = Settings(steps=60, games=GAMES, invalid=0.0)
    found, ended = equivalence_tests(world, ("plain", "other"), [("uniform", uniform_policy)], settings, share)
    assert 0 < ended[0] <= found[0].games <= GAMES * MOST_ROUNDS
    return {test.measure: test for test in found}, reason(found, share)


def test_equal_engines_are_equivalent_within_what_unplayed_games_could_hide() -> None:
    found, said = results_of(PlanesEngine)
    assert {test.result for test in found.values()} == {EQUIVALENT}
    assert all(test.expected == test.observed and 0 < test.bound == -test.low for test in found.values())
    assert said.startswith("Equivalent within 0.05: differences of more than ")


def test_a_fault_in_every_step_is_a_difference() -> None:
    found, said = results_of(GenerousEngine)
    assert (found["return"].result, found["length"].result) == (DIFFERENT, EQUIVALENT)
    assert found["return"].games == GAMES  # and more would not help
    assert said.startswith("Different: in return of uniform the difference is between ")


@pytest.mark.parametrize(("share", "result"), [(0.05, EQUIVALENT), (0.03, NOT_SHOWN), (0.005, DIFFERENT)])
def test_a_fault_in_one_step_of_a_thousand_states_its_bound(share: float, result: str) -> None:
    found, said = results_of(RarelyGenerousEngine, share)
    test = found["return"]
    assert test.result == result
    assert test.low <= test.observed - test.expected <= test.high
    assert test.observed > test.expected
    assert f"{test.bound:.3g}" in said or f"{test.low:.3g} and {test.high:.3g}" in said


def test_a_result_is_that_of_two_one_sided_t_tests() -> None:
    for shift in np.linspace(-0.3, 0.3, 25):
        one = RNG.normal(2, 1, 200)
        other = one + RNG.normal(shift, 1, 200)
        found = equivalence("", "return", (one, other), 0.1)
        tails = [
            stats.ttest_1samp(other - one, bound, alternative=side).pvalue
            for bound, side in ((-found.margin, "greater"), (found.margin, "less"))
        ]
        assert found.margin == pytest.approx(0.1 * one.mean())
        if abs(max(tails) - 0.05) > 0.005:  # where the t and the normal distribution agree
            assert (found.result == EQUIVALENT) == (max(tails) < 0.05)


@pytest.mark.parametrize("deviation", [0.2, 0.6, 1.2])
def test_equal_engines_that_draw_differently_are_shown_equivalent_in_most_runs(deviation: float) -> None:
    def drawn(games: int) -> NDArray[np.float64]:
        return 1 + deviation * RNG.gamma(1, 1, (2, games))  # as skewed as the lengths of games

    shown = []
    for _ in range(400):
        sides = drawn(200)
        needed = equivalence("", "return", (sides[0], sides[1]), 0.2).needed
        sides = np.concatenate([sides, drawn(max(0, needed - 200))], axis=1)
        shown.append(equivalence("", "return", (sides[0], sides[1]), 0.2).result == EQUIVALENT)
    assert np.mean(shown) > 0.9


def test_more_games_are_played_where_their_spread_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlparity.tools.transfer.MOST_ROUNDS", 3)
    found, _ = results_of(DrawsOtherwise)
    assert {test.games for test in found.values()} == {GAMES * 3}
    assert results_of(PlanesEngine)[0]["return"].games == GAMES  # whose games are the same on both sides


def test_the_margin_of_an_ending_is_the_share_itself() -> None:
    one = np.arange(100) < 50
    other = np.arange(100) < 57
    found = equivalence("", "terminated", (one, other), 0.2)
    assert (found.margin, found.result) == (0.2, EQUIVALENT)
    assert equivalence("", "terminated", (one, other), 0.05).result == NOT_SHOWN


def test_the_command_trains_policies_and_compares_them() -> None:
    world = orchard(engines={"plain": PlainEngine, "planes": PlanesEngine, "other": GenerousEngine})
    words = "--policies", "2", "--train-steps", "3072", "--games", "60", "--steps", "60", "--json"
    ran = rlparity("transfer", "plain", "planes", *words, world=world)
    assert (ran.code, ran.json["equivalent"], len(ran.json["ended"])) == (0, True, 2)
    by_policy = {test["policy"]: test for test in ran.json["tests"] if test["measure"] == "return"}
    uniform = results_of(PlanesEngine)[0]["return"].expected
    assert [*by_policy] == ["policy 1", "policy 2"]
    assert min(test["expected"] for test in by_policy.values()) > uniform, "the policies have learned something"
    assert by_policy["policy 1"]["expected"] != by_policy["policy 2"]["expected"]


def test_the_command_plays_agents_and_tells_what_is_not_equivalent() -> None:
    def read_agent(world: object, path: object) -> Any:  # noqa: ANN401 - a judge
        return lambda seen, mask: (np.zeros(mask.shape), np.zeros(len(mask)))

    world = orchard(engines={"plain": PlainEngine, "other": GenerousEngine}, read_agent=read_agent)
    words = "transfer", "plain", "other", "--games", "40", "--steps", "60"
    ran = rlparity(*words, "--agent", "even.npz", world=world)
    assert ran.code == 1
    assert "games ended on both engines. Different: in return of even.npz" in ran.out
    refused = rlparity(*words, "--agent", "even.npz", "--steps", "1", world=world).refusal()
    assert "no game ended on both engines within 1 steps: give more --steps" in refused


def test_worlds_without_numbered_actions_are_refused() -> None:
    world = orchard(actions=(), action_space=Box(0.0, 1.0, (2,)))
    refused = rlparity("transfer", "plain", "planes", world=world).refusal()
    assert "no single player with numbered actions" in refused
    refused = rlparity("transfer", "plain", "plain", world=orchard()).refusal()
    assert "a policy transfers from plain to itself: name another engine" in refused
