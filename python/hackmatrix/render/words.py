"""Words for the contents of a board, shared by terminal, explanations and reports; and their legends."""

from collections.abc import Iterable

from hackmatrix.cells import Cell, cell_name, content_of
from rlparity import State

ENEMY_LETTERS = {"virus": "V", "daemon": "D", "glitch": "G", "cryptog": "C"}

PLAYER = "@"
EXIT = "EXIT"
PICKUP = "ds"
SIPHONED = "."
SIPHON_CENTER = "o"
HIDDEN_CONTENT = "?"
LAST_KNOWN = "c?"
CREDITS = "$"
ENERGY = "e"


def enemy_word(enemy: State) -> str:
    """Word for an enemy: ``V2`` is a virus with 2 hp, ``V2*`` a stunned one, ``V2~3`` one disabled for 3 turns (A5)."""
    disabled = f"~{enemy['disabledTurns']}" if enemy["disabledTurns"] else ""
    return f"{ENEMY_LETTERS[enemy['type']]}{enemy['hp']}{'*' if enemy['stunned'] else ''}{disabled}"


def transmission_word(coming: State) -> str:
    """Word for a transmission: ``>C1`` is a cryptog that comes in 1 turn (A6)."""
    return f">{ENEMY_LETTERS[coming['enemyType']]}{coming['turnsRemaining']}"


def amount_words(cell: Cell) -> list[str]:
    """Words for the amounts of a cell: ``$2`` is 2 credits, ``e3`` 3 energy; amounts of 0 are left out (A3)."""
    amounts = (CREDITS, cell.resource["credits"]), (ENERGY, cell.resource["energy"])
    return [f"{sign}{amount}" for sign, amount in amounts if amount]


def cell_text(cell: Cell) -> str:
    """Everything in a cell, whether the player sees it or not: beings, block, amounts, pickup and flags.

    A cryptog is followed by its last known cell, ``C2(5,1)``, a being from a siphon by ``s`` and one from the schedule
    by ``t``; a question block shows its content, ``[?7]+4``.
    """
    words = [PLAYER] if cell.player else []
    if enemy := cell.enemy:
        known = cell_name((enemy["lastKnownRow"], enemy["lastKnownCol"])) if "lastKnownRow" in enemy else ""
        words.append(enemy_word(enemy) + known + _origin(enemy))
    if coming := cell.transmission:
        words.append(transmission_word(coming) + _origin(coming))
    if block := cell.block:
        hidden = HIDDEN_CONTENT if block["type"] == "question" else ""
        words.append(f"[{hidden}{content_of(block)}]+{block['spawnCount']}")
    words += amount_words(cell) + [PICKUP] * cell.resource["dataSiphon"]
    flags = (EXIT, cell.exit), (SIPHONED, cell.siphoned), (SIPHON_CENTER, cell.siphon_center)
    return " ".join([*words, *(word for word, there in flags if there)])


def _origin(being: State) -> str:
    return "s" * being["spawnedFromSiphon"] + "t" * being["isFromScheduledTask"]


Sign = tuple[str, str]
"""A word on a board, or a part of one, and its meaning in a few words."""

_BEINGS: tuple[Sign, ...] = (
    (PLAYER, "player"),
    ("V2", "virus with 2 hp"),
    *((letter, name) for name, letter in ENEMY_LETTERS.items() if name != "virus"),
)
_STATES: tuple[Sign, ...] = (("*", "stunned"), ("~3", "disabled 3 turns"), (">D1", "daemon comes in 1 turn"))
_BLOCKS: tuple[Sign, ...] = (("[7]+4", "7 points, spawns 4"), ("[WARP]", "program"))
_GROUND: tuple[Sign, ...] = (
    (f"{CREDITS}2", "credits"),
    (f"{ENERGY}3", "energy"),
    (PICKUP, "data siphon to pick up"),
    (SIPHONED, "siphoned"),
    (SIPHON_CENTER, "siphon's centre"),
)

SIGNS: tuple[Sign, ...] = (
    *_BEINGS,
    *_STATES,
    ("s", "came from a siphon"),
    ("t", "came by the schedule"),
    ("(5,1)", "seen last in row 5, column 1"),
    *_BLOCKS,
    (f"[{HIDDEN_CONTENT}7]", "question that hides 7 points"),
    *_GROUND,
)
"""The legend of a whole state, as ``cell_text`` describes it."""

_SEEN: tuple[Sign, ...] = (
    *_BEINGS,
    ("c2", "hidden"),
    (LAST_KNOWN, "last known cell"),
    *_STATES,
    *_BLOCKS,
    (f"[{HIDDEN_CONTENT}]", "question"),
    *_GROUND,
)


def legend(width: int, signs: Iterable[Sign] = _SEEN) -> tuple[str, ...]:
    """Lines of at most ``width`` columns with the meanings of signs, by default of the signs that a player sees."""
    lines: list[list[str]] = [[]]
    for sign, meaning in signs:
        entry = f"{sign} {meaning}"
        if lines[-1] and len(" ".join([*lines[-1], entry])) > width:
            lines.append([])
        lines[-1].append(entry)
    return tuple(wide if len(wide := "  ".join(line)) <= width else " ".join(line) for line in lines)
