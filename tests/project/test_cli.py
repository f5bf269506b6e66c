"""The console command ``hackmatrix``: fast help, versions, and one sentence for a mistake."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hackmatrix import RULES_VERSION, __version__
from hackmatrix.cli import main as cli
from hackmatrix.cli.game import GAME
from parity.errors import ParityError
from worldkit.cli import app

from .conftest import Command


def test_help_names_every_command(hackmatrix: Command) -> None:
    answer = hackmatrix("--help")
    assert answer.returncode == 0
    assert all(f"  {command} " in answer.stdout for command in (*app.KIT_COMMANDS, *GAME.commands))


def test_help_imports_none_of_the_heavy_libraries() -> None:
    # numpy comes with Gymnasium, in which `import hackmatrix` registers the environment
    check = (
        "import sys; from hackmatrix.cli.main import main; main(['--help']);"
        "sys.exit(any(heavy in sys.modules for heavy in ('jax', 'torch', 'matplotlib', 'rich', 'pygame')))"
    )
    answer = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 0, answer.stderr
    assert "usage: hackmatrix" in answer.stdout


@pytest.mark.parametrize("word", ["version", "--version"])
def test_version_names_package_rules_and_jax(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([word]) == 0
    assert capsys.readouterr().out.startswith(f"hackmatrix {__version__}, rules {RULES_VERSION}, jax ")


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one sentence with which a command ends; nothing is on standard output, and the code is 2."""
    with pytest.raises(SystemExit) as stopped:
        cli.main(list(words))
    said = capsys.readouterr()
    assert (stopped.value.code, said.out, said.err.count("\n")) == (2, "", 1)
    return said.err


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("", "a command is missing"),
        ("fly", "'fly'"),
        ("--bogus", "'--bogus'"),
        ("version please", "takes no arguments"),
        ("doctor --seed 1", "unrecognized arguments: --seed 1"),
        ("bench moon", "'moon'"),
        ("bench --num-envs 64,,2", "--num-envs"),
        (f"bench --num-envs 64,{10**18}", "--num-envs"),
        ("bench --json /no/such/folder/file.json", "/no/such/folder/file.json"),
        ("bench --jsn x", "--jsn"),
        ("evaluate random --episodes=--", "argument --episodes: expected a value, got '--'"),
        ("train --gamma 5", "must be a number from 0 to 1, got '5'"),
        ("train --num-envs 1048576 --num-steps 1048576", "an update is at most 2,147,483,647 steps"),
        ("train --num-processes 2 --process-id 2 --distributed", "must be below --num-processes"),
        (f"train --run-suffix {'x' * 240} --checkpoint-dir nowhere", "choose another --run-name or --run-suffix"),
        ("train-sb3 --num-envs 1048576 --n-steps 1048576", "at most 2,147,483,647 steps"),
    ],
)
def test_a_mistake_gets_one_sentence_and_code_2(
    line: str, named: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert named in refused(capsys, *line.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "fault", "sentence"),
    [
        ("bench", ParityError("It cannot start; mend it."), "It cannot start; mend it."),
        (
            "evaluate",
            RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 1 byte."),
            "hackmatrix evaluate needs more memory than there is: give fewer --num-envs.",
        ),
        ("bench", KeyboardInterrupt(), "hackmatrix: interrupted."),
    ],
    ids=["error", "memory", "Ctrl+C"],
)
def test_what_ends_a_command_is_one_sentence(
    command: str,
    fault: BaseException,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(name: str) -> None:
        raise fault

    monkeypatch.setattr("importlib.import_module", fail)
    try:
        code: object = cli.main([command])
    except SystemExit as stopped:
        code = stopped.code
    assert code == (130 if isinstance(fault, KeyboardInterrupt) else 2)
    assert capsys.readouterr().err == f"{sentence}\n"


def test_a_home_that_cannot_be_written_is_no_warning_of_matplotlib(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    program = "from hackmatrix.cli.main import main; main(['version']); import matplotlib.figure"
    environment = {**os.environ, "MPLCONFIGDIR": str(tmp_path / "file")}
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stderr) == (0, "")


PROGRAMS = ("hackmatrix.cli.main", "goodharts.cli.main", "parity")


def closed(redirection: str, module: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command with some of its standard streams closed, as the shell redirects them."""
    line = shlex.join([sys.executable, "-m", module, *words])
    return subprocess.run(f"{line} {redirection}", shell=True, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("module", "redirection"),
    [*((module, "<&- >&- 2>&-") for module in PROGRAMS), *(("parity", each) for each in ("<&-", ">&-", "2>&-"))],
)
def test_a_command_needs_none_of_the_standard_streams(module: str, redirection: str) -> None:
    assert closed(redirection, module, "--help").returncode == 0
    mistaken = closed(redirection, module, "fly")
    assert mistaken.returncode == 2
    assert mistaken.stderr.count("\n") == ("2>&-" not in redirection)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("hackmatrix.cli.main", ("evaluate", "random", "--json", "-")),
        ("goodharts.cli.main", ("evaluate", "--json", "-")),
        ("parity", ("run", "--json")),
    ],
)
def test_an_answer_for_a_closed_output_is_refused_before_any_work(module: str, words: tuple[str, ...]) -> None:
    answer = closed(">&-", module, *words)
    assert answer.returncode == 2
    assert "standard output" in answer.stderr
    assert "which is closed" in answer.stderr
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("hackmatrix.cli.main", ("version",)),
        ("goodharts.cli.main", ("version",)),
        ("parity", ("rewards", "--world", "toy_world.world:WORLD", "--engines", "plain,planes")),
    ],
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_output_on_a_full_disk_is_one_sentence(
    module: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "parity"))
    answer = closed(">/dev/full", module, *words)
    assert answer.returncode == 2
    assert "the output could not be written (No space left on device)" in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_closed_stream_is_the_null_device_for_children_too() -> None:
    child = "import os, sys; sys.exit({os.fstat(0).st_rdev, os.fstat(1).st_rdev} != {os.stat(os.devnull).st_rdev})"
    parent = (
        "import subprocess, sys; from parity.console import open_missing_streams; open_missing_streams();"
        f"sys.exit(subprocess.run([sys.executable, '-c', {child!r}]).returncode)"
    )
    line = shlex.join([sys.executable, "-c", parent])
    assert subprocess.run(f"{line} <&- >&-", shell=True, check=False).returncode == 0
