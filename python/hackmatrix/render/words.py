"""The words for what is on a board: the same in a terminal, in explanations and in the parity reports."""

from functools import lru_cache

from hackmatrix.render.model import Cell, Enemy, Place, Transmission

ENEMY_LETTERS = {"virus": "V", "daemon": "D", "glitch": "G", "cryptog": "C"}

PLAYER = "@"
EXIT = "EXIT"
PICKUP = "ds"
SIPHONED = "."
SIPHON_CENTER = "o"
HIDDEN_CONTENT = "?"
LAST_KNOWN = "c?"
STUNNED = "*"
DISABLED = "~"
FROM_SIPHON = "s"
FROM_SCHEDULE = "t"
CREDITS = "$"
ENERGY = "e"


def enemy_word(enemy: Enemy) -> str:
    """``V2`` is a virus with 2 hp, ``V2*`` a stunned one, ``V2~3`` one disabled for 3 turns (A5)."""
    stunned = STUNNED if enemy.stunned else ""
    disabled = f"{DISABLED}{enemy.disabled_turns}" if enemy.disabled_turns else ""
    return f"{ENEMY_LETTERS[enemy.type]}{enemy.hp}{stunned}{disabled}"


def transmission_word(coming: Transmission) -> str:
    """``>C1`` is a cryptog that comes in 1 turn (A6)."""
    return f">{ENEMY_LETTERS[coming.type]}{coming.turns_remaining}"


def block_word(content: int | str, spawn_count: int) -> str:
    """``[7]+4`` is a block that holds 7 points and spawns 4 transmissions (A4)."""
    return f"[{content}]+{spawn_count}"


def place_word(place: Place) -> str:
    """``(5,1)`` is row 5, column 1 (A1)."""
    return "({},{})".format(*place)


def amount_words(cell: Cell) -> list[str]:
    """``$2`` is 2 credits, ``e3`` 3 energy; what a cell has none of is left out (A3)."""
    return [f"{sign}{amount}" for sign, amount in ((CREDITS, cell.credits), (ENERGY, cell.energy)) if amount]


@lru_cache(maxsize=2**16)  # from step to step most cells stay as they are
def cell_text(cell: Cell) -> str:
    """All that is in a cell, seen by the player or not, from who stands there to what lies there.

    A cryptog is followed by its last known cell, ``C2(5,1)``, whoever came from a siphon by ``s`` and from the schedule
    by ``t``; a question says what it hides, ``[?7]+4``.
    """
    words = [PLAYER] if cell.player else []
    if enemy := cell.enemy:
        known = place_word(enemy.last_known) if enemy.last_known else ""
        words.append(enemy_word(enemy) + known + _origin(enemy))
    if coming := cell.transmission:
        words.append(transmission_word(coming) + _origin(coming))
    if block := cell.block:
        hidden = HIDDEN_CONTENT if block.type == "question" else ""
        words.append(block_word(f"{hidden}{block.content}", block.spawn_count))
    words += amount_words(cell)
    flags = (PICKUP, cell.pickup), (EXIT, cell.exit), (SIPHONED, cell.siphoned), (SIPHON_CENTER, cell.siphon_center)
    return " ".join([*words, *(word for word, there in flags if there)])


def _origin(being: Enemy | Transmission) -> str:
    return (FROM_SIPHON if being.from_siphon else "") + (FROM_SCHEDULE if being.from_schedule else "")
