"""Hold ports of environments to their originals, each pair in a virtual environment of its own.

    python studies/ports/run.py PAIR [--steps N] [--only WORLD] [--out DIR] [--newest]
    python studies/ports/run.py PAIR --record [--out DIR]
    python studies/ports/run.py all [--out DIR] [--newest]
    python studies/ports/run.py table

PAIR is a folder beside this file, with `-` or `_` between its words. Its `requirements.txt` pins the packages, which
are installed once in the cache folder (`parity/ports` in $XDG_CACHE_HOME or ~/.cache); a first line `# python 3.12`
names another interpreter. `runs.toml` lists what is compared. Differences that `known-differences.toml`, if there is
one, explains are counted; exit code 1 means that there are others.

`all` runs every pair, two at a time, replays the traces in `reached`, measures the effect of what differs on play,
writes `record.json` and the tables of the README files, and prints what changed; exit code 1 means that something did.
It goes on where a run was cut. `--record` does so with one pair, `table` writes the tables alone. `--newest` installs
the newest releases instead of those that are pinned, but for pairs whose `runs.toml` says `newest = false`, and writes
no record but to DIR.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import Any

import tables

ROOT = HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
LEDGER, RECORD = "known-differences.toml", HERE / "record.json"
WORKERS, EFFECT_GAMES, MOST_REASONS = 2, 100, 5
VERSIONS = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
RUN_FLAGS = "mode", "source", "games", "steps", "invalid", "seed"


def interpreter(requirements: str) -> str:
    """The Python that the first line of some requirements asks for, or the one that runs this."""
    if (asked := re.match(r"# python (\d\.\d+)$", requirements, re.MULTILINE)) is None:
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv").glob(f"versions/{asked[1]}.*/bin/python")
    for python in filter(None, (shutil.which(f"python{asked[1]}"), *map(str, pyenv))):
        if not subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
            return python
    sys.exit(f"Python {asked[1]} is missing: install it, or put python{asked[1]} on the PATH.")


@dataclass(frozen=True)
class Pair:
    """A pair of environments; newest: with the newest releases of its packages."""

    folder: Path
    out: Path
    newest: bool = False

    @cached_property
    def requirements(self) -> str:
        """What is installed."""
        text = (self.folder / "requirements.txt").read_text()
        return re.sub(r"==\S+", "", text) if self.newest and self.settings.get("newest", True) else text

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What is compared, and how it is listed."""
        return tables.settings_of(self.folder)

    @cached_property
    def python(self) -> Path:
        """The interpreter of its virtual environment, which is made where there is none for its requirements."""
        base = interpreter(self.requirements)
        version = subprocess.check_output([base, "-c", "import sys; print(sys.version, end='')"], text=True)
        day = date.today().isoformat() if self.newest else ""
        key = hashlib.sha256(f"{self.requirements}{version}{day}".encode()).hexdigest()[:12]
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rlparity", "ports")
        home = cache / f"{self.folder.name}-{key}"
        python = home / "bin" / "python"
        if not (home / "ready").exists():
            print(f"installing {self.folder.name} into {home}", flush=True)
            subprocess.run([base, "-m", "venv", "--clear", home], check=True)
            pip = python, "-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "numpy", "rich"
            subprocess.run([*pip, *(line for line in self.requirements.splitlines() if line[:1] != "#")], check=True)
            (home / "ready").touch()
        return python

    @cached_property
    def versions(self) -> dict[str, str]:
        """The installed version of each required package."""
        names = re.findall(r"^[\w.-]+", self.requirements, re.MULTILINE)
        return dict(json.loads(subprocess.check_output([self.python, "-c", VERSIONS, *names], text=True)))

    @cached_property
    def ledger(self) -> Path | None:
        """The known differences; with the newest releases a copy that is for these."""
        path = self.folder / LEDGER
        if not (path.exists() and self.newest):
            return path if path.exists() else None
        copy = self.out / self.folder.name / LEDGER
        copy.parent.mkdir(parents=True, exist_ok=True)
        pins = re.compile(r'("?)([\w.-]+)\1 = "[^"]*"')
        of = {name.lower(): version for name, version in self.versions.items()}

        def renewed(line: re.Match[str]) -> str:
            return pins.sub(lambda pin: f'"{pin[2]}" = "{of.get(pin[2].lower(), "")}"', line[0])

        copy.write_text(re.sub(r"^versions = .*$", renewed, path.read_text(), flags=re.MULTILINE))
        return copy

    def call(self, *words: str | Path, quiet: bool = False) -> "subprocess.CompletedProcess[str]":
        """Run Python in the environment and the folder."""
        path = os.pathsep.join(map(str, (CHECKOUT / "parity", HERE)))
        cache = {"JAX_COMPILATION_CACHE_DIR": str(self.python.parents[1] / "jax"), "OMP_NUM_THREADS": "1"}
        cache["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        variables = {"JAX_PLATFORMS": "cpu", **cache, **os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} if quiet else {}
        return subprocess.run([self.python, *words], cwd=self.folder, env=variables, text=True, check=False, **pipes)  # type: ignore[call-overload]

    def runs(self) -> list[dict[str, Any]]:
        """What is compared."""
        return list(self.settings["run"])

    def command(self, run: dict[str, Any], **others: Any) -> list[str | Path]:
        """The words of a run, of which ``others`` replace some."""
        run = {"invalid": 0} | run | others  # what an invalid action does is no part of most environments
        words: list[str | Path] = ["-m", "rlparity", "run", "--world", f"pairing:{run['world']}"]
        words += ["--engines", run["engines"]]
        for name in RUN_FLAGS:
            words += [f"--{name}", str(run[name])] if name in run else []
        return words + ["--strict"] * run.get("strict", False)

    def play(self, run: dict[str, Any], *words: str, quiet: bool = False, **others: Any) -> Any:
        """Play a run to its end, with traces and pages of what is not explained."""
        out = self.out.resolve() / self.folder.name / tables.name_of(run).replace(" ", "-").replace(",", "-").lower()
        ledger: list[str | Path] = ["--ledger", self.ledger] if self.ledger else []
        limits = "--max-divergences", "20", "--shrink-seconds", "20"
        return self.call(*self.command(run, **others), *ledger, *limits, "--out", out, *words, quiet=quiet)

    def measured(self, run: dict[str, Any]) -> dict[str, Any]:
        """What a run shows, and where it met differences their effect on random and simple play."""
        document = _json(self.play(run, "--json", quiet=True))
        if "error" in document:
            return {"verdict": "ERROR", "reasons": [document["error"]["message"]]}
        record = {name: document[name] for name in ("verdict", "known", "met")}
        record |= {"steps": document["steps_compared"], "games": document["games_begun"]}
        reasons = sorted({f"{each['subject']} {each['states']}".strip() for each in document["reasons"]})
        record["reasons"] = [*reasons[:MOST_REASONS], *[f"{len(reasons)} reasons"] * (len(reasons) > MOST_REASONS)]
        if run.get("effect", True) and any(record["known"].values()):
            policies = ["uniform", *(f"policy:{run[name]}" for name in ("policy",) if name in run)]
            record["effect"] = {policy: self.effect(run, policy) for policy in policies}
        return record

    def jobs(self) -> Iterator[tuple[str, str, Callable[[], Any]]]:
        """Each run: its name, a text that changes when it does, and the job."""
        for run in self.runs():
            yield tables.name_of(run), json.dumps(run), partial(self.measured, run)

    def effect(self, run: dict[str, Any], policy: str) -> dict[str, Any]:
        """Return and length on both sides and their difference, each with its 95% interval."""
        how = {"mode": "free-running", "source": policy, "games": EFFECT_GAMES, "strict": False}
        how["steps"] = run.get("effect_steps", 500)
        document = _json(self.call(*self.command(run, **how), "--no-report", "--json", quiet=True))
        if "error" in document:
            return {"error": document["error"]["message"]}
        rows = [[*row.values()] for row in document["effect"]["measures"]]
        found = {row[0]: [[round(number, 4) for number in each] for each in row[1:4]] for row in rows}
        differ = {"differ": len(document["effect"]["first"]), "of": EFFECT_GAMES}
        return {name: found[name] for name in ("return", "length")} | differ

    def reached(self) -> dict[str, bool]:
        """Whether each trace in ``reached`` still shows what it records."""
        names = [path.stem for path in (self.folder / "reached").glob("*.json")]
        found = dict(_json(self.call("-m", "reach", "check", quiet=True))) if names else {}
        if "error" in found:
            message = found["error"]["message"]
            print(f"{self.folder.name}: the traces cannot be replayed: {message}", file=sys.stderr, flush=True)
            return dict.fromkeys(names, False)
        return found


def _json(done: "subprocess.CompletedProcess[str]") -> Any:
    """What a command printed, or its failure as one."""
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"error": {"message": done.stderr.strip()[-300:] or f"ended with {done.returncode}"}}


