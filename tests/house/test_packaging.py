"""``pyproject.toml`` and ``constraints.txt`` agree, and name released versions only."""

import importlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text())["project"]
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
