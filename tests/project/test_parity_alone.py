"""The wheel of the harness, installed where there is nothing but what it asks for, does all that it says."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ORCHARD = ("--world", "toy_world:WORLD")
SETTINGS = """
[tool.pytest.ini_options]
pythonpath = [".."]

[tool.rlparity.worlds.orchard]
world = "toy_world:WORLD"
engines = ["plain,planes"]
sources = ["uniform"]
games = 4
steps = 20
golden = ""
"""
NAMES = "from importlib.metadata import distributions; print(*sorted(each.name for each in distributions()))"
MODULES = """
import importlib, pkgutil, rlparity
for module in pkgutil.walk_packages(rlparity.__path__, "rlparity."):
    if module.name != "rlparity.__main__":
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            print(module.name, "needs", error.name)
"""


def needed(name: str) -> Iterator[str]:
    """The distributions that one needs, itself among them; some more than once."""
    yield name
    for requirement in map(Requirement, distribution(name).requires or ()):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield from needed(requirement.name)


class Home:
    """A virtual environment and a folder with Orchard in it. Nothing of this process's environment is in its path."""

    def __init__(self, folder: Path, root: Path, *, with_pip: bool) -> None:
        venv.create(folder / "venv", symlinks=True, with_pip=with_pip)
        self.bin = folder / "venv" / "bin"
        (self.site,) = (folder / "venv").glob("lib/python*/site-packages")
        self.work = folder / "work"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(root / "tests" / "parity" / "toy_world", self.work / "toy_world", ignore=ignored)

    def link(self, name: str) -> None:
        """Put a distribution and all that it needs there, as links to those of this process."""
        for found in map(distribution, set(needed(name))):
            for top in {path.parts[0] for path in found.files or ()} - {"..", "__pycache__"}:
                if not (self.site / top).exists():
                    (self.site / top).symlink_to(Path(str(found.locate_file(top))))

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
    same = home.run("rlparity", "run", *ORCHARD, "--games", "8", "--steps", "40", "--json")
    assert (same.returncode, json.loads(same.stdout)["passed"]) == (0, True), same.stderr
    differs = home.run("rlparity", "run", *ORCHARD, "--engines", "plain,restless", "--out", "report")
    assert (differs.returncode, "state.hp" in differs.stdout) == (1, True), differs.stderr
    assert "rlparity replay" in (home.work / "report" / "trace.html").read_text(encoding="utf-8")
    recorded = home.run("rlparity", "record", *ORCHARD, "--games", "2", "--steps", "20", "--out", "golden")
    assert (recorded.returncode, len([*(home.work / "golden").glob("*.json")])) == (0, 2), recorded.stderr
    planted = home.run(
        "rlparity", "mutants", *ORCHARD, "--only", "sting-is-cheap", "--games", "8", "--steps", "60", "--json"
    )
    assert (planted.returncode, json.loads(planted.stdout)["caught"]) == (0, 1), planted.stderr
    refused = home.run("rlparity", "run")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("rlparity: no world is registered: `rlparity init FOLDER` writes one")
    assert refused.stderr.count("\n") == 1
    completion = home.run("rlparity", "--print-completion", "bash")
    assert (completion.returncode, completion.stdout, completion.stderr.count("\n")) == (2, "", 1)
    assert "pip install shtab" in completion.stderr
    checked = home.run("rlparity", "doctor")
    assert checked.returncode == 0, checked.stdout
    assert re.search(r"^note .*no installed package registers one; `rlparity init", checked.stdout, re.MULTILINE)
    begun = home.run("rlparity", "init", "new")
    assert begun.returncode == 0, begun.stderr


def run_its_tests(home: Home) -> None:
    """``pytest`` compares Orchard's engines, and what ``rlparity init`` wrote, by the plugin of the harness."""
    (home.work / "orchard").mkdir()
    (home.work / "orchard" / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    for folder, pair in (("orchard", "rlparity::orchard::plain-planes"), ("new", "rlparity::climb::original-port")):
        tests = home.run("python", "-m", "pytest", "-v", folder=folder)
        assert (tests.returncode, "1 passed" in tests.stdout) == (0, True), tests.stdout
        assert f"{pair}::uniform PASSED" in tests.stdout


def test_it_needs_nothing_but_numpy_and_rich(root: Path, wheels: dict[str, Path], tmp_path: Path) -> None:
    home = Home(tmp_path, root, with_pip=False)
    pip = sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(home.bin / "python"), "install"
    subprocess.run([*pip, "--quiet", "--no-index", "--no-deps", "--no-compile", str(wheels["rl-parity"])], check=True)
    for name in ("numpy", "rich"):
        home.link(name)
    # -I: the packages of the environment and the standard library, and nothing else
    names = home.run("python", "-I", "-c", NAMES).stdout.split()
    assert names == ["Pygments", "markdown-it-py", "mdurl", "numpy", "rich", "rl-parity"]
    needs = home.run("python", "-I", "-c", MODULES).stdout.splitlines()
    assert needs == ["rlparity.debug.screen needs textual", "rlparity.pytest_plugin needs pytest"]
    use_the_commands(home)
    home.link("pytest")
    run_its_tests(home)


@pytest.mark.long
def test_pip_installs_it_with_what_it_needs(root: Path, wheels: dict[str, Path], tmp_path: Path) -> None:
    home = Home(tmp_path, root, with_pip=True)
    install = "-m", "pip", "install", "--quiet", "--constraint", str(root / "constraints.txt")
    installed = home.run("python", *install, wheels["rl-parity"])
    assert installed.returncode == 0, installed.stderr
    use_the_commands(home)
    assert home.run("python", *install, "pytest").returncode == 0
    run_its_tests(home)