class Progress:
    """Results of the jobs of `all`, in a file from which a run that was cut goes on."""

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, Lock()
        self.done: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def result(self, pair: Pair, name: str, key: str, job: Callable[[], Any]) -> Any:
        """The result of a job, which is done where there is none for its files and requirements."""
        parts = sorted(
            path for path in (*pair.folder.rglob("*"), *HERE.glob("*.py")) if path.suffix in (".py", ".json")
        )
        texts = [*(path.read_text() for path in parts), key, pair.requirements]
        texts += [pair.ledger.read_text()] if pair.ledger else []
        key = f"{pair.folder.name} {name} {hashlib.sha256(''.join(texts).encode()).hexdigest()[:12]}"
        if key not in self.done:
            began = time.monotonic()
            value = job()
            minutes = round((time.monotonic() - began) / 60, 2)
            with self._lock:
                self.done[key] = {"value": value, "minutes": minutes}
                self.path.write_text(json.dumps(self.done))
            verdict = value.get("verdict", "") if isinstance(value, dict) else ""
            print(f"{pair.folder.name}: {name}: {verdict} ({minutes:.1f} min)", flush=True)
        return self.done[key]


def run_all(pairs: Sequence[Pair], out: Path) -> int:
    """Run everything; returns 1 where something is not as it was recorded."""
    out.mkdir(parents=True, exist_ok=True)
    progress, began = Progress(out / "progress.json"), time.monotonic()
    with ThreadPoolExecutor(WORKERS) as workers:  # first the environments, one at a time for each
        list(workers.map(lambda pair: (pair.python, pair.versions, pair.ledger), pairs))
    jobs: list[tuple[Pair, str, str, Callable[[], Any]]] = [(pair, "reached", "", pair.reached) for pair in pairs]
    jobs += [(pair, *job) for pair in pairs for job in pair.jobs()]
    old = json.loads(RECORD.read_text()) if RECORD.exists() else {}

    def minutes(job: tuple[Any, ...]) -> float:
        return float(old.get(job[0].folder.name, {}).get("runs", {}).get(job[1], {}).get("minutes", "inf"))

    jobs.sort(key=minutes, reverse=True)  # the longest first, and those unknown, so that both workers end together
    with ThreadPoolExecutor(WORKERS) as workers:
        found = list(workers.map(lambda job: progress.result(*job), jobs))
    record: dict[str, Any] = {}
    for pair in pairs:
        own = {job[1]: each for job, each in zip(jobs, found, strict=True) if job[0] is pair}
        reached = own.pop("reached")
        runs = {tables.name_of(run): own[tables.name_of(run)] for run in pair.runs()}
        runs = {name: {**each["value"], "minutes": each["minutes"]} for name, each in runs.items()}
        minutes_in_all = sum(each["minutes"] for each in runs.values()) + reached["minutes"]
        record[pair.folder.name] = {"versions": pair.versions, "minutes": round(minutes_in_all, 1), "runs": runs}
        record[pair.folder.name]["differences"] = tables.differences(pair.folder, runs, reached["value"])
    if len(pairs) == 1 and RECORD.exists():
        record = {**json.loads(RECORD.read_text()), **record}
    changes = tables.changes(old, record)
    print(*(changes or ["Nothing changed."]), f"{(time.monotonic() - began) / 60:.0f} minutes.", sep="\n", flush=True)
    is_trial = any(pair.newest for pair in pairs)
    (out / "record.json" if is_trial else RECORD).write_text(json.dumps(record, indent=1) + "\n")
    if not is_trial:
        tables.write(ROOT, record)
    progress.path.unlink()
    return int(bool(changes))


