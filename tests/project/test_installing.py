"""The other ways to install the project, requirements.txt and the dev container, install the same as make does."""

import json
import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from parity.errors import install_command


def test_requirements_are_the_project_itself_as_constraints_pin_it(root: Path) -> None:
    lines = [line for line in (root / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    options = dict(line.split(maxsplit=1) for line in lines)
    assert (root / options["--constraint"]).is_file()
    project = Requirement(options["--editable"].replace(".", "hackmatrix", 1))
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert project.extras == {"dev"} <= extras.keys()
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
    words = [*shlex.split(install_command("hackmatrix[dev]")), "--dry-run", "--no-index"]
    answer = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert "Would install" not in answer.stdout
