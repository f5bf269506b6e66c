"""The workflows of GitHub Actions and the images: linters read them, and what their scripts call exists.

GitHub has not run them: what a runner or somebody's action does is not seen here.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hackmatrix.cli.main import main as hackmatrix
from rlparity.cli.main import build_parser
from rlparity.io.arguments import parser_of

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "parity" / "rlparity" / "templates" / "workflow.yml"
WORKFLOWS: dict[str, dict[Any, Any]] = {
    path.stem: yaml.safe_load(path.read_text()) for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
}
ON = True
"""The key ``on``, in YAML 1.1."""
DIFF = WORKFLOWS["rlparity-diff"]["jobs"]
STAND_IN = r"""#!/bin/bash
{ printf %s "${0##*/}"; printf ' %q' "$@"; echo; } >> "$RECORD"
case ${0##*/} in
  gh) [[ "$*" != *--paginate* ]] || printf "$COMMENT_IDS" ;;
  rlparity)
    [ "$PARITY_CODE" -lt 2 ] || { echo "rlparity: cannot." >&2; exit "$PARITY_CODE"; }
    echo "what differs" > "${!#}"  # the last argument, --markdown's
    exit "$PARITY_CODE" ;;
esac
"""


def scripts() -> Iterator[str]:
    """The commands of all jobs, a line each."""
    for workflow in (*WORKFLOWS.values(), yaml.safe_load(TEMPLATE.read_text())):
        for job in workflow["jobs"].values():
            for step in job.get("steps", []):
                yield from step.get("run", "").splitlines()


def run_step(job: Mapping[str, Any], name: str, folder: Path, **variables: str) -> tuple[int, list[str], str]:
    """Run a step's script, with stand-ins for rlparity and gh: exit code, what these were asked for, and the output."""
    (step,) = [step for step in job["steps"] if step.get("name") == name]
    for tool in ("rlparity", "gh"):
        (folder / tool).write_text(STAND_IN)
        (folder / tool).chmod(0o755)
    env = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "RECORD": str(folder / "record"), "PARITY_CODE": "0"}
    files = {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "FOLDER")}
    given = {**dict.fromkeys(step["env"], ""), **env, **files, **variables}
    words = ["bash", "-euo", "pipefail", "-c", step["run"]]
    done = subprocess.run(words, cwd=folder, env=given, capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, (folder / "record").read_text().splitlines(), done.stdout + done.stderr


def lint(*files: Path) -> "subprocess.CompletedProcess[str]":
    """Check files, or everything that the repository has for GitHub."""
    command = ["jactionlint", "--strict-exit", "--no-color", f"--shellcheck={shutil.which('shellcheck')}"]
    return subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("files", [(), (TEMPLATE,)], ids=["repository", "template"])
def test_the_linter_finds_nothing(files: tuple[Path, ...]) -> None:
    done = lint(*files)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_linter_finds_mistakes(tmp_path: Path) -> None:
    text, rules = (ROOT / ".github" / "workflows" / "rlparity-diff.yml").read_text(), set()
    for old, new, rule in (
        ('"$WORLD"', "$WORLD", "shellcheck"),
        ("${{ inputs.base }}", "${{ inputs.bsae }}", "undefined-property"),
        ("fetch-depth", "fetch-deep", "unknown-action-input"),
    ):
        rules.add(rule)
        assert old in text
        text = text.replace(old, new, 1)
    (tmp_path / "wrong.yml").write_text(text)
    done = lint(tmp_path / "wrong.yml")
    assert done.returncode == 1
    assert rules <= set(re.findall(r"\[([a-z-]+)\]", done.stdout))


def test_no_workflow_needs_a_secret_and_only_the_pages_and_a_release_write() -> None:
    writes = set()
    for name, workflow in WORKFLOWS.items():
        assert "pull_request_target" not in workflow[ON]
        assert "secrets." not in str(workflow)
        for each in (workflow, *workflow["jobs"].values()):
            writes |= {(name, scope) for scope, level in each.get("permissions", {}).items() if level != "read"}
    assert writes == {("docs", "id-token"), ("docs", "pages"), ("release", "id-token")}


def test_what_the_scripts_call_exists() -> None:
    called = [line.split() for line in scripts() if line.startswith((".", "make ", "docker run "))]
    programs = {words[0] for words in called if words[0].startswith(".")}
    assert programs == {"./swift-build", ".ci/run", ".ci/test-matrix"}
    assert all(os.access(ROOT / program, os.X_OK) for program in programs)
    targets = {*re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)}
    given = [" ".join(words[1:]) for words in called if words[0] in ("make", ".ci/run")]
    made = {word for words in given for word in re.findall("'(test[a-z-]*)'", words) or words.split()[:1]}
    assert made == {"docs", "test", "test-long"} <= targets
    in_the_image = [words[4:] for words in called if words[:2] == ["docker", "run"]]
    assert [words[0] for words in in_the_image] == ["hackmatrix", "rlparity"]
    parser_of(lambda: hackmatrix(in_the_image[0][1:2]))
    assert build_parser().parse_args(in_the_image[1][1:]).engines == ("swift", "jax")


