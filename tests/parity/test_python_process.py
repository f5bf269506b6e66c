"""Processes of Python that are started here: files of the working directory shadow no module."""

import subprocess
from pathlib import Path

import pytest

import parity
from parity.python_process import python_command, python_environment

NAMED = "sys.executable"


@pytest.mark.usefixtures("shadowing_files")
def test_a_folder_of_modules_shadows_none_of_the_standard_library(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import math, queue, random, types")
    command = python_command("-c", "import own; print(own.__file__)")
    done = subprocess.run(
        command, env=python_environment({"PYTHONPATH": str(tmp_path)}), capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == (f"{tmp_path / 'own.py'}\n", "")


def test_python_is_started_in_one_way() -> None:
    root = Path(parity.__file__).parents[1]
    found = {path for top in ("parity", "python") for path in (root / top).rglob("*.py") if NAMED in path.read_text()}
    names_of_commands = {"parity/console.py", "parity/errors.py", "parity/doctor.py", "python/rlworldkit/cli/export.py"}
    starts = {"parity/python_process.py", "parity/remote.py"}
    assert {str(path.relative_to(root)) for path in found} == names_of_commands | starts
