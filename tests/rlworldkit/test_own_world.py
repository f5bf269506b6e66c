"""A third world gets everything through one adapter: docs/tutorials/your-own-world.md, command by command, and more."""

import contextlib
import importlib
import io
import json
import re
import shlex
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as check_gymnasium
from orchard import WORLD
from stable_baselines3.common.env_checker import check_env as check_sb3

from rlparity import EngineError
from rlparity.cli import main as parity_cli
from rlparity.testing import assert_lockstep
from rlworldkit.agents.agent import AgentPlayer
from rlworldkit.agents.reader import read_agent
from rlworldkit.cli.app import main
from rlworldkit.envs.gym_env import WorldEnv
from rlworldkit.envs.spaces import env_id
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.jax.xla import traced_program

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "parity/rlparity/templates/orchard"
PAGE = ROOT / "docs" / "tutorials" / "your-own-world.md"
COMMANDS = re.findall(r"^\$ (.*)$", PAGE.read_text(), re.MULTILINE)
ENGINES = ("plain", "jax")


def call(words: str) -> tuple[int, str]:
    """A command of the page, carried out in this process and in the working directory; its exit code and output."""
    program, *arguments = shlex.split(words)
    command = parity_cli.main if program == "rlparity" else lambda given: main(WORLD, given)
    if program == "python":
        assert arguments[:2] == ["-m", "orchard"]
        arguments = arguments[2:]
    arguments = [str(found) for word in arguments for found in (sorted(Path().glob(word)) if "*" in word else [word])]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = command(arguments)
    return code, said.getvalue()


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """Every command of the page, one after another in one folder; what each printed."""
    folder = tmp_path_factory.mktemp("evening")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("WANDB_MODE", "disabled")
        patch.setattr("rlworldkit.bench.gym.SECONDS_ALONE", 0.1)
        patch.setattr("rlworldkit.bench.timing.SECONDS_PER_SAMPLE", 0.1)
        said = {}
        for words in COMMANDS:
            code, said[words] = call(words)
            assert code == 0, words
        yield folder, said


@pytest.mark.long
def test_every_command_of_the_page_works(evening: tuple[Path, dict[str, str]]) -> None:
    _, said = evening
    printed = "\n".join(said.values())
    for words in ("plain and jax: PASS", "Both engines gave the same episodes.", "env_steps_per_second"):
        assert words in printed


def test_the_page_states_the_size_of_the_files_as_it_is() -> None:
    for name, stated in re.findall(r"^\| `(\w+\.py)` .*, (\d+) lines \|$", PAGE.read_text(), re.MULTILINE):
        assert int(stated) == len((TEMPLATE / name).read_text().splitlines()), name
    adapter = ("__main__.py", "env.py", "score.py", "show.py")
    assert sum(len((TEMPLATE / name).read_text().splitlines()) for name in adapter) <= 100


def test_a_world_of_one_engine_takes_sixty_lines_and_has_every_command_but_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source,) = re.findall(r"```python title=\"coins.py\"\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(source.splitlines()) <= 60
    (tmp_path / "coins.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    coins = importlib.import_module("coins").WORLD
    assert main(coins, ["evaluate", "random", "--episodes", "20", "--json", "figures.json"]) == 0
    assert json.loads(Path("figures.json").read_text())["length"]["mean"] == 5
    with WorldEnv(coins, render_mode="ansi") as env:
        check_gymnasium(env, skip_render_check=True)


@pytest.mark.long
def test_the_agent_plays_better_than_chance(evening: tuple[Path, dict[str, str]]) -> None:
    folder, _ = evening
    params = max(folder.glob("checkpoints/first/params_*.npz"), key=lambda path: path.stat().st_mtime_ns)
    returns = [
        np.array(
            [episode.stats["return"] for episode in play_episodes(WORLD, player, 0, 300, engine="jax", num_envs=100)]
        )
        for player in (AgentPlayer(read_agent(WORLD, name)) for name in (params, "random"))
    ]
    luck = np.hypot(*(found.std() for found in returns)) / np.sqrt(300)
    assert returns[0].mean() - returns[1].mean() > 4 * luck


@pytest.mark.long
def test_a_run_leaves_what_runs_leave(evening: tuple[Path, dict[str, str]]) -> None:
    folder, _ = evening
    runs = {
        "checkpoints/first": {"checkpoint_*.pkl", "params_*.npz"},
        "models/orchard": {"final_model.zip", "best_model.zip"},
    }
    for run_name, own in runs.items():
        for name in own | {"metrics.csv", "metrics.jsonl", "tensorboard", "learning_curve.png", "config.json"}:
            assert list((folder / run_name).glob(name)), (run_name, name)
    row = json.loads((folder / "checkpoints/first/metrics.jsonl").read_text().splitlines()[-1])
    assert {"reward/fruit", "actions/pick_frac", "stats/best_score", "train/entropy_ratio"} <= row.keys()


def test_both_engines_play_the_same_games_bit_for_bit() -> None:
    for auto_reset in (False, True):
        assert_lockstep(WORLD, ENGINES, source="directed", steps=60, games=16, seed=0, auto_reset=auto_reset)


def test_gymnasium_and_sb3_find_no_fault() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make(env_id(WORLD), render_mode="ansi")
        check_gymnasium(env.unwrapped)
        check_sb3(env.unwrapped)
    assert "W" in str(env.unwrapped.render())
    env.close()


@pytest.mark.long
def test_an_edit_that_computes_the_same_leaves_the_traced_program_as_it_is(tmp_path: Path) -> None:
    source = Path(shutil.copytree(TEMPLATE, tmp_path / "orchard")) / "in_jax.py"
    host, text = tmp_path / "orchard/plain.py", source.read_text()

    def program() -> bytes:
        return traced_program("orchard:WORLD", {"PYTHONPATH": str(tmp_path)}, host)

    unchanged = program()
    source.write_text(text.replace("(wasp + 1) % CELLS", "(wasp + 2) % CELLS"))
    assert program() != unchanged
    source.write_text(text.replace("(wasp + 1) % CELLS", "(wasp + True) % CELLS"))
    assert program() == unchanged
    host.write_text(f"{host.read_text()}# another")
    assert program() != unchanged
    source.write_text("x")
    with pytest.raises(EngineError, match=r"cannot be traced \(NameError: name 'x' is not defined\): correct it first"):
        program()
