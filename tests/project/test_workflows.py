"""The workflows of GitHub Actions and the images: their syntax, and what scripts do, with stand-ins for the tools.

GitHub has not run them: what a runner or somebody's action does is not seen here.
"""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rlparity.cli.main import build_parser
from tests.project.dry_run import TOOLS, Job, dry_run, evaluate, holds, inputs_of, read_workflow

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"
CI, DOCS, DIFF, RELEASE, CONTAINERS = (
    read_workflow(WORKFLOWS / f"{name}.yml") for name in ("ci", "docs", "rlparity-diff", "release", "containers")
)
TEMPLATE = ROOT / "parity" / "rlparity" / "templates" / "workflow.yml"
PYTHON = "uses actions/setup-python@v6 python-version=3.11"
INSTALL = "python -m pip install --editable ."
FILES = "--html rlparity-diff/diff.html --json rlparity-diff/diff.json --markdown rlparity-diff/diff.md"
UPLOAD = "uses actions/upload-artifact@v6 name=rlparity-diff path=rlparity-diff"
CI_VALUES = {
    "vars.PIP_EXTRA_INDEX_URL": "",
    "github.event_name": "pull_request",
    "hashFiles('**/pyproject.toml', 'constraints.txt')": "A",
    "hashFiles('swift/**')": "B",
    "matrix.jax": "0.12",
    "matrix.python": "3.13",
}


def lint(*files: Path) -> "subprocess.CompletedProcess[str]":
    """Check files, or everything that the repository has for GitHub."""
    shellcheck = shutil.which("shellcheck")
    assert shellcheck is not None
    command = ["jactionlint", "--strict-exit", "--no-color", f"--shellcheck={shellcheck}", *map(str, files)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def diff(folder: Path, inputs: dict[str, Any], tools: Sequence[str] = TOOLS, **variables: str) -> Job:
    """Run the job that compares."""
    values = {**inputs_of(DIFF, inputs), "steps.diff.outputs.exit-code": ""}
    return dry_run(DIFF, "diff", values, folder, tools, **variables)


@pytest.mark.parametrize("files", [(), (TEMPLATE,)], ids=["repository", "template"])
def test_the_linter_finds_nothing(files: tuple[Path, ...]) -> None:
    done = lint(*files)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ('"$WORLD"', "$WORLD", "shellcheck"),
        ('"$WORLD"', '"${{ inputs.world }}"', "template-injection"),
        ("${{ inputs.world }}", "${{ inputs.wrold }}", "undefined-property"),
        ("fetch-depth", "fetch-deep", "unknown-action-input"),
        ("timeout-minutes: 60", "timeout: 60", "workflow-syntax"),
    ],
)
def test_the_linter_finds_a_mistake(old: str, new: str, rule: str, tmp_path: Path) -> None:
    text = (WORKFLOWS / "rlparity-diff.yml").read_text()
    assert old in text
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(text.replace(old, new, 1))
    done = lint(wrong)
    assert done.returncode == 1
    assert f"[{rule}]" in done.stdout


@pytest.mark.parametrize(
    ("workflow", "writes"),
    [(CI, set()), (DIFF, set()), (CONTAINERS, set()), (DOCS, {"id-token", "pages"}), (RELEASE, {"id-token"})],
)
def test_workflows_need_no_secret_and_write_nothing_but_the_pages(workflow: dict[str, Any], writes: set[str]) -> None:
    assert "pull_request_target" not in workflow["on"]
    assert "secrets." not in str(workflow)
    rights = [workflow.get("permissions", {}), *(job.get("permissions", {}) for job in workflow["jobs"].values())]
    assert {scope for right in rights for scope, level in right.items() if level != "read"} == writes


def test_ci_runs_the_check_on_sources_of_a_fixed_time(tmp_path: Path) -> None:
    source = tmp_path / "work" / "swift" / "a.swift"
    source.parent.mkdir(parents=True)
    source.touch()
    job = dry_run(CI, "check", CI_VALUES, tmp_path)
    assert job.succeeded, job.log
    assert job.record == [
        "uses actions/checkout@v6 persist-credentials=false",
        "uses actions/cache@v5 path=/root/.cache/pip key=pip-3.11-A",
        "uses actions/cache@v5 path=.build-linux key=swift-6.2-B",
        "git config --global --add safe.directory .",
        ".ci/run",
    ]
    assert source.stat().st_mtime // 86400 == 10957  # days from 1970 to 2000


