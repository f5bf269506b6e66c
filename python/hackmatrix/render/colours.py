"""Colours of the board, as RGB of 0 … 255 on a dark ground, for pictures and web pages."""

from hackmatrix.render import words
from rlworldkit.render.colours import AGENT, GOOD, MUTED, TEXT, Colour, mix

CREDITS = (238, 197, 82)
ENERGY = (98, 190, 250)
PICKUP = (178, 160, 255)
SPAWN = (242, 132, 96)
STUN = (250, 222, 110)
ENEMIES = {
    "virus": (240, 98, 98),
    "daemon": (246, 160, 78),
    "glitch": (206, 126, 236),
    "cryptog": (120, 158, 255),
}
BLOCKS = {
    "data": ((40, 58, 90), (92, 126, 186)),
    "program": ((36, 72, 60), (92, 166, 134)),
    "question": ((78, 62, 34), (196, 158, 82)),
}
"""Type of block -> its fill colour and its edge colour."""

_WORDS = {
    words.PLAYER: AGENT,
    words.EXIT: GOOD,
    words.PICKUP: PICKUP,
    words.SIPHONED: MUTED,
    words.SIPHON_CENTER: MUTED,
}
_SIGNS = {words.CREDITS: CREDITS, words.ENERGY: ENERGY} | {
    letter: ENEMIES[name] for name, letter in words.ENEMY_LETTERS.items()
}


def colour_of(word: str) -> Colour | None:
    """The colour of a word of ``words.cell_text``; None for any other word."""
    if word in _WORDS:
        return _WORDS[word]
    if word.startswith("["):
        content = word[1:2]
        block_type = "question" if content == words.HIDDEN_CONTENT else "data" if content.isdigit() else "program"
        _, edge = BLOCKS[block_type]
        return mix(edge, TEXT, 0.35)  # an edge alone is too dark to read
    return _SIGNS.get(word.removeprefix(">")[:1])
