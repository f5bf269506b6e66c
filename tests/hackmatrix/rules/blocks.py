"""Entries of state dicts ("S") that lie on the board: blocks and resources; places are (row, col)."""

from .engines import Entry, Json, Place
from .tables import ACTION

EVERYWHERE = [(row, col) for row in range(6) for col in range(6)]
CORNERS = {(0, 0), (0, 5), (5, 0), (5, 5)}


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
