"""Does the harness notice? Single-rule faults are planted in a copy of one engine, and each must be caught."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import parity
from parity.errors import EngineError, UsageError
from parity.lockstep import Settings
from parity.world import Mutant, MutationBench, World

CAUGHT, FAILED, HUNG, SURVIVED, UNBUILDABLE = "caught", "engine failed", "hung", "survived", "does not build"


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant. steps: transitions compared until the fault showed, or in all."""

    engine: str
    mutant: Mutant
    result: str
    steps: int
    detail: str = ""

    @property
    def noticed(self) -> bool:
        """The harness would not have let this fault pass."""
        return self.result in (CAUGHT, FAILED, HUNG)


@dataclass(frozen=True)
class Plan:
    """How each mutant is run: the world's spec, the run's settings, and seconds for one whole run."""

    spec: str
    settings: Settings
    run_timeout: float


def read_mutants(table: Path, folder: str) -> tuple[Mutant, ...]:
    """The mutants of a TOML file's ``[[mutant]]`` entries, whose files lie in ``folder`` of the bench's source."""
    return tuple(
        Mutant(entry["name"], folder + entry["file"], entry["old"], entry["new"], tuple(entry["rules"]))
        for entry in tomllib.loads(table.read_text(encoding="utf-8"))["mutant"]
    )


def chosen_benches(
    world: World, engine: str | None, only: Sequence[str]
) -> list[tuple[MutationBench, tuple[Mutant, ...]]]:
    """The benches of one engine, or all, with the mutants of the given names, or all; raises UsageError."""
    if not world.benches:
        raise UsageError(f"world '{world.name}' has no benches and so no mutants: give it a MutationBench with some.")
    benches = [bench for bench in world.benches if engine in (None, bench.engine)]
    if not benches:
        known = ", ".join(bench.engine for bench in world.benches)
        raise UsageError(f"there are no mutants of engine '{engine}': choose among {known}.")
    names = {mutant.name for bench in benches for mutant in bench.mutants}
    if not names:
        empty = ", ".join(f"'{bench.engine}'" for bench in benches)
        raise UsageError(f"the benches of world '{world.name}' ({empty}) hold no mutants: give them some.")
    unknown = [name for name in only if name not in names]
    if unknown:
        raise UsageError(f"there is no mutant '{unknown[0]}': choose among {', '.join(sorted(names))}.")
    picked = [
        (bench, tuple(mutant for mutant in bench.mutants if not only or mutant.name in only)) for bench in benches
    ]
    return [(bench, mutants) for bench, mutants in picked if mutants]


def run_mutants(
    bench: MutationBench,
    mutants: Iterable[Mutant],
    plan: Plan,
    jobs: int,
    progress: Callable[[Verdict], None] = lambda verdict: None,
) -> list[Verdict]:
    """Plant, build and run each mutant, ``jobs`` at a time, each worker in a copy of its own.

    First every edit is tried on the text, and the unchanged copy is run: when that already diverges,
    nothing that follows would mean anything. Raises UsageError and EngineError then.
    """
    mutants = tuple(mutants)
    for mutant in mutants:
        _mutated_text(bench.source, mutant)
    with tempfile.TemporaryDirectory(prefix="parity-mutants-") as folder:
        workers = min(jobs, len(mutants))
        copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
        first = _copied(bench, Path(folder) / "copy-0")
        _check_unchanged(bench, first, plan)
        copies.put(first)
        for number in range(1, workers):
            copies.put(Path(shutil.copytree(first, Path(folder) / f"copy-{number}", symlinks=True)))

        def judge(mutant: Mutant) -> Verdict:
            copy = copies.get()
            try:
                verdict = _judge(bench, mutant, copy, plan)
            finally:
                copies.put(copy)
            progress(verdict)
            return verdict

        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(judge, mutants))


def _mutated_text(root: Path, mutant: Mutant) -> str:
    path = root / mutant.file
    if not path.is_file():
        raise UsageError(f"mutant '{mutant.name}' edits {mutant.file}, which is not in {root}: mend its entry.")
    text = path.read_text(encoding="utf-8")
    found = text.count(mutant.old)
    if found != 1:
        raise UsageError(
            f"mutant '{mutant.name}': its old text is {found} times in {mutant.file}: it must be there once."
        )
    return text.replace(mutant.old, mutant.new)


