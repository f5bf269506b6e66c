"""Guard around an engine: failures, timeouts and malformed answers become EngineErrors of one sentence."""

import contextlib
import json
import math
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from rlparity.core.compare import STATE
from rlparity.engine import Array, BatchEngine, BatchStep, EngineOptions, Phase, Slots, State
from rlparity.errors import FOREIGN_FAULTS, EngineError, StateRefused, UsageError, is_out_of_memory
from rlparity.world import World

P = ParamSpec("P")
R = TypeVar("R")

DEFAULT_TIMEOUT = 600.0
CLOSING_TIMEOUT = 5.0
LESS_MEMORY = "give fewer --games"


class _CallTimeout(BaseException):
    """Timeout of a call; not an Exception, so that no engine catches it as an error of its own and continues."""


def _overdue(_signal: int, _frame: FrameType | None) -> None:
    raise _CallTimeout


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise _CallTimeout inside the block after ``seconds``.

    The alarm interrupts Python code and waits on pipes and locks; it cannot interrupt a native call that
    never returns. Only the main thread of a POSIX system can have one; elsewhere there is no deadline.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _overdue)
    outer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *outer)  # of a caller, such as a limit for a whole test


class GuardedEngine(BatchEngine):
    """Wrapper of a world's engine that turns its failures, timeouts and malformed answers into EngineErrors."""

    def __init__(
        self, world: World, name: str, games: int, *, marks: bool = False, timeout: float = DEFAULT_TIMEOUT
    ) -> None:
        self.games = games
        self.name = name
        self.world = world
        self._timeout = timeout
        options = EngineOptions(marks=marks, prices=world.price_values)
        opened: object = self._ask("start", world.engines[name], games, options)
        if not isinstance(opened, BatchEngine):
            kind = type(opened).__name__
            raise EngineError(
                f"engine '{name}' is a {kind} and no rlparity.BatchEngine: derive its class from that one."
            )
        self.engine = opened
        self._by_player = (games,) if world.players == 1 else (games, world.players)

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> Array:
        return self._observed(self._ask("reset", self.engine.reset, seeds, slots), len(slots))

    def restart(self, slots: Slots) -> Array:
        return self._observed(self._ask("restart", self.engine.restart, slots), len(slots))

    def seeds(self) -> NDArray[np.uint64]:
        return self._array("seeds", self._ask("seeds", self.engine.seeds), (self.games,), "uint64")

    def mask(self) -> NDArray[np.bool_]:
        shape = self.games, len(self.world.actions)
        return self._array("masks", self._ask("mask", self.engine.mask), shape, "bool")

    def facts(self) -> Array | None:
        return self._facts(self._ask("facts", self.engine.facts))

    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:
        self._ask("step", self.engine.begin_step, actions, restarting=restarting)

    def rest(self, slots: Slots) -> None:
        self._ask("step", self.engine.rest, slots)

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._checked(self._ask("step", self.engine.step, actions))

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._checked(self._ask("step_restarting", self.engine.step_restarting, actions))

    def get_state(self, slots: Slots) -> list[State]:
        states = self._ask("get_state", self.engine.get_state, slots)
        if not isinstance(states, list) or len(states) != len(slots):
            raise EngineError(f"engine '{self.name}' gives no list of {len(slots)} states: its get_state must.")
        for state in states:
            if fault := no_json(state):
                raise EngineError(f"engine '{self.name}' gives {fault}: its get_state must convert it.")
            missing = next((name for name in self.world.state_fields if name not in state), None)
            if missing is not None:
                raise EngineError(f"engine '{self.name}' gives states without '{missing}': its get_state must add it.")
        return states

    def set_state(self, states: Sequence[State], slots: Slots) -> Array:
        for state in states:
            if fault := no_json(state):
                raise StateRefused(f"it holds {fault}.")
        # copies, because the engine may change them, and the harness writes the originals into traces
        given = [json_copy(state) for state in states]
        return self._observed(self._ask("set_state", self.engine.set_state, given, slots), len(slots))

    def infos(self) -> list[dict[str, Any]] | None:
        infos = self._ask("infos", self.engine.infos)
        if infos is not None and len(infos) != self.games:
            fault = f"gives infos of {len(infos)} games: it must give those of {self.games}"
            raise EngineError(f"engine '{self.name}' {fault}.")
        return infos

    def declarations(self) -> Mapping[str, Any]:
        return self._ask("declarations", lambda: json.loads(json.dumps(self.engine.declarations())))

    def state_arrays(self) -> Mapping[str, Array] | None:
        return self._ask("state_arrays", self.engine.state_arrays)

    def marks(self) -> NDArray[np.integer[Any]] | None:
        marks = self._ask("marks", self.engine.marks)
        return None if marks is None else self._array("marks", marks, (len(self.world.marks),))

    def phases(self, state: State, actions: NDArray[Any]) -> tuple[Phase, ...] | None:
        phases = self._ask("phases", self.engine.phases, json_copy(state), actions)
        for phase in phases or ():
            if fault := no_json(phase.state, f"the state after phase '{phase.name}'"):
                raise EngineError(f"engine '{self.name}' gives {fault}: its phases must convert it.")
        return phases

    def origins(
        self, before: State, actions: NDArray[Any], states: tuple[State, State], fields: Sequence[str]
    ) -> Sequence[tuple[Path, int]]:
        own, other = map(json_copy, states)
        return self._ask("origins", self.engine.origins, json_copy(before), actions, (own, other), fields)

    def close(self) -> None:
        """Close the engine; failures to close are ignored."""
        with contextlib.suppress(Exception, _CallTimeout), deadline(CLOSING_TIMEOUT):
            self.engine.close()

    def _ask(self, what: str, call: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:
        try:
            with deadline(self._timeout):
                return call(*arguments, **options)
        except StateRefused:
            raise
        except _CallTimeout as late:
            said = "".join(f" ({note})" for note in getattr(late, "__notes__", ()))
            raise EngineError(
                f"engine '{self.name}' gave no answer to {what} within {self._timeout:g} seconds{said}: "
                "look for an endless loop, or allow more with --timeout."
            ) from None
        except (EngineError, UsageError) as error:
            kind = UsageError if isinstance(error, UsageError) else EngineError
            raise kind(f"engine '{self.name}' failed in {what}: {str(error).removesuffix('.')}.") from error
        except FOREIGN_FAULTS as error:
            fault = f"failed in {what}: {type(error).__name__}: {error} (--traceback shows where)"
            if is_out_of_memory(error):
                fault = f"needs more memory in {what} than there is: {LESS_MEMORY}"
            raise EngineError(f"engine '{self.name}' {fault}.") from error

    def _checked(self, step: BatchStep) -> BatchStep:
        self._observed(step.observation, self.games)
        self._array("components", step.components, (self.games, len(self.world.components)))
        self._array("rewards", step.reward, self._by_player)
        for name, flags in (("terminated", step.terminated), ("truncated", step.truncated)):
            if flags is not None:
                shape = self._by_player if np.ndim(flags) > 1 else (self.games,)
                self._array(f"{name} flags", flags, shape, "bool")
        self._facts(step.facts)
        if step.events is not None:
            self._array("events", step.events, (self.games,))
        return step

    def _facts(self, facts: Array | None) -> Array | None:
        return None if facts is None else self._array("facts", facts, (self.games, len(self.world.facts)))

    def _observed(self, observation: Array, rows: int) -> Array:
        self._array("observations", observation, (rows, *self.world.observation_shape))
        if fields := self.world.observation_fields:
            given = {name: field[0].shape for name, field in (observation.dtype.fields or {}).items()}
            if given != dict(fields):
                raise EngineError(
                    f"engine '{self.name}' gives observations with {_shapes(given)}: world '{self.world.name}' wants "
                    f"{_shapes(fields)}."
                )
        return observation

    def _array(self, what: str, array: object, shape: tuple[int, ...], dtype: str | None = None) -> Array:
        """Check that an answer is an array of this shape and dtype, and return it; raises EngineError for any other."""
        if isinstance(array, np.ndarray) and array.shape == shape and (dtype is None or array.dtype == dtype):
            return array
        given = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise EngineError(
            f"engine '{self.name}' gives {what} as {given}: "
            f"world '{self.world.name}' wants a numpy array, {dtype + ' ' if dtype else ''}{shape}."
        )


_PLAIN = frozenset({str, int, bool, type(None)})
"""Types whose every value is a JSON value, unlike those of float."""


def no_json(value: object, place: str = STATE) -> str | None:
    """Describe the first part of a state that is no JSON value; None where every part is one.

    Only JSON's own types pass: a tuple or a NumPy number would not round-trip through a trace file.
    """
    if type(value) is dict:
        # fast path: most objects hold a few numbers, and a state has dozens of them
        if {str}.issuperset(map(type, value)) and _PLAIN.issuperset(map(type, value.values())):
            return None
        named = (name for name in value if type(name) is not str)
        wrong = next((f"a key of type {_kind(name)} in {place}" for name in named), None)
        return wrong or _first(no_json(part, f"{place}.{name}") for name, part in value.items())
    if type(value) is list:
        # fast path for lists of thousands of numbers
        if _PLAIN.issuperset(map(type, value)):
            return None
        return _first(no_json(part, f"{place}[{index}]") for index, part in enumerate(value))
    if type(value) is float and not math.isfinite(value):
        return f"{place} as {value}, which JSON has no number for"
    if value is None or type(value) in (str, int, float, bool):
        return None
    return f"{place} as {_kind(value)}, where states are JSON values only (dict, list, str, int, float, bool, None)"


def json_copy(value: Any) -> Any:  # noqa: ANN401 - a JSON value
    """A copy that shares no list and no dict with a JSON value; several times faster than ``copy.deepcopy``."""
    if type(value) is dict:
        return {name: json_copy(part) if type(part) in (dict, list) else part for name, part in value.items()}
    return [json_copy(part) if type(part) in (dict, list) else part for part in value] if type(value) is list else value


def _shapes(fields: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {shape}" for name, shape in fields.items()) or "no fields"


def _first(faults: Iterable[str | None]) -> str | None:
    return next((fault for fault in faults if fault), None)


def _kind(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
