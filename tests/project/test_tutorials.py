"""The tutorials and the how-to pages are carried out block by block, and what they show is what is printed.

In a folder, in the page's order: ``console`` blocks are commands (``$``) and lines that they print, among others
(``...`` stands for any); ``python`` blocks are programs; blocks with a title are files; ``diff`` blocks change such
files. Other blocks are for people only, but the flags of their commands exist.
"""

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import reduce
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from hackmatrix.cli.main import main as hackmatrix
from parity.cli import main as parity

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
FAST = ("tutorials/debug-a-reward", "how-to/environments")
LONG = (
    "tutorials/change-a-reward",
    "tutorials/hold-a-port",
    "tutorials/train-and-watch",
    "how-to/parity-in-ci",
    "how-to/training",
    "how-to/watch-play-evaluate",
)
"""``test_own_world.py`` has tutorials/your-own-world."""
SHORTER = {
    "make train": "hackmatrix train --preset quick",
    "--preset quick": "--preset quick --num-envs 16 --num-steps 32 --total-timesteps 31232 --num-minibatches 2 "
    "--update-epochs 2 --hidden-dim 16",  # as many updates
    "--total-timesteps 500000": "--total-timesteps 7680",
    "make goodharts": "goodharts train --engine jax --mode all --network mlp --updates 2",
}
"""Shorter commands that the test runs instead, replaced in this order."""
MEASURED = re.compile(r"\d[\d,.]*(?= (?:s|ms|minutes|MB|steps/s)\b)")
FIGURES = re.compile(r"-?\d[\d,.:]*")
OF_A_TRAINING = re.compile(r"train|evaluate|checkpoints|--latest")
"""Commands whose figures differ from machine to machine, and from one length of training to another."""


def blocks(page: str) -> list[tuple[str, str, str]]:
    """Language, title and text of each block of a page."""
    return BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text())


def normalised(line: str, command: str) -> str:
    """A line that a command prints, without what differs from run to run."""
    return " ".join((FIGURES if OF_A_TRAINING.search(command) else MEASURED).sub("#", line).split())


VARIABLES = {"COLUMNS": "100", "TERM": "dumb", "WANDB_MODE": "disabled"}
COMMANDS: dict[str, Callable[[list[str]], int]] = {"parity": parity, "hackmatrix": hackmatrix}
Carry = Callable[[str], tuple[int, str]]
"""Runs a command, and gives its exit code and all that it prints."""


def in_shell(folder: Path) -> Carry:
    """Runs commands in a folder as somebody types them."""
    paths = (ROOT, ROOT / "python", ROOT / "tests" / "parity")
    variables = {**os.environ, **VARIABLES, "PYTHONPATH": os.pathsep.join(map(str, paths))}

    def run(command: str) -> tuple[int, str]:
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return run


def in_process(folder: Path) -> Carry:
    """Runs this repository's commands and programs in this process, each with the folder's modules as they are then."""
    in_a_shell = in_shell(folder)

    def run(command: str) -> tuple[int, str]:
        program, *arguments = shlex.split(command, comments=True)
        if program not in COMMANDS and (program, len(arguments)) != ("python", 1):
            return in_a_shell(command)
        printed, known = io.StringIO(), set(sys.modules)
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
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


def carry_out(block: str, run: Carry) -> None:
    """The commands of a console block: each exits with 0, or as its comment says, and prints what the page shows."""
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        code, output = run(reduce(lambda words, longer: words.replace(longer, SHORTER[longer]), SHORTER, command))
        (expected_code,) = re.findall(r"# exit code (\d)$", command) or ["0"]
        assert code == int(expected_code), f"$ {command}\n{output[-5000:]}"
        printed = iter([normalised(line, command) for line in output.splitlines()])
        expected = [normalised(line, command) for line in shown.splitlines() if line.strip() not in ("", "...")]
        missing = [line for line in expected if line not in printed]  # an iterator: in this order
        assert missing == [], f"$ {command}\n{output[-5000:]}"


def change(diff: str, file: Path) -> None:
    """Apply a diff; its old text must occur once."""
    lines = [line for line in diff.splitlines() if not line.startswith(("@@", "..."))]
    old, new = ("\n".join(line[1:] for line in lines if not line.startswith(sign)) for sign in "+-")
    text = file.read_text()
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new))


@pytest.mark.usefixtures("swift_built")
@pytest.mark.parametrize("page", [*FAST, *(pytest.param(page, marks=pytest.mark.long) for page in LONG)])
def test_the_page_does_what_it_shows(page: str, tmp_path: Path) -> None:
    run = in_process(tmp_path) if page in FAST else in_shell(tmp_path)
    for number, (language, title, text) in enumerate(blocks(page)):
        if language == "console":
            carry_out(text, run)
        elif language == "diff":
            change(text, tmp_path / title)
        elif title:
            (tmp_path / title).write_text(text)
        elif language == "python":
            (tmp_path / f"block{number}.py").write_text(text)
            code, output = run(f"python block{number}.py")
            assert code == 0, f"{text}\n{output[-3000:]}"


def test_every_tutorial_and_how_to_is_carried_out() -> None:
    pages = {
        str(page.relative_to(ROOT / "docs").with_suffix(""))
        for page in PAGES
        if page.parent.name in ("tutorials", "how-to")
    }
    assert pages == {*FAST, *LONG, "tutorials/your-own-world"}


def test_the_flags_of_commands_exist() -> None:
    spec = spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(hooks := module_from_spec(spec))
    flags = {parser.prog: {*parser._option_string_actions, "--json"} for parser in hooks._parsers()}
    commands = re.compile(
        r"(?:^|[`/ ])((?:hackmatrix|goodharts|parity(?: ledger)?) [a-z][a-z0-9-]*)(?![\w.])([^`\n#|]*)", re.MULTILINE
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
