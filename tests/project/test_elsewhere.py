"""In a project of others: the composite action of GitHub, the hook of pre-commit, and the first minute from the wheel.

The services themselves have run neither: what a runner does is imitated here, step by step.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import git

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
FAULT = "np.minimum(3,", "np.minimum(4,"
"""In the port of Orchard: resting heals too much."""
SHORT = "--games 16 --steps 60 --source directed"
LIMITED = "--games 8 --steps 40 --invalid 0"
FIRST_MINUTE = re.findall(r"```bash\n(.*?)```", (ROOT / "parity" / "README.md").read_text(), re.DOTALL)[0].splitlines()
"""The lines that the README promises, the first two within a minute and the last one within two more."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with what ``rlparity init`` writes."""
    folder = tmp_path / "project"
    subprocess.run([sys.executable, "-m", "rlparity", "init", folder], check=True, capture_output=True)
    return folder


def plant_fault(project: Path) -> None:
    port = project / "orchard" / "planes.py"
    text = port.read_text()
    assert text.count(FAULT[0]) == 1
    port.write_text(text.replace(*FAULT))


def value_of(text: str, inputs: Mapping[str, str], folder: Path) -> str:
    """A value of the action, its expressions evaluated."""

    def answer(found: re.Match[str]) -> str:
        context, _, name = found[1].partition(".")
        return {"inputs": inputs, "github": {"action_path": str(folder)}}[context][name]

    return re.sub(r"\$\{\{ *([a-z_.-]+) *\}\}", answer, text)


def run_action(project: Path, names: tuple[str, ...], python: Path, **given: str) -> tuple[int, dict[str, str]]:
    """Run steps of the action until one fails, as a runner does; returns its exit code, and what it wrote."""
    inputs = {name: each["default"] for name, each in ACTION["inputs"].items()} | given
    temporary = project.parent / "runner"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    files = {name: str(temporary / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    inherited = {name: os.environ[name] for name in os.environ if name.startswith("PIP_")}
    common = {**inherited, **files, "RUNNER_TEMP": str(temporary), "HOME": str(temporary)}
    common["PATH"] = f"{python.parent}{os.pathsep}{os.defpath}"
    common["PYTHONDONTWRITEBYTECODE"] = "1"  # cached bytecode would miss a fault that is planted within the second
    code = 0
    for step in (step for step in ACTION["runs"]["steps"] if step.get("name") in names and code == 0):
        own = {name: value_of(text, inputs, ROOT) for name, text in step["env"].items()}
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]  # as `shell: bash` is run
        code = subprocess.run(words, cwd=project, env=common | own, check=False, capture_output=True).returncode
    return code, {path.name: path.read_text() for path in temporary.iterdir() if path.is_file()}


def test_the_action_passes_a_port_that_plays_the_same_and_fails_another_and_is_strict(project: Path) -> None:
    assert ACTION["inputs"]["strict"]["default"] == "true"
    for strict, expected in (("true", 1), ("false", 0)):
        limited = {"world": "orchard.world:WORLD", "arguments": LIMITED.replace(" --", "\n--"), "strict": strict}
        code, written = run_action(project, ("Compare",), Path(sys.executable), **limited)
        assert (code, "LIMITED" in written["GITHUB_STEP_SUMMARY"]) == (expected, True), written
    given = {"world": "orchard.world:WORLD", "arguments": SHORT}
    code, written = run_action(project, ("Compare",), Path(sys.executable), **given)
    assert (code, written["GITHUB_OUTPUT"]) == (0, "exit-code=0\n")
    assert "PASS" in written["GITHUB_STEP_SUMMARY"]
    plant_fault(project)
    code, written = run_action(project, ("Compare",), Path(sys.executable), **given, engines="plain,planes")
    assert (code, written["GITHUB_OUTPUT"]) == (1, "exit-code=1\n")
    assert "DIVERGENT" in written["GITHUB_STEP_SUMMARY"]
    assert (project / ACTION["inputs"]["report"]["default"] / "trace.json").is_file()


def test_values_with_signs_of_the_shell_are_words(project: Path) -> None:
    code, written = run_action(project, ("Compare",), Path(sys.executable), world="$(touch pwned)`touch pwned`; x:y")
    assert (code, (project / "pwned").exists()) == (2, False)
    assert "cannot be imported" in written["rlparity.txt"]


@pytest.mark.long
def test_the_action_installs_the_harness_and_the_project(project: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    given = {"world": "orchard.world:WORLD", "arguments": SHORT, "install": "python -m pip install six"}
    code, written = run_action(project, ("Install", "Compare"), python, **given)
    assert (code, "PASS" in written["GITHUB_STEP_SUMMARY"]) == (0, True), written
    subprocess.run([python, "-c", "import six"], check=True)
    assert run_action(project, ("Install",), python, install="false")[0] == 1


def test_the_hook_of_pre_commit_refuses_a_port_that_plays_otherwise(project: Path, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    for folder in (hooks, project):
        git(folder, "init", "-q")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "Begin")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=hooks, check=True, capture_output=True, text=True).stdout

    def commit(arguments: str) -> tuple[int, str]:
        """Run the hook, with these arguments, as a commit of everything would."""
        words = ["--world", "orchard.world:WORLD", *arguments.split()]
        hook = {"repo": str(hooks), "rev": head.strip(), "hooks": [{"id": "rlparity", "args": words}]}
        (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [hook]}))
        git(project, "add", ".")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        own = {**os.environ, "PATH": path, "PRE_COMMIT_HOME": str(tmp_path / "cache")}
        command = [sys.executable, "-m", "pre_commit", "run", "--all-files"]
        done = subprocess.run(command, cwd=project, env=own, check=False, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    code, said = commit(SHORT)
    assert (code, "Passed" in said) == (0, True), said
    code, said = commit(LIMITED)
    assert (code, "LIMITED" in said) == (1, True), said
    plant_fault(project)
    code, said = commit(SHORT)
    assert (code, "DIVERGENT" in said, "rlparity replay" in said) == (1, True, True), said


@pytest.mark.long
def test_the_first_minute_takes_a_minute(wheels: dict[str, Path], tmp_path: Path) -> None:
    """In processor time, which is the wall clock of an idle machine, but for downloads."""
    install, compare, begin = FIRST_MINUTE
    shutil.copy(wheels["rl-parity"], tmp_path)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    environment = {name: os.environ[name] for name in os.environ if name.startswith("PIP_")} | {
        "PATH": f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{os.defpath}",
        "HOME": os.environ["HOME"],
        "JAX_PLATFORMS": "cpu",
    }

    def run(line: str) -> tuple[int, str, float]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return done.returncode, done.stdout + done.stderr, seconds

    code, said, installing = run(install)
    assert code == 0, said
    code, said, comparing = run(compare)
    assert (code, "DIVERGENT" in said, "rlparity replay" in said) == (1, True, True), said
    assert installing + comparing < 60, (installing, comparing)
    code, said, testing = run(begin)
    assert (code, "2 passed" in said) == (0, True), said
    assert testing < 120, testing
