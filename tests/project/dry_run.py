"""A dry run of a job of GitHub Actions: its scripts run with stand-ins for the tools, its actions are recorded.

The caller gives the values of all expressions; one without a value is an error.
"""

import os
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
TOOLS = ("docker", "gh", "git", "make", "rlparity", "pip", "python")
STAND_IN = r"""#!/usr/bin/env bash
{ printf %s "${0#"$STAND_INS/"}"; [ $# = 0 ] || printf ' %q' "$@"; echo; } >> "$RECORD"
[ "${0##*/}" != "$FAILING" ] && [ "$*" != "-m $FAILING" ] || exit 1
case ${0##*/} in
  gh) [[ "$*" != *--paginate* ]] || printf "$COMMENT_IDS" ;;
  rlparity)
    [ "$PARITY_CODE" -lt 2 ] || { echo "rlparity: cannot." >&2; exit "$PARITY_CODE"; }
    while [ $# -gt 0 ]; do
      case $1 in --html | --json | --markdown) echo "what $1 has" > "$2" ;; esac
      shift
    done
    exit "$PARITY_CODE"
    ;;
esac
"""
"""Records its arguments. FAILING: a tool or module; PARITY_CODE: rlparity's exit code; COMMENT_IDS: what gh finds."""


@dataclass
class Job:
    """What a job did: commands and actions (``uses``) in order, outputs, the summary and what the scripts printed."""

    record: list[str] = field(default_factory=list)
    succeeded: bool = True
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    log: str = ""


def read_workflow(path: Path) -> dict[str, Any]:
    """Read a workflow. YAML 1.1 takes its key ``on`` for true; here it is ``on``."""
    return {"on" if key is True else key: value for key, value in yaml.safe_load(path.read_text()).items()}


def inputs_of(workflow: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a reusable workflow's inputs by their expressions: those given, else the defaults."""
    declared = workflow["on"]["workflow_call"]["inputs"]
    assert given.keys() <= declared.keys()
    return {f"inputs.{name}": given[name] if name in given else declared[name]["default"] for name in declared}


def evaluate(text: object, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of any type of YAML
    """Replace expressions by their values; raises KeyError for one without."""
    if not isinstance(text, str):
        return text
    whole = EXPRESSION.fullmatch(text)
    return values[whole[1]] if whole else EXPRESSION.sub(lambda found: in_text(values[found[1]]), text)


def in_text(value: object) -> str:
    """Write a value as GitHub does."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def holds(condition: str, values: Mapping[str, Any], succeeded: bool) -> bool:
    """Evaluate an ``if`` of terms joined by ``&&``; without a term on the status it also asks that nothing failed."""
    terms = " ".join(EXPRESSION.sub(r"\1", condition).split()).split(" && ")
    literals = {"success()": succeeded, "failure()": not succeeded, "!cancelled()": True}
    known = {**values, **literals}

    def value(name: str) -> object:
        return name[1:-1] if name.startswith("'") else known[name]

    if literals.keys().isdisjoint(terms):
        terms.append("success()")
    pairs = [term.split(" == ") for term in terms]
    return all(value(pair[0]) == value(pair[1]) if len(pair) == 2 else value(pair[0]) for pair in pairs)


def dry_run(
    workflow: Mapping[str, Any],
    name: str,
    values: Mapping[str, Any],
    folder: Path,
    tools: Sequence[str] = TOOLS,
    **variables: str,
) -> Job:
    """Execute a job's steps in ``folder/work``.

    Args:
        workflow: From ``read_workflow``.
        name: The job's.
        values: The value of every expression.
        folder: A new folder; files that the job needs may be in its ``work``.
        tools: Those that have a stand-in. Others are what the PATH has.
        variables: Of the environment; those of STAND_IN among them.
    """
    work, stand_ins, temp = folder / "work", folder / "stand-ins", folder / "temp"
    for made in (work / ".ci", stand_ins, temp):
        made.mkdir(parents=True, exist_ok=True)
    scripts = (work / ".ci" / "run", work / ".ci" / "test-matrix", work / "swift-build")
    for path in (*(stand_ins / tool for tool in tools), *scripts):
        path.write_text(STAND_IN)
        path.chmod(0o755)
    files = {variable: folder / variable for variable in ("RECORD", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for path in files.values():
        path.touch()
    base = {
        "PATH": f"{stand_ins}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "STAND_INS": str(stand_ins),
        "GITHUB_WORKSPACE": str(work),
        **{variable: str(path) for variable, path in files.items()},
        "FAILING": "",
        "PARITY_CODE": "0",
        "COMMENT_IDS": "",
        **variables,
    }
    shell = workflow.get("defaults", {"run": {"shell": "bash -e {0}"}})["run"]["shell"]
    definition, known, job = workflow["jobs"][name], {**values, "runner.temp": str(temp)}, Job()
    for step in definition["steps"]:
        if not holds(step.get("if", "success()"), known, job.succeeded):
            continue
        if "uses" in step:
            given = [f"{key}={in_text(evaluate(value, known))}" for key, value in step.get("with", {}).items()]
            with files["RECORD"].open("a") as record:
                print("uses", step["uses"], *given, file=record)
            continue
        assert "${{" not in step["run"], f"an expression within a script: {step['run']}"
        environment = {**workflow.get("env", {}), **definition.get("env", {}), **step.get("env", {})}
        script = folder / "script.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            shlex.split(shell.format(script)),
            cwd=work,
            env={**base, **{variable: in_text(evaluate(value, known)) for variable, value in environment.items()}},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
            check=False,
        )
        job.log += done.stdout
        job.succeeded = done.returncode == 0 and job.succeeded
        for line in files["GITHUB_OUTPUT"].read_text().splitlines():
            output, _, value = line.partition("=")
            known[f"steps.{step['id']}.outputs.{output}"] = value
        files["GITHUB_OUTPUT"].write_text("")
    job.record = files["RECORD"].read_text().replace(f"{temp}/", "").replace(str(work), ".").splitlines()
    job.summary = files["GITHUB_STEP_SUMMARY"].read_text()
    job.outputs = {output: in_text(evaluate(value, known)) for output, value in definition.get("outputs", {}).items()}
    return job
