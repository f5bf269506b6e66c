"""The wheels of the harness and of rlworldkit do all that they say where there is nothing but what they ask for."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.project.conftest import DISTRIBUTIONS

ORCHARD = ("--world", "faulty_orchard:WORLD")
NAMES = "from importlib.metadata import distributions; print(*sorted(each.name for each in distributions()))"
MODULES = """
import importlib, pkgutil, sys
name = sys.argv[1]
for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
    if module.name != "rlparity.__main__":
        try:
            importlib.import_module(module.name)
        except Exception as error:
            print(module.name, "needs", (error.__context__ or error).name)
"""
UNTOUCHED = """
import base64, hashlib, sys
from importlib.metadata import files
digest = lambda path: base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
print([str(file) for file in files(sys.argv[1]) if file.hash and file.hash.value != digest(file.locate())])
"""


def needed(name: str, extra: str = "") -> Iterator[str]:
    """The distributions that one needs with an extra, itself among them; some more than once."""
    yield name
    for requirement in map(Requirement, distribution(name).requires or ()):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield from needed(requirement.name)


class Home:
    """A virtual environment and a folder with Orchard in it. Nothing of this process's environment is in its path."""

    def __init__(self, folder: Path, root: Path, *, with_pip: bool) -> None:
        venv.create(folder / "venv", symlinks=True, with_pip=with_pip)
        self.bin = folder / "venv" / "bin"
        (self.site,) = (folder / "venv").glob("lib/python*/site-packages")
        self.work = folder / "work"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(root / "parity" / "rlparity" / "templates" / "orchard", self.work / "orchard", ignore=ignored)
        shutil.copy(root / "tests" / "parity" / "faulty_orchard.py", self.work)

    def link(self, name: str) -> None:
        """Put a distribution and all that it needs there, as links to those of this process, but none of ours."""
        for found in map(distribution, {*needed(name)} - DISTRIBUTIONS.keys()):
            for top in {path.parts[0] for path in found.files or ()} - {"..", "__pycache__"}:
                if not (self.site / top).exists():
                    (self.site / top).symlink_to(Path(str(found.locate_file(top))))

    def install(self, *wheels: Path) -> None:
        """Install wheels without what they need, by the pip of this process."""
        words = "--disable-pip-version-check", "--python", self.bin / "python", "install", "--quiet", "--no-index"
        subprocess.run([sys.executable, "-m", "pip", *words, "--no-deps", "--no-compile", *wheels], check=True)

    def run(self, program: str, *words: str | Path, folder: str = ".") -> "subprocess.CompletedProcess[str]":
        """Run a program of the environment."""
        own = {"PATH": f"{self.bin}{os.pathsep}{os.defpath}", "HOME": str(self.work), "COLUMNS": "120"}
        return subprocess.run(
            [str(self.bin / program), *map(str, words)],
            env={**own, **{name: os.environ[name] for name in os.environ if name.startswith("PIP_")}},
            cwd=self.work / folder,
            capture_output=True,
            text=True,
            check=False,
        )


def use_the_commands(home: Home) -> None:
    """What somebody does with the harness alone; every answer is right."""
    differs = home.run("rlparity", "run", *ORCHARD, "--engines", "plain,restless", "--out", "report")
    assert (differs.returncode, "state.hp" in differs.stdout) == (1, True), differs.stderr
    assert "rlparity replay" in (home.work / "report" / "trace.html").read_text(encoding="utf-8")
    planted = home.run(
        "rlparity", "mutants", *ORCHARD, "--only", "sting-is-cheap", "--games", "8", "--steps", "60", "--json"
    )
    assert (planted.returncode, json.loads(planted.stdout)["caught"]) == (0, 1), planted.stderr
    refused = home.run("rlparity", "run")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("rlparity: no world is registered: `rlparity init FOLDER` writes one")
    assert refused.stderr.count("\n") == 1
    unserved = home.run("rlparity", "mcp")
    assert (unserved.returncode, unserved.stdout, unserved.stderr.count("\n")) == (2, "", 1)
    assert "pip install 'rl-parity[mcp]'" in unserved.stderr
    checked = home.run("rlparity", "doctor")
    assert checked.returncode == 0, checked.stdout
    assert re.search(r"^note .*no installed package registers one; `rlparity init", checked.stdout, re.MULTILINE)
    begun = home.run("rlparity", "init", "new")
    assert begun.returncode == 0, begun.stderr


