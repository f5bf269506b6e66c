"""``rlparity diff``: every kind of difference is found, counted, made small and reported, and nothing else is."""

import json
import re
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import Ran, orchard, rlparity
from faulty_orchard import WORLD, RestlessEngine, changed
from numpy.typing import NDArray
from orchard.plain import PlainEngine
from written_page import episode_data, page_data

from rlparity import BatchStep, Box, UsageError, World
from rlparity.adapters.pairing import Pairing
from rlparity.adapters.single import Outcome, SingleGame
from rlparity.core.lockstep import Settings
from rlparity.core.pair import Pair
from rlparity.tools.diff import Comparison
from rlparity.tools.diff_sides import Side, build_corpus, share

SMALL = "--games", "4", "--steps", "40", "--shrink-seconds", "60"
STINGING = "--price-b", "sting=-3"
REST = WORLD.actions.index("rest")


def diff(*words: str | Path, world: str = "faulty_orchard:WORLD") -> Ran:
    return rlparity("diff", ".", ".", *SMALL, *words, world=world)


def compared(other: type[PlainEngine], world: World = WORLD, local: World = WORLD) -> Comparison:
    """Orchard on side A, and another engine, maybe of another world, on side B."""
    shared, settings = (
        share(local, (Side("a", local, PlainEngine), Side("b", world, other))),
        Settings(games=4, steps=40),
    )
    parts = build_corpus(shared, settings, [])
    with Pair(shared.world, shared.labels, sum(len(part.games) for part in parts)) as pair:
        found = Comparison(shared, pair, parts, settings)
        found.play()
    return found


def rows(found: Any, table: str) -> dict[str, dict[str, Any]]:  # noqa: ANN401 - JSON
    """The rows of a table by their first column."""
    return {next(iter(row.values())): row for row in found[table]}


def test_the_same_engine_twice_is_identical_and_all_of_the_corpus_is_compared(tmp_path: Path) -> None:
    ran = diff("--json", tmp_path / "answer.json")
    assert (ran.code, "plain (A) and plain (B): nothing differs." in ran.out) == (0, True)
    found = json.loads((tmp_path / "answer.json").read_text())
    assert (found["identical"], found["families"], found["cases"], found["left"]) == (True, [], {}, 0)
    # 5 golden, 4 directed, 4 of each policy and of uniform
    assert (found["episodes"], found["transitions"] > 300) == (5 + 4 + 3 * 4, True)


def test_a_price_changes_one_component_and_no_game() -> None:
    ran = diff(*STINGING, "--json", "-")
    found, components = ran.json, rows(ran.json, "components")
    assert (ran.code, found["left"], found["notes"]) == (1, 0, ["Prices: sting -0.5 -> -3."])
    assert rows(found, "families").keys() == {"rewards:sting", "reward"}
    assert components["sting"]["B"] == pytest.approx(6 * components["sting"]["A"])
    assert components["fruit"]["change"] == 0
    assert {(row["component"], row["A"], row["B"]) for row in found["changes"]} == {("sting", -0.5, -3.0)}
    assert len(found["changes"]) == rows(found, "families")["rewards:sting"]["transitions"]
    (case,) = found["cases"].values()
    assert (len(case["actions"]), "O-STING" in case["rules"]) == (1, True)
    assert {each["field"] for each in case["differences"]} == {"components[sting]", "reward"}


def test_returns_of_agents_are_paired_and_ranked(tmp_path: Path) -> None:
    path = tmp_path / "picker.json"
    path.write_text("[1, 1, 1, 1, 50, 1]")
    agents = rows(diff("--price-b", "step=-0.02", "--agent", path, "--json", "-").json, "agents")
    assert agents.keys() == {"greedy", "sleepy", "uniform", str(path)}
    for row in agents.values():
        mean, low, high = row["B - A"]
        assert low < mean < high < 0
        assert mean == pytest.approx(row["B"][0] - row["A"][0])
    assert sorted(row["rank in A"] for row in agents.values()) == [1, 2, 3, 4]
    # where stings pay, who is stung most is best
    ran = diff("--price-b", "sting=3", "--price-b", "fruit=0", "--json", path)
    paid = rows(json.loads(path.read_text()), "agents").values()
    before, after = ([row["agent"] for row in sorted(paid, key=lambda row: row[f"rank in {side}"])] for side in "AB")
    assert before != after
    assert "The ranking changes: " in ran.out


