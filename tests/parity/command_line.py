"""Helpers that run commands as a user types them, and give their exit codes and output."""

import argparse
import contextlib
import io
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import faulty_orchard
import jsonschema

from rlparity.cli.main import main as rlparity_main
from rlparity.engines.checkout import outside_hooks
from rlparity.io.documents import schema_of
from rlparity.tools.documents import DOCUMENTS, FailureDocument

ORCHARD = "faulty_orchard:WORLD"


class Ran(NamedTuple):
    """The exit code of a command, its standard output and its standard error."""

    code: int | str | None
    out: str
    err: str

    @property
    def message(self) -> str:
        """Message on standard error."""
        return self.err.removeprefix("rlparity: ").rstrip()

    @property
    def json(self) -> Any:  # noqa: ANN401 - as it says
        """Parsed output of ``--json``."""
        return json.loads(self.out)

    def refusal(self, code: int = 2) -> str:
        """Return the one line of a refused command, after checking its exit code and that it printed nothing else."""
        said = [self.json["error"]["message"]] if self.out else []
        assert (self.code, said, self.err.count("\n")) == (code, [self.message] * len(said), 1), self
        return self.err


def run(main: Callable[[list[str]], int], *words: str | Path) -> Ran:
    """Run a command in this process. The JSON that the harness prints must follow the schema of the command."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    code: int | str | None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(word) for word in words])
        except SystemExit as stop:
            code = stop.code
    for written in (out, err):
        written.seek(0)
    ran = Ran(code, out.read(), err.read())
    if main is rlparity_main and ran.out and "--json" in words and ("diff" not in words or "-" in words):
        name = "-".join(map(str, words[: 2 if words[0] == "ledger" else 1]))
        jsonschema.validate(ran.json, schema_of(DOCUMENTS[name] | FailureDocument))
    return ran


def rlparity(command: str, *words: str | Path, world: str = ORCHARD) -> Ran:
    """Run a command of the harness on Orchard, or on another world."""
    return run(rlparity_main, command, "--world", world, *words)


def commands_of(parser: argparse.ArgumentParser, *names: str) -> dict[str, argparse.ArgumentParser]:
    """Parsers of all commands, by their names."""
    found = {"-".join(names): parser}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                found |= commands_of(each, *names, name)
    return found


def git(folder: Path, *words: str) -> None:
    """Run git in a folder, also where a hook of git runs the tests."""
    settings = "-c", "user.name=a", "-c", "user.email=a@b"
    command, environment = ["git", *settings, *words], outside_hooks(os.environ)
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


def commit(root: Path, message: str = "Change") -> None:
    """Commit all files of a checkout."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", message)


def orchard(**parts: Any) -> str:  # noqa: ANN401 - of a world
    """Replace some fields of Orchard; returns the ``--world`` name of the result."""
    faulty_orchard.CHANGED = replace(faulty_orchard.WORLD, **parts)  # type: ignore[attr-defined]
    return "faulty_orchard:CHANGED"