def main() -> int:
    """Run the comparisons of a pair, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pair", help="a folder beside this file, all or table")
    parser.add_argument("--steps", type=int, help="steps of each game, instead of those in runs.toml")
    parser.add_argument("--only", help="runs of this world alone")
    parser.add_argument("--out", type=Path, default=Path("rlparity-report"), help="where traces and pages go")
    parser.add_argument("--record", action="store_true", help="renew what is recorded of the pair")
    parser.add_argument("--newest", action="store_true", help="install the newest releases")
    options = parser.parse_args()
    names = sorted(path.parent.name for path in HERE.glob("*/runs.toml"))
    if options.pair == "table":
        tables.write(HERE, json.loads(RECORD.read_text()))
        return 0
    if options.pair == "all":
        return run_all([Pair(HERE / name, options.out, options.newest) for name in names], options.out)
    if (name := options.pair.replace("-", "_")) not in names:
        parser.error(f"there is no pair '{options.pair}': choose among {', '.join(names)}.")
    pair, codes = Pair(HERE / name, options.out, options.newest), []
    if options.record:
        return run_all([pair], options.out)
    for run in pair.runs():
        if options.only in (None, run["world"]):
            print(f"\n{run['world']}: {run['engines']}, {run.get('mode', 'strict')}", flush=True)
            others = {} if options.steps is None else {"steps": options.steps}
            codes.append(pair.play(run, **others).returncode)
    return max(codes, default=2)


if __name__ == "__main__":
    sys.exit(main())