def _copied(bench: MutationBench, target: Path) -> Path:
    return Path(shutil.copytree(bench.source, target, symlinks=True, ignore=shutil.ignore_patterns(*bench.ignore)))


def _check_unchanged(bench: MutationBench, copy: Path, plan: Plan) -> None:
    if bench.build is not None:
        bench.build(copy)
    try:
        code, _, complaint = _run(bench, copy, plan)
    except subprocess.TimeoutExpired:
        raise EngineError(
            f"the unchanged copy of engine '{bench.engine}' needs more than {plan.run_timeout:g} seconds: "
            "allow more with --run-timeout, or ask for fewer steps."
        ) from None
    if code != 0:
        reason = "diverges" if code == 1 else f"cannot be run ({complaint})"
        raise EngineError(f"the unchanged copy of engine '{bench.engine}' already {reason}: mend that first.")


def _judge(bench: MutationBench, mutant: Mutant, copy: Path, plan: Plan) -> Verdict:
    path = copy / mutant.file
    original = path.read_text(encoding="utf-8")
    try:
        path.write_text(_mutated_text(copy, mutant), encoding="utf-8")
        complaint = _build_complaint(bench, copy, path)
        if complaint is not None:
            return Verdict(bench.engine, mutant, UNBUILDABLE, 0, complaint)
        return _verdict(bench, mutant, *_run(bench, copy, plan))
    except subprocess.TimeoutExpired:
        return Verdict(bench.engine, mutant, HUNG, 0)
    finally:
        path.write_text(original, encoding="utf-8")


def _build_complaint(bench: MutationBench, copy: Path, edited: Path) -> str | None:
    """Why the copy does not build, or None. Python, which nobody builds, must at least parse."""
    try:
        if edited.suffix == ".py":
            compile(edited.read_text(encoding="utf-8"), edited.name, "exec")
        if bench.build is not None:
            bench.build(copy)
    except (EngineError, SyntaxError) as error:
        return str(error)
    return None


def _verdict(bench: MutationBench, mutant: Mutant, code: int, answer: dict[str, Any], complaint: str) -> Verdict:
    steps = int(answer.get("steps_compared", 0))
    if code == 0:
        return Verdict(bench.engine, mutant, SURVIVED, steps)
    if code == 1 and answer.get("divergences"):
        return Verdict(bench.engine, mutant, CAUGHT, steps, ", ".join(answer["divergences"][0]["fields"][:3]))
    if code == EngineError.exit_code and f"engine '{bench.engine}' failed in start" in complaint:
        # Imported inside the engine's factory, which the unchanged copy got through.
        return Verdict(bench.engine, mutant, UNBUILDABLE, 0, complaint)
    if code == EngineError.exit_code:
        return Verdict(bench.engine, mutant, FAILED, steps, complaint)
    if code == UsageError.exit_code:
        # The unchanged copy ran under the same arguments, so it is the edit that cannot be imported.
        return Verdict(bench.engine, mutant, UNBUILDABLE, 0, complaint)
    raise EngineError(f"running mutant '{mutant.name}' ended with code {code}: {complaint}")


def _run(bench: MutationBench, copy: Path, plan: Plan) -> tuple[int, dict[str, Any], str]:
    """Exit code, JSON answer and last words of ``parity run`` on the copy, in a process of its own."""
    settings = plan.settings
    options = {
        "--world": plan.spec,
        "--engines": f"{bench.reference},{bench.engine}",
        "--source": settings.source,
        "--steps": settings.steps,
        "--games": settings.games,
        "--seed": settings.seed,
        "--invalid": settings.invalid,
        "--timeout": settings.timeout,
    }
    command = [sys.executable, "-P", "-m", "parity", "run", "--json", "--no-report"]
    command += [str(part) for option in options.items() for part in option]
    done = subprocess.run(
        command,
        env=_environment(bench, copy),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=plan.run_timeout,
        check=False,
    )
    complaint = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    return done.returncode, json.loads(done.stdout or "{}"), complaint


def _environment(bench: MutationBench, copy: Path) -> dict[str, str]:
    """The copy comes first on Python's path; without cached bytecode, which an edit within a second would miss."""
    wanted = dict(bench.environment(copy))
    harness = str(Path(parity.__file__).resolve().parent.parent)
    paths = [wanted.pop("PYTHONPATH", ""), harness, os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        **wanted,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
