"""``hackmatrix doctor``: one line for each check, and a code that says whether anything needed is broken."""

import json
from pathlib import Path

import pytest

from hackmatrix.cli import doctor
from hackmatrix.cli.main import main
from rlparity.cli.doctor import BROKEN, NOTE, OK

CACHE = "JAX_COMPILATION_CACHE_DIR"


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of JAX that the command changes are as before after a test."""
    monkeypatch.setenv("JAX_ENABLE_COMPILATION_CACHE", "true")
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")


@pytest.mark.usefixtures("shadowing_files")
def test_where_all_is_well_every_check_has_a_line_and_the_code_is_0(
    swift_built: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "new" / "cache"))
    code, printed = main(["doctor"]), capsys.readouterr().out
    assert code == 0, printed
    lines = printed.splitlines()
    assert {line.split()[0] for line in lines} <= {OK, NOTE}
    for name in ("Python", "packages", "Swift toolchain", "Swift engine", "JAX", "extra sb3", "display"):
        assert [line for line in lines if f" {name} " in line], name
    (cache,) = [line for line in lines if " compilation cache " in line]
    assert cache.startswith(OK)
    assert "a second process found there what the first one compiled" in cache
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".py"] == []


def test_what_is_broken_is_said_in_json_too_and_the_code_is_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, program = tmp_path / "file", tmp_path / "HackMatrix"
    file.touch()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("HACKMATRIX_BINARY", str(program))
    monkeypatch.setenv(CACHE, str(file))
    monkeypatch.setenv("JAX_PLATFORMS", "moon")
    assert main(["doctor", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is False
    broken = {check["name"]: check for check in answer["checks"] if check["status"] == BROKEN}
    assert set(broken) == {"Swift engine", "JAX", "compilation cache"}
    assert "./swift-build" in broken["Swift engine"]["found"]
    assert "moon" in broken["JAX"]["found"]
    assert "JAX_PLATFORMS=cpu" in broken["JAX"]["remedy"]
    assert "is no folder" in broken["compilation cache"]["found"]
    assert CACHE in broken["compilation cache"]["remedy"]


def test_entries_of_the_cache_that_cannot_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hits = iter([False, True] * 2)
    monkeypatch.setattr(doctor, "_probe", lambda *_: {"devices": ["cpu"], "platform": "cpu", "hit": next(hits)})
    assert doctor.jax_and_cache(tmp_path)[1].status == OK
    (tmp_path / "jit_train-0-cache").touch()
    _, cache = doctor.jax_and_cache(tmp_path)
    assert cache.status == NOTE
    assert cache.found == f"1 of its entries cannot be read, such as {tmp_path}/jit_train-0-cache"


def test_an_engine_that_was_not_built_is_no_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HACKMATRIX_BINARY", raising=False)
    monkeypatch.setattr("hackmatrix.swift_env.process._ROOT", tmp_path)
    (tmp_path / "swift-build").touch()
    engine = doctor.swift_engine()
    assert engine.status == NOTE
    assert f"build it with {tmp_path}/swift-build" in engine.found
