"""The keys that are no actions."""

from dataclasses import dataclass

from worldkit.render.panels import LEAVE


@dataclass(frozen=True)
class Key:
    """A key that is no action: textual's names of it, how it is shown, the action of the screen, and what it does."""

    keys: str
    sign: str
    action: str
    purpose: str


COMMANDS = (
    Key("tab", "Tab", "do('toggle_looking')", "look ahead: action keys show what they would do; Tab again goes back"),
    Key("enter", "Enter", "do('confirm')", "play the action that is looked at"),
    Key("space", "Space", "do('toggle_agent')", "let the agent play on, or take over again; any action takes over too"),
    Key("plus,equals_sign", "+", "pace('+')", "the agent plays twice as fast"),
    Key("minus", "-", "pace('-')", "the agent plays half as fast"),
    Key("R", "R", "rewards", "the reward of the step and of the episode, all components"),
    Key("L", "L", "log", "what was done, and what it earned"),
    Key("S", "S", "do('save')", "save the game now; leaving and the end of a game save it too"),
    Key("N", "N", "do('next_game')", "once a game is over: the next one, of the next seed"),
    Key("question_mark", "?", "help", "this help"),
    Key(LEAVE, LEAVE, "app.leave", "leave; Ctrl+C does the same"),
)
