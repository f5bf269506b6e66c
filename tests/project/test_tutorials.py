"""The tutorials and the how-to pages are carried out block by block, and what they show is what is printed.

``shown_output`` says how a block is marked; the flags of the commands in other blocks exist.
"""

import contextlib
import io
import re
import runpy
import shlex
import sys
import warnings
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from hackmatrix.cli.main import main as hackmatrix
from rlparity.cli.main import main as rlparity
from tests.project.shown_output import (
    BLOCK,
    FAST,
    LONG,
    README,
    ROOT,
    VARIABLES,
    Carry,
    carried_out,
    in_shell,
    is_printed,
)

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
COMMANDS: dict[str, Callable[[list[str]], int]] = {"rlparity": rlparity, "hackmatrix": hackmatrix}


def in_process(folder: Path) -> Carry:
    """Runs this repository's commands and programs in this process, each with the folder's modules as they are then."""
    in_a_shell = in_shell(folder)

    def run(command: str) -> tuple[int, str]:
        program, *arguments = shlex.split(command, comments=True)
        if program not in COMMANDS and (program, len(arguments)) != ("python", 1):
            return in_a_shell(command)
        packages = (file.parent for file in folder.glob("*/__init__.py"))
        local = {path.stem for path in (*folder.glob("*.py"), *packages)}
        printed, known = io.StringIO(), set(sys.modules)
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in [name for name in sys.modules if name.partition(".")[0] in local]:
                patch.delitem(sys.modules, name)  # which another test has imported from elsewhere
            patch.chdir(folder)
            patch.syspath_prepend(folder)
            patch.setattr(sys, "dont_write_bytecode", True)  # files change within a second
            for name, value in VARIABLES.items():
                patch.setenv(name, value)
            code = 0
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                if program in COMMANDS:
                    code = COMMANDS[program](arguments)
                else:
                    runpy.run_path(arguments[0], run_name="__main__")
        for name in set(sys.modules) - known:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]
        return code, printed.getvalue()

    return run


def check(page: str, folder: Path, run: Carry, left_out: str = "$^") -> None:
    """The commands of a page print what it shows."""
    for shown in carried_out(page, folder, run, left_out):
        printed = "\n".join(shown.printed)
        assert is_printed(shown), f"not what is printed (`make docs-output` renews it):\n$ {shown.command}\n{printed}"


@pytest.mark.usefixtures("swift_built")
@pytest.mark.parametrize("page", [*FAST, *(pytest.param(page, marks=pytest.mark.long) for page in LONG)])
def test_the_page_does_what_it_shows(page: str, tmp_path: Path) -> None:
    check(page, tmp_path, in_process(tmp_path) if page in FAST else in_shell(tmp_path))


@pytest.mark.long
@pytest.mark.usefixtures("swift_built")
def test_the_figures_of_the_agent_that_comes_with_the_game_are_those_shown(tmp_path: Path) -> None:
    check("tutorials/change-a-reward", tmp_path, in_process(tmp_path), left_out="train|compare")


def test_every_tutorial_and_how_to_is_carried_out() -> None:
    pages = {
        str(page.relative_to(ROOT / "docs").with_suffix(""))
        for page in PAGES
        if page.parent.name in ("tutorials", "how-to")
    }
    assert pages | {README} == {*FAST, *LONG, "tutorials/your-own-world"}


def test_the_flags_of_commands_exist() -> None:
    spec = spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(hooks := module_from_spec(spec))
    flags = {parser.prog: {*parser._option_string_actions, "--json"} for parser in hooks._parsers()}
    commands = re.compile(
        r"(?:^|[`/ ])((?:hackmatrix|goodharts|rlparity(?: ledger)?) [a-z][a-z0-9-]*)(?![\w.])([^`\n#|]*)", re.MULTILINE
    )
    wrong = []
    for page in PAGES:
        text = re.sub(r"\\\n", " ", page.read_text())
        for command, rest in commands.findall(
            "\n".join([*re.findall(r"`([^`\n]+)`", text), *(b[2] for b in BLOCK.findall(text))])
        ):
            unknown = {word.split("=")[0] for word in re.findall(r"(?<!\S)--?[a-z][\w-]*", rest)} - flags.get(
                command, set()
            )
            wrong += [(page.name, command, flag) for flag in unknown]
    assert wrong == []
