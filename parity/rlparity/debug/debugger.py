"""The debugger's commands, breakpoints and messages; knows no screen."""

from collections.abc import Callable

from rlparity.debug.fields import value_of
from rlparity.debug.session import Session
from rlparity.errors import ParityError, UsageError, quoted, unknown
from rlparity.io.console import counted
from rlparity.tools.report import action_name

CHUNK = 10
"""Steps between which a screen shows a run that goes on, and takes keys."""


class Debugger:
    """Carries out commands in a session; a mistake is a message, and nothing else happens.

    breakpoints: conditions at which a run stops. message: of the last command; is_refusal: it was not done.
    target: where a run goes, as its conditions and whether backwards; None while there is none.
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
        """Run on for a few steps, until a condition holds or there is nowhere to go."""
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
        """End a run that goes on."""
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
            raise UsageError(f"no breakpoint is {unknown(rest, self.breakpoints)}: they are {self.listed()}.")
        self.breakpoints.remove(rest)
        return f"Breakpoints: {self.listed()}."

    def listed(self) -> str:
        """The breakpoints in words."""
        return ", ".join(self.breakpoints) or "none"

    def _save(self, file: str, shrink_seconds: float | None = None) -> str:
        trace = self.session.save(_file(file), shrink_seconds)
        return f"Saved {counted(len(trace.case.actions), 'action')} in {file}."

    def _test(self, file: str) -> str:
        self.session.write_test(_file(file))
        return f"Saved as a test in {file}."


COMMANDS: dict[str, tuple[str, Callable[[Debugger, str], object], str]] = {
    "step": ("right n", lambda it, rest: it.session.step(rest or None), "[ACTION]: the next action, or this one"),
    "back": ("left p", lambda it, rest: it.session.back(_number(rest or "1")), "[STEPS]: a step back, or several"),
    "continue": ("c", lambda it, rest: it._begin(rest, backwards=False), "[CONDITION]: on to it, or to a breakpoint"),
    "return": ("r", lambda it, rest: it._begin(rest, backwards=True), "[CONDITION]: back to it, or to a breakpoint"),
    "break": ("b", Debugger._break, ": MARK, RULE, hp < 2, action NAME, differs FIELD, draw SITE"),
    "delete": ("d", Debugger._delete, "CONDITION: delete a breakpoint"),
    "go": ("g", lambda it, rest: it.session.go(_number(rest)), "STEP: go to a step of this fork"),
    "set": ("e", lambda it, rest: it.session.set(*_pair(rest)), "FIELD = VALUE: edit the state, in a new fork"),
    "fork": ("f", lambda it, _: it.session.fork(), ": a fork without the actions that follow"),
    "switch": ("w", lambda it, rest: it.session.switch(_number(rest)), "FORK: go to another fork"),
    "save": ("s", Debugger._save, "FILE: this fork up to here as a trace"),
    "shrink": ("k", lambda it, rest: it._save(rest, 10), "FILE: a minimal case of its first difference"),
    "test": ("t", Debugger._test, "FILE: as a test of pytest"),
}
"""Commands: their keys, what they do, and what they take and are for."""
AT_ONCE = "step", "back", "continue", "return", "fork"
"""Commands whose keys carry them out; those of the others open the line with the command."""


def _pair(text: str) -> tuple[str, object]:
    """A name and a value, as JSON has it, or a bare word."""
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
