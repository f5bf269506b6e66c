"""Every way to install the project installs the same: released versions within the limits of ``pyproject.toml``."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from parity.errors import install_command


@pytest.fixture(scope="module")
def settings(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def project(settings: dict[str, Any]) -> Any:  # noqa: ANN401 - a table
    return settings["project"]


def lines_of(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


@pytest.fixture(scope="module")
def pins(root: Path) -> dict[str, Version]:
    requirements = list(map(Requirement, lines_of(root / "constraints.txt")))
    assert all(len(pin.specifier) == 1 and str(pin.specifier).startswith("==") for pin in requirements)
    return {canonicalize_name(pin.name): Version(next(iter(pin.specifier)).version) for pin in requirements}


def test_dependencies_are_pinned_within_their_limits_to_releases_and_the_core_drags_in_no_torch(
    project: dict[str, Any], pins: dict[str, Version]
) -> None:
    extras = [text for extra in project["optional-dependencies"].values() for text in extra]
    for declared in map(Requirement, project["dependencies"] + extras):
        if declared.name != project["name"]:
            assert pins[canonicalize_name(declared.name)] in declared.specifier
    assert [name for name, pin in pins.items() if pin.is_prerelease or pin.local or "nightly" in name] == []
    assert "torch" not in {Requirement(text).name for text in project["dependencies"]}
    assert [name for name in pins if name.startswith("nvidia")] == []


def test_dev_holds_every_other_extra_that_needs_no_accelerator(project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"]
    held = set().union(*(r.extras for r in map(Requirement, extras["dev"]) if r.name == project["name"]))
    assert held == set(extras) - {"dev", "cuda", "tpu"}


FROM_THE_WHEEL = """
import sys
from importlib.resources import files
from pathlib import Path

import parity
from goodharts.world import WORLDS
from hackmatrix.agents import AGENTS
from hackmatrix.world import WORLD
from parity.cli import main
from parity.viewer.page import Page
from parity.viewer.write import write_page

wheel = Path(sys.argv[1])
assert Path(parity.__file__).is_relative_to(wheel)
assert main(["init", "new"]) == 0
write_page(Page("Nothing", (), ()), WORLD, Path("page.html"))
for world in (WORLD, *WORLDS.values()):
    assert world.golden.is_relative_to(wheel) and list(world.golden.glob("*.json")), world.name
assert len(WORLD.benches) == 2 and all(bench.mutants for bench in WORLD.benches)
assert all(path.is_relative_to(wheel) and path.with_name("config.json").exists() for path in AGENTS.values())
assert {path.suffix for path in files("goodharts").joinpath("dashboard", "assets").iterdir()} == {".css", ".js"}
"""


def test_the_packages_in_the_wheel_need_no_file_beside_them(
    root: Path, settings: dict[str, Any], tmp_path: Path
) -> None:
    wheel = tmp_path / "wheel"
    for package in settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(root / package, wheel / Path(package).name, ignore=ignored)
    assert {path.name for path in wheel.iterdir()} == set(settings["tool"]["importlinter"]["root_packages"])
    answer = subprocess.run(
        [sys.executable, "-c", FROM_THE_WHEEL, wheel],
        env={**os.environ, "PYTHONPATH": str(wheel)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert "Nothing" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_requirements_are_the_project_itself_as_constraints_pin_it(root: Path, project: dict[str, Any]) -> None:
    lines = lines_of(root / "requirements.txt")
    options = dict(line.split(maxsplit=1) for line in lines)
    assert (root / options["--constraint"]).is_file()
    itself = Requirement(options["--editable"].replace(".", "hackmatrix", 1))
    assert itself.extras == {"dev"} <= project["optional-dependencies"].keys()
    assert len(lines) == 2


def test_the_dev_container_runs_commands_that_exist_on_what_they_need_and_activates_what_they_fill(root: Path) -> None:
    devcontainer = json.loads((root / ".devcontainer" / "devcontainer.json").read_text())
    makefile = (root / "Makefile").read_text()
    assert devcontainer["postCreateCommand"] == "make setup && ./swift-build"
    assert re.search("^setup:", makefile, re.MULTILINE)
    assert os.access(root / "swift-build", os.X_OK)
    image = (root / ".devcontainer" / devcontainer["build"]["dockerfile"]).read_text()
    assert re.search(r"^FROM swift:6\.\d+-noble$", image, re.MULTILINE)
    assert {"git", "make", "python3", "python3-venv"} <= set(image.split())
    (venv,) = re.findall(r"^VENV := (.+)$", makefile, re.MULTILINE)
    folder = f"${{containerWorkspaceFolder}}/{venv}"
    assert devcontainer["remoteEnv"]["VIRTUAL_ENV"] == folder
    assert devcontainer["remoteEnv"]["PATH"].split(":")[0] == f"{folder}/bin"


def test_the_command_for_an_extra_works_in_every_directory_and_needs_no_index_that_has_the_package(
    tmp_path: Path,
) -> None:
    words = [*shlex.split(install_command("hackmatrix[play]")), "--dry-run", "--no-index"]
    answer = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert "Would install" not in answer.stdout
