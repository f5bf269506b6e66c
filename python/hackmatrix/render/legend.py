"""Legends of boards, for pages (all signs) and for a terminal (what a player sees).

The signs are words of ``render.words``, or parts of them.
"""

from hackmatrix.render import words
from hackmatrix.render.model import Enemy, Transmission

Sign = tuple[str, str]
"""A sign and what it means, in a few words."""

_BEINGS: tuple[Sign, ...] = (
    (words.PLAYER, "player"),
    (words.enemy_word(Enemy("virus", 2)), "virus with 2 hp"),
    *((letter, name) for name, letter in words.ENEMY_LETTERS.items() if name != "virus"),
)
_STATES: tuple[Sign, ...] = (
    (words.STUNNED, "stunned"),
    (f"{words.DISABLED}3", "disabled 3 turns"),
    (words.transmission_word(Transmission("daemon", 1)), "daemon comes in 1 turn"),
)
_BLOCKS: tuple[Sign, ...] = ((words.block_word(7, 4), "7 points, spawns 4"), ("[WARP]", "program"))
_GROUND: tuple[Sign, ...] = (
    (f"{words.CREDITS}2", "credits"),
    (f"{words.ENERGY}3", "energy"),
    (words.PICKUP, "data siphon to pick up"),
    (words.SIPHONED, "siphoned"),
    (words.SIPHON_CENTER, "siphon's centre"),
)

SIGNS: tuple[Sign, ...] = (
    *_BEINGS,
    *_STATES,
    (words.FROM_SIPHON, "came from a siphon"),
    (words.FROM_SCHEDULE, "came by the schedule"),
    (words.place_word((5, 1)), "seen last in row 5, column 1"),
    *_BLOCKS,
    (f"[{words.HIDDEN_CONTENT}7]", "question that hides 7 points"),
    *_GROUND,
)
"""Of a whole state, as ``words.cell_text`` tells it."""

_SEEN: tuple[Sign, ...] = (
    *_BEINGS,
    ("c2", "hidden"),
    (words.LAST_KNOWN, "last known cell"),
    *_STATES,
    *_BLOCKS,
    (f"[{words.HIDDEN_CONTENT}]", "question"),
    *_GROUND,
)


def legend(width: int) -> tuple[str, ...]:
    """The signs that a player sees, in lines of at most ``width`` columns."""
    lines: list[list[str]] = [[]]
    for sign, meaning in _SEEN:
        told = f"{sign} {meaning}"
        if lines[-1] and len(" ".join([*lines[-1], told])) > width:
            lines.append([])
        lines[-1].append(told)
    return tuple(wide if len(wide := "  ".join(line)) <= width else " ".join(line) for line in lines)
