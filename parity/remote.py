"""Engines in processes of their own: another interpreter, revision or environment of a world on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import weakref
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from parity.channel import VERSION, Channel
from parity.engine import Array, BatchEngine, BatchStep, EngineOptions, Slots, State
from parity.engine_guard import DEFAULT_TIMEOUT
from parity.errors import EngineError, StateRefused, UsageError
from parity.world import World

CALLS = frozenset(vars(BatchEngine)) - {"close", "begin_step"}
"""The methods that a server calls; the client's own are ``close`` and ``begin_step``."""
CLOSING_SECONDS = 5.0
_ERRORS = {kind.__name__: kind for kind in (StateRefused, EngineError, UsageError)}
_LOG_LINES, _LOG_BYTES = 5, 2000
_DESCRIBED = (
    *("name", "actions", "components", "component_unit", "observation_shape", "state_fields"),
    *("facts", "events", "marks"),
)


def describe_world(world: World) -> dict[str, Any]:
    """What two revisions of a world may differ in, as JSON values.

    Its name, actions, components, component_unit, observation_shape, state_fields, facts, events, marks and prices.
    """
    parts = {name: getattr(world, name) for name in _DESCRIBED}
    return json.loads(json.dumps(parts | {"marks": {**world.marks}, "prices": [*map(asdict, world.prices)]}))


@dataclass(frozen=True)
class RemoteFactory:
    """Opens an engine of a world in a process of its own: the ``EngineFactory`` of a name with a place.

    spec: what ``--world`` is given there. python: the interpreter. environment: all variables. folder: the working
    directory; None: this one. home: where the served world's module must lie; None: anywhere.
    """

    world: World
    spec: str
    engine: str
    python: str = sys.executable
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    folder: Path | None = None
    home: Path | None = None

    def __call__(self, games: int, options: EngineOptions = EngineOptions(), /) -> BatchEngine:
        """Start a server and open the engine in it; raises EngineError or UsageError where that fails."""
        return RemoteEngine(self, games, options)

    def describe(self) -> dict[str, Any]:
        """The world as the server has it (``describe_world``); raises EngineError or UsageError."""
        server = _Server(self)
        server.close()
        return server.description


class RemoteEngine(BatchEngine):
    """``games`` games of an engine that a server plays, which is started here and ended by ``close``.

    What was ever read after a call of some name, such as masks after steps, comes with its answer from then on.
    """

    def __init__(self, factory: RemoteFactory, games: int, options: EngineOptions) -> None:
        self.games = games
        self._is_packed = options.packed
        self._server = _Server(factory)
        self._last = ""
        self._read_after: defaultdict[str, list[str]] = defaultdict(list)
        self._readings: dict[str, Any] = {}
        self._begun: tuple[bytes, bool] | None = None
        given = {name: value for name, value in vars(options).items() if value != getattr(EngineOptions, name)}
        if options.prices is not None:
            prices = zip(factory.world.prices, options.prices, strict=True)
            given["prices"] = {price.name: value for price, value in prices}
        self._server.send({"games": games, "options": given})
        self._server.receive()
        self._server.timeout = options.deadline or DEFAULT_TIMEOUT

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> Array:
        return self._change("reset", seeds, slots)

    def restart(self, slots: Slots) -> Array:
        return self._change("restart", slots)

    def set_state(self, states: Sequence[State], slots: Slots) -> Array:
        return self._change("set_state", list(states), slots)

    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:
        self._send("step_restarting" if restarting else "step", actions)
        self._begun = actions.tobytes(), restarting

    def rest(self, slots: Slots) -> None:
        self._ask("rest", slots)

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._step(actions, restarting=False)

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._step(actions, restarting=True)

    def seeds(self) -> NDArray[np.uint64]:
        return self._read("seeds")

    def mask(self) -> NDArray[np.bool_]:
        return self._read("mask")

    def facts(self) -> Array | None:
        return self._read("facts")

    def state_arrays(self) -> Mapping[str, Array] | None:
        return self._read("state_arrays")

    def marks(self) -> NDArray[np.integer[Any]] | None:
        return self._read("marks")

    def get_state(self, slots: Slots) -> list[State]:
        return self._ask("get_state", slots)

    def unpacked(self, observation: Array) -> Array:
        return self._ask("unpacked", observation) if self._is_packed else np.array(observation)

    def close(self) -> None:
        """End the server; closing twice is fine."""
        self._server.close()

    def _step(self, actions: NDArray[np.int32], *, restarting: bool) -> BatchStep:
        if self._begun is None:
            self.begin_step(actions, restarting=restarting)
        begun, self._begun = self._begun, None
        step = self._receive()
        if begun != (actions.tobytes(), restarting):
            raise EngineError("another step was begun: begin_step takes what the next step takes.")
        return step

    def _change(self, call: str, *given: object) -> Any:  # noqa: ANN401 - the method's result
        self._send(call, *given)
        return self._receive()

    def _read(self, name: str) -> Any:  # noqa: ANN401 - the method's result
        if name not in self._readings:
            self._readings[name] = self._ask(name)
            self._read_after[self._last].append(name)
        return self._readings[name]

    def _ask(self, call: str, *given: object) -> Any:  # noqa: ANN401 - the method's result
        self._demand_no_step()
        self._server.send({"call": call, "given": given, "readings": ()})
        return self._server.receive()["result"]

    def _send(self, call: str, *given: object) -> None:
        self._demand_no_step()
        self._last = call
        self._server.send({"call": call, "given": given, "readings": self._read_after[call]})

    def _receive(self) -> Any:  # noqa: ANN401 - the method's result
        answer = self._server.receive()
        self._readings = answer["readings"]
        return answer["result"]

    def _demand_no_step(self) -> None:
        if self._begun is not None:
            raise EngineError("a step was begun: take it before anything else is asked.")


