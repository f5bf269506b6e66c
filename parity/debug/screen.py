"""The debugger in a terminal: keys and a command line, which the debugger carries out. Needs textual."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Container, VerticalScroll
from textual.widgets import Input, Static

from parity.debug import panes
from parity.debug.debugger import AT_ONCE, COMMANDS, Debugger

_COMMAND_OF_KEY = {key: word for word, (keys, _, _) in COMMANDS.items() for key in keys.split()}


class DebugApp(App[None]):
    """The screen of a debugger: boards, a panel, a message and a command line."""

    CSS = """
    Screen { background: ansi_default; color: ansi_default; }
    #title { height: 1; }
    #middle { height: 1fr; layout: vertical; }
    #boards { height: auto; text-wrap: nowrap; }
    #panel { height: 1fr; scrollbar-size-vertical: 1; }
    .beside #middle { layout: horizontal; }
    .beside #boards { width: auto; padding-right: 2; }
    .beside #panel { width: 1fr; }
    #message { height: 2; }
    Input { height: 1; border: none; padding: 0; background: ansi_default; display: none; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = [Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True)]

    def __init__(self, debugger: Debugger) -> None:
        super().__init__(ansi_color=True)
        self._debugger = debugger
        self._panel = panes.PANELS[0]
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

    def on_resize(self) -> None:
        self._show()

    def on_key(self, event: events.Key) -> None:
        line = self.query_one(Input)
        if event.key == "escape":
            self._debugger.stop()
            self._close(line)
        elif line.display:  # typed before the line had the focus
            if event.key == "enter":
                self._submit(line)
            elif event.is_printable and event.character:
                line.insert_text_at_cursor(event.character)
        else:
            key = event.character if event.character and event.character.isprintable() else event.key
            if self._press(key, line):
                event.prevent_default()  # other keys scroll the panel

    def _press(self, key: str, line: Input) -> bool:
        """Do what a key is for; whether it is for anything."""
        word = _COMMAND_OF_KEY.get(key)
        if key == "q":
            self.exit()
        elif key == "x":
            self._engine = 1 - self._engine
        elif key == "?":
            self._panel = panes.PANELS[-1]
        elif key.isdecimal() and 1 <= int(key) < len(panes.PANELS):
            self._panel = panes.PANELS[int(key) - 1]
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
        session, (width, height) = self._debugger.session, self.size
        columns, lines = panes.board_size(session)
        both = tuple(dict.fromkeys(session.engines))
        is_beside = columns + panes.BESIDE <= width and lines > height // 3
        room = width - panes.BESIDE if is_beside else width
        shown = both if len(both) * columns <= room else (both[self._engine % len(both)],)
        self.set_class(is_beside, "beside")
        self.query_one("#title", Static).update(panes.title(self._debugger, width))
        self.query_one("#boards", Static).update(panes.boards(session, shown))
        self.query_one("#text", Static).update(panes.panel(self._debugger, self._panel))
        self.query_one("#message", Static).update(panes.message(self._debugger))
