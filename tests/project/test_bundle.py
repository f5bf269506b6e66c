"""Wheels with the Swift engine inside."""

import os
import platform
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

LIBRARIES = sysconfig.get_path("purelib")
"""On a PYTHONPATH, where no ``.pth`` is read: all that the packages need, but none of them."""
FIND = """
from hackmatrix.swift_env.process import binary_path
from hackmatrix.world import WORLD
print(binary_path(), next(iter(WORLD.engines)))
"""
PLAY = """
import gymnasium, hackmatrix
from hackmatrix.swift_env.process import binary_path
print(binary_path())
print(gymnasium.make("HackMatrix-v0").reset(seed=7)[1]["seed"])
"""


def run(program: Path | str, *words: Path | str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a program that neither the checkout nor a toolchain is in the way of."""
    env = {"PATH": os.defpath, "HOME": str(folder), "JAX_PLATFORMS": "cpu", **variables}
    return subprocess.run([program, *words], cwd=folder, env=env, capture_output=True, text=True, check=False)


def build(root: Path, binary: Path, out: Path) -> Path:
    """Build the wheel with this binary inside."""
    words = "-P", "-m", "hatchling", "build", "--target", "wheel", "--directory", out
    env = {**os.environ, "HACKMATRIX_BUNDLE": str(binary)}
    subprocess.run([sys.executable, *words], cwd=root, env=env, capture_output=True, check=True)
    (wheel,) = out.glob("*.whl")
    return wheel


def install(folder: Path, *wheels: Path) -> Path:
    """Install wheels without what they need; return the Python of their environment."""
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    pip = "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--quiet", "--no-index"
    subprocess.run([sys.executable, *pip, "--no-deps", "--no-compile", *wheels], check=True)
    return python


def test_an_engine_in_the_wheel_is_installed_as_the_program_that_commands_start(
    root: Path, wheels: dict[str, Path], tmp_path: Path
) -> None:
    engine = tmp_path / "engine"
    engine.write_bytes(b"#!/bin/sh\necho here\n# \0GLIBC_2.4\0GLIBC_2.31\0GLIBCXX_3.4.99\0")
    engine.chmod(0o755)
    wheel = build(root, engine, tmp_path)
    system = "macosx_14_0" if sys.platform == "darwin" else "manylinux_2_31"
    assert wheel.name.endswith(f"-py3-none-{system}_{platform.machine()}.whl")
    (description,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/WHEEL")]
    assert b"Root-Is-Purelib: false" in zipfile.ZipFile(wheel).read(description)
    python = install(tmp_path, wheel, wheels["rlworldkit"], wheels["rl-parity"])
    found = run(python, "-c", FIND, folder=tmp_path, PYTHONPATH=LIBRARIES)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    path, default = found.stdout.split()
    assert (Path(path), default) == (site / "hackmatrix" / "swift_env" / "bin" / "HackMatrix", "swift")
    assert run(path, folder=tmp_path).stdout == "here\n"


@pytest.mark.long
def test_the_static_engine_needs_no_more_of_the_system_than_its_wheel_says(
    swift_built: None, root: Path, wheels: dict[str, Path], tmp_path: Path
) -> None:
    subprocess.run(["make", "bundle"], cwd=root, capture_output=True, check=True)
    wheel = build(root, root / ".build-bundle" / "release" / "HackMatrix", tmp_path)
    if sys.platform == "linux":
        shown = run(sys.executable, "-m", "auditwheel", "show", wheel, folder=tmp_path).stdout
        tag = wheel.stem.split("-")[-1]
        assert f'following platform tag: "{tag}"' in " ".join(shown.split()), shown
    python = install(tmp_path, wheel, wheels["rlworldkit"], wheels["rl-parity"])
    done = run(python, "-c", PLAY, folder=tmp_path, PYTHONPATH=LIBRARIES)
    assert done.returncode == 0, done.stderr
    path, seed = done.stdout.splitlines()
    assert (Path(path).is_relative_to(tmp_path), seed) == (True, "7")
