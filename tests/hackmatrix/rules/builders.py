"""Small builders of state dicts ("S"), and readers of them, so that a rule test is a few lines.

Places are (row, col). Whatever a test does not name has the protocol's default.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import pytest

from .engines import Engine, Entry, Place, StateDict, places
from .reference.board import ACTION, ENEMIES, MAX_HP, PLAYER_KEYS

Json: TypeAlias = Any  # whatever a field may hold, mistakes included

UP, DOWN, LEFT, RIGHT, SIPHON = range(5)
WAIT = ACTION["wait"]
FROZEN = 200  # disabled turns of an enemy that shall stand still
SCHEDULED = {"isFromScheduledTask": True}
CALLED = {"spawnedFromSiphon": True}
EVERYWHERE = [(row, col) for row in range(6) for col in range(6)]
CORNERS = {(0, 0), (0, 5), (5, 0), (5, 5)}


def at_place(place: Place) -> Entry:
    return {"row": place[0], "col": place[1]}


def enemy(kind: str, row: int, col: int, **fields: Json) -> Entry:
    """An enemy, at full hp unless said; with ``frozen=True`` it stands still."""
    disabled = {"disabledTurns": FROZEN} if fields.pop("frozen", False) else {}
    return {"type": kind, "row": row, "col": col, "hp": MAX_HP[kind]} | disabled | fields


virus, daemon, glitch, cryptog = (partial(enemy, kind) for kind in ENEMIES)


def coming(kind: str, row: int, col: int, turns: int = 9, **fields: Json) -> Entry:
    """A transmission."""
    return {"row": row, "col": col, "turnsRemaining": turns, "enemyType": kind} | fields


def data(row: int, col: int, points: int = 5, **fields: Json) -> Entry:
    return {"row": row, "col": col, "type": "data", "points": points} | fields


def program(row: int, col: int, name: str, **fields: Json) -> Entry:
    return {"row": row, "col": col, "type": "program", "programActionIndex": ACTION[name]} | fields


def question(row: int, col: int, **hidden: Json) -> Entry:
    """A question block that hides ``points=`` or ``program=``."""
    fields = dict(hidden)
    if "program" in fields:
        fields["programActionIndex"] = ACTION[fields.pop("program")]
    return {"row": row, "col": col, "type": "question"} | fields


def walls(*open_cells: Place) -> list[Entry]:
    """Blocks on every cell that is not named."""
    return [data(*place) for place in EVERYWHERE if place not in open_cells]


def credits(row: int, col: int, amount: int) -> Entry:
    return {"row": row, "col": col, "credits": amount}


def energy(row: int, col: int, amount: int) -> Entry:
    return {"row": row, "col": col, "energy": amount}


def pickup(row: int, col: int) -> Entry:
    return {"row": row, "col": col, "dataSiphon": True}


def list_of(entry: Entry) -> str:
    """The list of S that an entry belongs to."""
    signs = {"turnsRemaining": "transmissions", "hp": "enemies", "type": "blocks"}
    return next((name for sign, name in signs.items() if sign in entry), "resources")


def state(
    *entries: Entry,
    player: Json = (2, 2),
    owned: Json = "",
    exit: Json = None,
    siphoned: Json = (),
    centres: Json = (),
    **fields: Json,
) -> StateDict:
    """A state dict with what lies and stands on the board.

    ``player`` and ``exit`` are places, ``siphoned`` and ``centres`` tuples of places, ``owned`` names programs
    ("push warp"); the player's numbers and the keys of S go by their own names.
    """
    person = at_place(player) | {name: fields.pop(name) for name in PLAYER_KEYS if name in fields}
    whole: StateDict = {"player": person, "ownedPrograms": [ACTION[name] for name in owned.split()]} | fields
    for entry in entries:
        whole[list_of(entry)] = [*whole.get(list_of(entry), []), entry]
    if exit is not None:
        whole["exit"] = at_place(exit)
    if siphoned:
        whole["siphoned"] = [at_place(place) for place in siphoned]
    if centres:
        whole["siphonCenters"] = [at_place(place) for place in centres]
    return whole


def rich(*entries: Entry, **fields: Json) -> StateDict:
    """A state whose player can pay for anything."""
    return state(*entries, **({"credits": 50, "energy": 50} | fields))


def doorstep(*entries: Entry, **fields: Json) -> StateDict:
    """A player in (4,5), one step below the exit (5,5)."""
    return state(*entries, **({"player": (4, 5), "exit": (5, 5)} | fields))


def run(name: str, *entries: Entry, **fields: Json) -> tuple[StateDict, int]:
    """A state in which the program is owned and can be paid, and its action."""
    return rich(*entries, **({"owned": name} | fields)), ACTION[name]


def only(entries: list[Entry]) -> Entry:
    """The single entry of a list."""
    (entry,) = entries
    return entry


def at(entries: list[Entry], row: int, col: int) -> Entry:
    """The entry in a cell."""
    return only([entry for entry in entries if places([entry]) == [(row, col)]])


@dataclass(frozen=True)
class Case:
    """What the last of some actions gives, by the names of ``Outcome.facts``."""

    start: StateDict
    actions: tuple[int, ...]
    expected: dict[str, Any]

    def seen_by(self, engine: Engine) -> dict[str, Any]:
        """The same facts of what the engine gives."""
        facts = engine.play(self.start, *self.actions).facts
        return {name: facts[name] for name in self.expected}


def case(what: str, start: StateDict, *actions: int, **expected: Json) -> Json:
    """A row of a table: a state, one or more actions, and what the last of them gives."""
    return pytest.param(Case(start, actions, expected), id=what)


def cases(*rows: Json) -> pytest.MarkDecorator:
    """The table by which a test is run; its argument is called ``case``."""
    return pytest.mark.parametrize("case", rows)


# For every program a state where it is applicable, without costs and ownership (table P).
APPLICABLE: dict[str, dict[str, Any]] = {
    "push": {"enemies": [daemon(4, 4)]},
    "pull": {"enemies": [daemon(4, 4)]},
    "crash": {"blocks": [data(3, 3)]},
    "warp": {"enemies": [daemon(4, 4)]},
    "poly": {"enemies": [daemon(4, 4)]},
    "wait": {},
    "debug": {"enemies": [glitch(4, 4)], "blocks": [data(4, 4)]},
    "row": {"enemies": [daemon(2, 5)]},
    "col": {"enemies": [daemon(5, 2)]},
    "undo": {"history": state(player=(2, 3))},
    "step": {},
    "siph+": {},
    "exch": {},
    "show": {},
    "reset": {"hp": 2},
    "calm": {},
    "d_bom": {"enemies": [daemon(4, 4)]},
    "delay": {"transmissions": [coming("virus", 4, 4)]},
    "anti-v": {"enemies": [virus(4, 4)]},
    "score": {},
    "reduc": {"blocks": [data(4, 4)]},
    "atk+": {},
    "hack": {"siphoned": ((0, 0),)},
}

# ... and states where it is not.
NOT_APPLICABLE: dict[str, list[dict[str, Any]]] = {
    "push": [{}, {"transmissions": [coming("virus", 4, 4)]}],
    "pull": [{}, {"transmissions": [coming("virus", 4, 4)]}],
    "crash": [{"blocks": [data(4, 2)], "enemies": [daemon(2, 4)], "transmissions": [coming("virus", 0, 0)]}],
    "warp": [{"blocks": [data(3, 3)]}],
    "poly": [{}, {"transmissions": [coming("virus", 4, 4)]}],
    "debug": [{}, {"enemies": [daemon(4, 4)], "blocks": [data(4, 5)]}],
    "row": [{"enemies": [daemon(3, 5)]}, {"transmissions": [coming("virus", 2, 4)]}],
    "col": [{"enemies": [daemon(5, 3)]}, {"transmissions": [coming("virus", 4, 2)]}],
    "undo": [{}],
    "exch": [{"credits": 3}],
    "show": [{"showActivated": True}],
    "reset": [{"hp": 3}],
    "calm": [{"scheduledTasksDisabled": True}],
    "d_bom": [{"enemies": [virus(4, 4)], "transmissions": [coming("daemon", 3, 3)]}],
    "delay": [{"enemies": [virus(4, 4)]}],
    "anti-v": [{"enemies": [daemon(4, 4)], "transmissions": [coming("virus", 3, 3)]}],
    "score": [{"stage": 8}],
    "reduc": [{}, {"blocks": [data(4, 4, spawnCount=0)]}, {"blocks": [data(4, 4, siphoned=True, spawnCount=3)]}],
    "atk+": [{"attackDamage": 3}, {"atkPlusUses": 2}],
    "hack": [{"enemies": [daemon(4, 4)]}],
}
