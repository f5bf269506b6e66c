"""Reasons why actions are invalid: chapter M and the column "applicable when" of table P, from a state alone.

Whether a program is applicable is computed independently of both engines; the costs come from the engine's tables.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hackmatrix import rules
from hackmatrix.cells import Place, is_dead, is_won, place_of, places
from rlparity import State
from rlworldkit.render.panels import Obstacle

Costs = Mapping[int, tuple[int, int]]
"""Action -> its cost in credits and energy."""
NOT_OWNED = "not owned"


class Condition(NamedTuple):
    """Row of table P: when the program is applicable, and the reason where it is not, in full and in brief."""

    is_applicable: Callable[[State], object]
    missing: str
    brief: str


def costs_of(tables: Mapping[str, Any]) -> Costs:
    """Costs of the programs in the tables of an engine (``getRules``)."""
    return {row["actionIndex"]: (row["credits"], row["energy"]) for row in tables["programs"]}


def cost_text(credits: int, energy: int) -> str:
    """A cost in the signs of the board: ``$2 e1``."""
    return " ".join(f"{sign}{amount}" for sign, amount in (("$", credits), ("e", energy)) if amount)


def obstacle(state: State, action: int, costs: Costs) -> Obstacle | None:
    """The first reason, in the order of the rules, why an action is invalid (M1-M3, C4); None where it is valid."""
    name = rules.ACTIONS[action]
    if is_dead(state) or is_won(state):
        return Obstacle("the game is over", "C4", "game over")
    if action < len(rules.MOVES):
        return _to_move(state, action)
    if action == rules.SIPHON:
        return None if state["player"]["dataSiphons"] else Obstacle("no data siphon is held", "M2", "none held")
    if action not in state["ownedPrograms"]:
        return Obstacle(NOT_OWNED, "M3", NOT_OWNED)
    credits = max(0, costs[action][0] - state["player"]["credits"])
    energy = max(0, costs[action][1] - state["player"]["energy"])
    if credits or energy:
        short = " and ".join(f"{count} {name}" for count, name in ((credits, "credits"), (energy, "energy")) if count)
        return Obstacle(f"{short} short", "M3", f"lacks {cost_text(credits, energy)}")
    program = PROGRAM_TABLE[name]
    return None if program.is_applicable(state) else Obstacle(program.missing, f"M3, P-{name}", program.brief)


def _to_move(state: State, direction: int) -> Obstacle | None:
    (row, col), (up, right) = place_of(state["player"]), rules.DIRECTIONS[direction]
    there = row + up, col + right
    if not all(0 <= at < rules.SIZE for at in there):
        return Obstacle("the board ends there", "M1", "edge")
    if there in places(state["blocks"]) - places(state["enemies"]):
        return Obstacle("a block stands there", "M1", "block")
    return None


def _any_enemy(is_meant: Callable[[State, State], bool], missing: str, brief: str) -> Condition:
    """Row of a program that needs an enemy for which ``is_meant(enemy, player)`` is true."""
    return Condition(lambda state: any(is_meant(enemy, state["player"]) for enemy in state["enemies"]), missing, brief)


def _has_neighbour(state: State) -> bool:
    row, col = place_of(state["player"])
    things = places((*state["blocks"], *state["enemies"], *state["transmissions"])) - {(row, col)}
    return any(max(abs(row - there), abs(col - beside)) == 1 for there, beside in things)


def _can_strengthen(state: State) -> bool:
    return bool(state["atkPlusUses"] < 2 and state["player"]["attackDamage"] < rules.MAX_ATTACK)


def _blocks_to_reduce(state: State) -> set[Place]:
    return places(block for block in state["blocks"] if block["spawnCount"] > 0) - places(state["siphoned"])


_ALWAYS = Condition(lambda _: True, "", "")
_WITH_ENEMY = Condition(lambda state: state["enemies"], "there is no enemy", "no enemy")
PROGRAM_TABLE: dict[str, Condition] = {
    "PUSH": _WITH_ENEMY,
    "PULL": _WITH_ENEMY,
    "CRASH": Condition(_has_neighbour, "nothing in the 8 neighbours", "none near"),
    "WARP": Condition(lambda now: now["enemies"] or now["transmissions"], "no enemy or transmission", "no target"),
    "POLY": _WITH_ENEMY,
    "WAIT": _ALWAYS,
    "DEBUG": Condition(
        lambda state: places(state["enemies"]) & places(state["blocks"]), "no enemy stands on a block", "no enemy"
    ),
    "ROW": _any_enemy(lambda enemy, player: enemy["row"] == player["row"], "no enemy in this row", "no enemy"),
    "COL": _any_enemy(lambda enemy, player: enemy["col"] == player["col"], "no enemy in this column", "no enemy"),
    "UNDO": Condition(lambda state: state["history"] is not None, "there is no record", "no record"),
    "STEP": _ALWAYS,
    "SIPH+": _ALWAYS,
    "EXCH": Condition(lambda state: state["player"]["credits"] >= 4, "fewer than 4 credits", "lacks $"),
    "SHOW": Condition(lambda state: not state["showActivated"], "SHOW is on already", "is on"),
    "RESET": Condition(lambda state: state["player"]["hp"] < rules.MAX_HP, "hp is full", "hp full"),
    "CALM": Condition(lambda state: not state["scheduledTasksDisabled"], "CALM is on already", "is on"),
    "D_BOM": _any_enemy(lambda enemy, _: enemy["type"] == "daemon", "there is no daemon", "no daemon"),
    "DELAY": Condition(lambda state: state["transmissions"], "there is no transmission", "none coming"),
    "ANTI-V": _any_enemy(lambda enemy, _: enemy["type"] == "virus", "there is no virus", "no virus"),
    "SCORE": Condition(lambda state: state["stage"] < rules.NUM_STAGES, "stage 8 is the last one", "last stage"),
    "REDUC": Condition(_blocks_to_reduce, "no unsiphoned block spawns", "no spawn"),
    "ATK+": Condition(_can_strengthen, "no more attack in this stage", "no more"),
    "HACK": Condition(lambda state: state["siphoned"], "no cell is siphoned", "no siphoned"),
}
"""Table P by name, in its order."""
assert tuple(PROGRAM_TABLE) == rules.PROGRAMS
