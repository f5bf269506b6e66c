"""Mutation testing: plant faults one at a time in a copy of an engine or a project, and check that they are caught."""

import queue
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Self

from rlparity.errors import EngineError, UsageError, unknown
from rlparity.mutant import Mutant, MutationBench
from rlparity.tools.mutant_table import planted
from rlparity.world import World

CAUGHT, FAILED, HUNG, SURVIVED = "caught", "engine failed", "hung", "survived"
UNBUILDABLE, UNSOUND, SAME = "does not build", "fails without it too", "is the same program"


@dataclass(frozen=True)
class MutantVerdict:
    """Result of one mutant. steps: transitions compared until the fault showed, or in total; 0 where tests judge."""

    name: str
    rules: Sequence[str]
    engine: str
    result: str
    steps: int = 0
    detail: str = ""

    @classmethod
    def of(cls, bench: MutationBench, mutant: Mutant, result: str, steps: int = 0, detail: str = "") -> Self:
        """Make the verdict on a bench's mutant."""
        return cls(mutant.name, mutant.rules, bench.engine, result, steps, detail)

    @property
    def is_judged(self) -> bool:
        """Whether the mutant runs, is another program than the original, and its test passes without it."""
        return self.result not in (UNBUILDABLE, UNSOUND, SAME)

    @property
    def noticed(self) -> bool:
        """Whether the fault was noticed: caught, or the engine failed or hung."""
        return self.result in (CAUGHT, FAILED, HUNG)


class Judge(ABC):
    """Judge of mutants, which runs copies in their own processes; raises ``subprocess.TimeoutExpired`` if one hangs."""

    def check_unchanged(self, bench: MutationBench, copy: Path) -> None:  # noqa: B027 - tests that fail are asked later
        """Raise EngineError where the unchanged copy cannot be judged."""

    @abstractmethod
    def verdict(self, bench: MutationBench, mutant: Mutant, copy: Path) -> MutantVerdict:
        """Judge a mutant that is planted in the copy."""

    def confirmed(self, bench: MutationBench, verdict: MutantVerdict, copy: Path) -> MutantVerdict:
        """Confirm or change the verdict, after the copy has been restored."""
        return verdict


def chosen_benches(
    world: World, engine: str | None, only: Sequence[str]
) -> list[tuple[MutationBench, tuple[Mutant, ...]]]:
    """Select the benches of ``engine`` (None: all) and their mutants in ``only`` (empty: all); raises UsageError."""
    filled = [bench for bench in world.benches if bench.mutants]
    if not filled:
        raise UsageError(f"world '{world.name}' has no mutants: give it a MutationBench with some.")
    benches = [bench for bench in filled if engine in (None, bench.engine)]
    if not benches:
        known = ", ".join(bench.engine for bench in filled)
        raise UsageError(f"there are no mutants of engine '{engine}': choose among {known}.")
    chosen = chosen_mutants(benches, only)
    if absent := [bench.engine for bench, _ in chosen if not bench.source.is_dir()]:
        raise UsageError(
            f"the source of engine '{absent[0]}' is not installed, and its mutants are planted in that: run this in a "
            "checkout of the project, or choose another --engine."
        )
    return chosen


def chosen_mutants(
    benches: Sequence[MutationBench], only: Sequence[str]
) -> list[tuple[MutationBench, tuple[Mutant, ...]]]:
    """Select the benches with mutants named in ``only`` (empty: all); raises UsageError for an unknown name."""
    names = {mutant.name for bench in benches for mutant in bench.mutants}
    if others := [name for name in only if name not in names]:
        raise UsageError(f"there is no mutant {unknown(others[0], names)}: choose among {', '.join(sorted(names))}.")
    wanted = only or names
    picked = [(bench, tuple(mutant for mutant in bench.mutants if mutant.name in wanted)) for bench in benches]
    return [(bench, mutants) for bench, mutants in picked if mutants]


