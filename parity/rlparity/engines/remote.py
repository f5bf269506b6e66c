"""Engines in processes of their own: another interpreter, revision or environment of a world on this machine."""

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rlparity.core.guard import DEFAULT_TIMEOUT
from rlparity.engine import Array, BatchEngine, BatchStep, EngineOptions, Phase, State
from rlparity.engines.channel import VERSION, Channel
from rlparity.engines.python_process import end_process, enlarge_pipe
from rlparity.errors import EngineError, StateRefused, UsageError
from rlparity.world import World

_CLOSING_SECONDS = 3.0
"""Wait for a server's end: longer than the server's own grace period, and shorter than ``GuardedEngine`` waits."""
ERRORS = {kind.__name__: kind for kind in (StateRefused, EngineError, UsageError)}
_ASK = "import json, sys; from importlib.metadata import distributions as of; print(json.dumps("
_ASK += "{name: each.version for name in sys.argv[1:] for each in [*of(name=name)][:1]}))"
_LOG_LINES, _LOG_BYTES = 5, 2000


def describe_world(world: World) -> dict[str, Any]:
    """Describe a world as JSON values in which revisions may differ: its names, shapes, units, marks and prices."""
    names = ("name", "actions", "components", "component_unit", "observation_shape", "state_fields", "facts", "events")
    parts = {name: getattr(world, name) for name in names}
    parts |= {"marks": {**world.marks}, "prices": [*map(asdict, world.prices)]}
    space = world.action_space and asdict(world.action_space)
    few = {"observation_fields": dict(world.observation_fields), "action_space": space, "players": world.players}
    # left out at their defaults, so that descriptions of most worlds stay as older versions wrote them
    return json.loads(json.dumps(parts | {name: part for name, part in few.items() if part not in ({}, None, 1)}))


@dataclass(frozen=True)
class RemoteFactory:
    """Factory of an engine in a process of its own: the ``EngineFactory`` of a name with a place.

    spec: the server's ``--world``. environment: all its variables. python: its interpreter. timeout: seconds for an
    answer, where the options name no deadline. folder: its working directory; None: that of this process. home: folder
    in which the served world's module must lie; None: any.
    """

    world: World
    spec: str
    engine: str
    environment: Mapping[str, str]
    python: str = sys.executable
    timeout: float = DEFAULT_TIMEOUT
    folder: Path | None = None
    home: Path | None = None

    def __call__(self, games: int, options: EngineOptions = EngineOptions(), /) -> BatchEngine:
        """Start a server and open the engine in it; raises EngineError or UsageError where that fails."""
        return RemoteEngine(self, games, options)

    def versions(self, packages: Sequence[str]) -> dict[str, str]:
        """Installed versions of the given packages in that interpreter, by name; raises EngineError."""
        command = self.python, "-P", "-c", _ASK, *packages
        where = {"env": self.environment, "cwd": self.folder}
        try:
            done = subprocess.run(command, capture_output=True, timeout=self.timeout, check=True, **where)  # type: ignore[call-overload]
            return dict(json.loads(done.stdout))
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise EngineError(f"{self.python} cannot list its package versions ({error}): repair it.") from error

    def describe(self) -> dict[str, Any]:
        """The server's world as ``describe_world`` has it, and its ``home``; raises EngineError or UsageError."""
        server = _Server(self)
        server.close()
        return server.description


def methods(does: str, *calls: str) -> Iterator[Callable[..., Any]]:
    """Create methods with these names, which pass their name and arguments to the method ``does``."""
    return (lambda engine, *given, call=call: getattr(engine, does)(call, *given) for call in calls)


