"""Fixtures of the tests of rlworldkit."""

from collections.abc import Callable

import pytest
from orchard import WORLD

from rlparity import World
from rlworldkit.cli.app import main
from rlworldkit.envs.spaces import register
from rlworldkit.program import Program

register(WORLD)


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command, Orchard's by default, that must refuse its arguments with exit code 2; returns its one line."""

    def said(*words: str, program: Program | World = WORLD) -> str:
        with pytest.raises(SystemExit) as caught:
            main(program, words)
        written = capsys.readouterr()
        assert (caught.value.code, written.out, written.err.count("\n")) == (2, "", 1)
        return written.err

    return said
