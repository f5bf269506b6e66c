"""The keys: one for each action, the programs' in the order of table P, and one for everything else."""

from dataclasses import dataclass

from hackmatrix.rules import ACTIONS, MOVES, PROGRAMS

_ARROWS = "↑↓←→"
_SIPHON = "s"
_LEAVE = "q"
_LETTERS = [letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in (_SIPHON, _LEAVE)]

SIGNS: tuple[str, ...] = (*_ARROWS, _SIPHON, *(letter for letter, _ in zip(_LETTERS, PROGRAMS, strict=False)))
"""The key of each action as it is shown, one column wide."""
assert len(SIGNS) == len(ACTIONS)

ACTION_OF_KEY: dict[str, int] = {key: action for action, key in enumerate((*MOVES, *SIGNS[len(MOVES) :]))}
"""The key of each action as textual names it."""


@dataclass(frozen=True)
class Command:
    """A key that is no action: textual's names of it, how it is shown, the method of the screen, and what it does."""

    keys: str
    sign: str
    method: str
    purpose: str


COMMANDS = (
    Command("tab", "Tab", "look", "look ahead: action keys show what they would do; Tab again goes back"),
    Command("enter", "Enter", "confirm", "play the action that is looked at"),
    Command("space", "Space", "agent", "let the agent play on, or take over again; any action takes over too"),
    Command("plus,equals_sign", "+", "faster", "the agent plays twice as fast"),
    Command("minus", "-", "slower", "the agent plays half as fast"),
    Command("R", "R", "rewards", "the reward of the step and of the episode, all 15 components"),
    Command("L", "L", "log", "what was done, and what it earned"),
    Command("S", "S", "save", "save the game now; leaving and the end of a game save it too"),
    Command("N", "N", "next", "once a game is over: the next one, of the next seed"),
    Command("question_mark", "?", "help", "this help"),
    Command(_LEAVE, _LEAVE, "leave", "leave; Ctrl+C does the same"),
)