def run_its_tests(home: Home) -> None:
    """``pytest`` compares the engines that ``rlparity init`` wrote, by the plugin of the harness."""
    tests = home.run("python", "-m", "pytest", "-v", folder="new")
    assert (tests.returncode, "2 passed" in tests.stdout) == (0, True), tests.stdout
    for source in ("directed", "golden"):
        assert f"rlparity::orchard::plain-planes::{source} PASSED" in tests.stdout


def test_it_needs_nothing_but_numpy_and_rich(root: Path, wheels: dict[str, Path], tmp_path: Path) -> None:
    home = Home(tmp_path, root, with_pip=False)
    home.install(wheels["rl-parity"])
    for name in ("numpy", "rich"):
        home.link(name)
    # -I: the packages of the environment and the standard library, and nothing else
    names = home.run("python", "-I", "-c", NAMES).stdout.split()
    assert names == ["Pygments", "markdown-it-py", "mdurl", "numpy", "rich", "rl-parity"]
    needs = home.run("python", "-I", "-c", MODULES, "rlparity").stdout.splitlines()
    extras = (
        "adapters.jax_lines needs jax",
        "cli.mcp_server needs anyio",
        "debug.screen needs textual",
        "pytest_plugin needs pytest",
        "tools.learner needs gymnasium",
        "tools.sb3_vec_env needs stable_baselines3",
    )
    assert needs == [f"rlparity.{each}" for each in extras]
    use_the_commands(home)
    home.link("pytest")
    run_its_tests(home)


def test_rlworldkit_needs_no_game_and_its_commands_start_without_any_extra(
    root: Path, wheels: dict[str, Path], tmp_path: Path
) -> None:
    home = Home(tmp_path, root, with_pip=False)
    for name in ("rl-parity", "rlworldkit"):
        zipfile.ZipFile(wheels[name]).extractall(home.site)
    home.link("rlworldkit")
    needs = home.run("python", "-I", "-c", MODULES, "rlworldkit").stdout.splitlines()
    extras = set(needed("rlworldkit", "jax")) | set(needed("rlworldkit", "sb3"))
    extras |= {"onnx", "optuna", "sb3_contrib", "stable_baselines3", "textual"}
    assert {line.split(" needs ")[1] for line in needs} <= extras
    commands = [line for line in needs if re.match(r"rlworldkit\.(api|cli|program)\b", line)]
    assert commands == ["rlworldkit.cli.trials needs optuna"]


@pytest.mark.long
def test_pip_installs_rlworldkit_which_trains_a_world_without_a_game(
    root: Path, wheels: dict[str, Path], tmp_path: Path
) -> None:
    home = Home(tmp_path, root, with_pip=True)
    words = "-m", "pip", "install", "--quiet", "--constraint", str(root / "constraints.txt")
    installed = home.run("python", *words, wheels["rl-parity"], f"{wheels['rlworldkit']}[jax]", "gymnasium")
    assert installed.returncode == 0, installed.stderr
    size = "--num-envs", "8", "--num-steps", "8", "--total-timesteps", "128"
    trained = home.run("python", "-m", "orchard", "train", *size, "--run-name", "run", "--no-wandb")
    assert trained.returncode == 0, trained.stderr
    evaluated = home.run(
        "python", "-m", "orchard", "evaluate", "checkpoints/run/params_2.npz", "--games", "20", "--json", "-"
    )
    assert (evaluated.returncode, json.loads(evaluated.stdout)["episodes"]) == (0, 20), evaluated.stderr


OTHER = "parity-check==0.21.0"
"""A distribution of the index that has a package, a command and a pytest plugin named ``parity``."""


@pytest.mark.long
@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_both_parities_work_in_one_environment_whichever_comes_first(
    first: str, root: Path, wheels: dict[str, Path], tmp_path: Path
) -> None:
    home = Home(tmp_path, root, with_pip=True)
    for whose in sorted(("ours", "theirs"), reverse=first == "theirs"):
        words = (OTHER, "pytest") if whose == "theirs" else (wheels["rl-parity"],)
        installed = home.run("python", "-m", "pip", "install", "--quiet", *words)
        assert installed.returncode == 0, installed.stderr
    assert home.run("python", "-m", "pip", "check").returncode == 0
    theirs = home.run("parity", "--help")
    assert (theirs.returncode, "rlparity" in theirs.stdout) == (0, False), theirs.stderr
    use_the_commands(home)
    run_its_tests(home)
    plugins = home.run("python", "-m", "pytest", "--trace-config", "--collect-only", folder="new").stdout
    assert re.search(r"parity_check-0\.21\.0|parity-check-0\.21\.0", plugins)
    assert re.search(r"rl[-_]parity-", plugins)
    for name in ("parity-check", "rl-parity"):
        assert home.run("python", "-c", UNTOUCHED, name).stdout == "[]\n"
