"""Both engines' tables agree with each other and with those of docs/reference/hackmatrix-rules.md."""

import re
from collections.abc import Iterator

from hackmatrix import jax_env, rules
from hackmatrix.prices import PRICES
from hackmatrix.swift_env import SwiftEngine
from tests.hackmatrix.rules.tables import PROGRAM_TABLE, RULEBOOK, table


def section(rule: str) -> str:
    found = re.search(rf"^- \*\*{rule}\*\*(.*)$", RULEBOOK, re.MULTILINE)
    assert found, rule
    return found[1]


def test_both_engines_hold_the_same_tables(swift: SwiftEngine) -> None:
    tables = swift.rules()
    assert tables.pop("marks") == [*rules.MARKS]
    assert tables == jax_env.rules()


def test_P_programs_are_those_of_the_rulebook() -> None:
    keys = "actionIndex", "name", "credits", "energy", "spawn"
    stated = [dict(zip(keys, (action, *row), strict=True)) for action, row in enumerate(PROGRAM_TABLE, start=5)]
    assert stated == jax_env.rules()["programs"]
    assert len(stated) == rules.NUM_PROGRAMS


def test_A5_enemies_are_those_of_the_rulebook() -> None:
    stated = re.findall(r"(virus|daemon|glitch|cryptog) \((?:max hp )?(\d), (?:speed )?(\d)", section("A5"))
    assert stated == [(e["type"], str(e["maxHP"]), str(e["speed"])) for e in jax_env.rules()["enemies"]]


def test_W_components_are_those_of_the_rulebook() -> None:
    rewards = jax_env.rules()["rewards"]
    stated = dict(table("key"))
    assert list(stated) == rewards["components"] == list(rules.COMPONENTS)
    numbers = {key: [int(n.replace("−", "-")) for n in re.findall(r"[−]?\d+", text)] for key, text in stated.items()}
    prices = rewards["prices"]
    for key in ("stage_completion", "death_penalty"):
        assert numbers[key][-8:] == prices[key], key
    for key in stated.keys() - {"stage_completion", "death_penalty"}:
        assert numbers[key][: len(prices[key])] == prices[key], key


def test_W_declared_prices_are_those_of_both_engines(swift: SwiftEngine) -> None:
    for tables in (swift.rules(), jax_env.rules()):
        prices = tables["rewards"]["prices"]
        named = {name: values for component in rules.COMPONENTS for name, values in _named(component, prices)}
        assert list(named.items()) == [(price.name, price.default) for price in PRICES]


def _named(component: str, prices: dict[str, list[int]]) -> Iterator[tuple[str, int]]:
    """The prices of a component under their names in the declaration."""
    values = prices[component]
    stages = [f"{component}_{stage}" for stage in range(1, 9)]
    names = {1: [component], 2: [component, f"{component}_per_score"], 8: stages}[len(values)]
    return zip(names, values, strict=True)


def test_O_the_observation_is_laid_out_as_in_the_rulebook() -> None:
    observation = jax_env.rules()["observation"]
    parts = [observation["player"], observation["programs"], 36 * observation["cell"]]
    assert sum(map(len, parts)) == observation["size"] == rules.OBSERVATION_SIZE
    stated = re.findall(r"/(\d+)", section("O1").split(";")[0])
    assert stated == [str(f["divisor"]) for f in observation["player"] if f["divisor"] > 1]
    cell = {f["name"]: f["divisor"] for f in observation["cell"] if f["divisor"] > 1}
    assert re.findall(r"/(\d+)", section("O3")) == [str(divisor) for divisor in cell.values()]


def test_R5_sites_are_those_of_the_rulebook() -> None:
    stated: dict[str, int] = {}
    for numbers, names, *_ in table("site"):
        for number, name in zip(numbers.split(", "), names.split(", "), strict=True):
            stated[name] = int(number)
    assert stated == jax_env.rules()["sites"]


def test_B2_and_B8_stages_are_those_of_the_rulebook() -> None:
    assert "spawn interval = 13 − s" in section("B2")
    assert "*s* new transmissions" in section("B8")
    stated = [{"stage": s, "scheduledTaskInterval": 13 - s, "transmissions": s} for s in range(1, 9)]
    assert jax_env.rules()["stages"] == stated
