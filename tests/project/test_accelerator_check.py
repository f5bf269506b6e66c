"""``make accelerator-check`` and the figures of a GPU on a CPU, and what becomes of a part that fails or hangs."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

STUDIES = Path(__file__).resolve().parents[2] / "studies"
SWIFT = "lockstep hackmatrix swift"
ENVIRONMENT = {**os.environ, "HACKMATRIX_BINARY": "/nowhere", "PYTHONPATH": str(STUDIES.parent)}


def check(folder: Path, *flags: str, code: int = 0) -> list[dict[str, Any]]:
    """Rows of a check with four games and 64 steps."""
    words = ["--output", str(folder), "--games", "4", "--steps", "64", "--sample-seconds", "0.01", *flags]
    script = str(STUDIES / "accelerator_check.py")
    done = subprocess.run(
        [sys.executable, script, *words], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    rows: list[dict[str, Any]] = json.loads((folder / "accelerator.json").read_text())["rows"]
    return rows


@pytest.mark.long
def test_every_part_runs_on_a_cpu(tmp_path: Path) -> None:
    rows = check(tmp_path, "--minutes", "90", "--jobs", "2")
    assert {row["part"] for row in rows if "status" in row} == {SWIFT}
    (speed,) = (row for row in rows if row["part"] == "env goodharts compact")
    assert speed["games"] == 4
    assert min(speed["value"], speed["peak_bytes"], speed["gather"]) > 0
    assert f"<td>{round(speed['value']):,}</td>" in (tmp_path / "accelerator.html").read_text()
    compared = [(row["what"], row["steps"]) for row in rows if row["part"] == "lockstep goodharts torch-device"]
    assert sorted(compared) == [("directed, auto-reset", 2), ("uniform", 32), ("uniform, auto-reset", 32)]


@pytest.mark.long
def test_the_figures_of_a_gpu_are_measured_on_a_cpu_too() -> None:
    words = [sys.executable, str(STUDIES / "gpu_figures.py"), "--games", "8", "--sample-seconds", "0.01"]
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    _, *figures = map(json.loads, done.stdout.splitlines())
    missing = {each.pop("missing", "").partition(" named ")[0] for each in figures}
    assert missing == {"", "ModuleNotFoundError: No module"}  # those of others
    assert all(each["steps_per_second"] > 0 for each in figures if len(each) > 2)
    assert sum(each["name"].startswith("train hackmatrix") for each in figures if len(each) > 2) == 2


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(STUDIES))
    import accelerator_check

    return accelerator_check


STUB = """
import sys, time
print('@{"what": "a row"}', flush=True)
sys.exit("it broke") if sys.argv[2] == "breaks" else time.sleep(600)
"""


def test_a_part_that_fails_or_hangs_is_named_and_keeps_its_rows(
    study: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = tmp_path / "stub.py"
    stub.write_text(STUB)
    monkeypatch.setattr(study, "__file__", str(stub))
    found: list[tuple[str, Any]] = []
    now = time.time()
    plan = study.Plan((1,), 1, 1.0, compile_until=now + 0.5)
    study.run_parts(
        ["breaks", "hangs", "waits"], plan, now + 1.5, 2, lambda name, row: found.append((name, row.get("why", row)))
    )
    assert sorted(found, key=str) == [
        ("breaks", "exit code 1: it broke"),
        ("breaks", {"what": "a row"}),
        ("hangs", "it took longer than the time that was left"),
        ("hangs", {"what": "a row"}),
        ("waits", "it took longer than the time that was left"),
        ("waits", {"what": "a row"}),
    ]
