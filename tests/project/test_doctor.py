"""``hackmatrix doctor``: one line for each check, and a code that says whether anything needed is broken."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hackmatrix import doctor
from hackmatrix.doctor import BROKEN, NOTE, OK
from parity.errors import install_command


def run_doctor(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "hackmatrix.cli.main", "doctor", *words]
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that HACKMATRIX_BINARY names, which is no engine."""
    path = tmp_path / "HackMatrix"
    path.write_text("#!/bin/sh\nexit 1\n")
    path.chmod(0o755)
    monkeypatch.setenv("HACKMATRIX_BINARY", str(path))
    return path


def test_where_all_is_well_every_check_has_a_line_and_the_code_is_0(
    swift_built: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "new" / "cache"))
    answer = run_doctor()
    assert answer.returncode == 0, answer.stdout
    lines = answer.stdout.splitlines()
    assert {line.split()[0] for line in lines} <= {OK, NOTE}
    assert "\x1b" not in answer.stdout
    for name in ("Python", "packages", "Swift toolchain", "Swift engine", "JAX", "extra sb3", "display"):
        assert [line for line in lines if f" {name} " in line], name
    (cache,) = [line for line in lines if " compilation cache " in line]
    assert cache.startswith(OK)
    assert "a second process found there what the first one compiled" in cache
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_is_broken_is_said_in_json_too_and_the_code_is_1(
    program: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "file"))
    answer = run_doctor("--json")
    assert answer.returncode == 1
    told = json.loads(answer.stdout)
    assert told["ok"] is False
    broken = {check["name"]: check for check in told["checks"] if check["status"] == BROKEN}
    assert set(broken) == {"Swift engine", "compilation cache"}
    assert "./swift-build" in broken["Swift engine"]["found"]
    assert "is no folder" in broken["compilation cache"]["found"]
    assert "JAX_COMPILATION_CACHE_DIR" in broken["compilation cache"]["remedy"]


@pytest.mark.parametrize(
    ("variable", "value", "is_jax", "found", "remedy"),
    [
        ("JAX_ENABLE_COMPILATION_CACHE", "0", False, "did not find", "JAX_ENABLE_COMPILATION_CACHE"),
        ("JAX_PLATFORMS", "moon", True, "moon", "JAX_PLATFORMS=cpu"),
    ],
)
def test_a_cache_that_nobody_finds_anything_in_and_a_device_that_is_not_there_are_broken(
    variable: str, value: str, is_jax: bool, found: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    jax, cache = doctor.jax_and_cache(tmp_path)
    assert (jax.status, cache.status) == (BROKEN if is_jax else OK, BROKEN)
    broken = jax if is_jax else cache
    assert found in broken.found
    assert remedy in broken.remedy


def test_an_engine_that_was_not_built_is_no_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HACKMATRIX_BINARY", raising=False)
    monkeypatch.setattr("hackmatrix.swift_env.process._ROOT", tmp_path)
    engine = doctor.swift_engine()
    assert engine.status == NOTE
    assert f"build it with {tmp_path}/swift-build" in engine.found


def test_a_swift_that_does_not_answer_is_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiler = tmp_path / "swift"
    compiler.write_text("#!/bin/sh\nexec sleep 60\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(doctor, "PROBE_SECONDS", 0.2)
    found = doctor.swift_toolchain()
    assert (found.status, found.found) == (NOTE, "there is no swift on the PATH that runs")


def test_an_engine_of_other_rules_is_broken(swift_built: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "RULES_VERSION", "other")
    engine = doctor.swift_engine()
    assert engine.status == BROKEN
    assert "these are rules other" in engine.found


def test_a_missing_extra_is_noted_with_its_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor._EXTRAS, "moon", ("numpy", "no-such-distribution"))
    extra = doctor.extra("moon")
    assert (extra.status, extra.found) == (NOTE, "not installed: no-such-distribution")
    assert extra.remedy == install_command("hackmatrix[moon]")


def test_a_package_outside_its_limits_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "hackmatrix.doctor.metadata.requires", lambda name: ["numpy>=99", 'wandb>=99; extra == "wandb"']
    )
    found = doctor.packages()
    assert found.status == BROKEN
    assert "numpy" in found.found
    assert "wandb" not in found.found


@pytest.mark.parametrize(("variables", "status"), [({}, NOTE), ({"DISPLAY": ":0"}, OK)])
def test_a_display_is_looked_for(variables: dict[str, str], status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert doctor.display().status == status
