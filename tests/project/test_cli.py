"""The console commands: fast help with no extras, versions, completion, and one sentence for a mistake."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from goodharts.cli import main as goodharts
from hackmatrix import RULES_VERSION, __version__
from hackmatrix.cli import main as cli
from hackmatrix.cli.main import PROGRAM
from rlparity import World, load_world
from rlparity.cli.completion import FLAG
from rlparity.cli.main import main as rlparity
from rlparity.errors import ParityError, install_command
from rlworldkit.cli import app


@pytest.mark.parametrize("word", ["version", "--version"])
def test_version_names_package_rules_and_jax(word: str) -> None:
    ran = run(cli.main, word)
    assert ran.code == 0
    assert ran.out.startswith(f"hackmatrix {__version__}, rules {RULES_VERSION}, jax ")


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
    line: str, named: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert named in run(cli.main, *line.split()).refusal()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "fault", "sentence"),
    [
        ("bench", ParityError("It cannot start; fix it."), "It cannot start; fix it."),
        (
            "evaluate",
            RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 1 byte."),
            "hackmatrix evaluate needs more memory than there is: give fewer --num-envs.",
        ),
        ("bench", KeyboardInterrupt(), "hackmatrix: interrupted."),
        ("bench", KeyError(), "hackmatrix bench: this is a bug of the program: report it with the traceback above."),
    ],
    ids=["error", "memory", "Ctrl+C", "bug"],
)
def test_what_ends_a_command_is_one_sentence(
    command: str, fault: BaseException, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        raise fault

    monkeypatch.setattr("importlib.import_module", fail)
    ran = run(cli.main, command)
    assert ran.code == {KeyboardInterrupt: 130, KeyError: 3}.get(type(fault), 2)
    assert ran.err.endswith(f"{sentence}\n")
    assert ran.err.startswith("Traceback" if ran.code == 3 else sentence)


def test_a_working_directory_that_is_gone_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    sentence = "the working directory is gone (No such file or directory): go to one that exists.\n"
    for main, line in (
        (cli.main, "view best"),
        (cli.main, "export best"),
        (cli.main, "doctor"),
        (goodharts.main, "evaluate --model x.pth"),
        (rlparity, "run --world hackmatrix"),
        (rlparity, "diff . HEAD --world hackmatrix"),
    ):
        assert run(main, *line.split()).refusal().removeprefix("rlparity: ") == sentence


Main = Callable[[list[str]], int]
MAIN_OF: dict[str, Main] = {"goodharts": goodharts.main, "hackmatrix": cli.main, "rlparity": rlparity}
STREAMS = ("stdin", "stdout", "stderr")
TOY = "--world orchard.world:WORLD --engines plain,planes"


def close(monkeypatch: pytest.MonkeyPatch, *streams: str) -> None:
    """Leave the interpreter without these streams, as when the shell started it with them closed."""
    for name in streams:
        monkeypatch.setattr(sys, name, None)
        monkeypatch.setattr(sys, f"__{name}__", None)


def code_of(main: Main, *words: str) -> object:
    try:
        return main([*words])
    except SystemExit as stopped:
        return stopped.code


@pytest.mark.parametrize("streams", [STREAMS, *((name,) for name in STREAMS)])
@pytest.mark.parametrize("main", MAIN_OF.values())
def test_a_command_needs_none_of_the_standard_streams(
    main: Main, streams: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    close(monkeypatch, *streams)
    assert code_of(main, "--help") == 0
    close(monkeypatch, *streams)
    assert code_of(main, "fly") == 2
    assert capsys.readouterr().err.count("\n") == ("stderr" not in streams)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    ("main", "line"), [(cli.main, "version"), (goodharts.main, "version"), (rlparity, f"rewards {TOY}")]
)
def test_an_output_on_a_full_disk_is_one_sentence(
    main: Main, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert code_of(main, *line.split()) == 2
    said = capsys.readouterr().err
    assert "the output could not be written (No space left on device)" in said
    assert said.count("\n") == 1


BLOCKED = ["gymnasium", "gymnax", "imageio_ffmpeg", "moviepy", "optuna", "pygame", "sb3_contrib"]
BLOCKED += ["stable_baselines3", "tensorboard", "textual", "torch", "wandb"]
CHECK = f"""
import runpy, sys
for name in {BLOCKED}:
    sys.modules[name] = None
