"""Verdicts: every way of comparing nothing, or the wrong thing, that was found, with what a run says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rlparity import BatchEngine, BatchStep, Board, EngineOptions, State, Tolerance, World
from rlparity.core.lockstep import run
from rlparity.core.settings import Outcome, Settings
from rlparity.core.verdict import Verdict, sentences

FIELDS = ("seed", "turn", "sum")
LENGTH = 5


class Sums(BatchEngine):
    """Adds up what is chosen; each game ends at its fifth action, or where one is taken that the mask forbids.

    parts: what it shows instead, by name, as functions of the engine and what would be shown.
    """

    def __init__(self, games: int, options: EngineOptions = EngineOptions(), **parts: Callable[..., Any]) -> None:
        self.games, self.parts = games, parts
        self.turn, self.sum, self.lost = (np.zeros(games, np.int64) for _ in range(3))
        self.seed = np.zeros(games, np.uint64)

    def _part(self, name: str, value: Any) -> Any:  # noqa: ANN401 - of any field
        return self.parts[name](self, value) if name in self.parts else value

    def reset(self, seeds: NDArray[np.uint64], slots: NDArray[np.intp]) -> NDArray[Any]:
        self.seed[slots], self.turn[slots], self.lost[slots] = self._part("seeds", seeds), 0, 0
        self.sum[slots] = self._part("begun", self.seed[slots] % np.uint64(7))
        return self._seen()[slots]

    def restart(self, slots: NDArray[np.intp]) -> NDArray[Any]:
        return self.reset(self.seed[slots] + np.uint64(1), slots)

    def seeds(self) -> NDArray[np.uint64]:
        return self.seed.copy()

    def _seen(self) -> NDArray[Any]:
        return np.asarray(self._part("observation", np.float32(np.stack([self.turn, self.sum], axis=1))))

    def mask(self) -> NDArray[np.bool_]:
        valid = np.stack([np.ones(self.games, np.bool_), np.ones(self.games, np.bool_), self.sum % 2 == 0], axis=1)
        return np.asarray(self._part("mask", valid & ~self._over()[:, None]))

    def _over(self) -> NDArray[np.bool_]:
        return np.asarray(self._part("over", (self.turn >= LENGTH) | (self.lost == 1)))

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        playing = ~self._over()
        wrong = playing & ~self.mask()[np.arange(self.games), actions]
        self.lost |= wrong
        self.turn += self._part("turn", playing)
        self.sum += self._part("effect", actions * (playing & ~wrong))
        reward = self._part("reward", np.float32(actions * playing))
        terminated = self._over()
        parts = {"truncated": self._part("truncated", terminated)} if "truncated" in self.parts else {}
        return BatchStep(
            self._seen(), np.asarray(reward, np.int32)[:, None], reward, self._part("terminated", terminated), **parts
        )

    def get_state(self, slots: NDArray[np.intp]) -> list[State]:
        states = [{name: int(getattr(self, name)[slot]) for name in (*FIELDS, "lost")} for slot in slots]
        return [self._part("state", state) for state in states]

    def set_state(self, states: Sequence[State], slots: NDArray[np.intp]) -> NDArray[Any]:
        for state, slot in zip(states, slots, strict=True):
            for name in (*FIELDS, "lost"):
                getattr(self, name)[slot] = state.get(name, 0)
        return self._seen()[slots]


class Others(Sums):
    """The same, written a second time."""


def sums(**parts: Any) -> World:  # noqa: ANN401 - functions of an engine, and fields of a world
    """A world of two engines which show the same instead of some parts."""
    of_world = {name: parts.pop(name) for name in {*parts} & {*World.__annotations__}}
    world = World(
        name="sums",
        engines={"one": partial(Sums, **parts), "other": partial(Others, **parts)},
        actions=("zero", "one", "two"),
        components=("chosen",),
        observation_shape=(2,),
        state_fields=("seed",),
        draw=lambda state: Board((), state),
    )
    return replace(world, **of_world)


def played(world: World, engines: tuple[str, str] = ("one", "other"), **settings: Any) -> Outcome:  # noqa: ANN401
    return run(world, engines, Settings(**{"steps": 20, "games": 16, "invalid": 0.1, **settings}))


ALWAYS = np.ones_like
NEVER = np.zeros_like
NAN = np.full((16, 2), np.nan, np.float32)
ZERO = {"observation": lambda _, seen: NEVER(seen), "reward": lambda _, reward: NEVER(reward)}
IDLE = {name: lambda _, value: NEVER(value) for name in ("begun", "turn", "effect")}
IDLE["mask"] = lambda _, mask: ALWAYS(mask)
EQUAL = Tolerance(ignored=True, reason="not of interest")
ROWS: dict[str, tuple[World, dict[str, Any], Verdict, str]] = {
    "all is exercised": (sums(), {}, Verdict.PASS, ""),
    "one engine under two names": (
        sums(engines={"one": partial(Sums), "other": partial(Sums)}),
        {},
        Verdict.INCONCLUSIVE,
        "both engines are one and the same",
    ),
    "one engine in two functions": (
        sums(engines={"one": lambda games, options: Sums(games), "other": lambda games, options: Sums(games)}),
        {},
        Verdict.INCONCLUSIVE,
        "both engines are one and the same",
    ),
    "an engine and itself": (
        sums(),
        {"engines": ("one", "one")},
        Verdict.LIMITED,
        "the engine is compared with itself",
    ),
    "a constant observation": (
        sums(observation=ZERO["observation"]),
        {},
        Verdict.LIMITED,
        "observation never varies",
    ),
    "no reward": (sums(reward=ZERO["reward"]), {}, Verdict.LIMITED, "reward is always 0"),
    "nothing varies": (
        sums(**ZERO, **IDLE, draws=False),
        {},
        Verdict.INCONCLUSIVE,
        "nothing varies",
    ),
    "NaN everywhere": (
        sums(observation=lambda engine, seen: NAN),
        {},
        Verdict.INCONCLUSIVE,
        "observation holds nothing but NaN",
    ),
    "infinity everywhere": (
        sums(observation=lambda engine, seen: -NAN * 0 - np.inf),
        {},
        Verdict.INCONCLUSIVE,
        "observation holds nothing but NaN",
    ),
    "a mask that allows all": (
        sums(mask=lambda _, mask: ALWAYS(mask)),
        {},
        Verdict.LIMITED,
        "every action is always valid",
    ),
    "a mask that allows nothing": (
        sums(mask=lambda _, mask: NEVER(mask)),
        {},
        Verdict.LIMITED,
        "no action is ever valid",
    ),
    "a mask that stays": (
        sums(mask=lambda _, mask: mask & False | [True, True, False]),
        {},
        Verdict.LIMITED,
        "the mask never varies",
    ),
    "games of one action": (
        sums(over=lambda engine, over: engine.turn >= 1),
        {},
        Verdict.LIMITED,
        "every game ends at its first step",
    ),
    "games without an end": (sums(over=lambda _, over: NEVER(over)), {}, Verdict.LIMITED, "no game ends"),
    "a fault after the last step": (
        sums(
            engines={
                "one": partial(Sums, over=lambda _, over: NEVER(over)),
                "other": partial(Others, over=lambda engine, over: engine.turn > 1000),
            }
        ),
        {"steps": 60},
        Verdict.LIMITED,
        "no game ends",
    ),
    "no game that is cut off": (
        sums(truncated=lambda _, flags: NEVER(flags)),
        {},
        Verdict.LIMITED,
        "no game is truncated",
    ),
    "no game that ends by itself": (
        sums(truncated=lambda _, flags: flags, terminated=lambda _, flags: NEVER(flags)),
        {},
        Verdict.LIMITED,
        "no game is terminated",
    ),
    "an action that is never taken": (
        sums(mask=lambda _, mask: mask & [True, True, False]),
        {"invalid": 0.0},
        Verdict.LIMITED,
        "action two is never taken",
    ),
    "valid actions alone": (sums(), {"invalid": 0.0}, Verdict.LIMITED, "no invalid action is taken"),
    "a tolerance of a billion": (
        sums(tolerances={"observation": 1e9}),
        {},
        Verdict.LIMITED,
        "the tolerance of observation is wider than the field's range",
    ),
    "a tolerance of a billion for states": (
        sums(tolerances={"state.sum": Tolerance(relative=2.0)}),
        {},
        Verdict.LIMITED,
        "the tolerance of state.sum is wider than the field's range",
    ),
    "a field that is ignored": (sums(tolerances={"reward": EQUAL}), {}, Verdict.LIMITED, "reward is left out"),
    "everything ignored": (
        sums(tolerances=dict.fromkeys(("observation", "components", "reward", "terminated", "state"), EQUAL)),
        {},
        Verdict.INCONCLUSIVE,
        "nothing is compared",
    ),
    "no time": (
        sums(),
        {"budget_seconds": 1e-9, "steps": 200},
        Verdict.INCONCLUSIVE,
        "too few steps are compared",
    ),
    "states to be injected that are none": (
        sums(states_replay=True),
        {"mode": "injected"},
        Verdict.INCONCLUSIVE,
        "nothing is injected",
    ),
    "an accepted limit": (
        sums(over=lambda _, over: NEVER(over), accept=("no game ends",)),
        {},
        Verdict.PASS,
        "",
    ),
    "an acceptance that is not so": (
        sums(accept=("no game ends",)),
        {},
        Verdict.DIVERGENT,
        "'no game ends' is accepted, and no longer so",
    ),
    "an acceptance of nothing": (
        sums(accept=("no gam ends",)),
        {},
        Verdict.DIVERGENT,
        "'no gam ends' is accepted, and there is no such limitation",
    ),
    "an emptiness that is accepted": (
        sums(engines={"one": partial(Sums), "other": partial(Sums)}, accept=("both engines are one and the same",)),
        {},
        Verdict.INCONCLUSIVE,
        "both engines are one and the same",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_an_empty_comparison_is_no_pass(name: str) -> None:
    world, settings, verdict, reason = ROWS[name]
    outcome = played(world, **settings)
    assert (outcome.verdict, reason in "".join(sentences(outcome.reasons))) == (verdict, True), outcome.reasons
    assert bool(reason) == bool(outcome.reasons)
