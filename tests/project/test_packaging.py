"""``pyproject.toml`` and ``constraints.txt`` agree, and name released versions only."""

import importlib
import os
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


@pytest.fixture(scope="module")
def settings(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def project(settings: dict[str, Any]) -> dict[str, Any]:
    table: dict[str, Any] = settings["project"]
    return table


@pytest.fixture(scope="module")
def pins(root: Path) -> dict[str, Version]:
    lines = [line for line in (root / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    requirements = [Requirement(line) for line in lines]
    assert all(len(pin.specifier) == 1 and str(pin.specifier).startswith("==") for pin in requirements)
    return {canonicalize_name(pin.name): Version(next(iter(pin.specifier)).version) for pin in requirements}


@pytest.fixture(scope="module")
def requirements(project: dict[str, Any]) -> list[Requirement]:
    extras = [text for extra in project["optional-dependencies"].values() for text in extra]
    declared = [Requirement(text) for text in project["dependencies"] + extras]
    return [requirement for requirement in declared if requirement.name != project["name"]]


def test_every_declared_dependency_is_pinned_within_its_limits(
    requirements: list[Requirement], pins: dict[str, Version]
) -> None:
    wrong = [
        str(requirement)
        for requirement in requirements
        if (pin := pins.get(canonicalize_name(requirement.name))) is None or pin not in requirement.specifier
    ]
    assert wrong == []


def test_no_pin_is_a_nightly_or_a_development_or_local_build(pins: dict[str, Version]) -> None:
    assert [name for name, pin in pins.items() if pin.is_prerelease or pin.local or "nightly" in name] == []


def test_the_core_does_not_drag_in_torch(project: dict[str, Any], pins: dict[str, Version]) -> None:
    assert "torch" not in {Requirement(text).name for text in project["dependencies"]}
    assert [name for name in pins if name.startswith("nvidia")] == []


def test_dev_holds_every_other_extra_that_needs_no_accelerator(project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"]
    held = set().union(*(r.extras for r in map(Requirement, extras["dev"]) if r.name == project["name"]))
    assert held == set(extras) - {"dev", "cuda", "tpu"}


def test_the_console_command_points_at_a_function(project: dict[str, Any]) -> None:
    module, _, function = project["scripts"]["hackmatrix"].partition(":")
    assert callable(getattr(importlib.import_module(module), function))


FROM_THE_WHEEL = """
import sys
from importlib.resources import files
from pathlib import Path

import parity
from goodharts.world import WORLDS
from hackmatrix.agents import AGENTS
from hackmatrix.world import WORLD
from parity.viewer.page import Page
from parity.viewer.write import write_page

wheel = Path(sys.argv[1])
assert Path(parity.__file__).is_relative_to(wheel)
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
