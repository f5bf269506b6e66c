"""Verdicts: every way of comparing nothing, or the wrong thing, that was found, with what a run says of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from command_line import rlparity
from numpy.typing import NDArray

from rlparity import (
    BatchEngine,
    BatchStep,
    Board,
    EngineError,
    EngineOptions,
    MultiDiscrete,
    Pairing,
    State,
    Tolerance,
    World,
)
from rlparity.adapters.gymnasium import GymGame
from rlparity.adapters.observations import range_of, space_values
from rlparity.adapters.pytree import gymnax_game
from rlparity.adapters.single import SingleGame, SingleGames
from rlparity.core.ledger import Entry, Ledger
from rlparity.core.limits import declaration_checks, declarations_of
from rlparity.core.lockstep import run
from rlparity.core.settings import Outcome, Settings
from rlparity.core.trace import Trace
from rlparity.core.verdict import Verdict, judged, sentences
from rlparity.engines.registry import load_world
from rlparity.testing import assert_lockstep

FIELDS = ("seed", "turn", "sum")
LENGTH = 5


class Sums(BatchEngine):
    """Adds up what is chosen; each game ends at its fifth action, or where one is taken that the mask forbids.

    parts: what it shows instead, by name, as functions of the engine and what would be shown.
    """

    def __init__(self, games: int, options: EngineOptions = EngineOptions(), **parts: Callable[..., Any]) -> None:
        self.games, self.parts = games, parts
        self.turn, self.sum, self.lost, self.last = (np.zeros(games, np.int64) for _ in range(4))
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
        playing, self.last = ~self._over(), np.array(actions)
        wrong = playing & ~self.mask()[np.arange(self.games), actions]
        self.lost |= wrong
        self.turn += self._part("turn", playing)
        self.sum += self._part("effect", actions * (playing & ~wrong))
        reward = self._part("reward", np.float32(actions * playing))
        terminated = self._over()
        parts = {"truncated": self._part("truncated", terminated)} if "truncated" in self.parts else {}
        events = self._part("event", terminated) if "event" in self.parts else None
        components = self._part("component", np.asarray(reward, np.int32)[:, None])
        ends = self._part("terminated", terminated)
        return BatchStep(self._seen(), components, reward, ends, facts=self.facts(), events=events, **parts)

    def facts(self) -> NDArray[Any] | None:
        return self.parts["fact"](self, self.turn[:, None]) if "fact" in self.parts else None

    def get_state(self, slots: NDArray[np.intp]) -> list[State]:
        states = [{name: int(getattr(self, name)[slot]) for name in (*FIELDS, "lost")} for slot in slots]
        return [self._part("state", state) for state in states]

    def set_state(self, states: Sequence[State], slots: NDArray[np.intp]) -> NDArray[Any]:
        for state, slot in zip(states, slots, strict=True):
            for name in (*FIELDS, "lost"):
                getattr(self, name)[slot] = state.get(name, 0)
        return np.asarray(self._part("placed", self._seen()[slots]))


class Others(Sums):
    """The same, written a second time."""


class Greedy(Sums):
    """Takes another action than it is told."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        actions %= 2
        return super().step(actions)


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


def within_itself() -> Callable[..., Sums]:
    """A factory that closes over itself."""

    def opened(games: int, options: EngineOptions) -> Sums:
        return Sums(games, options) if games else opened(1, options)

    return opened


ALWAYS = np.ones_like
NEVER = np.zeros_like
NAN = np.full((16, 2), np.nan, np.float32)
ZERO: dict[str, Any] = {"observation": lambda _, seen: NEVER(seen), "reward": lambda _, reward: NEVER(reward)}
IDLE: dict[str, Any] = {name: lambda _, value: NEVER(value) for name in ("begun", "turn", "effect")}
IDLE["mask"] = lambda _, mask: ALWAYS(mask)
DEAF: dict[str, Any] = {
    "effect": IDLE["effect"],
    "mask": IDLE["mask"],
    "reward": lambda engine, _: np.float32(engine.turn),
}
EQUAL = Tolerance(ignored=True, reason="not of interest")
SAME_ENGINES = {"one": partial(Sums), "other": partial(Sums)}
OTHER_CODE = {"one": partial(Sums), "other": lambda games, options: Sums(games, options)}
SAME_CODE = {"one": lambda games, options: Sums(games), "other": lambda games, options: Sums(games)}
ENDLESS: dict[str, Any] = {"over": lambda _, over: NEVER(over)}
LATE_FAULT = {"one": partial(Sums, **ENDLESS), "other": partial(Others, over=lambda engine, over: engine.turn > 1000)}
NOTHING = dict.fromkeys(("observation", "components", "reward", "terminated", "state"), EQUAL)
WIDER = "is wider than the field's range"
Row = tuple[World, dict[str, Any], Verdict, str]