def test_the_tests_of_the_matrix_exist() -> None:
    array = re.search(r"^tests=\(.*?\)", (ROOT / ".ci" / "test-matrix").read_text(), re.DOTALL | re.MULTILINE)
    assert array
    listing = f'{array[0]}; ls -d "${{tests[@]}}"'
    done = subprocess.run(["bash", "-c", listing], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_ci_tests_the_versions_of_jax_that_make_test_matrix_does() -> None:
    pairs = WORKFLOWS["ci"]["jobs"]["test-matrix"]["strategy"]["matrix"]["include"]
    (default,) = re.findall(r"^MATRIX \?= (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert [f"{pair['jax']}@python{pair['python']}" for pair in pairs] == default.split()


def test_a_tag_alone_uploads_and_the_harness_first() -> None:
    publish = WORKFLOWS["release"]["jobs"]["publish"]
    assert publish["if"] == "github.event_name == 'push'"
    assert {*publish["needs"], "publish"} == WORKFLOWS["release"]["jobs"].keys()
    uploads = [step["run"] for step in publish["steps"] if "twine upload" in step.get("run", "")]
    assert [line.rpartition("/")[2] for line in uploads] == ["rl_parity-*", "rlworldkit-*", "hackmatrix-*"]


@pytest.mark.parametrize("image", ["Dockerfile", ".devcontainer/Dockerfile"])
def test_the_linter_finds_nothing_in_an_image(image: str) -> None:
    done = subprocess.run(["hadolint", image], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("fails", ["true", "false"])
@pytest.mark.parametrize("code", range(4))
def test_a_comparison_fails_as_configured_and_reports_in_any_case(code: int, fails: str, tmp_path: Path) -> None:
    ended, asked, log = run_step(
        DIFF["diff"],
        "Compare",
        tmp_path,
        PARITY_CODE=str(code),
        FAIL_ON_DIFFERENCE=fails,
        BASE="'main'",
        HEAD="HEAD",
        WORLD="a:B; $(touch pwned)",
        ENGINE="`jax`",
        EXPECT="rewards:kills  mask",
        ARGUMENTS='--price-a  kill=1\n--games 8 * "',
    )
    assert ended == (0 if code == 1 and fails == "false" else code)
    assert ("::warning::" in log) == (code == 1 and fails == "false")
    assert (tmp_path / "GITHUB_OUTPUT").read_text() == f"exit-code={code}\n"
    failed = f"`rlparity diff` ended with exit code {code}:\n\n    rlparity: cannot.\n"
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text() == (failed if code > 1 else "what differs\n")
    _, *words = shlex.split(asked[0])
    html, json, markdown = (str(tmp_path / "FOLDER" / f"diff.{kind}") for kind in ("html", "json", "md"))
    assert words == [
        *("diff", "'main'", "HEAD", "--world", "a:B; $(touch pwned)"),
        *("--price-a", "kill=1", "--games", "8", "*", '"'),
        *("--engine", "`jax`", "--expect", "rewards:kills", "--expect", "mask"),
        *("--html", html, "--json", json, "--markdown", markdown),
    ]
    build_parser().parse_args([word for word in words if word not in ("*", '"')])
