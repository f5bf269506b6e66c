"""Entries of state dicts ("S") that move: enemies and transmissions."""

from functools import partial

from .engines import Entry, Json
from .tables import ENEMIES, MAX_HP

FROZEN = 200  # disabled turns of an enemy that shall stand still
SCHEDULED = {"isFromScheduledTask": True}
CALLED = {"spawnedFromSiphon": True}


def enemy(kind: str, row: int, col: int, **fields: Json) -> Entry:
    """An enemy, at full hp unless said; with ``frozen=True`` it stands still."""
    disabled = {"disabledTurns": FROZEN} if fields.pop("frozen", False) else {}
    return {"type": kind, "row": row, "col": col, "hp": MAX_HP[kind]} | disabled | fields


virus, daemon, glitch, cryptog = (partial(enemy, kind) for kind in ENEMIES)


def coming(kind: str, row: int, col: int, turns: int = 9, **fields: Json) -> Entry:
    return {"row": row, "col": col, "turnsRemaining": turns, "enemyType": kind} | fields