class RemoteEngine(BatchEngine):
    """Client of a server that plays ``games`` games of an engine; started here, and ended by ``close``.

    Readings are prefetched: what was once read after a call, such as masks after steps, later comes with its answer.
    """

    def __init__(self, factory: RemoteFactory, games: int, options: EngineOptions) -> None:
        self.games = games
        self._is_packed = options.packed
        self._server = _Server(factory)
        self._last = ""
        self._read_after: defaultdict[str, list[str]] = defaultdict(list)
        self._readings: dict[str, Any] = {}
        self._begun: tuple[str, bytes] | None = None
        given = {name: value for name, value in vars(options).items() if value != getattr(EngineOptions, name)}
        prices = None if options.prices is None else [price.name for price in factory.world.prices]
        try:
            self._server.send({"games": games, "options": given, "prices": prices})
            self._declares = bool(self._server.receive().get("declares"))  # false for a server of an older revision
        except BaseException:  # its traceback would keep the server alive
            self.close()
            raise
        self._server.timeout = options.deadline or factory.timeout

    reset, restart, set_state = methods("change", "reset", "restart", "set_state")
    seeds, mask, facts, state_arrays, marks = methods("read", "seeds", "mask", "facts", "state_arrays", "marks")
    get_state, rest = methods("ask", "get_state", "rest")
    step, step_restarting = methods("finish", "step", "step_restarting")

    def phases(self, state: State, actions: NDArray[Any]) -> tuple[Phase, ...] | None:
        phases = self.ask("phases", state, actions)
        return None if phases is None else tuple(phases)

    def declarations(self) -> Mapping[str, Any]:
        return self.ask("declarations") if self._declares else {}

    def infos(self) -> list[dict[str, Any]] | None:
        return self.read("infos") if self._declares else None

    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:
        self._begin("step_restarting" if restarting else "step", actions)

    def unpacked(self, observation: Array) -> Array:
        return self.ask("unpacked", observation) if self._is_packed else np.array(observation)

    @property
    def is_ready(self) -> bool:
        """Whether the server runs and no step that was begun is unfinished."""
        return self._begun is None and self._server.is_running

    def close(self) -> None:
        """End the server; closing twice is fine."""
        self._server.close()

    def change(self, call: str, *given: object) -> Any:  # noqa: ANN401 - the method's result
        """Make a call that changes games, and return its result."""
        self._send(call, given)
        return self._receive(call)

    def ask(self, call: str, *given: object) -> Any:  # noqa: ANN401 - the method's result
        """Make a call that changes nothing, and return its result."""
        self._send(call, given)
        return self._server.receive()["result"]

    def read(self, name: str) -> Any:  # noqa: ANN401 - the method's result
        """Read a value of the games as they are now; the value is cached until the next change."""
        if name not in self._readings:
            self._readings[name] = self.ask(name)
            self._read_after[self._last].append(name)
        return self._readings[name]

    def _begin(self, call: str, actions: NDArray[np.int32]) -> None:
        self._send(call, (actions,))
        self._begun = call, actions.tobytes()

    def finish(self, call: str, actions: NDArray[np.int32]) -> BatchStep:
        """Finish a step, beginning it first unless ``begin_step`` did, and return its result."""
        if self._begun is None:
            self._begin(call, actions)
        begun, self._begun = self._begun, None
        step: BatchStep = self._receive(call)
        if begun != (call, actions.tobytes()):
            raise EngineError("another step has begun: give step the arguments that begin_step got.")
        return step

    def _send(self, call: str, given: Sequence[object]) -> None:
        if self._begun is not None:
            raise EngineError("a step has begun: call step before any other method.")
        self._server.send({"call": call, "given": given, "readings": self._read_after[call]})

    def _receive(self, call: str) -> Any:  # noqa: ANN401 - the method's result
        answer = self._server.receive()
        self._last, self._readings = call, answer["readings"]
        return answer["result"]


class _Server:
    """Running ``rlparity serve``, which ``close`` or the end of this object ends. ``timeout``: seconds for an answer.

    A server that died, is late or was interrupted during an answer is ended, and every later call raises EngineError.
    """

    def __init__(self, factory: RemoteFactory) -> None:
        self.timeout = factory.timeout
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        command = [factory.python, "-P", "-m", "rlparity", "serve", "--world", factory.spec, "--engine", factory.engine]
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
        for pipe in (self._process.stdin, self._process.stdout):
            enlarge_pipe(pipe)
        self._end = weakref.finalize(self, end_process, self._process, self._log, _CLOSING_SECONDS)
        self._channel = Channel(self._process.stdout, self._process.stdin)
        self._readable = select.poll()
        self._readable.register(self._process.stdout, select.POLLIN)
        hello = self.receive()
        self.description: dict[str, Any] = {**hello.get("world", {}), "home": hello.get("home")}
        if (version := hello.get("version")) != VERSION:
            self._fail(f"speaks version {version} of the protocol instead of {VERSION}: name another revision")
        if (name := self.description["name"]) != factory.world.name:
            self._fail(f"has the world '{name}' instead of '{factory.world.name}'")
        if factory.home is not None and not Path(hello["home"]).is_relative_to(factory.home):
            self._fail(f"finds no world '{name}' in {factory.home}: name a revision that has it")

    @property
    def is_running(self) -> bool:
        """Whether the server was neither ended nor interrupted during an answer."""
        return self._end.alive

    def send(self, request: dict[str, Any]) -> None:
        """Send a request, for whose answer ``receive`` waits. Raises EngineError where the server is gone."""
        if not self._end.alive:
            raise EngineError("its server has ended: open a new one.")
        try:
            self._channel.send(request)
        except TypeError:  # nothing was sent
            raise
        except BaseException as error:
            self._fail(error)

    def receive(self) -> dict[str, Any]:
        """Wait for the answer. Raises the engine's own error, or EngineError where the server is gone or hangs."""
        try:
            answer = self._channel.receive() if self._readable.poll(1000 * self.timeout) else None
        except BaseException as error:
            self._fail(error)
        if answer is None:
            self._fail(f"gave no answer within {self.timeout:g} seconds")
        if "error" in answer:
            kind, sentence = answer["error"]
            raise ERRORS.get(kind, EngineError)(sentence)
        return answer

    def close(self) -> None:
        """End the server and wait for it."""
        self._end()

    def _fail(self, fault: str | BaseException) -> NoReturn:
        """End the server after a fault, because later answers would be misread, and raise the error for the user."""
        if isinstance(fault, (EOFError, BrokenPipeError)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_CLOSING_SECONDS)
            fault = f"ended with status {self._process.returncode}"
        elif isinstance(fault, (ValueError, TypeError, LookupError)):
            fault = f"wrote what is no message ({fault})"
        kind = UsageError if self._process.poll() == UsageError.exit_code else EngineError
        self._process.kill()
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - _LOG_BYTES))
        said = " / ".join(self._log.read().decode(errors="replace").strip().splitlines()[-_LOG_LINES:])
        self._end()
        if "invalid choice: 'serve'" in said:
            raise kind("its code is older than `rlparity serve`: name a later revision, or an environment with one.")
        said = f"it said: {said.rstrip('.')}" if said else "it said nothing"
        if isinstance(fault, str):
            raise kind(f"its server {fault}; {said}.")
        fault.add_note(said)
        raise fault
