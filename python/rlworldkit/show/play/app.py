"""Terminal app for playing: it passes keys and signals to a session, and shows the panes, and pages that cover them."""

import asyncio
import contextlib
import signal
from collections.abc import Callable
from itertools import zip_longest
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Container, VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.timer import Timer
from textual.widgets import Static

from rlparity.errors import EngineError, UsageError
from rlworldkit.render.display import is_room, missing_room
from rlworldkit.render.panels import LEAVE, Panels
from rlworldkit.render.spans import as_text
from rlworldkit.show.play import panes
from rlworldkit.show.play.game import shortened
from rlworldkit.show.play.session import PlaySession
from rlworldkit.show.watch.controls import Controls

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOG_LINES = 200
_LEAST_BELOW = 3
"""Least number of lines below the game that the log needs."""
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


class PlayApp(App[EngineError]):
    """Terminal app of a session; ``run`` returns an engine's error, else None. was_stopped: whether by a signal."""

    CSS = """
    GameScreen { background: ansi_default; color: ansi_default; }
    #title, #board, #status, #actions, #rewards { text-wrap: nowrap; text-overflow: ellipsis; }
    #title { height: 1; }
    #middle { layout: vertical; height: auto; }
    #left { layout: horizontal; height: auto; }
    #board, .large #left { width: auto; }
    #status { padding-left: 1; }
    #message { height: 2; }
    #below { height: 1fr; layout: horizontal; }
    #rewards { width: 42; }
    #log { width: 1fr; scrollbar-size: 0 0; }
    #small { display: none; }
    .large #middle { layout: horizontal; }
    .large #left { layout: vertical; }
    .large #status { padding: 0; }
    .large #actions { width: 1fr; padding-left: 2; }
    .small #title, .small #middle, .small #message, .small #below { display: none; }
    .small #small { display: block; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = [Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True)]

    def __init__(self, session: PlaySession, controls: Controls) -> None:
        # the terminal's own colours, as everywhere in this project, and no colours if NO_COLOR is set
        super().__init__(ansi_color=True)
        self.was_stopped = False
        self._session, self._controls = session, controls

    def get_default_screen(self) -> Screen[None]:
        return GameScreen(self._session, self._controls)

    def on_mount(self) -> None:
        for number in _SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._stop)

    def on_unmount(self) -> None:
        for number in _SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)

    def _stop(self) -> None:
        self.was_stopped = True
        with contextlib.suppress(UsageError):  # the caller tries again, and reports the error
            self._session.keep()
        self.exit()


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

    def on_key(self, event: events.Key) -> None:
        if event.key == self._key:
            event.stop()  # else the game below would open the page again
            self.action_close()

    def action_close(self) -> None:
        self.dismiss()


class GameScreen(Screen[None]):
    """Screen of a game: board, numbers, actions, message, rewards and log, as far as there is room."""

    BINDINGS: ClassVar = [*COMMANDS]

    def __init__(self, session: PlaySession, controls: Controls) -> None:
        super().__init__()
        self._session, self._controls = session, controls
        self._action_of_key = {key: action for action, key in enumerate(session.panels.keys)}
        self._little = panes.layout_of(session, large=False)
        self._much = panes.layout_of(session, large=True) if session.panels.large_size else self._little
        self._clock: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="small")
        yield Static(id="title")
        with Container(id="middle"):
            with Container(id="left"):
                yield Static(id="board")
                yield Static(id="status")
            yield Static(id="actions")
        yield Static(id="message")
        with Container(id="below"):
            yield Static(id="rewards")
            with VerticalScroll(id="log", can_focus=False):
                yield Static(id="turns")

    def on_resize(self) -> None:
        layout = self._layout
        self.set_class(self._is_small, "small")
        self.set_class(layout.large, "large")
        below = self.size.height - layout.size[1]
        self.query_one("#below").display = below >= _LEAST_BELOW
        self.query_one("#rewards").display = below >= len(self._session.game.world.components) + 2
        self._put("#small", Text(missing_room(self.size, self._little.size)))
        self._show()

    def on_key(self, event: events.Key) -> None:
        action = self._action_of_key.get(event.key)
        if action is not None and not self._is_small:
            self._do(lambda: self._session.press(action))

    def action_do(self, method: str) -> None:
        self._do(getattr(self._session, method))

    def action_pace(self, key: str) -> None:
        self._controls.press(key)
        self._wind(restart=True)
        self._show()

    def action_rewards(self) -> None:
        self._open(TextScreen("R", panes.rewards(self._session.displayed)))

    def action_log(self) -> None:
        self._open(TextScreen("L", panes.log(self._session.game), at_end=True))

    def action_help(self) -> None:
        self._open(TextScreen("question_mark", help_text(self._session.panels, shortened(self._session.path, 60))))

    @property
    def _is_small(self) -> bool:
        return not is_room(self.size, self._little.size)

    @property
    def _layout(self) -> panes.Layout:
        return self._much if is_room(self.size, self._much.size) else self._little

    def _open(self, page: TextScreen) -> None:
        if self._session.agent_plays:
            self._do(self._session.toggle_agent)
        self.app.push_screen(page)

    def _do(self, change: Callable[[], None]) -> None:
        """Change the session and show it; an engine that fails ends the app, and the caller saves the game."""
        try:
            change()
        except EngineError as error:
            self.app.exit(error)
            return
        self._wind()
        self._show()

    def _wind(self, *, restart: bool = False) -> None:
        """Start or stop the clock, which runs while the agent plays."""
        if self._clock is not None and (restart or not self._session.agent_plays):
            self._clock.stop()
            self._clock = None
        if self._clock is None and self._session.agent_plays:
            self._clock = self.set_interval(1 / self._controls.speed, lambda: self._do(self._session.let_agent_act))

    def _show(self) -> None:
        session, layout = self._session, self._layout
        game, large = session.displayed, layout.large
        self._put("#title", panes.title(session, self._controls.pace, self.size.width))
        self._put("#board", as_text(session.panels.board(game.state, large=large)))
        self._put("#status", panes.status(session, large=large))
        self._put("#actions", panes.actions(session, layout))
        self._put("#message", panes.message(session))
        self._put("#rewards", panes.rewards(game))
        self._put("#turns", panes.log(session.game, _LOG_LINES))
        self.query_one("#log", VerticalScroll).scroll_end(animate=False)

    def _put(self, pane: str, text: Text) -> None:
        self.query_one(pane, Static).update(text)


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