def test_a_state_that_differs_ends_its_game_and_is_made_small() -> None:
    opened = cycle((PlainEngine, RestlessEngine))  # side A is opened first
    ran = diff("--json", "-", world=orchard(engines={"plain": lambda *given: next(opened)(*given)}))
    found, families = ran.json, rows(ran.json, "families")
    assert ran.code == 1
    assert {"state:hp", "observation"} <= families.keys()
    assert not {"rewards:sting", "reward"} & families.keys()
    assert families["state:hp"]["transitions"] == families["state:hp"]["episodes"] == found["left"]
    case = found["cases"]["observation"]
    assert (case["actions"], case["start"]["state"]["score"], "O-REST" in case["rules"]) == ([REST], 4, True)


def test_an_observation_that_differs_shows_in_what_agents_do() -> None:
    def doubled(engine: object, step: BatchStep) -> BatchStep:
        return replace(step, observation=step.observation * np.float32(2))

    def sighted(view: Any) -> NDArray[np.float64]:  # noqa: ANN401 - a view
        return 1 + 9 * (view.observation.max(axis=1, keepdims=True) > 1) * (np.arange(6) == REST)

    local = replace(WORLD, policies={"sighted": sighted}, golden=None, starts={})
    found = compared(changed(PlainEngine, step=doubled), local, local)
    assert found.families.keys() == {"observation"}
    assert (found.parted == 1).sum() == len(found.episodes)
    # the walker is 1 in what is observed
    # each side goes on by itself, so that returns are of whole games
    assert not np.array_equal(*found.returns[:, found.slots[1]])


def test_only_what_is_expected_passes() -> None:
    found = compared(PlainEngine, WORLD.with_prices({"sting": -3}))
    for expected in (["rewards:sting"], ["rewards"], ["rewards:sting", "observation"]):
        assert found.unexpected(expected) == []
    for expected in (["reward"], ["rewards:fruit"], ["state"]):
        assert "rewards:sting" in found.unexpected(expected)
    for expect, code, end in (
        ("rewards:sting", 0, "(rewards:sting, reward), as expected."),
        ("rewards:fruit", 1, "(rewards:sting, reward), not expected."),
        ("reward", 1, "(rewards:sting, reward), not expected: rewards:sting."),
    ):
        ran = diff(*STINGING, "--expect", expect, "--cases", "0")
        assert (ran.code, ran.out.splitlines()[0].endswith(end)) == (code, True)


@pytest.mark.parametrize("paid", [0, 1])
def test_a_reward_that_differs_by_itself_is_not_excused_by_a_component(paid: int) -> None:
    def raised(engine: object, step: BatchStep) -> BatchStep:
        return replace(step, components=step.components + np.array([0, 0, paid]), reward=step.reward + np.float32(1))

    found = compared(changed(PlainEngine, step=raised))
    assert found.unexpected(["rewards:sting"]) == ([] if paid else ["reward"])
    assert found.unexpected(["rewards:step"]) == (["rewards:sting"] if paid else []) + ["reward"]


def test_worlds_of_other_shapes_are_compared_by_name() -> None:
    class Other(PlainEngine):
        """No action rest, another order of components and a new one, a wider observation."""

        def mask(self) -> NDArray[np.bool_]:
            return super().mask()[:, :5]

        def observations(self, slots: NDArray[np.intp]) -> NDArray[Any]:
            return np.pad(super().observations(slots), ((0, 0), (0, 3)))

        def step(self, actions: NDArray[np.int32]) -> BatchStep:
            step = super().step(actions)
            calm = (actions == 4).astype(np.int32)
            return replace(step, components=np.column_stack([step.components[:, ::-1], calm]))

    world = replace(
        WORLD,
        actions=WORLD.actions[:5],
        components=(*WORLD.components[::-1], "calm"),
        observation_shape=(37,),
        prices=WORLD.prices[:2],
    )
    found = compared(Other, world)
    assert found.families.keys() == {"rewards:calm"}
    assert found.shared.notes == (
        "Actions: rest present -> absent.",
        "Components: calm absent -> present.",
        "Shape of observations, which are not compared: (34,) -> (37,).",
        "Prices: sting -0.5 -> absent.",
    )
    actions = [action for game in range(len(found.episodes)) for action in found.case(game).actions]
    assert found.components[1, :, 3].sum() == actions.count(4)
    assert REST not in actions


def test_a_start_that_one_side_refuses_is_a_difference() -> None:
    class Strict(PlainEngine):
        def set_state(self, states: Any, slots: Any) -> Any:  # noqa: ANN401 - an engine's
            return super().set_state([{**state, "hp": 9} for state in states], slots)

    found = compared(Strict)
    assert set(found.families) == {"start"}
    assert found.refused > 0
    assert found.unexpected(["start"]) == []


def test_a_next_game_that_differs_is_noticed() -> None:
    found = compared(WORLD.engines["forgetful"])  # type: ignore[arg-type]
    assert {"seed", "observation", "state:seed"} <= found.families.keys()
    assert found.families["seed"].first.case.actions[-1] == "restart"