@pytest.mark.parametrize(
    ("workflow", "job", "tool"), [(CI, "check", "run"), (CI, "test-matrix", "test-matrix"), (DOCS, "publish", "make")]
)
def test_a_failed_check_fails_the_job(workflow: dict[str, Any], job: str, tool: str, tmp_path: Path) -> None:
    (tmp_path / "work" / "swift").mkdir(parents=True)
    done = dry_run(workflow, job, CI_VALUES, tmp_path, FAILING=tool)
    assert not done.succeeded
    assert tool in done.record[-1]


def test_ci_tests_the_versions_of_jax_that_make_test_matrix_does(tmp_path: Path) -> None:
    pairs = CI["jobs"]["test-matrix"]["strategy"]["matrix"]["include"]
    (default,) = re.findall(r"^MATRIX \?= (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert [f"{pair['jax']}@python{pair['python']}" for pair in pairs] == default.split()
    job = dry_run(CI, "test-matrix", CI_VALUES, tmp_path)
    assert job.record == [
        "uses actions/checkout@v6 persist-credentials=false",
        "uses actions/setup-python@v6 python-version=3.13",
        "./swift-build",
        ".ci/test-matrix 0.12@python3",
    ]


def test_docs_builds_and_deploys_the_site(tmp_path: Path) -> None:
    assert dry_run(DOCS, "publish", CI_VALUES, tmp_path).record == [
        "uses actions/checkout@v6 persist-credentials=false",
        PYTHON,
        "make docs",
        "uses actions/upload-pages-artifact@v4 path=.cache/site",
        "uses actions/deploy-pages@v5",
    ]


def test_a_release_has_an_engine_for_each_platform_and_a_wheel_for_all_others(tmp_path: Path) -> None:
    values = {"matrix.runner": "some-runner", "github.event_name": "push"}
    assert RELEASE["jobs"]["engine"]["strategy"]["matrix"]["runner"] == ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-26"]
    assert dry_run(RELEASE, "engine", values, tmp_path / "engine").record[2:] == [
        "python -m pip install cibuildwheel==4.3.5",
        "python -m cibuildwheel --output-dir dist",
        "uses actions/upload-artifact@v6 name=dist-some-runner path=dist",
    ]
    built = tmp_path / "python" / "work" / "dist"
    built.mkdir(parents=True)
    for name in ("hackmatrix", "rl_parity"):
        (built / f"{name}-1.2.3.tar.gz").touch()
    job = dry_run(RELEASE, "python", values, tmp_path / "python", GITHUB_REF_NAME="v1.2.3")
    assert job.record[3:5] == ["python -m build --outdir dist parity", "python -m build --outdir dist ."]
    assert job.succeeded, job.log
    assert not dry_run(RELEASE, "python", values, tmp_path / "python", GITHUB_REF_NAME="v1.2.4").succeeded


def test_a_tag_alone_uploads_and_the_harness_first(tmp_path: Path) -> None:
    publish = RELEASE["jobs"]["publish"]
    assert not holds(publish["if"], {"github.event_name": "workflow_dispatch"}, True)
    assert set(publish["needs"]) == RELEASE["jobs"].keys() - {"publish"}
    built = tmp_path / "work" / "dist"
    built.mkdir(parents=True)
    for name in ("hackmatrix-1-py3-none-any.whl", "rl_parity-1-py3-none-any.whl", "hackmatrix-1.tar.gz"):
        (built / name).touch()
    job = dry_run(RELEASE, "publish", {}, tmp_path)
    assert job.record[0] == "uses actions/download-artifact@v7 pattern=dist-* path=dist merge-multiple=true"
    assert job.record[-2:] == [
        "python -m twine upload dist/rl_parity-1-py3-none-any.whl",
        "python -m twine upload dist/hackmatrix-1-py3-none-any.whl dist/hackmatrix-1.tar.gz",
    ]


def test_both_images_are_built_and_that_of_the_wheels_is_tried(tmp_path: Path) -> None:
    record = dry_run(CONTAINERS, "build", {}, tmp_path).record[1:]
    assert [line for line in record if " build " in line] == [
        "docker build --tag hackmatrix .",
        "docker build --tag hackmatrix-dev .devcontainer",
    ]
    runs = [shlex.split(line)[4:] for line in record if " run " in line]
    assert [words[0] for words in runs] == ["hackmatrix", "rlparity"]
    assert build_parser().parse_args(runs[1][1:]).engines == ("swift", "jax")


def hadolint(file: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["hadolint", file], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("image", ["Dockerfile", ".devcontainer/Dockerfile"])
def test_the_linter_finds_nothing_in_an_image(image: str, tmp_path: Path) -> None:
    done = hadolint(ROOT / image)
    assert (done.returncode, done.stdout) == (0, "")
    wrong = tmp_path / "Dockerfile"
    wrong.write_text((ROOT / image).read_text().replace(" --no-install-recommends", "", 1))
    assert "DL3015" in hadolint(wrong).stdout


def test_the_image_runs_as_somebody_who_is_not_root() -> None:
    stage = (ROOT / "Dockerfile").read_text().split("FROM ")[-1]
    assert [line for line in stage.splitlines() if line.startswith("USER ")] == ["USER 1000"]


@pytest.mark.parametrize(("failing", "report"), [("", []), ("pytest", ["uses actions/upload-artifact@v6"])])
def test_the_template_runs_the_tests_and_keeps_the_report_of_a_failure(
    failing: str, report: list[str], tmp_path: Path
) -> None:
    job = dry_run(read_workflow(TEMPLATE), "rlparity", {}, tmp_path, FAILING=failing)
    assert job.succeeded == (not failing)
    *before, install, run = job.record[:4]
    assert before == ["uses actions/checkout@v6 persist-credentials=false", PYTHON]
    assert shlex.split(install)[:5] == ["python", "-m", "pip", "install", "pytest"]
    assert run == "python -m pytest"
    assert [line.split(" name")[0] for line in job.record[4:]] == report


@pytest.mark.parametrize("world", CI["jobs"]["rlparity-diff"]["strategy"]["matrix"]["world"])
def test_ci_compares_the_games_of_a_pull_request_and_lets_them_differ(
    world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = CI["jobs"]["rlparity-diff"]
    assert (WORKFLOWS / Path(call["uses"]).name).samefile(ROOT / call["uses"])
    assert holds(call["if"], CI_VALUES, True)
    assert not holds(call["if"], {"github.event_name": "push"}, True)
    inputs = {name: evaluate(value, {"matrix.world": world}) for name, value in call["with"].items()}
    job = diff(tmp_path, inputs, PARITY_CODE="1")
    assert job.succeeded
    assert job.record == [
        "uses actions/checkout@v6 fetch-depth=0 persist-credentials=false",
        PYTHON,
        "python -m pip install --constraint constraints.txt --editable ./parity --editable .",
        f"rlparity diff HEAD\\^ HEAD --world {world} --engine jax {FILES}",
        f"uses actions/upload-artifact@v6 name=rlparity-diff-{world} path=rlparity-diff",
    ]
    monkeypatch.chdir(tmp_path)
    Path("rlparity-diff").mkdir()  # as the workflow makes it
    options = build_parser().parse_args(shlex.split(job.record[3])[1:])
    assert (options.a, options.b, options.world, options.engine) == ("HEAD^", "HEAD", world, "jax")


@pytest.mark.parametrize(
    ("code", "fail_on_difference", "succeeded"),
    [
        (0, True, True),
        (0, False, True),
        (1, True, False),
        (1, False, True),
        (2, True, False),
        (2, False, False),
        (3, True, False),
        (3, False, False),
    ],
)
def test_parity_diff_fails_as_configured_and_reports_in_any_case(
    code: int, fail_on_difference: bool, succeeded: bool, tmp_path: Path
) -> None:
    job = diff(tmp_path, {"world": "orchard", "fail-on-difference": fail_on_difference}, PARITY_CODE=str(code))
    assert job.succeeded == succeeded
    assert job.outputs == {"exit-code": str(code)}
    failed = f"`rlparity diff` ended with exit code {code}:\n\n    rlparity: cannot.\n"
    assert job.summary == ("what --markdown has\n" if code < 2 else failed)
    assert ("rlparity: cannot." in job.log) == (code >= 2)
    assert ("::warning::" in job.log) == (code == 1 and not fail_on_difference)
    assert job.record[-2:] == [f"rlparity diff HEAD\\^ HEAD --world orchard {FILES}", UPLOAD]
    assert (tmp_path / "temp" / "rlparity-diff" / "diff.md").read_text() == job.summary


def test_parity_diff_reports_what_parity_finds(tmp_path: Path) -> None:
    inputs = {
        "world": "toy_world:WORLD",
        "base": ".",
        "head": ".",
        "arguments": "--games 2 --steps 20 --cases 0 --price-b fruit=0.2",
    }
    others = [tool for tool in TOOLS if tool != "rlparity"]
    job = diff(tmp_path, inputs, others, PYTHONPATH=str(ROOT / "tests" / "parity"))
    assert not job.succeeded
    assert job.outputs == {"exit-code": "1"}
    assert "only rewards differ (rewards:fruit" in job.summary
    folder = tmp_path / "temp" / "rlparity-diff"
    assert not json.loads((folder / "diff.json").read_text())["identical"]
    assert "rewards:fruit" in (folder / "diff.html").read_text()


def test_parity_diff_gives_every_input_to_parity_as_it_is(tmp_path: Path) -> None:
    inputs = {
        "world": "a:B; $(touch pwned)",
        "engine": "`touch pwned`",
        "base": "'main'",
        "head": ".",
        "arguments": '--price-a  kill=1\n--games 8 * "',
        "expect": "rewards:kills  mask\nfacts",
        "install": "pip install one && pip install two",
        "artifact": "one",
    }
    job = diff(tmp_path, inputs)
    assert job.succeeded, job.log
    assert job.record[2:] == [
        "pip install one",
        "pip install two",
        "rlparity diff \\'main\\' . --world a:B\\;\\ \\$\\(touch\\ pwned\\) --price-a kill=1 --games 8 \\* \\\" "
        f"--engine \\`touch\\ pwned\\` --expect rewards:kills --expect mask --expect facts {FILES}",
        "uses actions/upload-artifact@v6 name=one path=rlparity-diff",
    ]
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == [".ci", "swift-build"]


def test_parity_diff_compares_nothing_where_the_installation_failed(tmp_path: Path) -> None:
    job = diff(tmp_path, {"world": "orchard", "install": "pip install one; pip install two"}, FAILING="pip")
    assert not job.succeeded
    assert job.record[2:] == ["pip install one"]
    assert job.outputs == {"exit-code": ""}


@pytest.mark.parametrize(
    ("wanted", "code", "repository", "runs"),
    [
        (True, "1", "us/game", True),
        (False, "1", "us/game", False),
        (True, "", "us/game", False),
        (True, "1", "fork/game", False),
    ],
)
def test_a_comment_is_for_results_on_branches_of_the_repository(
    wanted: bool, code: str, repository: str, runs: bool
) -> None:
    values = {
        "inputs.comment": wanted,
        "needs.diff.outputs.exit-code": code,
        "github.event.pull_request.head.repo.full_name": repository,
        "github.repository": "us/game",
    }
    assert holds(DIFF["jobs"]["comment"]["if"], values, succeeded=False) == runs


@pytest.mark.parametrize(("found", "sent"), [("", "$COMMENTS"), ("7\\n9\\n", "--method PATCH $ALL/7")])
def test_the_comment_is_posted_once_and_then_changed(found: str, sent: str, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "diff.md").write_text("Nothing differs.\n")
    values = {
        "inputs.artifact": "rlparity-diff",
        "github.token": "t",
        "github.repository": "us/game",
        "github.event.pull_request.number": 5,
    }
    job = dry_run(DIFF, "comment", values, tmp_path, COMMENT_IDS=found)
    assert job.succeeded, job.log
    comments = "repos/us/game/issues/5/comments"
    query = r".\[\]\ \|\ select\(.body\ \|\ startswith\(env.MARKER\)\)\ \|\ .id"
    assert job.record == [
        "uses actions/download-artifact@v7 name=rlparity-diff",
        f"gh api --paginate {comments} --jq {query}",
        f"gh api {sent} --field body=@comment.md".replace("$COMMENTS", comments).replace(
            "$ALL", "repos/us/game/issues/comments"
        ),
    ]
    comment = (tmp_path / "work" / "comment.md").read_text()
    assert comment == "<!-- rlparity-diff -->\nNothing differs.\n"


def test_an_expression_without_a_value_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match=r"inputs\.artifact"):
        dry_run(DIFF, "comment", {}, tmp_path)
