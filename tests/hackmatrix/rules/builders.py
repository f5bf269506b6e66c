"""Small builders of state dicts ("S"), so that a rule test is a few lines.

Places are (row, col). Whatever a test does not name has the protocol's default.
"""

from typing import Any

import numpy as np

from hackmatrix.exploration.starts import STARTS

from .blocks import data
from .engines import Entry, Json, Place, StateDict
from .movers import coming, daemon, glitch, virus
from .tables import ACTION, PLAYER_KEYS

UP, DOWN, LEFT, RIGHT, SIPHON = range(5)
WAIT = ACTION["wait"]


def at_place(place: Place) -> Entry:
    return {"row": place[0], "col": place[1]}


def list_of(entry: Entry) -> str:
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
    return state(*entries, **({"credits": 50, "energy": 50} | fields))


def doorstep(*entries: Entry, **fields: Json) -> StateDict:
    return state(*entries, **({"player": (4, 5), "exit": (5, 5)} | fields))


def run(name: str, *entries: Entry, **fields: Json) -> tuple[StateDict, int]:
    """A state in which the program is owned and can be paid, and its action."""
    return rich(*entries, **({"owned": name} | fields)), ACTION[name]


CROWDS = [make for name, make in STARTS.items() if name != "finished"]


def random_state(number: int) -> StateDict:
    """The ``number``-th random state, of any kind in which a game goes on."""
    return CROWDS[number % len(CROWDS)](np.random.default_rng(number))


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
