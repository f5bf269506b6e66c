"""Pages that lie over the game until a key is pressed: help, rewards, log."""

from itertools import zip_longest
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Static

from worldkit.play.keys import COMMANDS
from worldkit.render.panels import Panels


class Page(ModalScreen[None]):
    """A page of text that can be scrolled; Esc, Enter and q close it, and so does the key that opened it."""

    CSS = """
    Page { align: center middle; background: ansi_default; }
    Page VerticalScroll { width: 80; height: auto; max-height: 23; }
    Page #foot { dock: bottom; height: 1; }
    """
    BINDINGS: ClassVar = [Binding("escape,enter,q", "close", show=False)]

    def __init__(self, key: str, text: Text, *, at_end: bool = False) -> None:
        super().__init__()
        self._key, self._text, self._at_end = key, text, at_end

    def compose(self) -> ComposeResult:
        """The text, and how to go back."""
        with VerticalScroll():
            yield Static(self._text)
        yield Static("Esc back to the game; arrow keys scroll", id="foot")

    def on_mount(self) -> None:
        """Take the arrow keys, and begin at the end where that is asked for."""
        scroll = self.query_one(VerticalScroll)
        scroll.focus()
        if self._at_end:
            scroll.scroll_end(animate=False)

    def on_key(self, event: Key) -> None:
        """Close at the key that opened the page."""
        if event.key == self._key:
            event.stop()  # else the game below would open the page again
            self.action_close()

    def action_close(self) -> None:
        """Go back to the game."""
        self.dismiss()


def help_text(panels: Panels, path: str) -> Text:
    """The keys, the signs on the board, and where the game is saved, in lines of at most 80 columns."""
    text = Text(f"{panels.hint[:1].upper()}{panels.hint[1:]}.\n\n", no_wrap=True)
    for command in COMMANDS:
        text.append(f"{command.sign:>5}", "bold").append(f"  {command.purpose}\n")
    signs = panels.legend
    half = (len(signs) + 1) // 2
    text.append("\n")
    for left, right in zip_longest(signs[:half], signs[half:], fillvalue=""):
        text.append(f"  {left:<38}{right}\n")
    return text.append(f"\nSaved in {path}")
