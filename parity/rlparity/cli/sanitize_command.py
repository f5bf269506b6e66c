"""The command ``rlparity sanitize``: plays games on a JAX engine and interprets each of its programs."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rich.console import Console

from rlparity.cli.commands import progress_bar
from rlparity.core.lockstep_run import LockstepRun
from rlparity.core.pair import Observed, Pair
from rlparity.core.prices import priced
from rlparity.core.recorded import STEPPING
from rlparity.core.settings import Settings, settings_of
from rlparity.core.sources import TRACES
from rlparity.core.trace import Action
from rlparity.engine import Slots, State
from rlparity.engines.registry import engine_name, load_world, world_spec
from rlparity.errors import UsageError
from rlparity.io.console import counted, print_answer
from rlparity.io.strict_json import json_text
from rlparity.sanitizer import WatchableEngine
from rlparity.sanitizer.interpreter import BITS, Interpreter, Site
from rlparity.tools.report import action_name
from rlparity.world import World


@dataclass
class Finding:
    """A fault that reached results. count: in how many steps or starts of a game; reached: names of the results.

    The first time was in ``game`` at its program ``call``: a step by ``action`` from ``state``, or a start whose result
    ``state`` is.
    """

    site: Site
    call: str
    game: int
    action: Any = None
    state: State | None = None
    count: int = 0
    reached: dict[str, None] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The finding as JSON values."""
        first = {name: getattr(self, name) for name in ("call", "game", "action", "state")}
        about = {"count": self.count, "reached": list(self.reached), "first": first}
        return {"kind": self.site.kind, **self.site.place._asdict(), **about}


class SanitizedRun(LockstepRun):
    """A run of one engine that interprets its programs as it calls them; ``seconds``: for so long."""

    def __init__(self, pair: Pair, settings: Settings) -> None:
        super().__init__(pair, settings)
        self.findings: dict[Site, Finding] = {}
        self.calls, self.seconds = 0, 0.0
        self._engine, self._interpreter = pair.reference.engine, Interpreter()
        self._programs: dict[str, tuple[Any, list[str]]] = {}
        if not isinstance(self._engine, WatchableEngine):
            words = "has no watch_jax, by which it is interpreted: name a JAX engine."
            raise UsageError(f"engine '{pair.names[0]}' {words}")
        self._engine.watch_jax(self._listen)

    def _step(self, actions: NDArray[Any]) -> Slots:
        self._actions = actions
        return super()._step(actions)

    def _take(self, seen: Observed, slots: Slots, *then: Action) -> None:
        super()._take(seen, slots, *then)
        for found in self.findings.values():
            if found.state is None:  # it is of a start, which gave this
                found.state = self._engine.get_state(np.array([found.game]))[0]

    def _listen(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...], slots: ArrayLike) -> None:
        import jax

        began = time.perf_counter()
        if name not in self._programs:
            program, shapes = jax.make_jaxpr(function, return_shape=True)(*arguments)
            paths, _ = jax.tree_util.tree_flatten_with_path(shapes)
            self._programs[name] = program, [_result_name(path) for path, _ in paths]
        program, names = self._programs[name]
        results = self._interpreter.run(program, jax.tree_util.tree_leaves(arguments))
        slots = np.atleast_1d(slots)
        found: dict[Site, set[int]] = {}
        for result, reached in zip(results, names, strict=True):
            if result.taint is None:
                continue
            bits = np.bitwise_or.reduce(result.taint.reshape(len(slots), -1), axis=1)
            for number, site in enumerate(self._interpreter.sites):
                if games := {*slots[(bits >> min(number, BITS - 1) & 1 == 1) & (slots >= 0)].tolist()}:
                    found.setdefault(site, set()).update(games)
                    self._finding(site, name, min(games)).reached[reached] = None
        for site, games in found.items():
            self.findings[site].count += len(games)
        self.calls += 1
        self.seconds += time.perf_counter() - began

    def _finding(self, site: Site, call: str, game: int) -> Finding:
        if site not in self.findings:
            self.findings[site] = found = Finding(site, call, game)
            if call in STEPPING:
                found.action = self._actions[game].tolist()
            if call in STEPPING or call == "restart":
                found.state = self._engine.get_state(np.array([game]))[0]
        return self.findings[site]


def sanitized(
    world: World, name: str, settings: Settings, progress: Callable[[], object] = lambda: None
) -> SanitizedRun:
    """Play a run on one engine and interpret all its programs.

    Raises UsageError where the engine is not of JAX, EngineError where it fails.
    """
    with Pair(world, (name, name), settings.games, timeout=settings.timeout, alone=True) as pair:
        run = SanitizedRun(pair, settings)
        run.play(progress)
    return run


def sanitize(options: Namespace) -> int:
    """Interpret the programs of a JAX engine and report faults that reach its results."""
    if options.source.startswith(TRACES):
        raise UsageError("programs are interpreted in new play: give --source uniform, directed or policy:FILE.")
    world = priced(load_world(world_spec(options.world, [options.engine])), options)
    engine_name(world, options.engine)
    settings = settings_of(options)
    with progress_bar(options.json, "steps of each game", settings.steps) as advance:
        run = sanitized(world, options.engine, settings, advance)
    found = sorted(run.findings.values(), key=lambda finding: -finding.count)
    answer = {
        "clean": not found,
        "world": world.name,
        "engine": options.engine,
        **{name: getattr(options, name) for name in ("source", "seed", "games")},
        "steps": run.outcome.steps,
        "programs_interpreted": run.calls,
        "seconds": round(run.seconds, 3),
        "findings": [finding.as_json() for finding in found],
    }
    print_answer(options, answer, lambda console: _print(world, options.engine, answer, found, console))
    return 1 if found else 0


def _print(world: World, engine: str, answer: Mapping[str, Any], found: Sequence[Finding], console: Console) -> None:
    verdict = counted(len(found), "fault") if found else "no fault"
    done = f"{counted(answer['steps'], 'step')}, {counted(answer['programs_interpreted'], 'program call')} interpreted"
    console.print(f"{engine}: {verdict}; {done} in {answer['seconds']:.1f} s.", soft_wrap=True)
    for finding in found:
        place = finding.site.place
        played = "" if finding.action is None else f" by {action_name(world, finding.action)}"
        console.print(
            f"\n{finding.site.kind}, {counted(finding.count, 'time')}: {place.file}:{place.line} in {place.function}\n"
            f"  {place.code}\n"
            f"  reaches {', '.join(finding.reached)}\n"
            f"  first in game {finding.game}, {finding.call}{played}, state {json_text(finding.state)}",
            soft_wrap=True,
        )


def _result_name(path: Sequence[Any]) -> str:
    """The name of a result among those of its program: without the positions that tuples have in front."""
    import jax

    parts = [jax.tree_util.keystr((part,), simple=True) for part in path]
    named = [number for number, part in enumerate(parts) if not part.isdigit()]
    return ".".join(parts[named[0] :] if named else ["result", *parts])
