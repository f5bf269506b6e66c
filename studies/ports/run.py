"""Hold ports of environments to their originals, each pair in a virtual environment of its own.

    python studies/ports/run.py PAIR [--steps N] [--only WORLD] [--out DIR]

PAIR is a folder beside this file, with `-` or `_` between its words. Its `requirements.txt` pins the packages, which
are installed once in the cache folder (`parity/ports` in $XDG_CACHE_HOME or ~/.cache); `runs.toml` lists what is
compared. Differences that `known-differences.toml`, if there is one, explains are counted; exit code 1 means that there
are others.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]


def environment(folder: Path) -> Path:
    """The interpreter of a pair's virtual environment, which is made where there is none for its requirements."""
    requirements = folder / "requirements.txt"
    key = hashlib.sha256(f"{requirements.read_text()}{sys.version}".encode()).hexdigest()[:12]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rlparity", "ports", f"{folder.name}-{key}")
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        print(f"installing {requirements} into {home}", flush=True)
        venv.create(home, with_pip=True, clear=True)
        pip = python, "-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "numpy", "rich"
        subprocess.run([*pip, "--requirement", requirements], check=True)
        (home / "ready").touch()
    return python


def command(python: Path, run: dict[str, Any], ledger: Path, out: Path, steps: int | None) -> list[str]:
    """The command line of a run."""
    words = [str(python), "-m", "rlparity", "run", "--world", f"pairing:{run['world']}", "--engines", run["engines"]]
    run = {"invalid": 0} | run  # what an invalid action does is no part of most environments
    if steps is not None:
        run = run | {"steps": steps}
    for name in ("mode", "source", "games", "steps", "invalid"):
        if name in run:
            words += [f"--{name}", str(run[name])]
    words += ["--strict"] * run.get("strict", False)
    words += ["--ledger", ledger.name] * ledger.exists()
    words += ["--max-divergences", "20", "--shrink-seconds", "20"]
    return [*words, "--out", str(out)]


def main() -> int:
    """Run the comparisons of a pair."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pair", help="a folder beside this file")
    parser.add_argument("--steps", type=int, help="steps of each game, instead of those in runs.toml")
    parser.add_argument("--only", help="runs of this world alone")
    parser.add_argument("--out", type=Path, default=Path("rlparity-report"), help="where traces and pages go")
    options = parser.parse_args()
    folder = HERE / options.pair.replace("-", "_")
    if not (folder / "runs.toml").is_file():
        pairs = ", ".join(sorted(path.parent.name for path in HERE.glob("*/runs.toml")))
        parser.error(f"there is no pair '{options.pair}': choose among {pairs}.")
    python = environment(folder)
    paths = os.pathsep.join(map(str, (CHECKOUT / "parity", HERE)))
    variables = {"JAX_PLATFORMS": "cpu", **os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"}
    codes = []
    for run in tomllib.loads((folder / "runs.toml").read_text())["run"]:
        if options.only in (None, run["world"]):
            name = f"{run['world'].lower()}-{run['engines'].replace(',', '-')}-{run.get('source', 'uniform')}"
            out = options.out.resolve() / folder.name / name
            words = command(python, run, folder / "known-differences.toml", out, options.steps)
            print(f"\n{run['world']}: {run['engines']}, {run.get('mode', 'strict')}", flush=True)
            codes.append(subprocess.run(words, cwd=folder, env=variables, check=False).returncode)
    return max(codes, default=2)


if __name__ == "__main__":
    sys.exit(main())
