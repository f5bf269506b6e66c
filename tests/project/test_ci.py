"""``.ci/run`` installs only what is missing, and ends as ``make test`` ends: tried with stand-ins for the tools."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PYTHON = 'case "$2" in *ensurepip*) [ -e "$HERE/venv-installed" ] ;; esac'
APT = 'echo "$@" >> "$HERE/apt.log"; case "$*" in *python3-venv*) touch "$HERE/venv-installed" ;; esac'
MAKE = 'echo "make $* with CI=$CI"; exit "$MAKE_EXIT"'


@pytest.fixture
def machine(root: Path, tmp_path: Path) -> Path:
    """A folder with ``.ci/run`` and a ``bin`` of stand-ins; nothing else is on the PATH."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(root / ".ci" / "run", tmp_path / ".ci" / "run")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, script in {"python3": PYTHON, "apt-get": APT, "make": MAKE}.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    for name in ("bash", "sh", "dirname", "touch"):
        (tools / name).symlink_to(str(shutil.which(name)))
    return tmp_path


def ci(machine: Path, make_exit: int = 0) -> "subprocess.CompletedProcess[str]":
    env = {"PATH": str(machine / "bin"), "HERE": str(machine), "MAKE_EXIT": str(make_exit), "HOME": os.environ["HOME"]}
    return subprocess.run(
        [str(machine / ".ci" / "run")], env=env, capture_output=True, text=True, timeout=30, check=False
    )


def test_a_machine_that_has_everything_installs_nothing(machine: Path) -> None:
    (machine / "venv-installed").touch()
    (machine / "bin" / "chromium").symlink_to(machine / "bin" / "sh")
    answer = ci(machine)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == "make test with CI=true\n"
    assert not (machine / "apt.log").exists()


def test_what_is_missing_is_installed_first(machine: Path) -> None:
    assert ci(machine).returncode == 0
    updated, installed = (machine / "apt.log").read_text().splitlines()
    assert updated.startswith("update")
    assert installed.startswith("install")
    assert installed.endswith(" python3-venv chromium")


def test_a_failing_test_run_fails(machine: Path) -> None:
    (machine / "venv-installed").touch()
    assert ci(machine, make_exit=2).returncode == 2


def test_another_system_is_told_what_is_missing(machine: Path) -> None:
    (machine / "bin" / "apt-get").unlink()
    answer = ci(machine)
    assert answer.returncode == 1
    assert "python3-venv chromium missing" in answer.stderr