from goodharts.cli.main import main as goodharts
from hackmatrix.cli.main import PROGRAM, main
from rlworldkit.cli.app import KIT_COMMANDS
def ask(call, *words):
    try:
        code = call(*words)
    except SystemExit as stop:
        code = stop.code
    assert not code, words
for command in ("", *KIT_COMMANDS, *PROGRAM.commands):
    ask(main, [*filter(None, [command]), "--help"])
ask(main, ["version"])
ask(goodharts, ["--help"])
heavy = {{"jax", "matplotlib", "scipy"}} & {{*sys.modules}}
assert not heavy, heavy
for script in sys.argv[1:]:
    sys.argv = [script, "--help"]
    ask(lambda: runpy.run_path(script, run_name="__main__"))
import matplotlib.figure
"""


def test_help_imports_nothing_heavy_and_needs_no_extra_and_no_home_that_matplotlib_can_write_to(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    names = ("train.py", "watch_jax_agent.py", "watch_trained_agent.py")
    answer = subprocess.run(
        [sys.executable, "-c", CHECK, *(str(root / "python" / "scripts" / name) for name in names)],
        env={**os.environ, "PYTHONPATH": str(root / "python"), "MPLCONFIGDIR": str(tmp_path / "file")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert all(f"  {command} " in answer.stdout for command in (*app.KIT_COMMANDS, *PROGRAM.commands))
    assert answer.stdout.count("usage: hackmatrix watch ") == 2
    assert answer.stdout.count("usage: hackmatrix watch-sb3 ") == 2


class OpenedError(Exception):
    """Enough is known."""


@pytest.mark.parametrize("name", ["hackmatrix", "goodharts-proxy"])
def test_a_world_keeps_compiled_programs_before_it_imports_its_engine(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world: World = load_world(name)
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def stop(*_: Any, **__: Any) -> Any:  # noqa: ANN401 - stands in for any engine
        raise OpenedError

    package = name.partition("-")[0]
    monkeypatch.setattr("rlworldkit.jax.engine.JaxEngine", stop)
    with pytest.raises(OpenedError):
        world.engines["jax"](1)
    assert package in os.environ["JAX_COMPILATION_CACHE_DIR"]


OFFERED = """
source "$1" && shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
function=$(complete -p "$1" | sed 's/.* -F \\([^ ]*\\).*/\\1/')
"$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "rlparity",
            {"rlparity led": "ledger", "rlparity run --mode fr": "free-running", "rlparity ledger add --ki": "--kind"},
        ),
        ("hackmatrix", {"hackmatrix watch-": "watch-sb3", "hackmatrix train --pres": "--preset"}),
        ("goodharts", {"goodharts br": "brain-view", "goodharts train --engine j": "jax"}),
    ],
)
def test_commands_flags_and_words_are_completed(name: str, lines: dict[str, str], tmp_path: Path) -> None:
    ran = run(MAIN_OF[name], FLAG, "bash")
    (tmp_path / "script").write_text(ran.out)
    assert ran.code == 0
    for line, whole in lines.items():
        words = ["bash", "-c", OFFERED, "bash", str(tmp_path / "script"), *line.split(" ")]
        bash = subprocess.run(words, capture_output=True, text=True, check=True)
        assert bash.stdout.split() == [whole], line


@pytest.mark.parametrize("name", MAIN_OF)
def test_without_shtab_a_sentence_names_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    said = f"{name}: completion needs shtab: run `{install_command('shtab')}`.\n"
    assert run(MAIN_OF[name], FLAG, "bash") == (2, "", said)
    assert "bash" in run(MAIN_OF[name], FLAG, "abacus").refusal()
