"""Reasons why actions are invalid: chapter M and the column "applicable when" of table P, read from a state alone.

What is applicable is read here once more, as a witness beside both engines; the costs are the engine's tables.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hackmatrix import rules
from hackmatrix.explain.transition import Place, place_of, places
from parity import State
from worldkit.render.panels import Obstacle

Costs = Mapping[int, tuple[int, int]]
"""Action -> what it costs in credits and energy."""
NOT_OWNED = "not owned"


@dataclass(frozen=True)
class Program:
    """A row of table P: when it is applicable, and what is said where it is not."""

    is_applicable: Callable[[State], bool]
    missing: str
    brief: str


def costs_of(tables: Mapping[str, Any]) -> Costs:
    """The costs of the programs in the tables of an engine (``getRules``)."""
    return {row["actionIndex"]: (row["credits"], row["energy"]) for row in tables["programs"]}


def cost_text(credits: int, energy: int) -> str:
    """A cost in the signs of the board: ``$2 e1``."""
    return " ".join(f"{sign}{amount}" for sign, amount in (("$", credits), ("e", energy)) if amount)


def obstacle(state: State, action: int, costs: Costs) -> Obstacle | None:
    """Why the action is not valid in this state (M1-M3, C4), by the rules' text's first reason; None where it is valid.

    Args:
        state: a complete state, S of the protocol.
        action: 0 … 27; IndexError outside.
        costs: of the engine that plays.
    """
    name = rules.ACTIONS[action]
    if state["player"]["hp"] == 0 or state["stage"] == rules.WON_STAGE:
        return Obstacle("the game is over", "C4", "game over")
    if action < len(rules.MOVES):
        return _to_move(state, action)
    if action == rules.SIPHON:
        held = state["player"]["dataSiphons"] > 0
        return None if held else Obstacle("no data siphon is held", "M2", "none held")
    return _to_run(state, action, PROGRAM_TABLE[name], costs[action])


def _to_move(state: State, direction: int) -> Obstacle | None:
    (row, col), (up, right) = place_of(state["player"]), rules.DIRECTIONS[direction]
    there = row + up, col + right
    if not all(0 <= at < rules.SIZE for at in there):
        return Obstacle("the board ends there", "M1", "edge")
    if there in places(state["blocks"]) - places(state["enemies"]):
        return Obstacle("a block stands there", "M1", "block")
    return None


def _to_run(state: State, action: int, program: Program, cost: tuple[int, int]) -> Obstacle | None:
    if action not in state["ownedPrograms"]:
        return Obstacle(NOT_OWNED, "M3", NOT_OWNED)
    held = (state["player"][name] for name in ("credits", "energy"))
    short = [max(0, asked - amount) for asked, amount in zip(cost, held, strict=True)]
    if any(short):
        named = (f"{count} {name}" for count, name in zip(short, ("credits", "energy"), strict=True) if count)
        return Obstacle(f"{' and '.join(named)} short", "M3", f"lacks {cost_text(*short)}")
    if not program.is_applicable(state):
        return Obstacle(program.missing, f"M3, P-{rules.ACTIONS[action]}", program.brief)
    return None


def _has_type(enemy_type: str) -> Callable[[State], bool]:
    return lambda state: any(enemy["type"] == enemy_type for enemy in state["enemies"])


def _has_neighbour(state: State) -> bool:
    player = place_of(state["player"])
    things: Iterable[Place] = places((*state["blocks"], *state["enemies"], *state["transmissions"]))
    return any(place != player and max(abs(a - b) for a, b in zip(place, player, strict=True)) == 1 for place in things)


def _has_enemy_in_line(axis: str) -> Callable[[State], bool]:
    return lambda state: any(enemy[axis] == state["player"][axis] for enemy in state["enemies"])


def _has_block_to_reduce(state: State) -> bool:
    siphoned = places(state["siphoned"])
    return any(block["spawnCount"] > 0 and place_of(block) not in siphoned for block in state["blocks"])


def _can_strengthen(state: State) -> bool:
    return bool(state["atkPlusUses"] < 2 and state["player"]["attackDamage"] < rules.MAX_ATTACK)


_ALWAYS = Program(lambda _: True, "", "")
_WITH_ENEMY = Program(lambda state: bool(state["enemies"]), "there is no enemy", "no enemy")
PROGRAM_TABLE: dict[str, Program] = {
    "PUSH": _WITH_ENEMY,
    "PULL": _WITH_ENEMY,
    "CRASH": Program(_has_neighbour, "nothing in the 8 neighbours", "none near"),
    "WARP": Program(
        lambda state: bool(state["enemies"] or state["transmissions"]), "no enemy or transmission", "no target"
    ),
    "POLY": _WITH_ENEMY,
    "WAIT": _ALWAYS,
    "DEBUG": Program(
        lambda state: bool(places(state["enemies"]) & places(state["blocks"])), "no enemy stands on a block", "no enemy"
    ),
    "ROW": Program(_has_enemy_in_line("row"), "no enemy in this row", "no enemy"),
    "COL": Program(_has_enemy_in_line("col"), "no enemy in this column", "no enemy"),
    "UNDO": Program(lambda state: state["history"] is not None, "there is no record", "no record"),
    "STEP": _ALWAYS,
    "SIPH+": _ALWAYS,
    "EXCH": Program(lambda state: bool(state["player"]["credits"] >= 4), "fewer than 4 credits", "lacks $"),
    "SHOW": Program(lambda state: not state["showActivated"], "SHOW is on already", "is on"),
    "RESET": Program(lambda state: bool(state["player"]["hp"] < rules.MAX_HP), "hp is full", "hp full"),
    "CALM": Program(lambda state: not state["scheduledTasksDisabled"], "CALM is on already", "is on"),
    "D_BOM": Program(_has_type("daemon"), "there is no daemon", "no daemon"),
    "DELAY": Program(lambda state: bool(state["transmissions"]), "there is no transmission", "none coming"),
    "ANTI-V": Program(_has_type("virus"), "there is no virus", "no virus"),
    "SCORE": Program(lambda state: bool(state["stage"] < rules.NUM_STAGES), "stage 8 is the last one", "last stage"),
    "REDUC": Program(_has_block_to_reduce, "no unsiphoned block spawns", "no spawn"),
    "ATK+": Program(_can_strengthen, "no more attack in this stage", "no more"),
    "HACK": Program(lambda state: bool(state["siphoned"]), "no cell is siphoned", "no siphoned"),
}
"""Table P by name, in its order."""
assert tuple(PROGRAM_TABLE) == rules.PROGRAMS
