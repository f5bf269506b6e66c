"""The console command ``goodharts``: what it offers, and one sentence for a mistake or for what is not installed."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from goodharts import RULES_VERSION, __version__
from goodharts.cli.game import GAME
from goodharts.cli.main import main
from goodharts.training import train_ppo
from parity.errors import install_command

COMMANDS = {"train", "evaluate", "compare", "brain-view", "train-sb3", "bench", "play", "watch", "view", "version"}
EXTRA = f"run `{install_command('hackmatrix[goodharts]')}`"


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence with which the command ends."""
    with pytest.raises(SystemExit) as stop:
        main(words)
    said = capsys.readouterr()
    assert (stop.value.code, said.out, said.err.count("\n")) == (2, "", 1)
    return said.err


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert sorted(set(listed) - {"-h,"}) == sorted(COMMANDS)


def test_version_names_package_rules_and_torch(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    assert capsys.readouterr().out.startswith(f"goodharts {__version__}, rules {RULES_VERSION}, torch 2.")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([], "choose one of train-sb3, bench, play, watch, view, train, evaluate, compare, brain-view, version"),
        (["fly"], "unknown command 'fly'"),
        (["bench", "moon"], "unknown benchmark 'moon'"),
        (["bench", "lockstep"], "unknown benchmark 'lockstep'"),  # of worlds that the kit's trainer in JAX knows
        (["bench", "--num-envs", "0"], "from 1 to 1,048,576, got '0'"),
        (["bench", "--json", "/no/such/folder/file.json"], "/no/such/folder/file.json"),
        (["train-sb3", "--mode", "happy"], "must be ground_truth or ground_truth_blinded or proxy_mortal or proxy or"),
        (["train-sb3", "--device", "abacus", "--timesteps", "16384"], "The device 'abacus' cannot be used"),
        (["train-sb3", "--engine", "swift", "--timesteps", "16384"], "there is no engine 'swift': choose torch"),
    ],
)
def test_a_mistake_gets_one_sentence_and_code_2(
    words: list[str],
    named: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))
    with pytest.raises(SystemExit) as stop:
        main(words)
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert named in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", ["train", "evaluate", "brain-view"])
def test_an_own_command_is_its_module_and_gets_the_other_words(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []

    def own(argv: list[str]) -> int:
        called.append(argv)
        return 3

    module = ModuleType(name := f"goodharts.cli.{command.replace('-', '_')}")
    module.main = own  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, name, module)
    assert main([command, "--mode", "proxy"]) == 3
    assert called == [["--mode", "proxy"]]


@pytest.mark.parametrize("command", list(GAME.commands))
def test_without_torch_an_own_command_says_what_to_install(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> ModuleType:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(importlib, "import_module", fail)
    assert refused([command], capsys) == f"goodharts {command} needs torch: {EXTRA}.\n"


def test_a_module_of_our_own_that_is_missing_is_no_mistake_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> ModuleType:
        raise ModuleNotFoundError("No module named 'goodharts.lost'", name="goodharts.lost")

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(ModuleNotFoundError):
        main(["train"])


WITHOUT = """
import sys
for name in {missing}:
    sys.modules[name] = None
from goodharts.cli.main import main
from goodharts.training import train_ppo
for words in {lines}:
    try:
        code = main(words)
    except SystemExit as stop:
        code = stop.code
    print(words, code, file=sys.stderr)
"""


@pytest.mark.parametrize("engine", ["jax", "torch"])
def test_without_torch_training_ends_before_it_begins_and_leaves_nothing(
    engine: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(train_ppo, "find_spec", {"torch": None}.__getitem__)
    assert train_ppo.main(["--engine", engine]) == 2
    assert capsys.readouterr().err == f"goodharts train needs torch: {EXTRA}.\n"
    assert list(tmp_path.iterdir()) == []


def test_an_engine_that_cannot_train_so_leaves_no_folders(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert train_ppo.main(["--engine", "jax", "--compile-mode", "reduce-overhead"]) == 2
    assert "--compile-mode is torch's" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_any_extra_the_kit_s_commands_say_what_they_need() -> None:
    missing = ["torch", "gymnasium", "stable_baselines3", "sb3_contrib", "pygame"]
    lines = [
        ["--help"],
        ["train-sb3", "--help"],
        ["bench", "--help"],
        ["train-sb3"],
        ["bench", "env"],
        ["bench", "gym"],
    ]
    program = WITHOUT.format(missing=missing, lines=lines)
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert answer.returncode == 0, answer.stderr
    said = answer.stderr.splitlines()
    assert [line for line in said if line.endswith(" 0")] == [f"{words} 0" for words in lines[:3]]
    assert "Traceback" not in answer.stderr
    one, two, three = (line for line in said if EXTRA in line)
    assert "needs Stable-Baselines3" in one
    assert "env needs torch" in two
    assert "gym needs gymnasium" in three
