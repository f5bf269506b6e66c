"""The keys that are no actions."""

from dataclasses import dataclass

from worldkit.render.panels import LEAVE


@dataclass(frozen=True)
class KeyCommand:
    """A key that is no action: textual's names of it, how it is shown, the method of the screen, and what it does."""

    keys: str
    sign: str
    method: str
    purpose: str


COMMANDS = (
    KeyCommand("tab", "Tab", "look", "look ahead: action keys show what they would do; Tab again goes back"),
    KeyCommand("enter", "Enter", "confirm", "play the action that is looked at"),
    KeyCommand("space", "Space", "agent", "let the agent play on, or take over again; any action takes over too"),
    KeyCommand("plus,equals_sign", "+", "faster", "the agent plays twice as fast"),
    KeyCommand("minus", "-", "slower", "the agent plays half as fast"),
    KeyCommand("R", "R", "rewards", "the reward of the step and of the episode, all components"),
    KeyCommand("L", "L", "log", "what was done, and what it earned"),
    KeyCommand("S", "S", "save", "save the game now; leaving and the end of a game save it too"),
    KeyCommand("N", "N", "next", "once a game is over: the next one, of the next seed"),
    KeyCommand("question_mark", "?", "help", "this help"),
    KeyCommand(LEAVE, LEAVE, "leave", "leave; Ctrl+C does the same"),
)