def row(verdict: Verdict, reason: str = "", settings: dict[str, Any] | None = None, **parts: Any) -> Row:  # noqa: ANN401
    """A world of these parts, settings of its run, its verdict and a reason for that."""
    return sums(**parts), settings or {}, verdict, reason


limited, inconclusive, divergent = (partial(row, each) for each in [*Verdict][1:])
ROWS: dict[str, Row] = {
    "all is exercised": row(Verdict.PASS),
    "one engine under two names": inconclusive("both engines are one and the same", engines=SAME_ENGINES),
    "one engine in two functions": inconclusive("both engines are one and the same", engines=SAME_CODE),
    "one engine in two functions that close over themselves": inconclusive(
        "both engines are one and the same", engines={"one": within_itself(), "other": within_itself()}
    ),
    "an engine and itself": limited("the engine is compared with itself", {"engines": ("one", "one")}),
    "a constant observation": limited("observation never varies", observation=ZERO["observation"]),
    "no reward": limited("reward is always 0", reward=ZERO["reward"]),
    "a component that is always 0": limited(
        "component bonus is always 0", components=("chosen", "bonus"), component=lambda _, paid: paid * [1, 0]
    ),
    "a fact that stays": limited(
        "fact stage never varies", facts=("turn", "stage"), fact=lambda _, turn: turn * [1, 0] + [0, 3]
    ),
    "an event that never happens": limited(
        "event win never happens", events=("end", "win"), event=lambda _, ended: np.uint8(ended)
    ),
    "nothing varies": inconclusive("nothing varies", **ZERO, **IDLE, draws=False),
    "actions without effect": limited("actions have no effect", **DEAF),
    "NaN everywhere": inconclusive("observation holds nothing but NaN", observation=lambda engine, seen: NAN),
    "infinity everywhere": inconclusive("holds nothing but NaN", observation=lambda engine, seen: -NAN * 0 - np.inf),
    "a mask that allows all": limited("every action is always valid", mask=lambda _, mask: ALWAYS(mask)),
    "a mask that allows nothing": limited("no action is ever valid", mask=lambda _, mask: NEVER(mask)),
    "a mask that stays": limited("the mask never varies", mask=lambda _, mask: mask & False | [True, True, False]),
    "games of one action": limited("every game ends at its first step", over=lambda engine, over: engine.turn >= 1),
    "games without an end": limited("no game ends", **ENDLESS),
    "a fault after the last step": limited("no game ends", {"steps": 60}, engines=LATE_FAULT),
    "no game that is cut off": limited("no game is truncated", truncated=lambda _, flags: NEVER(flags)),
    "no game that ends by itself": limited(
        "no game is terminated", truncated=lambda _, flags: flags, terminated=lambda _, flags: NEVER(flags)
    ),
    "an action that is never taken": limited(
        "action two is never taken", {"invalid": 0.0}, mask=lambda _, mask: mask & [True, True, False]
    ),
    "valid actions alone": limited("no invalid action is taken", {"invalid": 0.0}),
    "a tolerance of a billion": limited(f"the tolerance of observation {WIDER}", tolerances={"observation": 1e9}),
    "a tolerance of a billion for states": limited(
        f"the tolerance of state.sum {WIDER}", tolerances={"state.sum": Tolerance(relative=2.0)}
    ),
    "a field that is ignored": limited("reward is left out", tolerances={"reward": EQUAL}),
    "everything ignored": inconclusive("nothing is compared", tolerances=NOTHING),
    "no time": inconclusive("too few steps are compared", {"budget_seconds": 1e-9, "steps": 200}),
    "states to be injected that are none": inconclusive(
        "nothing is injected", {"mode": "injected"}, states_replay=True
    ),
    "an accepted limit": row(Verdict.PASS, accept=("no game ends",), **ENDLESS),
    "an acceptance that is not so": divergent("'no game ends' is accepted, and no longer so", accept=("no game ends",)),
    "an acceptance of nothing": divergent(
        "'no gam ends' is accepted, and there is no such limitation", accept=("no gam ends",)
    ),
    "an engine and itself that is accepted": limited(
        "the engine is compared with itself",
        {"engines": ("one", "one")},
        accept=("the engine is compared with itself",),
    ),
    "one engine in functions of other code": inconclusive("both engines are one and the same", engines=OTHER_CODE),
    "an engine that changes the actions it gets": divergent(
        "differs at", engines={"one": partial(Greedy), "other": partial(Others)}
    ),
    "an infinite tolerance": limited(f"the tolerance of observation {WIDER}", tolerances={"observation": np.inf}),
    "a tolerance of flags": limited(
        f"the tolerance of terminated {WIDER}",
        tolerances={"terminated": 1.0},
    ),
    "a tolerance as wide as an element": limited(
        f"the tolerance of observation {WIDER}",
        observation=lambda _, seen: np.float32(seen * [1, 1000]),
        tolerances={"observation": 10.0},
    ),
    "a tolerance of a billion for a list in states": limited(
        f"the tolerance of state.place {WIDER}",
        state=lambda _, state: state | {"place": [state["sum"], 0.5]},
        tolerances={"state.place": 1e9},
    ),
    "a tolerance of a billion for a part of a state": limited(
        f"the tolerance of state.place.x {WIDER}",
        state=lambda _, state: state | {"place": {"x": state["sum"]}},
        tolerances={"state.place.x": 1e9},
    ),
    "infinity within a tolerance": divergent(
        "differs at",
        engines={"one": partial(Sums), "other": partial(Others, observation=lambda _, seen: seen / (seen != 4))},
        tolerances={"observation": Tolerance(relative=1e-6)},
    ),
    "a negative zero in states": divergent(
        "state.none",
        engines={
            name: partial(Sums, state=lambda _, state, none=none: state | {"none": none})
            for name, none in (("one", 0.0), ("other", -0.0))
        },
    ),
    "no reward but NaN": inconclusive(
        "reward holds nothing but NaN",
        reward=lambda _, reward: reward * np.float32(np.nan),
        component=lambda _, paid: NEVER(paid),
    ),
    "no observation": inconclusive(
        "observation holds nothing", observation_shape=(0,), observation=lambda _, seen: seen[:, :0]
    ),
    "facts that nobody gives": limited("facts are left out", facts=("turn",)),
    "events that nobody gives": limited("events are left out", events=("end",)),
    "an emptiness that is accepted": inconclusive(
        "both engines are one and the same", engines=SAME_ENGINES, accept=("both engines are one and the same",)
    ),
}


