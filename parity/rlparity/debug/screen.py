"""Terminal screen of the debugger, with keys and a command line. Needs textual."""

import asyncio
import signal
from typing import Any, ClassVar

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Container, VerticalScroll
from textual.widgets import Input, Static

from rlparity.debug import panes
from rlparity.debug.debugger import AT_ONCE, COMMANDS, Debugger

_COMMAND_OF_KEY = {key: word for word, (keys, _, _) in COMMANDS.items() for key in keys.split()}


class DebugApp(App[None]):
    """Textual app of a debugger: boards, a panel, a message and a command line.

    ended_by: the signal that closed the app, else None.
    """

    CSS = """
    Screen { background: ansi_default; color: ansi_default; }
    #title { height: 1; }
    #middle { height: 1fr; layout: vertical; }
    #boards { height: auto; text-wrap: nowrap; }
    #panel { height: 1fr; scrollbar-size-vertical: 1; }
    .beside #middle { layout: horizontal; }
    .beside #boards { width: auto; padding-right: 2; }
    .beside #panel { width: 1fr; }
    #message { height: auto; min-height: 2; max-height: 8; }
    Input { height: 1; border: none; padding: 0; background: ansi_default; display: none; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = [Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True)]

    def __init__(self, debugger: Debugger) -> None:
        super().__init__(ansi_color=True)
        self.ended_by: signal.Signals | None = None
        self._handlers: dict[signal.Signals, Any] = {}
        self._debugger = debugger
        self._panel = self._panel_below = panes.PANELS[0]
        self._engine = 0

    def compose(self) -> ComposeResult:
        yield Static(id="title")
        with Container(id="middle"):
            yield Static(id="boards")
            with VerticalScroll(id="panel"):
                yield Static(id="text")
        yield Static(id="message")
        yield Input(id="line", select_on_focus=False)

    def on_mount(self) -> None:
        self.query_one("#panel").focus()
        self.set_interval(0.02, self._run)
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._handlers[number] = signal.getsignal(number)
            asyncio.get_running_loop().add_signal_handler(number, self._end, number)

    def on_unmount(self) -> None:
        for number, handler in self._handlers.items():
            asyncio.get_running_loop().remove_signal_handler(number)
            signal.signal(number, handler)

    def _end(self, number: signal.Signals) -> None:
        self.ended_by = number
        self.exit()

    def on_resize(self) -> None:
        self.call_later(self._show)  # textual sets the new size after this handler

    def on_key(self, event: events.Key) -> None:
        line = self.query_one(Input)
        if event.key == "escape":
            self._debugger.stop()
            self._panel = self._panel_below
            self._close(line)
        elif line.display:  # the key was typed before the line had the focus
            if event.key == "enter":
                self._submit(line)
            elif event.is_printable and event.character:
                line.insert_text_at_cursor(event.character)
        else:
            key = event.character if event.character and event.character.isprintable() else event.key
            if self._press(key, line):
                event.prevent_default()  # other keys scroll the panel

    def _press(self, key: str, line: Input) -> bool:
        """Handle a key; return whether it is bound to anything."""
        word = _COMMAND_OF_KEY.get(key)
        if key == "q":
            self.exit()
        elif key == "x":
            self._engine = 1 - self._engine
        elif key == "?":
            self._panel = panes.HELP if self._panel != panes.HELP else self._panel_below
        elif key.isdecimal() and 1 <= int(key) < len(panes.PANELS):
            self._panel = self._panel_below = panes.PANELS[int(key) - 1]
        elif word in AT_ONCE:
            self._debugger.do(word)
        elif word is not None or key == ":":
            line.value = f"{word} " if word else ""
            line.cursor_position = len(line.value)
            line.display = True
            line.focus()
        else:
            return False
        self._show()
        return True

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._submit(event.input)

    def _submit(self, line: Input) -> None:
        command, line.value = line.value, ""
        self._close(line)
        if command.strip():
            self._debugger.do(command)
        self._show()

    def _close(self, line: Input) -> None:
        line.display = False
        self.query_one("#panel").focus()
        self._show()

    def _run(self) -> None:
        if self._debugger.target is not None:
            self._debugger.advance()
            self._show()

    def _show(self) -> None:
        debugger = self._debugger
        boards, columns = panes.boards(debugger.session, self.size, self._engine)
        self.set_class(columns > 0, "beside")
        has_room = columns > 0 or boards.plain.count("\n") + panes.BELOW + 4 <= self.size.height
        self.query_one("#boards").display = has_room or self._panel == panes.PANELS[0]  # make room for the panel
        parts = {
            "title": panes.title(debugger, self.size.width),
            "boards": boards,
            # the panel's scroll bar takes a column
            "text": panes.panel(debugger, self._panel, self.size.width - columns - 1),
            "message": Text(debugger.message, "bold red" if debugger.is_refusal else ""),
        }
        for name, part in parts.items():
            self.query_one(f"#{name}", Static).update(part)
