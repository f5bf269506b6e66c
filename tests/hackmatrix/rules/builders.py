"""Small builders of state dicts ("S"), and readers of them, so that a rule test is a few lines.

Places are (row, col). Whatever a test does not name has the protocol's default.
"""

from typing import Any, TypeAlias

from .engines import StateDict
from .reference.board import ACTION, MAX_HP

Place = tuple[int, int]
Entry = dict[str, Any]
Json: TypeAlias = Any  # whatever a field may hold, mistakes included

UP, DOWN, LEFT, RIGHT, SIPHON = range(5)
WAIT = ACTION["wait"]
FROZEN = 200  # disabled turns of an enemy that shall stand still


def _at(place: Place) -> Entry:
    return {"row": place[0], "col": place[1]}


def enemy(kind: str, row: int, col: int, **fields: Json) -> Entry:
    """An enemy, at full hp unless said; with ``frozen=True`` it stands still."""
    disabled = {"disabledTurns": FROZEN} if fields.pop("frozen", False) else {}
    return {"type": kind, "row": row, "col": col, "hp": MAX_HP[kind]} | disabled | fields


def virus(row: int, col: int, **fields: Json) -> Entry:
    """A virus."""
    return enemy("virus", row, col, **fields)


def daemon(row: int, col: int, **fields: Json) -> Entry:
    """A daemon."""
    return enemy("daemon", row, col, **fields)


def glitch(row: int, col: int, **fields: Json) -> Entry:
    """A glitch."""
    return enemy("glitch", row, col, **fields)


def cryptog(row: int, col: int, **fields: Json) -> Entry:
    """A cryptog."""
    return enemy("cryptog", row, col, **fields)


def coming(kind: str, row: int, col: int, turns: int = 9, **fields: Json) -> Entry:
    """A transmission."""
    return {"row": row, "col": col, "turnsRemaining": turns, "enemyType": kind} | fields


def data(row: int, col: int, points: int = 5, **fields: Json) -> Entry:
    """A data block."""
    return {"row": row, "col": col, "type": "data", "points": points} | fields


def program(row: int, col: int, name: str, **fields: Json) -> Entry:
    """A program block."""
    return {"row": row, "col": col, "type": "program", "programActionIndex": ACTION[name]} | fields


def question(row: int, col: int, **hidden: Json) -> Entry:
    """A question block that hides ``points=`` or ``program=``."""
    fields = dict(hidden)
    if "program" in fields:
        fields["programActionIndex"] = ACTION[fields.pop("program")]
    return {"row": row, "col": col, "type": "question"} | fields


def credits(row: int, col: int, amount: int) -> Entry:
    """Credits in a cell."""
    return {"row": row, "col": col, "credits": amount}


def energy(row: int, col: int, amount: int) -> Entry:
    """Energy in a cell."""
    return {"row": row, "col": col, "energy": amount}


def pickup(row: int, col: int) -> Entry:
    """A data-siphon pickup."""
    return {"row": row, "col": col, "dataSiphon": True}


PLAYER_FIELDS = ("hp", "credits", "energy", "dataSiphons", "attackDamage", "score")


def state(
    player: Json = (2, 2),
    owned: Json = "",
    exit: Json = None,
    siphoned: Json = (),
    centres: Json = (),
    **fields: Json,
) -> StateDict:
    """A state dict.

    ``player`` and ``exit`` are places, ``siphoned`` and ``centres`` tuples of places, ``owned`` names programs
    ("push warp"); the player's numbers and the keys of S go by their own names.
    """
    person = _at(player) | {name: fields.pop(name) for name in PLAYER_FIELDS if name in fields}
    whole: StateDict = {"player": person, "ownedPrograms": [ACTION[name] for name in owned.split()]} | fields
    if exit is not None:
        whole["exit"] = _at(exit)
    if siphoned:
        whole["siphoned"] = [_at(place) for place in siphoned]
    if centres:
        whole["siphonCenters"] = [_at(place) for place in centres]
    return whole


def rich(**fields: Json) -> StateDict:
    """A state whose player can pay for anything."""
    return state(**({"credits": 50, "energy": 50} | fields))


def place_of(entry: Entry) -> Place:
    """(row, col) of an entry of S."""
    return entry["row"], entry["col"]


def places(entries: list[Entry]) -> list[Place]:
    """(row, col) of every entry, in the order given."""
    return [place_of(entry) for entry in entries]


def only(entries: list[Entry]) -> Entry:
    """The single entry of a list."""
    (entry,) = entries
    return entry


def at(entries: list[Entry], row: int, col: int) -> Entry:
    """The entry in a cell."""
    return only([entry for entry in entries if place_of(entry) == (row, col)])


def kinds(entries: list[Entry]) -> dict[Place, str]:
    """Type of what stands in each cell: enemies, blocks or transmissions."""
    return {place_of(entry): entry.get("type") or entry["enemyType"] for entry in entries}


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


def run(name: str, **fields: Json) -> tuple[StateDict, int]:
    """A state in which the program is owned and can be paid, and its action."""
    owned = {"owned": name} if "owned" not in fields else {}
    return rich(**owned, **fields), ACTION[name]
