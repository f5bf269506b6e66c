"""Judges of mutants: a lockstep run against another engine, or the tests of a project."""

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from rlparity.core.lockstep import Outcome, Settings, run
from rlparity.core.verdict import Verdict, sentences
from rlparity.engine import BatchEngine, EngineOptions
from rlparity.engines.python_process import python_command, python_environment
from rlparity.engines.remote import RemoteEngine, RemoteFactory
from rlparity.errors import EngineError, ParityError, UsageError, quoted
from rlparity.io.safe_read import read_toml
from rlparity.mutant import Mutant, MutationBench
from rlparity.tools.mutant_table import read_mutants
from rlparity.tools.mutants import CAUGHT, FAILED, SURVIVED, UNBUILDABLE, UNSOUND, Judge, MutantVerdict
from rlparity.world import EngineFactory, World

RUN_TIMEOUT = 1800.0
"""Seconds that judging one mutant may take; runs of engines check the limit after each step."""
TESTS = "tests"
"""Section of a table whose mutants are judged by tests, and name of their bench in reports."""


class _Reference(RemoteEngine):
    """Reference engine that stays open for the next mutant, once it has started and unless it failed."""

    has_started = False

    def close(self) -> None:
        if not (self.has_started and self.is_ready):
            super().close()


@dataclass(frozen=True)
class LockstepJudge(Judge):
    """Judge that compares a mutant with the bench's reference in two runs, each engine in its own process.

    The second run is for mutants that survive the first: it counts marks, and the engines auto-reset games in the step.
    spec: the world, as for ``--world``. settings: a difference that their ledger explains does not catch a mutant.
    """

    world: World
    spec: str
    settings: Settings
    run_timeout: float = RUN_TIMEOUT
    _references: dict[tuple[Path, int, EngineOptions], _Reference] = field(default_factory=dict)

    def check_unchanged(self, bench: MutationBench, copy: Path) -> None:
        """Raise EngineError where the unchanged copy diverges, or cannot be run."""
        try:
            outcome = self._run(bench, copy)
            is_sound = outcome.verdict in (Verdict.PASS, Verdict.LIMITED)
            reason = "" if is_sound else f"ends as {sentences(outcome.reasons)[0].rstrip('.')}"
        except subprocess.TimeoutExpired:
            raise EngineError(
                f"the unchanged copy of engine '{bench.engine}' needs more than {self.run_timeout:g} seconds: "
                "ask for fewer steps."
            ) from None
        except ParityError as error:
            reason = f"cannot be run ({error})"
        if reason:
            raise EngineError(f"the unchanged copy of engine '{bench.engine}' already {reason}: correct that first.")

    def verdict(self, bench: MutationBench, mutant: Mutant, copy: Path) -> MutantVerdict:
        """Judge a mutant: caught where the engines diverge, unbuildable where its engine does not start."""
        try:
            outcome = self._run(bench, copy)
        except ParityError as error:
            # The unchanged copy opened with the same arguments, so a failed start is the edit's fault.
            starts = f"engine '{bench.engine}' failed in start" not in str(error) and not isinstance(error, UsageError)
            return MutantVerdict.of(bench, mutant, FAILED if starts else UNBUILDABLE, detail=str(error))
        if not outcome.divergences:
            return MutantVerdict.of(bench, mutant, SURVIVED, outcome.steps)
        fields = ", ".join(difference.field for difference in outcome.divergences[0].differences[:3])
        return MutantVerdict.of(bench, mutant, CAUGHT, outcome.steps, fields)

    def _run(self, bench: MutationBench, copy: Path) -> Outcome:
        first = self._play(bench, copy, self.settings)
        if first.verdict not in (Verdict.PASS, Verdict.LIMITED):
            return first
        second = self._play(bench, copy, replace(self.settings, marks=bool(self.world.marks), auto_reset=True))
        return replace(second, steps=first.steps + second.steps)

    def _play(self, bench: MutationBench, copy: Path, settings: Settings) -> Outcome:
        limit = time.monotonic() + self.run_timeout

        def check_time() -> None:
            if time.monotonic() > limit:
                raise subprocess.TimeoutExpired(bench.engine, self.run_timeout)

        timeout, engines = min(self.settings.timeout, self.run_timeout), (bench.reference, bench.engine)
        environment = _environment(bench, copy)
        reference, mutated = (
            RemoteFactory(self.world, self.spec, name, environment, timeout=timeout) for name in engines
        )
        opened: dict[str, EngineFactory] = {
            bench.engine: mutated,
            bench.reference: partial(self._open_reference, reference, copy),
        }
        try:
            return run(replace(self.world, engines=opened), engines, replace(settings, timeout=timeout), check_time)
        except EngineError:
            check_time()
            raise

    def _open_reference(self, factory: RemoteFactory, copy: Path, games: int, options: EngineOptions) -> BatchEngine:
        if options.marks:  # mark counts cannot be reset
            return factory(games, options)
        opened = self._references.get((copy, games, options))
        if opened is None or not opened.is_ready:
            opened = self._references[copy, games, options] = _Reference(factory, games, options)
            opened.has_started = True
        return opened