def test_a_comment_is_short_and_well_formed(tmp_path: Path) -> None:
    path = tmp_path / "comment.md"
    world = orchard(actions=tuple(f"{name} | `{'x' * 4000}` <b>" for name in WORLD.actions))
    assert diff(*STINGING, "--price-b", "step=1", "--markdown", path, world=world).code == 1
    text = path.read_text()
    assert len(text.encode()) <= 60_000
    assert text.startswith("**plain and plain ")
    assert text.index("| family |") < text.index("<details>")
    assert text.count("<details>") == text.count("</details>") >= 1
    assert text.count("````") % 2 == 0
    assert "More is left out here" in text
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_a_page_has_both_sides_and_json_goes_to_a_file_or_to_standard_output(tmp_path: Path) -> None:
    path, page_path = tmp_path / "answer.json", tmp_path / "page.html"
    ran = diff(*STINGING, "--json", path, "--html", page_path)
    assert (ran.code, ran.out.startswith("plain and plain sting=-3: only rewards differ")) == (1, True)
    written = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert written == diff(*STINGING, "--json", "-").json
    assert written.keys() == {
        *("identical", "unexpected", "world", "sides", "notes", "seed", "games", "steps", "transitions", "episodes"),
        *("left", "refused", "families", "components", "changes", "returns", "agents", "cases"),
    }
    page = page_data(page_path.read_text())
    assert page["sides"] == ["plain", "plain sting=-3"]
    assert page["episodes"][0]["name"] == "first in rewards:sting"
    assert len(page["episodes"]) == 1 + 3
    steps = episode_data(page_path.read_text(), 1)["steps"]
    assert all(len(step["boards"]) == 2 for step in steps)
    assert [2, "-500", "-3000"] in [part for step in steps for part in step.get("components", [])]


@pytest.mark.parametrize(
    ("words", "sentence", "code"),
    [
        (". . --engine plane", "has no engine 'plane'", 2),
        (". . --engine dying", "engine 'dying (B)' failed in step", 3),
        (". . --price-b stings=1", "has no price 'stings'", 2),
        (". . --price-a sting", "takes NAME=VALUE", 2),
        (". . --agent nobody", "there is no policy file nobody", 2),
        (". . --expect rewards:stings", "is 'rewards:stings' (did you mean 'rewards:sting'?): ", 2),
        (". . --json no/answer.json", "no/answer.json cannot be written: No such file or directory", 2),
        ("python:/no/such/python .", "there is no interpreter /no/such/python", 2),
    ],
)
def test_a_wrong_word_or_an_engine_that_dies_is_one_sentence(words: str, sentence: str, code: int) -> None:
    assert sentence in rlparity("diff", *words.split()).refusal(code)


class _Pushed(SingleGame):
    """A number that actions push about for five steps; ``paid``: what the players earn of it."""

    def __init__(self, paid: tuple[float, ...]) -> None:
        self.paid = np.array(paid) if len(paid) > 1 else paid[0]

    def begin(self, seed: int) -> Any:  # noqa: ANN401 - an array
        self.at, self.steps = float(seed % 7), 0
        return np.array([self.at])

    def act(self, action: Any) -> Outcome:  # noqa: ANN401 - an array
        self.at, self.steps = self.at + float(action[0]), self.steps + 1
        return Outcome(np.array([self.at]), self.at * self.paid, self.steps == 5)


@pytest.mark.parametrize("paid", [(1.0,), (1.0, 2.0)])
def test_actions_may_be_arrays_and_players_several(paid: tuple[float, ...]) -> None:
    games = {"one": partial(_Pushed, paid), "other": partial(_Pushed, (*paid[:-1], 3.0))}
    world = Pairing("pushed", games, Box(-1, 1, (1,)), (1,), players=len(paid)).world()
    shared = share(world, (Side("a", world, world.engines["one"]), Side("b", world, world.engines["other"])))
    parts = build_corpus(shared, Settings(games=4, steps=40), [])
    with Pair(shared.world, shared.labels, 4) as pair:
        found = Comparison(shared, pair, parts, Settings(games=4, steps=40))
        found.play()
    assert set(found.families) == {"reward", f"rewards:{world.components[-1]}"}
    assert found.compared.tolist() == [5] * 4
    ratio = (sum(paid[:-1]) + 3) / sum(paid)
    np.testing.assert_allclose(found.returns[1], ratio * found.returns[0], rtol=1e-6)
    assert isinstance(found.changes[0].action, tuple)
    other = replace(world, action_space=Box(-2, 2, (1,)))
    with pytest.raises(UsageError, match="have different action spaces"):
        share(world, (Side("a", world, world.engines["one"]), Side("b", other, other.engines["one"])))