def run_mutants(
    bench: MutationBench,
    mutants: Sequence[Mutant],
    judge: Judge,
    jobs: int,
    progress: Callable[[], object] = lambda: None,
) -> list[MutantVerdict]:
    """Plant, build and judge each mutant, ``jobs`` at a time, each worker in a copy of its own.

    ``progress`` is called after each mutant. First, every edit must fit its file and the unchanged copy must pass:
    otherwise no verdict would mean anything. Raises UsageError and EngineError where that fails.
    """
    require_fit(bench, mutants)
    with tempfile.TemporaryDirectory(prefix="rlparity-mutants-", ignore_cleanup_errors=True) as folder:
        workers = min(jobs, len(mutants))
        copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
        first = Path(folder) / "copy-0"
        for part in bench.parts or (".",):
            ignored = shutil.ignore_patterns(*bench.ignore)
            shutil.copytree(bench.source / part, first / part, symlinks=True, ignore=ignored, dirs_exist_ok=True)
        if bench.build is not None:
            bench.build(first)
        judge.check_unchanged(bench, first)
        copies.put(first)
        for number in range(1, workers):
            copies.put(Path(shutil.copytree(first, Path(folder) / f"copy-{number}", symlinks=True)))
        unchanged = dict[Path, bytes]()  # cache of the program that each unchanged copy builds to

        def judge_one(mutant: Mutant) -> MutantVerdict:
            copy = copies.get()
            try:
                verdict = judge.confirmed(bench, _verdict(bench, mutant, judge, copy), copy)
                if verdict.result == SURVIVED and bench.program is not None:
                    with _planted(mutant, copy):
                        program = bench.program(copy)
                    if copy not in unchanged:
                        unchanged[copy] = bench.program(copy)
                    verdict = replace(verdict, result=SAME) if program == unchanged[copy] else verdict
            finally:
                copies.put(copy)
            progress()
            return verdict

        with ThreadPool(workers) as pool:  # unlike an executor, it does not wait for its threads after an interrupt
            return list(pool.imap(judge_one, mutants))


def require_fit(bench: MutationBench, mutants: Sequence[Mutant]) -> None:
    """Raise UsageError for a fault that does not fit its file, or whose file is not copied."""
    copied = [(bench.source / part).resolve() for part in bench.parts or (".",)]
    for mutant in mutants:
        mutated_text(bench.source, mutant)
        if not any((bench.source / mutant.file).resolve().is_relative_to(part) for part in copied):
            raise UsageError(
                f"mutant '{mutant.name}' edits {mutant.file}, which is in none of the bench's parts: "
                f"{', '.join(bench.parts) or bench.source}."
            )


def mutated_text(root: Path, mutant: Mutant) -> str:
    """Read the mutant's file and plant the fault; raises UsageError where the fault does not fit."""
    path = root / mutant.file
    if not path.is_file():
        raise UsageError(f"mutant '{mutant.name}' edits {mutant.file}, which is not in {root}: correct its entry.")
    return planted(mutant, path.read_text(encoding="utf-8"))


def _verdict(bench: MutationBench, mutant: Mutant, judge: Judge, copy: Path) -> MutantVerdict:
    try:
        with _planted(mutant, copy) as mutated:
            try:
                if mutant.file.endswith(".py"):  # Python has no build, but the file must parse
                    compile(mutated, mutant.file, "exec")
                if bench.build is not None:
                    bench.build(copy)
            except (EngineError, SyntaxError) as error:
                return MutantVerdict.of(bench, mutant, UNBUILDABLE, detail=str(error))
            return judge.verdict(bench, mutant, copy)
    except subprocess.TimeoutExpired:
        return MutantVerdict.of(bench, mutant, HUNG)


@contextmanager
def _planted(mutant: Mutant, copy: Path) -> Iterator[str]:
    """Plant the fault in the copy, yield the text of its file, and restore the file afterwards."""
    path = copy / mutant.file
    original = path.read_text(encoding="utf-8")
    mutated = mutated_text(copy, mutant)
    path.write_text(mutated, encoding="utf-8")
    try:
        yield mutated
    finally:
        path.write_text(original, encoding="utf-8")
