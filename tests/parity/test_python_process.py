"""Processes of Python that are started here: files of the working directory shadow no module."""

import subprocess
from pathlib import Path

import pytest

import rlparity
from rlparity.engines.python_process import python_command, python_environment

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
    root = Path(rlparity.__file__).parents[2]
    found = {path for top in ("parity", "python") for path in (root / top).rglob("*.py") if NAMED in path.read_text()}
    names_of_commands = {
        "parity/rlparity/io/console.py",
        "parity/rlparity/errors.py",
        "parity/rlparity/cli/doctor.py",
        "python/rlworldkit/cli/export.py",
    }
    starts = {"parity/rlparity/engines/python_process.py", "parity/rlparity/engines/remote.py"}
    assert {str(path.relative_to(root)) for path in found} == names_of_commands | starts
