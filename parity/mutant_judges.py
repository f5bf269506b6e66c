"""Judges of mutants: a run against another engine, or the tests of a project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from parity.errors import EngineError, UsageError
from parity.lockstep import Settings
from parity.mutant_table import read_mutants
from parity.mutants import CAUGHT, FAILED, SURVIVED, UNBUILDABLE, UNSOUND, Judge, Verdict
from parity.places import python_environment
from parity.prices import price_flags
from parity.world import Mutant, MutationBench

TESTS = "tests"
"""The section of a table whose mutants are judged by tests, and what reports call their bench."""


@dataclass(frozen=True)
class LockstepJudge(Judge):
    """``parity run`` against the bench's reference: the world's spec, the run's settings, seconds for one whole run."""

    spec: str
    settings: Settings
    run_timeout: float
    prices: Mapping[str, float] = field(default_factory=dict)

    def check_unchanged(self, bench: MutationBench, copy: Path) -> None:
        """Raises EngineError where the unchanged copy diverges, or cannot be run."""
        try:
            code, _, complaint = self._run(bench, copy)
        except subprocess.TimeoutExpired:
            raise EngineError(
                f"the unchanged copy of engine '{bench.engine}' needs more than {self.run_timeout:g} seconds: "
                "allow more with --run-timeout, or ask for fewer steps."
            ) from None
        if code != 0:
            reason = "diverges" if code == 1 else f"cannot be run ({complaint})"
            raise EngineError(f"the unchanged copy of engine '{bench.engine}' already {reason}: correct that first.")

    def verdict(self, bench: MutationBench, mutant: Mutant, copy: Path) -> Verdict:
        """Caught where the engines diverge; one whose engine does not start proves nothing."""
        code, answer, complaint = self._run(bench, copy)
        found = Verdict(bench.engine, mutant, SURVIVED, int(answer.get("steps_compared", 0)))
        if code == 0:
            return found
        if code == 1 and answer.get("divergences"):
            return replace(found, result=CAUGHT, detail=", ".join(answer["divergences"][0]["fields"][:3]))
        # The unchanged copy got through its factory under the same arguments, so it is the edit that does not load.
        if code == UsageError.exit_code or f"engine '{bench.engine}' failed in start" in complaint:
            return Verdict(bench.engine, mutant, UNBUILDABLE, detail=complaint)
        if code == EngineError.exit_code:
            return replace(found, result=FAILED, detail=complaint)
        raise EngineError(f"running mutant '{mutant.name}' ended with code {code}: {complaint}")

    def _run(self, bench: MutationBench, copy: Path) -> tuple[int, dict[str, Any], str]:
        """Exit code, JSON answer and last words of ``parity run`` on the copy."""
        names = "source", "steps", "games", "seed", "invalid", "timeout"
        options = [word for name in names for word in (f"--{name}", str(getattr(self.settings, name)))]
        options += price_flags(self.prices)
        engines = f"{bench.reference},{bench.engine}"
        command = ["parity", "run", "--json", "--no-report", "--world", self.spec, "--engines", engines, *options]
        done = _python(command, bench, copy, self.run_timeout)
        complaint = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return done.returncode, json.loads(done.stdout or "{}"), complaint


@dataclass(frozen=True)
class PytestJudge(Judge):
    """The tests that a mutant names, in pytest: it is caught where one fails that passes without it."""

    run_timeout: float
    _passes: dict[str, bool] = field(default_factory=dict)

    def verdict(self, bench: MutationBench, mutant: Mutant, copy: Path) -> Verdict:
        """Caught where a test fails; one with which the code does not load proves nothing about the tests."""
        code, failed = self._pytest(bench, copy, mutant.tests)
        if code == 0:
            return Verdict(bench.engine, mutant, SURVIVED)
        loads = code == 1 and "ImportError" not in failed and "SyntaxError" not in failed
        return Verdict(bench.engine, mutant, CAUGHT if loads else UNBUILDABLE, detail=failed)

    def confirmed(self, bench: MutationBench, verdict: Verdict, copy: Path) -> Verdict:
        """The verdict, unless the test that failed does so in the unchanged copy too; each is asked once."""
        if verdict.result != CAUGHT:
            return verdict
        test = verdict.detail.partition(" - ")[0]
        if test not in self._passes:
            self._passes[test] = self._pytest(bench, copy, [test])[0] == 0
        return verdict if self._passes[test] else replace(verdict, result=UNSOUND)

    def _pytest(self, bench: MutationBench, copy: Path, tests: Sequence[str]) -> tuple[int, str]:
        """Exit code, and the last line that names a failing test, without its first word."""
        command = ["pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests]
        done = _python(command, bench, copy, self.run_timeout)
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        return done.returncode, (failed or [" "])[-1].partition(" ")[2]


def project_bench(table: Path) -> MutationBench:
    """The working directory as a bench for the mutants of a table's section ``tests``; raises UsageError.

    The table's ``pythonpath`` says where in a copy Python finds packages, its ``ignore`` what is not copied.
    """
    mutants = read_mutants(table, TESTS)
    if untested := [mutant.name for mutant in mutants if not mutant.tests]:
        raise UsageError(f"mutant '{untested[0]}' of {table} names no tests: name those that should notice it.")
    content = tomllib.loads(table.read_text(encoding="utf-8"))
    folders = content.get("pythonpath", ["."])
    return MutationBench(
        engine=TESTS,
        reference="",
        source=Path.cwd(),
        mutants=mutants,
        environment=lambda copy: {"PYTHONPATH": os.pathsep.join(str(copy / folder) for folder in folders)},
        ignore=tuple(content.get("ignore", (".*", "__pycache__"))),
    )


def _python(command: list[str], bench: MutationBench, copy: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    """Run a module of Python on a copy, in the copy where tests are run.

    The copy comes first on Python's path; without cached bytecode, which an edit within a second would miss.
    """
    return subprocess.run(
        [sys.executable, "-P", "-m", *command],
        env=python_environment(bench.environment(copy)) | {"PYTHONDONTWRITEBYTECODE": "1"},
        cwd=copy if bench.engine == TESTS else None,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )
