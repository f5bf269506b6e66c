"""Commands as somebody types them: what they end with and what they say."""

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

from rlparity.cli.main import main
from rlparity.engines.checkout import outside_hooks

ORCHARD = "faulty_orchard:WORLD"


class Ran(NamedTuple):
    """The exit code of a command, its standard output and its standard error."""

    code: int | str | None
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - as it says
        """The answer of ``--json``."""
        return json.loads(self.out)

    def refusal(self, code: int = 2) -> str:
        """The one line of a command that ends so and does nothing else."""
        assert (self.code, self.out, self.err.count("\n")) == (code, "", 1), self
        return self.err


def run(main: Callable[[list[str]], int], *words: str | Path) -> Ran:
    """Run a command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    code: int | str | None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(word) for word in words])
        except SystemExit as stop:
            code = stop.code
    for written in (out, err):
        written.seek(0)
    return Ran(code, out.read(), err.read())


def rlparity(command: str, *words: str | Path, world: str = ORCHARD) -> Ran:
    """Run a command of the harness on Orchard, or on another world."""
    return run(main, command, "--world", world, *words)


def git(folder: Path, *words: str) -> None:
    """Run git in a folder, also where a hook of git runs the tests."""
    settings = "-c", "user.name=a", "-c", "user.email=a@b"
    command, environment = ["git", *settings, *words], outside_hooks(os.environ)
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


def orchard(**parts: Any) -> str:  # noqa: ANN401 - of a world
    """The name for a command of Orchard with some parts replaced."""
    faulty_orchard.CHANGED = replace(faulty_orchard.WORLD, **parts)  # type: ignore[attr-defined]
    return "faulty_orchard:CHANGED"
