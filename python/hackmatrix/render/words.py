"""The words for what is on a board, the same in a terminal and in the parity reports."""

ENEMY_LETTERS = {"virus": "V", "daemon": "D", "glitch": "G", "cryptog": "C"}

PLAYER = "@"
EXIT = "EXIT"
PICKUP = "ds"
SIPHONED = "."
CENTRE = "o"


def enemy_word(kind: str, hp: int, stunned: bool, disabled: int) -> str:
    """``V2`` is a virus with 2 hp, ``V2*`` a stunned one, ``V2~3`` one disabled for 3 turns (A5)."""
    return f"{ENEMY_LETTERS[kind]}{hp}{'*' if stunned else ''}{f'~{disabled}' if disabled else ''}"


def transmission_word(kind: str, turns: int) -> str:
    """``>C1`` is a cryptog that comes in 1 turn (A6)."""
    return f">{ENEMY_LETTERS[kind]}{turns}"


def block_word(held: str, spawn: int) -> str:
    """``[7]+4`` is a block that holds 7 points and spawns 4 transmissions (A4)."""
    return f"[{held}]+{spawn}"


def amount_words(credits: int, energy: int) -> list[str]:
    """``$2`` is 2 credits, ``e3`` 3 energy; what a cell has none of is left out (A3)."""
    return [f"{sign}{amount}" for sign, amount in (("$", credits), ("e", energy)) if amount]