@dataclass(frozen=True)
class PytestJudge(Judge):
    """Judge that runs a mutant's tests in pytest: it is caught where a test fails that passes without it."""

    run_timeout: float = RUN_TIMEOUT
    _passes: dict[str, bool] = field(default_factory=dict)

    def verdict(self, bench: MutationBench, mutant: Mutant, copy: Path) -> MutantVerdict:
        """Judge a mutant: caught where a test fails, unbuildable where the code cannot be imported."""
        code, failed = self._pytest(bench, copy, mutant.tests)
        if code == 0:
            return MutantVerdict.of(bench, mutant, SURVIVED)
        loads = code == 1 and "ImportError" not in failed and "SyntaxError" not in failed
        return MutantVerdict.of(bench, mutant, CAUGHT if loads else UNBUILDABLE, detail=failed)

    def confirmed(self, bench: MutationBench, verdict: MutantVerdict, copy: Path) -> MutantVerdict:
        """Confirm a catch: unsound where the test fails in the unchanged copy too. Results are cached by test."""
        if verdict.result != CAUGHT:
            return verdict
        test = verdict.detail.partition(" - ")[0]
        if test not in self._passes:
            self._passes[test] = self._pytest(bench, copy, [test])[0] == 0
        return verdict if self._passes[test] else replace(verdict, result=UNSOUND)

    def _pytest(self, bench: MutationBench, copy: Path, tests: Sequence[str]) -> tuple[int, str]:
        """Run the tests; return the exit code and the last FAILED or ERROR line without that word."""
        pytest = python_command("-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider")
        done = subprocess.run(
            [*pytest, *tests],
            env=_environment(bench, copy),
            cwd=copy,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=self.run_timeout,
            check=False,
        )
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        return done.returncode, (failed or [" "])[-1].partition(" ")[2]


def project_bench(table: Path) -> MutationBench:
    """Make the working directory a bench for the mutants in section ``tests`` of a table; raises UsageError.

    The table's ``pythonpath`` lists the package folders of a copy, its ``ignore`` the patterns that are not copied.
    """
    mutants = read_mutants(table, TESTS)
    if untested := [mutant.name for mutant in mutants if not mutant.tests]:
        raise UsageError(f"mutant '{untested[0]}' of {table} names no tests: name those that should notice it.")
    content = {"pythonpath": ["."], "ignore": [".*", "__pycache__"], **read_toml(table)}
    for key in ("pythonpath", "ignore"):
        if not isinstance(content[key], list) or not all(isinstance(text, str) for text in content[key]):
            raise UsageError(f"{key} of {table} must be a list of texts, got {quoted(content[key])}.")
    return MutationBench(
        engine=TESTS,
        reference="",
        source=Path.cwd(),
        mutants=mutants,
        environment=lambda copy: {
            "PYTHONPATH": os.pathsep.join(str(copy / folder) for folder in content["pythonpath"])
        },
        ignore=tuple(content["ignore"]),
    )


def _environment(bench: MutationBench, copy: Path) -> dict[str, str]:
    """Environment variables of a process on a copy; no bytecode cache, as it misses edits within one second."""
    return python_environment(bench.environment(copy)) | {"PYTHONDONTWRITEBYTECODE": "1"}
