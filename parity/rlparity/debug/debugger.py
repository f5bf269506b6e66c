"""Commands, breakpoints and messages of the debugger, independent of a screen."""

from collections.abc import Callable

from rlparity.debug.fields import value_of
from rlparity.debug.session import Session
from rlparity.errors import ParityError, UsageError, quoted, unknown
from rlparity.io.console import counted
from rlparity.tools.report import action_name

CHUNK = 10
"""Steps that a run takes before the screen is redrawn and keys are read."""


class Debugger:
    """Command interpreter of a session; an invalid command only sets the message.

    breakpoints: conditions at which a run stops. message: of the last command. is_refusal: that command failed.
    target: conditions of the run in progress, and whether it goes backwards; None while no run is in progress.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.breakpoints = ["differs"]
        self.message, self.is_refusal = "? lists keys and commands.", False
        self.target: tuple[tuple[str, ...], bool] | None = None

    def do(self, line: str) -> None:
        """Carry out a command, such as ``set hp = 1``."""
        word, _, rest = line.strip().partition(" ")
        self.target = None
        try:
            if word not in COMMANDS:
                raise UsageError(f"there is no command {unknown(word, COMMANDS)}: ? lists them.")
            said = COMMANDS[word][1](self, rest.strip())
            self.message, self.is_refusal = said if isinstance(said, str) else self._where(), False
        except ParityError as error:
            self.message, self.is_refusal = str(error), True

    def advance(self) -> None:
        """Continue a run for at most ``CHUNK`` steps, or until a condition holds or no step is left."""
        if self.target is None:
            return
        (conditions, backwards), session, before = self.target, self.session, self.session.position
        try:
            held = session.run_until(*conditions, backwards=backwards, steps=CHUNK)
        except ParityError as error:
            self.target, self.message, self.is_refusal = None, str(error), True
            return
        self.message = f"Running {'back' if backwards else 'on'}, step {session.position}; Esc stops."
        if held is not None or abs(session.position - before) < CHUNK:
            over = "the game is over" if session.moment.is_over else "the actions end"
            where = held or ("the game begins" if backwards else over)
            self.target, self.message = None, f"Stopped at step {session.position}: {where}."

    def stop(self) -> None:
        """Stop the run in progress, if any."""
        if self.target is not None:
            self.target, self.message = None, f"Stopped at step {self.session.position}."

    def _where(self) -> str:
        session, action = self.session, self.session.moment.action
        cause = action_name(session.world, action) if action is not None else session.current.cause or "start"
        over = "; the game is over" if session.moment.is_over else ""
        return f"Fork {session.current.number}, step {session.position}: {cause}{over}."

    def _begin(self, condition: str, *, backwards: bool) -> str:
        conditions = (condition,) if condition else tuple(self.breakpoints)
        self.session.run_until(*conditions, backwards=backwards, steps=0)
        self.target = conditions, backwards
        return "Running; Esc stops."

    def _break(self, rest: str) -> str:
        self.session.run_until(rest, steps=0)
        self.breakpoints = [*dict.fromkeys((*self.breakpoints, rest))]
        return f"Breakpoints: {self.listed()}."

    def _delete(self, rest: str) -> str:
        if rest not in self.breakpoints:
            raise UsageError(f"there is no breakpoint {unknown(rest, self.breakpoints)}: there are {self.listed()}.")
        self.breakpoints.remove(rest)
        return f"Breakpoints: {self.listed()}."

    def listed(self) -> str:
        """The breakpoints as a comma-separated list."""
        return ", ".join(self.breakpoints) or "none"

    def _save(self, file: str, shrink_seconds: float | None = None) -> str:
        trace = self.session.save(_file(file), shrink_seconds)
        return f"Saved {counted(len(trace.case.actions), 'action')} in {file}."

    def _test(self, file: str) -> str:
        self.session.write_test(_file(file))
        return f"Saved as a test in {file}."


COMMANDS: dict[str, tuple[str, Callable[[Debugger, str], object], str]] = {
    "step": ("right n", lambda it, rest: it.session.step(rest or None), "[ACTION]: take the next action, or this one"),
    "back": ("left p", lambda it, rest: it.session.back(_number(rest or "1")), "[STEPS]: go back one step, or several"),
    "continue": ("c", lambda it, rest: it._begin(rest, backwards=False), "[CONDITION]: run to it, or to a breakpoint"),
    "return": ("r", lambda it, rest: it._begin(rest, backwards=True), "[CONDITION]: run back, likewise"),
    "break": ("b", Debugger._break, ": MARK, RULE, hp < 2, action NAME, differs FIELD, draw SITE"),
    "delete": ("d", Debugger._delete, "CONDITION: delete a breakpoint"),
    "go": ("g", lambda it, rest: it.session.go(_number(rest)), "STEP: go to a step of this fork"),
    "set": ("e", lambda it, rest: it.session.set(*_pair(rest)), "FIELD = VALUE: edit the state, in a new fork"),
    "fork": ("f", lambda it, _: it.session.fork(), ": fork here, without the actions that follow"),
    "switch": ("w", lambda it, rest: it.session.switch(_number(rest)), "FORK: go to another fork"),
    "save": ("s", Debugger._save, "FILE: save this fork up to here as a trace"),
    "shrink": ("k", lambda it, rest: it._save(rest, 10), "FILE: save its first difference as a small case"),
    "test": ("t", Debugger._test, "FILE: save this fork as a pytest test"),
}
"""Commands by name: their keys, their function, and their arguments and help."""
AT_ONCE = "step", "back", "continue", "return", "fork"
"""Commands that run when their key is pressed; keys of the others open the command line."""


def _pair(text: str) -> tuple[str, object]:
    """Parse ``NAME = VALUE``, where the value is JSON or a bare word."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise UsageError(f"{quoted(text)} is no NAME = VALUE, such as hp = 1: give both.")
    return name, value_of(value)


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 20:
        raise UsageError(f"{quoted(text)} is no whole number of at most 20 digits: give one.")
    return int(text)


def _file(text: str) -> str:
    if not text or not text.isprintable():
        raise UsageError(f"{quoted(text)} names no file: give its path.")
    return text