class Walk(gymnasium.Env[Any, Any]):
    """Walks to 3 or back, and not below 0; every third step pays what the two before it earned.

    low, dtype: of the declared observations. rewards: their declared range. mask, info: of infos. is_seeded: begins
    where its seed says.
    """

    def __init__(
        self,
        low: float = 0.0,
        mask: Any = None,  # noqa: ANN401
        info: Any = None,  # noqa: ANN401
        is_seeded: bool = True,
        dtype: Any = np.float32,  # noqa: ANN401
        rewards: tuple[float, float] | None = None,
    ) -> None:
        self.observation_space, self.reward_range = gymnasium.spaces.Box(low, 9.0, (1,), dtype), rewards
        self.action_space = gymnasium.spaces.Discrete(2)
        self.mask, self.says, self.is_seeded = mask, info, is_seeded

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:  # noqa: ANN401
        super().reset(seed=seed)
        self.at, self.turn, self.debt = int(self.np_random.integers(2)) if self.is_seeded else 1, 0, 0
        return self.seen(), self.infos()

    def step(self, action: Any) -> Any:  # noqa: ANN401
        self.at, self.turn, self.debt = max(0, self.at + 2 * int(action) - 1), self.turn + 1, self.debt + int(action)
        reward, self.debt = (float(self.debt), 0) if self.turn % 3 == 0 else (0.0, self.debt)
        return self.seen(), reward, self.at == 3, False, self.infos()

    def seen(self) -> NDArray[np.float32]:
        return np.array([self.at], np.float32)

    def infos(self) -> dict[str, Any]:
        mask = {} if not callable(self.mask) else {"action_mask": np.array([self.mask(self.at), 1], np.int8)}
        return mask | ({} if self.says is None else {"says": self.says(self.at)})


