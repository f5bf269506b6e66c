"""Pages that cover the game until a key is pressed: help, rewards, log."""

from itertools import zip_longest
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Static

from rlworldkit.render.panels import LEAVE, Panels

_KEYS = (
    ("tab", "Tab", "do('toggle_looking')", "look ahead: action keys show what they would do; Tab again goes back"),
    ("enter", "Enter", "do('confirm')", "play the action that is looked at"),
    ("space", "Space", "do('toggle_agent')", "let the agent play on, or take over again; any action takes over too"),
    ("plus,equals_sign", "+", "pace('+')", "the agent plays twice as fast"),
    ("minus", "-", "pace('-')", "the agent plays half as fast"),
    ("R", "R", "rewards", "the reward of the step and of the episode, all components"),
    ("L", "L", "log", "what was done, and what it earned"),
    ("S", "S", "do('save')", "save the game now; leaving and the end of a game save it too"),
    ("N", "N", "do('next_game')", "once a game is over: the next one, of the next seed"),
    ("question_mark", "?", "help", "this help"),
    (LEAVE, LEAVE, "app.quit", "leave; Ctrl+C does the same"),
)
COMMANDS = [Binding(keys, action, purpose, show=False, key_display=sign) for keys, sign, action, purpose in _KEYS]
"""Keys of a game's screen for commands, in addition to the keys of actions."""


class TextScreen(ModalScreen[None]):
    """A page of text that can be scrolled; Esc, Enter and q close it, and so does the key that opened it."""

    CSS = """
    TextScreen { align: center middle; background: ansi_default; }
    TextScreen VerticalScroll { width: 80; max-width: 100%; height: auto; max-height: 23; }
    TextScreen #foot { dock: bottom; height: 1; }
    """
    BINDINGS: ClassVar = [Binding("escape,enter,q", "close", show=False)]

    def __init__(self, key: str, text: Text, *, at_end: bool = False) -> None:
        super().__init__()
        self._key, self._text, self._at_end = key, text, at_end

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(self._text)
        yield Static("Esc back to the game; arrow keys scroll", id="foot")

    def on_mount(self) -> None:
        scroll = self.query_one(VerticalScroll)
        scroll.focus()
        if self._at_end:
            scroll.scroll_end(animate=False)

    def on_key(self, event: Key) -> None:
        if event.key == self._key:
            event.stop()  # else the game below would open the page again
            self.action_close()

    def action_close(self) -> None:
        self.dismiss()


def help_text(panels: Panels, path: str) -> Text:
    """Make the help: keys, signs on the board, and where the game is saved, in lines of at most 80 columns."""
    text = Text(f"{panels.hint[:1].upper()}{panels.hint[1:]}.\n\n", no_wrap=True)
    for command in COMMANDS:
        text.append(f"{command.key_display:>5}", "bold").append(f"  {command.description}\n")
    signs = panels.legend
    half = (len(signs) + 1) // 2
    text.append("\n")
    for left, right in zip_longest(signs[:half], signs[half:], fillvalue=""):
        text.append(f"  {left:<38}{right}\n")
    if book := panels.world.rule_book:
        text.append(f"\nIn brackets behind a reason: the rule of {book.name} that says so")
    return text.append(f"\nSaved in {path}")
