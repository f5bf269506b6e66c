"""The debugger's commands, breakpoints and messages; knows no screen."""

from __future__ import annotations

import json
from collections.abc import Callable

from parity.compare import value_text
from parity.console import counted
from parity.debug.session import Session
from parity.errors import ParityError, UsageError, unknown
from parity.report import action_name

CHUNK = 10
"""Steps between which a screen shows a run that goes on, and takes keys."""


class Debugger:
    """Carries out commands in a session; a mistake is a message, and nothing else happens.

    breakpoints: conditions at which a run stops. message: of the last command; is_refusal: it was not done.
    target: where a run goes, as its conditions and whether backwards; None while there is none.
    """

    def __init__(self, session: Session, breakpoints: tuple[str, ...] = ("differs",)) -> None:
        self.session = session
        self.breakpoints = [*breakpoints]
        self.message, self.is_refusal = "? lists keys and commands.", False
        self.target: tuple[tuple[str, ...], bool] | None = None
        for condition in breakpoints:
            session.run_until(condition, steps=0)

    def do(self, line: str) -> None:
        """Carry out a command, such as ``set hp = 1``."""
        word, _, rest = line.strip().partition(" ")
        self.target = None
        try:
            if word not in COMMANDS:
                raise UsageError(f"there is no command {unknown(word, COMMANDS)}: ? lists them.")
            self.message, self.is_refusal = COMMANDS[word][1](self, rest.strip()), False
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
        if held is not None:
            self.target, self.message = None, f"Stopped at step {session.position}: {held}."
        elif abs(session.position - before) < CHUNK:
            where = "the game begins" if backwards else "the game is over" if session.is_over else "the actions end"
            self.target, self.message = None, f"Stopped at step {session.position}: {where}."

    def stop(self) -> None:
        """End a run that goes on."""
        if self.target is not None:
            self.target, self.message = None, f"Stopped at step {self.session.position}."

    def _step(self, rest: str) -> str:
        self.session.step(rest or None)
        action = action_name(self.session.world, self.session.moment.action)
        over = "; the game is over" if self.session.is_over else ""
        return f"Step {self.session.position}: {action}{over}."

    def _back(self, rest: str) -> str:
        self.session.back(_number(rest) if rest else 1)
        return f"Back at step {self.session.position}."

    def _go(self, rest: str) -> str:
        self.session.go(_number(rest))
        return f"At step {self.session.position}."

    def _run(self, rest: str) -> str:
        return self._begin(rest, backwards=False)

    def _run_back(self, rest: str) -> str:
        return self._begin(rest, backwards=True)

    def _begin(self, condition: str, *, backwards: bool) -> str:
        conditions = (condition,) if condition else tuple(self.breakpoints)
        self.session.run_until(*conditions, backwards=backwards, steps=0)
        self.target = conditions, backwards
        return "Running; Esc stops."

    def _break(self, rest: str) -> str:
        self.session.run_until(rest, steps=0)
        self.breakpoints.append(rest)
        return f"Breakpoints: {', '.join(self.breakpoints)}."

    def _delete(self, rest: str) -> str:
        if rest not in self.breakpoints:
            raise UsageError(f"no breakpoint is {unknown(rest, self.breakpoints)}: they are {self._listed()}.")
        self.breakpoints.remove(rest)
        return f"Breakpoints: {self._listed()}."

    def _listed(self) -> str:
        return ", ".join(self.breakpoints) or "none"

    def _set(self, rest: str) -> str:
        field, equals, text = (part.strip() for part in rest.partition("="))
        if not (field and equals and text):
            raise UsageError("set takes FIELD = VALUE, such as hp = 1: give both.")
        self.session.set(field, value_of(text))
        return f"Fork {self.session.current.number}: {self.session.current.cause}."

    def _fork(self, _: str) -> str:
        return f"Fork {self.session.fork().number} begins at step {self.session.position}."

    def _switch(self, rest: str) -> str:
        self.session.switch(_number(rest))
        return f"Fork {self.session.current.number}, step {self.session.position}."

    def _compare(self, rest: str) -> str:
        one, _, other = rest.partition(" ")
        found = self.session.compare(_number(one), _number(other))
        parts = (f"{each.field} {value_text(each.expected)} {value_text(each.observed)}" for each in found.differences)
        where = "no difference" if found.step is None else f"step {found.step} differs: {', '.join(parts)}"
        return f"Common to step {found.common}, rewards since {found.rewards[0]:g} and {found.rewards[1]:g}; {where}."

    def _save(self, rest: str) -> str:
        trace = self.session.save(_file(rest))
        return f"Saved {counted(len(trace.case.actions), 'action')} in {rest}."

    def _shrink(self, rest: str) -> str:
        trace = self.session.save(_file(rest), shrink_seconds=10)
        return f"Saved a case of {counted(len(trace.case.actions), 'action')} in {rest}."

    def _test(self, rest: str) -> str:
        self.session.write_test(_file(rest))
        return f"Saved as a test in {rest}."


COMMANDS: dict[str, tuple[str, Callable[[Debugger, str], str], str]] = {
    "step": ("right n", Debugger._step, "[ACTION]: the next action, or this one"),
    "back": ("left p", Debugger._back, "[STEPS]: a step back, or several"),
    "continue": ("c", Debugger._run, "[CONDITION]: on to it, or to a breakpoint"),
    "return": ("r", Debugger._run_back, "[CONDITION]: back to it, or to a breakpoint"),
    "break": ("b", Debugger._break, "CONDITION: a breakpoint: MARK, RULE, hp < 2, action NAME, differs FIELD"),
    "delete": ("d", Debugger._delete, "CONDITION: delete a breakpoint"),
    "go": ("g", Debugger._go, "STEP: go to a step of this fork"),
    "set": ("e", Debugger._set, "FIELD = VALUE: edit the state, in a new fork"),
    "fork": ("f", Debugger._fork, ": a fork without the actions that follow"),
    "switch": ("w", Debugger._switch, "FORK: go to another fork"),
    "compare": ("m", Debugger._compare, "FORK FORK: two forks where they first differ"),
    "save": ("s", Debugger._save, "FILE: this fork up to here as a trace"),
    "shrink": ("k", Debugger._shrink, "FILE: a minimal case of its first difference"),
    "test": ("t", Debugger._test, "FILE: as a test of pytest"),
}
"""Commands: their keys, what they do, and what they take and are for."""
AT_ONCE = "step", "back", "continue", "return", "fork"
"""Commands whose keys carry them out; those of the others open the line with the command."""


def value_of(text: str) -> object:
    """A value as JSON has it, or a bare word."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"'{text}' is no whole number: give one.")
    return int(text)


def _file(text: str) -> str:
    if not text:
        raise UsageError("no file is named: give its path.")
    return text