class Masked(Walk):
    """Has its mask by a method, as trainers ask for it."""

    def action_masks(self) -> NDArray[np.bool_]:
        return np.array([self.at > 0, True])


class Foreign:
    """An array of a library that numpy does not know."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:  # noqa: ANN401
        return np.array([self.value])


def down(at: int) -> bool:
    return at > 0


def walks(one: dict[str, Any], other: dict[str, Any]) -> World:
    """Two environments by their names, each with these differences."""
    names = []
    for number, how in enumerate((one, other)):
        names.append(f"Walk{len(gymnasium.registry)}{number}-v0")
        gymnasium.register(
            names[-1],
            partial(Masked if how.get("mask") == "method" else Walk, **{k: v for k, v in how.items() if k != "limit"}),
            max_episode_steps=how.get("limit"),
            disable_env_checker=True,
            order_enforce=False,
        )
    return load_world(",".join(f"gym:{name}" for name in names))


MASKED, SAYS = {"mask": down}, {"mask": down, "info": float}
PAID, CUT = MASKED | {"rewards": (0.0, 3.0)}, MASKED | {"limit": 1000}
METHOD, OTHERWISE = {"mask": "method"}, {"mask": lambda at: at > 1}
NAN_SAID, SET = MASKED | {"info": lambda at: float("nan")}, MASKED | {"info": lambda at: {at, 8}}
ARRAY = MASKED | {"info": lambda at: Foreign(at)}
BOUNDS = "observation_space is declared differently: observation_space.low is 0.0 and -1.0"
PASS, LIMITED, INCONCLUSIVE, DIVERGENT = Verdict
OF_ENVIRONMENTS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], Verdict, str]] = {
    "all is exercised": (MASKED, MASKED | {"is_seeded": True}, {}, PASS, ""),
    "no mask": ({}, {"is_seeded": True}, {}, PASS, ""),
    "other masks in infos": (MASKED, OTHERWISE, {}, DIVERGENT, "mask[0]"),
    "masks by a method": (METHOD, MASKED, {}, PASS, ""),
    "other masks by a method": (METHOD, OTHERWISE, {}, DIVERGENT, "mask[0]"),
    "other bounds": (MASKED, MASKED | {"low": -1.0}, {}, DIVERGENT, BOUNDS),
    "another type": (MASKED, MASKED | {"dtype": np.float64}, {}, DIVERGENT, "_space.dtype is float32 and float64"),
    "another range of rewards": (PAID, MASKED | {"rewards": (0.0, 1.0)}, {}, DIVERGENT, "[1] is 3.0 and 1.0"),
    "another limit that no game meets": (CUT, MASKED | {"limit": 1001}, {}, DIVERGENT, "time_limit is 1000 and 1001"),
    "infos that nobody compares": (SAYS, SAYS | {"low": 0.0}, {}, LIMITED, "infos are left out"),
    "infos that are compared": (SAYS, SAYS | {"low": 0.0}, {"infos": True}, PASS, ""),
    "other infos": (SAYS, MASKED | {"info": lambda at: at + 0.5}, {"infos": True}, DIVERGENT, "info.says"),
    "ignored seeds": (MASKED | {"is_seeded": False}, {"is_seeded": False, **MASKED}, {}, LIMITED, "every seed plays"),
    "one environment under two ids": (MASKED, MASKED, {}, INCONCLUSIVE, "both engines are one and the same"),
    "NaN in infos": (NAN_SAID, NAN_SAID | {"is_seeded": True}, {"infos": True}, PASS, ""),
    "other arrays of another library in infos": (
        ARRAY,
        ARRAY | {"info": lambda at: Foreign(at + 1)},
        {"infos": True},
        DIVERGENT,
        "info.says",
    ),
    "other sets in infos": (SET, SET | {"info": lambda at: {at, 7}}, {"infos": True}, DIVERGENT, "info.says"),
    "states of an environment without any": (MASKED, {}, {"mode": "injected"}, INCONCLUSIVE, "is injected"),
}


@pytest.mark.parametrize("name", OF_ENVIRONMENTS)
def test_an_empty_comparison_of_environments_is_no_pass(name: str) -> None:
    one, other, settings, verdict, reason = OF_ENVIRONMENTS[name]
    world = walks(one, other)
    reference, port = world.engines
    check_verdict(played(world, (reference, port), **settings), verdict, reason)


def check_verdict(outcome: Outcome, verdict: Verdict, reason: str) -> None:
    assert (outcome.verdict, reason in "".join(sentences(outcome.reasons))) == (verdict, True), outcome.reasons
    assert bool(reason) == bool(outcome.reasons)


def declaring(one: dict[str, Any], other: dict[str, Any]) -> Any:  # noqa: ANN401 - as a Pair
    """Two engines that declare this of themselves."""
    return SimpleNamespace(world=sums(), both=[SimpleNamespace(declarations=lambda it=it: it) for it in (one, other)])


def test_spaces_of_two_libraries_are_compared_by_what_both_say() -> None:
    gymnax = pytest.importorskip("gymnax")
    own = dict(gymnax_game(*gymnax.make("CartPole-v1"))().declarations())
    other = dict(GymGame(lambda: gymnasium.make("CartPole-v1")).declarations())
    assert own.keys() == other.keys()

    def found(**changed: Any) -> list[str]:  # noqa: ANN401 - declarations
        pair = declaring(other, {**own, **changed})
        reasons = [reason for reason, holds in declaration_checks(pair) if holds]
        assert {reason.verdict for reason in reasons} == {Verdict.DIVERGENT}
        assert declarations_of(pair) == {"compared": sorted({*own} - {"library"}), "left_out": []}
        return [reason.remedy for reason in reasons]

    assert found() == ["observation_space.low[1] is -Infinity and -3.4028234663852886e+38: correct one"]
    assert "action_space.n is 2 and 3: correct one" in found(action_space={**own["action_space"], "n": 3})
    assert "time_limit is 500 and 200: correct one" in found(time_limit=200)
    pair = declaring(other, {"reward_range": [0, 1]})
    assert declarations_of(pair)["left_out"] == ["action_space", "observation_space", "reward_range", "time_limit"]
    world = sums(accept=("reward_range is declared differently",))
    assert judged(world, declaration_checks(pair), acceptances_hold=True) == ([], [])


class Two(Walk):
    """Takes two choices at once, and says which of them are valid."""

    def __init__(self, last: int, low: float = 0) -> None:
        super().__init__(low, info=float)
        self.action_space, self.last = gymnasium.spaces.MultiDiscrete([2, 3]), last

    def step(self, action: Any) -> Any:  # noqa: ANN401
        return super().step(action[0])

    def infos(self) -> dict[str, Any]:
        return {"action_mask": [1, 1, 1, 1, self.at % self.last]}


def test_masks_of_actions_that_are_arrays_are_infos() -> None:
    games = {"one": lambda: GymGame(partial(Two, 2)), "other": lambda: GymGame(partial(Two, 3))}
    world = Pairing("two", games, MultiDiscrete([2, 3]), (1,), accept=("infos are left out",)).world()
    assert [reason.name for reason in played(world).accepted] == ["infos are left out"]
    assert "info.action_mask[4]" in played(world, infos=True).reasons[0].states
    fewer = played(replace(world, action_space=MultiDiscrete([2, 2])))
    assert [reason.name for reason in fewer.reasons] == ["actions of the spaces are left out"]


def test_an_action_that_a_world_does_not_name_is_left_out() -> None:
    games = {name: lambda low=low: GymGame(partial(Walk, low)) for name, low in (("one", 0.0), ("other", 0))}
    found = played(Pairing("walk", games, ("up",), (1,)).world())
    assert "actions of the spaces are left out" in [reason.name for reason in found.reasons]


def test_an_attribute_that_is_no_json_value_is_no_state() -> None:
    class Wide(Walk):
        """Has an object among its attributes."""

        own = Foreign

    world = Pairing(
        "walk",
        {name: lambda: GymGame(Wide, to_dict=("at", "turn", "own"), observe=Walk.seen) for name in ("one", "other")},
        ("down", "up"),
        (1,),
        ("at", "turn", "own"),
    )
    with pytest.raises(EngineError, match=r"gives state\.own as type, where states are JSON values only"):
        played(world.world())


def test_specs_are_declared_as_spaces_are() -> None:
    """Specs as dm_env and Jumanji have them."""
    spec = partial(SimpleNamespace, shape=())
    four = spec(dtype=np.int32, minimum=0, maximum=3, num_values=4)
    assert space_values(four) == space_values(gymnasium.spaces.Discrete(4, dtype=np.int32))
    box = spec(dtype=np.float32, shape=(2,), minimum=np.float32(-1), maximum=np.array([1, 2], np.float32))
    assert space_values(box) == space_values(gymnasium.spaces.Box(-1, np.array([1, 2], np.float32)))
    assert space_values(spec(dtype=None, _specs={"a": four})) == {"a": space_values(four)}
    assert range_of(spec(dtype=np.float32, minimum=-1, maximum=np.float32(2))) == (-1.0, 2.0)
    assert range_of(spec(dtype=np.float32)) is None


@pytest.mark.parametrize("then", ["ignore", "resynchronise"])
@pytest.mark.parametrize(("turns", "verdict"), [(5, Verdict.LIMITED), (4, Verdict.LIMITED), (1, Verdict.PASS)])
def test_a_ledger_that_explains_most_steps_limits_what_a_run_says(turns: int, verdict: Verdict, then: str) -> None:
    wrong = partial(Others, reward=lambda engine, reward: reward + np.float32(engine.turn <= turns))
    world = sums(engines={"one": partial(Sums), "other": wrong})
    (found,) = played(world).divergences
    fields = tuple(difference.field for difference in found.differences)
    witness = Trace("sums", ("one", "other"), found.case, found.differences)
    entry = Entry("more", "bug", "its name", ("sums",), {}, fields, then, 1.0, witness)
    outcome = played(world, ledger=Ledger(Path(), ("sums",), (entry,)))
    assert outcome.verdict == verdict, outcome.reasons
    assert (outcome.measured["explained_share"] > 0.5) == (verdict == Verdict.LIMITED)
    assert [reason.name for reason in outcome.reasons] == ["the ledger explains most steps"] * (turns > 1)


@pytest.mark.parametrize(("steps", "forgetful"), [(60, "one"), (61, "other"), (62, "one")])
def test_a_state_without_what_decides_rewards_is_refused_whenever_the_run_ends(steps: int, forgetful: str) -> None:
    def game(name: str) -> Callable[[], SingleGame]:
        fields = ("at", "turn") if name == forgetful else ("at", "turn", "debt")

        def put(state: State, env: Any) -> None:  # noqa: ANN401 - a Walk
            env.debt = 0
            for field in fields:
                setattr(env, field, state[field])

        read = partial(lambda env: {field: getattr(env, field) for field in fields})
        return lambda: GymGame(Walk, to_dict=read, from_dict=put, observe=Walk.seen)

    ignored = {"state.debt": Tolerance(ignored=True)}
    world = Pairing(
        "walk", {"one": game("one"), "other": game("other")}, ("down", "up"), (1,), ("at",), tolerances=ignored
    )
    with pytest.raises(EngineError, match=f"engine '{forgetful}' does not round-trip its state: .* components"):
        played(world.world(), steps=steps)


def test_a_stateless_game_in_a_world_has_nothing_to_inject() -> None:
    def factory(games: int, options: EngineOptions = EngineOptions(), /) -> BatchEngine:
        return SingleGames(games, lambda: GymGame(Walk), 2, lambda seed: seed + 1)

    world = Pairing("walk", {}, ("down", "up"), (1,), ("actions",)).world()
    found = played(replace(world, engines={"one": factory, "other": factory}), mode="injected")
    assert (found.verdict, found.steps) == (Verdict.INCONCLUSIVE, 0)


def tremble(engine: Sums, seen: NDArray[Any]) -> NDArray[Any]:
    """What is shown, with a little noise on the sum."""
    return seen + np.float32(np.random.default_rng().uniform(-1e-3, 1e-3, seen.shape) * [0, 1])


def test_the_noise_floor_is_measured_and_a_much_wider_tolerance_is_no_pass() -> None:
    trembling = {name: partial(kind, observation=tremble) for name, kind in (("one", Sums), ("other", Others))}
    found = played(sums(engines=trembling), noise=2, mode="resynchronised")
    assert found.noise is not None
    (floor,) = found.noise.values()
    proposed = floor.tolerance("one", 2)
    assert (floor.field, 1e-3 < floor.absolute < 2e-3, found.verdict) == ("observation", True, Verdict.DIVERGENT)
    assert proposed is not None
    assert proposed.absolute == pytest.approx(2 * floor.absolute, rel=0.1)
    for tolerance, verdict in ((proposed, Verdict.PASS), (Tolerance(absolute=0.1), Verdict.LIMITED)):
        found = played(sums(engines=trembling, tolerances={"observation": tolerance}), noise=1, mode="resynchronised")
        assert (found.verdict, found.measured["excused_share"] > 0.9) == (verdict, True), found.reasons
    (reason,) = found.reasons
    assert reason.name == "the tolerance of observation is wider than ten times its noise floor"
    assert played(sums(), noise=1).noise == {}


def test_the_command_ends_and_answers_by_its_verdict(tmp_path: Path) -> None:
    for words, code, verdict in (
        ("--engines plain,planes --games 8 --steps 50", 0, Verdict.PASS),
        ("--engines plain,planes", 0, Verdict.LIMITED),
        ("--engines plain,planes --strict", 1, Verdict.LIMITED),
        ("--engines plain,double --no-report", 1, Verdict.DIVERGENT),
    ):
        ran = rlparity("run", "--games", "2", "--steps", "3", "--json", "--out", tmp_path, *words.split())
        assert (ran.code, ran.json["verdict"]) == (code, verdict)
        assert bool(ran.json["reasons"]) == (verdict != Verdict.PASS)
        assert all(reason["remedy"] for reason in ran.json["reasons"])
    assert [*tmp_path.iterdir()] == []
    measured = ran.json["measured"]
    assert measured["fields"]["observation"]["elements"] == 34
    assert measured["ends"].keys() == {"terminated", "truncated", "longest_game"}
    assert sum(measured["actions"].values()) <= 6


@pytest.mark.parametrize(
    ("part", "wrong", "fault"),
    [
        ("begun", lambda _, begun: begun[0], "begins in every slot the game of one seed"),
        (
            "placed",
            lambda _, seen: NEVER(seen),
            r"does not round-trip its state: after set_state\(get_state\(\)\) obser",
        ),
        (
            "mask",  # forbids an action after another one, which its states do not say
            lambda engine, mask: mask & ~((engine.last == 1)[:, None] & [False, False, True]),
            r"not round-trip its state: after set_state\(get_state\(\)\) mask",
        ),
    ],
)
def test_engines_with_the_same_fault_are_refused(part: str, wrong: Callable[..., Any], fault: str) -> None:
    with pytest.raises(EngineError, match=fault):
        played(sums(**{part: wrong}))


def test_a_tolerance_is_a_distance() -> None:
    for distance in (-1.0, np.nan):
        with pytest.raises(ValueError, match="give distances of at least 0"):
            sums(tolerances={"reward": distance})


def test_a_strict_test_fails_where_a_comparison_is_limited() -> None:
    world = sums(over=lambda _, over: NEVER(over))
    assert assert_lockstep(world, steps=20, games=16, seed=1).verdict == Verdict.LIMITED
    with pytest.raises(AssertionError, match="LIMITED: no game ends: play more --steps"):
        assert_lockstep(world, steps=20, games=16, seed=1, strict=True)
    with pytest.raises(AssertionError, match="INCONCLUSIVE: both engines are one and the same"):
        assert_lockstep(ROWS["one engine under two names"][0], steps=20, games=16)


@pytest.mark.parametrize("name", ROWS)
def test_an_empty_comparison_is_no_pass(name: str) -> None:
    world, settings, verdict, reason = ROWS[name]
    check_verdict(played(world, **settings), verdict, reason)
