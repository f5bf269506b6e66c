"""Do the tests notice? Plant the faults of ``faults.toml`` one at a time in a copy of the project and run its tests.

``make mutants`` runs all of them; ``--only NAME`` some. A fault is caught where a test fails that passes without it.
One with which the code does not even load proves nothing about the tests and is not counted as caught.
"""

import argparse
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TABLE = HERE / "faults.toml"
COPIED = (
    "parity",
    "python",
    "tests",
    "docs",
    "swift",
    "pyproject.toml",
    "constraints.txt",
    "README.md",
    "CONTRIBUTING.md",
)
CAUGHT, SURVIVED, BROKEN, HUNG = "caught", "survived", "proves nothing", "hung"
_FAILED, _PASSED = 1, 0
_SECONDS = 900


@dataclass(frozen=True)
class Fault:
    """One edit: ``old``, which stands once in ``file``, becomes ``new``; ``tests`` are asked whether they notice.

    explained: why no test can notice it, where that is so.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    explained: str = ""

    def planted(self, text: str) -> str:
        """The file's text with the fault; raises ValueError unless ``old`` stands there once."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: its old text stands {text.count(self.old)} times in {self.file}, not once")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Verdict:
    """What became of a fault, and the tests' own words about it."""

    fault: Fault
    result: str
    detail: str = ""


def read_faults() -> list[Fault]:
    """The table; a fault's tests are its own, or those of its file."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return [
        Fault(
            name=entry["name"],
            file=group["file"],
            old=entry["old"],
            new=entry["new"],
            tests=tuple(entry.get("tests", group["tests"])),
            explained=entry.get("explained", ""),
        )
        for group in table["group"]
        for entry in group["fault"]
    ]


def judge(fault: Fault, copy: Path) -> Verdict:
    """Plant a fault in ``copy``, run its tests there, and take it out again."""
    path = copy / fault.file
    original = path.read_text(encoding="utf-8")
    try:
        path.write_text(fault.planted(original), encoding="utf-8")
        code, said = _pytest(copy, fault.tests)
    except subprocess.TimeoutExpired:
        return Verdict(fault, HUNG)
    finally:
        path.write_text(original, encoding="utf-8")
    detail = next((line for line in reversed(said.splitlines()) if line.startswith(("FAILED", "ERROR"))), "")
    if code != _FAILED:
        return Verdict(fault, SURVIVED if code == _PASSED else BROKEN, detail)
    # a test that fails for another reason says nothing: because the code no longer loads, or with no fault at all
    loads = "ImportError" not in detail and "SyntaxError" not in detail
    return Verdict(fault, CAUGHT if loads and _passes_without(copy, _test_in(detail)) else BROKEN, detail)


def _test_in(line: str) -> str:
    """The test that a line of pytest's summary names."""
    return line.partition(" ")[2].partition(" - ")[0]


def _passes_without(copy: Path, test: str) -> bool:
    """Whether a test passes in the unchanged copy; asked once for each."""
    if test not in _unchanged:
        _unchanged[test] = _pytest(copy, [test])[0] == _PASSED
    return _unchanged[test]


_unchanged: dict[str, bool] = {}


def _pytest(copy: Path, tests: Sequence[str]) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests]
    binary = os.environ.get("HACKMATRIX_BINARY") or _built()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(copy / "python"), str(copy)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HACKMATRIX_BINARY": binary,
        "CI": "true",  # an engine that does not start is a failure and no reason to skip
        # the unchanged programs are compiled once for all copies
        "JAX_COMPILATION_CACHE_DIR": os.environ.get("JAX_COMPILATION_CACHE_DIR", str(ROOT / ".cache" / "jax")),
    }
    done = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    return done.returncode, done.stdout + done.stderr


def _built() -> str:
    return str(ROOT / (".build-macos" if sys.platform == "darwin" else ".build-linux") / "release" / "HackMatrix")


def _copied(folder: Path) -> Path:
    folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", ".build*", ".*cache*", ".hypothesis")
    for name in COPIED:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=ignored)
        else:
            shutil.copy(source, target)
    return folder


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the faults and print one line for each; the exit code is 0 if all but the explained ones are caught."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this fault; repeatable")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="faults at a time")
    args = parser.parse_args(argv)
    faults = [fault for fault in read_faults() if not args.only or fault.name in args.only]
    unknown = set(args.only) - {fault.name for fault in faults}
    if unknown or args.jobs < 1:
        parser.error(f"there is no fault {min(unknown)!r}" if unknown else "--jobs must be at least 1")
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(min(args.jobs, len(faults))):
            copies.put(_copied(Path(folder) / f"copy-{number}"))

        def judged(fault: Fault) -> Verdict:
            copy = copies.get()
            try:
                verdict = judge(fault, copy)
            finally:
                copies.put(copy)
            print(f"{verdict.result:14}  {fault.name}  {verdict.detail[:160]}", flush=True)
            return verdict

        with ThreadPoolExecutor(args.jobs) as pool:
            verdicts = list(pool.map(judged, faults))
    return report(verdicts)


def report(verdicts: Sequence[Verdict]) -> int:
    """Print the share that was caught and name the rest; the exit code."""
    caught = [verdict for verdict in verdicts if verdict.result in (CAUGHT, HUNG)]
    judged = [verdict for verdict in verdicts if verdict.result != BROKEN]
    broken = [verdict.fault.name for verdict in verdicts if verdict.result == BROKEN]
    survivors = [verdict.fault for verdict in verdicts if verdict.result == SURVIVED]
    print(f"{len(caught)} of {len(judged)} faults caught ({len(caught) / max(1, len(judged)):.0%}).")
    for fault in survivors:
        print(f"Survived: {fault.name}{f' ({fault.explained})' if fault.explained else ''}.")
    if broken:
        print(f"Proves nothing, because the code does not load or the test fails anyway: {', '.join(broken)}.")
    return 1 if broken or any(not fault.explained for fault in survivors) else 0


if __name__ == "__main__":
    sys.exit(main())
