"""Every way to install the project installs the same, and what an index shows of it; an sdist is the whole project."""

import email
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import rlparity
from tests.project.conftest import DISTRIBUTIONS


@pytest.fixture(scope="module")
def projects(root: Path) -> dict[str, dict[str, Any]]:
    """The table ``project`` of each distribution."""
    read = {name: (root / home / "pyproject.toml").read_text() for name, home in DISTRIBUTIONS.items()}
    return {name: tomllib.loads(text)["project"] for name, text in read.items()}


@pytest.fixture(scope="module")
def project(projects: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """That of the games."""
    return projects["hackmatrix"]


def names_of(requirements: list[str]) -> set[str]:
    return {Requirement(text).name for text in requirements}


def lines_of(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


@pytest.fixture(scope="module")
def pins(root: Path) -> dict[str, Version]:
    requirements = list(map(Requirement, lines_of(root / "constraints.txt")))
    assert all(len(pin.specifier) == 1 and str(pin.specifier).startswith("==") for pin in requirements)
    return {canonicalize_name(pin.name): Version(next(iter(pin.specifier)).version) for pin in requirements}


def test_dependencies_are_pinned_within_their_limits_to_releases_and_the_core_drags_in_no_torch(
    projects: dict[str, dict[str, Any]], pins: dict[str, Version]
) -> None:
    core = {name: names_of(each["dependencies"]) for name, each in projects.items()}
    assert core["rl-parity"] == {"numpy", "rich"}
    foreign = {"matplotlib", "numpy", "platformdirs", "rich", "tensorboardX", "threadpoolctl"}
    assert core["rlworldkit"] == {"rl-parity", *foreign}
    assert core["hackmatrix"] == {"packaging", "rlworldkit"}
    for each in projects.values():
        extras = [text for extra in each.get("optional-dependencies", {}).values() for text in extra]
        for declared in map(Requirement, each["dependencies"] + extras):
            if declared.name not in projects:
                assert pins[canonicalize_name(declared.name)] in declared.specifier
            elif declared.name != each["name"] and not declared.extras:
                assert str(declared.specifier) == f"=={rlparity.__version__}"
    assert [name for name, pin in pins.items() if pin.is_prerelease or pin.local or "nightly" in name] == []
    assert "torch" not in names_of(projects["rlworldkit"]["optional-dependencies"]["jax"])
    assert [name for name in pins if name.startswith("nvidia")] == []


def test_all_distributions_have_one_version_and_one_license(root: Path, wheels: dict[str, Path]) -> None:
    (citation,) = re.findall(r"^version: (.+)$", (root / "CITATION.cff").read_text(), re.MULTILINE)
    assert {path.name.split("-")[1] for path in wheels.values()} == {rlparity.__version__} == {citation}
    assert len({(root / home / "LICENSE").read_text() for home in DISTRIBUTIONS.values()}) == 1


def test_each_wheel_has_its_own_packages_typed_and_nothing_else(root: Path, wheels: dict[str, Path]) -> None:
    packages = {}
    for name, wheel in wheels.items():
        files = zipfile.ZipFile(wheel).namelist()
        packages[name] = {file.partition("/")[0] for file in files if ".dist-info/" not in file}
        assert {f"{package}/py.typed" for package in packages[name]} <= set(files)
        assert [
            file for file in files if "__pycache__" in file or Path(file).name in ("pyproject.toml", "PKG-INFO")
        ] == []
    own = {"rl-parity": {"rlparity"}, "rlworldkit": {"rlworldkit"}, "hackmatrix": {"goodharts", "hackmatrix"}}
    assert packages == own
    linted = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
    assert sorted(set().union(*packages.values())) == sorted(linted)


FROM_THE_WHEEL = """
import sys
from importlib.metadata import distributions
from importlib.resources import files
from pathlib import Path

import rlparity
from goodharts.world import WORLDS
from hackmatrix.agents import AGENTS
from hackmatrix.swift_env.process import SwiftEngineError, binary_path
from hackmatrix.world import WORLD
from rlworldkit.cli.players import engine_of

wheel = Path(sys.argv[1])
assert Path(rlparity.__file__).is_relative_to(wheel)
for world in (WORLD, *WORLDS.values()):
    assert world.golden.is_relative_to(wheel) and list(world.golden.glob("*.json")), world.name
assert len(WORLD.benches) == 2 and all(bench.mutants for bench in WORLD.benches)
assert all(path.is_relative_to(wheel) and path.with_name("config.json").exists() for path in AGENTS.values())
assert files("rlworldkit").joinpath("runs", "live_page.html").is_file()
registered = {
    each.name: {(entry.group, entry.name) for entry in each.entry_points} for each in distributions(path=[str(wheel)])
}
assert registered["rl-parity"] == {("console_scripts", "rlparity"), ("pytest11", "rlparity")}
assert registered["rlworldkit"] == set()
programs = {("console_scripts", name) for name in ("goodharts", "hackmatrix")}
assert registered["hackmatrix"] == programs | {("rlparity.worlds", world.name) for world in (WORLD, *WORLDS.values())}

# It has no engine of Swift: JAX is the default, and whoever wants the other one reads how to get it.
assert (next(iter(WORLD.engines)), engine_of(WORLD, None)) == ("jax", "jax")
try:
    binary_path()
except SwiftEngineError as error:
    assert "install the wheel of hackmatrix for this platform" in str(error)
    assert "`--engine jax`; of `rlparity run`" in str(error)
else:
    raise AssertionError
"""


def test_the_packages_in_the_wheels_need_no_file_beside_them(wheels: dict[str, Path], tmp_path: Path) -> None:
    wheel = tmp_path / "wheel"
    assert wheels["hackmatrix"].name.endswith("-py3-none-any.whl")
    for path in wheels.values():
        zipfile.ZipFile(path).extractall(wheel)
    answer = subprocess.run(
        [sys.executable, "-c", FROM_THE_WHEEL, wheel],
        env={**os.environ, "PYTHONPATH": str(wheel), "HACKMATRIX_BINARY": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr


def test_requirements_are_the_project_itself_as_constraints_pin_it(root: Path, project: dict[str, Any]) -> None:
    lines = lines_of(root / "requirements.txt")
    options = dict(line.split(maxsplit=1) for line in lines)
    assert (root / options["--constraint"]).is_file()
    itself = Requirement(options["--editable"].replace(".", "hackmatrix", 1))
    assert lines[1:3] == ["--editable ./parity", "--editable ./python/rlworldkit"]
    assert itself.extras == {"dev"} <= project["optional-dependencies"].keys()
    assert len(lines) == 4


LINKS = re.compile(r"\]\(([^)]+)\)")


def metadata_of(wheel: Path) -> Message:
    """The fields of a wheel, with its README as the payload."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_metadata_says_who_made_it_and_where_it_is(
    name: str, project: dict[str, Any], wheels: dict[str, Path]
) -> None:
    metadata = metadata_of(wheels[name])
    addresses = dict(each.split(", ") for each in metadata.get_all("Project-URL", []))
    assert addresses == project["urls"]
    assert addresses.keys() == {"Changelog", "Documentation", "Issues", "Source"}
    assert all(address.startswith(addresses["Source"]) for address in addresses.values())
    for field in ("Author", "Keywords", "License-Expression", "Requires-Python", "Summary"):
        assert metadata[field], field
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])


def test_the_readme_of_an_index_links_to_the_files_that_the_one_of_the_repository_does(
    root: Path, project: dict[str, Any], wheels: dict[str, Path]
) -> None:
    metadata = metadata_of(wheels["hackmatrix"])
    source = project["urls"]["Source"]
    links, shown = (LINKS.findall(text) for text in ((root / "README.md").read_text(), str(metadata.get_payload())))
    assert len(links) == len(shown) > 20
    for link, address in zip(links, shown, strict=True):
        folder = "raw" if link.endswith((".png", ".svg")) else "blob"
        assert address == (link if "://" in link else f"{source}/{folder}/main/{link}")
    for name in ("rl-parity", "rlworldkit"):
        assert all("://" in link for link in LINKS.findall(str(metadata_of(wheels[name]).get_payload()))), name


def test_a_source_distribution_is_the_whole_repository(root: Path, sources: dict[str, Path]) -> None:
    if not (root / ".git").exists():
        pytest.skip("These are no files of a git checkout, but of a source distribution.")
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    assert [name for name in listed.stdout.splitlines() if not (sources["hackmatrix"] / name).exists()] == []