class _Server:
    """A running ``parity serve``; ``close``, or the end of this object, ends it. ``timeout``: seconds for an answer.

    One that died, is late or was left in the middle of an answer is ended, and every later call says so.
    """

    def __init__(self, factory: RemoteFactory) -> None:
        self.timeout = DEFAULT_TIMEOUT
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        command = [factory.python, "-P", "-m", "parity", "serve", "--world", factory.spec, "--engine", factory.engine]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=factory.environment,
                cwd=factory.folder,
                process_group=0,  # Ctrl+C in a terminal is the client's to handle
            )
        except OSError as error:
            self._log.close()
            raise UsageError(f"{factory.python} cannot be run ({error.strerror}): name an interpreter.") from error
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        self._end = weakref.finalize(self, _end_process, self._process, self._log)
        self._channel = Channel(self._process.stdout, self._process.stdin)
        self._readable = select.poll()
        self._readable.register(self._process.stdout, select.POLLIN)
        hello = self.receive()
        if hello.get("version") != VERSION:
            self._fail(f"speaks version {hello.get('version')} of the protocol, and this harness version {VERSION}")
        self.description: dict[str, Any] = hello["world"]
        if self.description["name"] != factory.world.name:
            self._fail(f"has the world '{self.description['name']}' instead of '{factory.world.name}'")
        if factory.home is not None and not Path(hello["home"]).is_relative_to(factory.home):
            self._fail(f"has the world from {hello['home']}, which is not in {factory.home}")

    def send(self, request: dict[str, Any]) -> None:
        """Send a request, for whose answer ``receive`` waits. Raises EngineError where the server is gone."""
        if not self._end.alive:
            raise EngineError("its server has ended: open a new one.")
        try:
            self._channel.send(request)
        except BaseException as error:
            self._give_up(error)

    def receive(self) -> dict[str, Any]:
        """The answer. Raises the engine's own error, or EngineError where the server is gone or hangs."""
        try:
            if not self._readable.poll(1000 * self.timeout):
                self._fail(f"gave no answer within {self.timeout:g} seconds")
            answer = self._channel.receive()
        except BaseException as error:
            self._give_up(error)
        if "error" in answer:
            kind, sentence = answer["error"]
            raise _ERRORS.get(kind, EngineError)(sentence)
        return answer

    def close(self) -> None:
        """End the server and wait for it."""
        self._end()

    def _give_up(self, error: BaseException) -> NoReturn:
        """End the server in whose message this happened: later ones would be misread."""
        if isinstance(error, (EOFError, OSError)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(CLOSING_SECONDS)
            self._fail(f"ended with status {self._process.returncode}")
        if isinstance(error, (ValueError, TypeError, LookupError)):
            self._fail(f"wrote what is no message ({error})")
        if self._end.alive:
            error.add_note(self._last_words())
        raise error

    def _fail(self, what: str) -> NoReturn:
        kind = UsageError if self._process.poll() == UsageError.exit_code else EngineError
        said = self._last_words().rstrip(".")
        if "invalid choice: 'serve'" in said:
            raise kind("its code is older than `parity serve`: name a later revision, or an environment with one.")
        raise kind(f"its server {what}; {said}.")

    def _last_words(self) -> str:
        """End the process now; what it said last."""
        self._process.kill()
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - _LOG_BYTES))
        lines = self._log.read().decode(errors="replace").strip().splitlines()[-_LOG_LINES:]
        self._end()
        return f"it said: {' / '.join(lines)}" if lines else "it said nothing"


def _end_process(process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with contextlib.suppress(OSError):
            pipe.close()
    try:
        process.wait(CLOSING_SECONDS)  # it ends by itself when its input closes
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    log.close()
