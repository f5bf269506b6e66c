"""The other ways to install the project, requirements.txt and the dev container, install the same as make does."""

import json
import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from parity.errors import install_command


@pytest.fixture(scope="module")
def devcontainer(root: Path) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads((root / ".devcontainer" / "devcontainer.json").read_text())
    return settings


def test_requirements_are_the_project_itself_as_constraints_pin_it(root: Path) -> None:
    lines = [line for line in (root / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    options = dict(line.split(maxsplit=1) for line in lines)
    assert (root / options["--constraint"]).is_file()
    project = Requirement(options["--editable"].replace(".", "hackmatrix", 1))
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert project.extras == {"dev"} <= extras.keys()
    assert len(lines) == 2


def test_the_dev_container_is_made_by_commands_that_exist(root: Path, devcontainer: dict[str, Any]) -> None:
    targets = re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE)
    commands = [command.split() for command in devcontainer["postCreateCommand"].split(" && ")]
    assert commands == [["make", "setup"], ["./swift-build"]]
    for program, *words in commands:
        if program == "make":
            assert set(words) <= set(targets)
        else:
            assert os.access(root / program, os.X_OK)


def test_the_dev_container_has_what_these_commands_need(root: Path, devcontainer: dict[str, Any]) -> None:
    image = (root / ".devcontainer" / devcontainer["build"]["dockerfile"]).read_text()
    assert re.search(r"^FROM swift:6\.\d+-noble$", image, re.MULTILINE)
    assert {"git", "make", "python3", "python3-venv"} <= set(image.split())


def test_the_dev_container_has_the_environment_that_make_setup_fills_activated(
    root: Path, devcontainer: dict[str, Any]
) -> None:
    (venv,) = re.findall(r"^VENV := (.+)$", (root / "Makefile").read_text(), re.MULTILINE)
    folder = f"${{containerWorkspaceFolder}}/{venv}"
    assert devcontainer["remoteEnv"]["VIRTUAL_ENV"] == folder
    assert devcontainer["remoteEnv"]["PATH"].split(":")[0] == f"{folder}/bin"


def test_the_command_for_an_extra_works_in_every_directory_and_needs_no_index_that_has_the_package(
    tmp_path: Path,
) -> None:
    words = [*shlex.split(install_command("hackmatrix[dev]")), "--dry-run", "--no-index"]
    answer = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert "Would install" not in answer.stdout
