"""The console command ``goodharts``: what it offers, and one sentence for a mistake or for what is not installed."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from command_line import run
from evaluated import evaluation_by_hand, small_model, write_models

from goodharts import RULES_VERSION, __version__
from goodharts.cli.main import PROGRAM, main
from goodharts.config import ENGINES
from goodharts.evaluation.report import as_json
from goodharts.models import write_model
from goodharts.training import train_ppo
from rlparity.errors import install_command

EXTRA = f"run `{install_command('rlworldkit[sb3]')}`"


def test_version_names_package_rules_and_torch() -> None:
    ran = run(main, "version")
    assert ran.code == 0
    assert ran.out.startswith(f"goodharts {__version__}, rules {RULES_VERSION}, torch 2.")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (
            "",
            "choose one of train-sb3, bench, play, watch, export, view, train, evaluate, compare, config, brain-view, "
            "version",
        ),
        ("bench lockstep", "unknown benchmark 'lockstep'"),  # of worlds that rlworldkit's trainer in JAX knows
        ("train-sb3 --mode happy", "argument -m/--mode: invalid choice: 'happy'"),
        ("train-sb3 --device abacus --timesteps 16384", "The device 'abacus' cannot be used"),
        ("watch --mode proxy_mortal", "there is no model models/ppo_proxy_mortal.pth: train one with `"),
        ("evaluate --mode proxi", "it must be all, or one or more of ground_truth, .*, random, separated"),
        ("evaluate --steps many", "--steps: it must be a whole number from 1 to"),
        ("evaluate --mode random --device tpu", "There is no device tpu here: choose one of cpu"),
        (
            "evaluate --json /no/such/folder/a.json",
            "/no/such/folder/a.json cannot be written: No such file",
        ),
        ("evaluate --mode all", "there is no model models/ppo_ground_truth_blinded.pth: train one with `goodharts"),
        ("evaluate --model models/ppo_proxy.pth --mode ground_truth", "is of mode proxy, not of ground_truth"),
        ("evaluate --model config.toml", "config.toml is no agent: give "),
        ("evaluate --mode proxy --device cuda:9", "There is no device cuda:9 here"),
        ("compare one.json --games 3", "files of evaluations are read as they are: leave --games out"),
        ("compare one.json --choose likeliest", "leave --choose out"),
        ("compare --picture a.txt", "--picture must end in .png, .svg, .pdf, got 'a.txt'"),
        ("compare --markdown -", "--markdown and --target go with --group"),
        ("compare one.json --group a=models", "--group names all that is compared"),
        ("compare --group a=models --figure luck", "it must be energy_per_1000_steps or efficiency or"),
        ("compare --models nowhere", "no model in nowhere, such as nowhere/ppo_ground_truth.pth: train them with"),
        ("compare no.json", "there is no file of evaluations no.json: write one with `goodharts evaluate --js"),
        ("compare empty.json", "empty.json holds no evaluation: name files"),
        ("brain-view --mode greedy", "argument -m/--mode"),
        ("brain-view --model odd.pth --record life.png", "The model has an unknown section 'sky': "),
    ],
)
def test_a_mistake_is_one_sentence_and_code_2_before_anything_is_done(
    words: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_models(tmp_path / "models", "proxy", "ground_truth")
    write_model(Path("odd.pth"), small_model("proxy", sky={"blue": True}))
    Path("one.json").write_text(as_json([evaluation_by_hand()]))
    Path("empty.json").write_text(as_json([]))
    Path("config.toml").write_text("[evaluation]\ngames = 3\n")
    assert re.search(named, run(main, *words.split()).refusal())
    assert not list(tmp_path.glob("life.*"))


def without(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """Let imports fail for want of a module."""

    def fail(name: str) -> ModuleType:
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr(importlib, "import_module", fail)


@pytest.mark.parametrize("command", [name for name in PROGRAM.commands if name != "config"])
def test_without_torch_an_own_command_says_what_to_install(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "torch")
    assert run(main, command) == (2, "", f"goodharts {command} needs torch: {EXTRA}.\n")


WITHOUT = """
import sys
for name in {missing}:
    sys.modules[name] = None
from goodharts.cli.main import main
import goodharts.training.jax_ppo, goodharts.training.runs, goodharts.training.train_ppo, rlworldkit.ppo.training
for words in {lines}:
    try:
        code = main(words)
    except SystemExit as stop:
        code = stop.code
    print(words, code, file=sys.stderr)
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_without_torch_training_ends_before_it_begins(
    engine: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(train_ppo, "find_spec", {"torch": None}.__getitem__)
    assert run(train_ppo.main, "--engine", engine).refusal() == f"goodharts train needs torch: {EXTRA}.\n"
    assert list(tmp_path.iterdir()) == []


def test_without_any_extra_the_kit_s_commands_say_what_they_need_and_training_waits_for_no_torch() -> None:
    """Torch and distrax take seconds to import, and are not needed before files are written."""
    missing = ["torch", "distrax", "gymnasium", "stable_baselines3", "sb3_contrib", "pygame"]
    commands = "--help", "train-sb3 --help", "bench --help", "train-sb3", "bench env", "bench gym"
    lines = [words.split() for words in commands]
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
