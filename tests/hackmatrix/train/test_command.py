"""``hackmatrix train``, its older script and its documented modules: what is the game's own about them."""

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hackmatrix.cli.main import PROGRAM
from hackmatrix.cli.main import main as command
from hackmatrix.env import HackMatrixJaxEnv
from hackmatrix.purejaxrl import config as documented_config
from hackmatrix.purejaxrl import masked_ppo as documented
from hackmatrix.train_config import TrainConfig
from rlparity.errors import INTERRUPTED_EXIT_CODE
from rlworldkit.ppo import config as config_module
from rlworldkit.ppo import training
from rlworldkit.ppo.checkpoints import read_checkpoint
from rlworldkit.ppo.networks import ActorCritic
from rlworldkit.ppo.ppo import _env_step, update_epoch
from rlworldkit.ppo.state import Transition
from rlworldkit.runs.run import Progress, TrainResult
from tests.hackmatrix.conftest import CommandRefused

ENV = HackMatrixJaxEnv()
FLAGS = "--num-envs 8 --num-steps 16 --hidden-dim 16 --num-layers 1 --log-interval 2"


def main(flags: list[str]) -> int:
    return command(["train", *flags])


def test_the_documented_modules_have_the_trainer_s_own_parts() -> None:
    parts = documented.ActorCritic, documented.Transition, documented._env_step, documented._update_epoch
    assert parts == (ActorCritic, Transition, _env_step, update_epoch)
    names = "DeviceConfig", "auto_scale_for_batch_size", "auto_tune_for_device", "get_device_config"
    assert all(getattr(documented_config, name) is getattr(config_module, name) for name in names)
    assert documented_config.TrainConfig is TrainConfig
    assert (TrainConfig().network, TrainConfig().ent_coef) == ("centred", 0.15)


@pytest.mark.long
def test_the_game_is_trained_and_its_metrics_add_up(tmp_path: Path) -> None:
    assert main(f"{FLAGS} --no-wandb --total-timesteps 128 --run-name one --checkpoint-dir {tmp_path}".split()) == 0
    (row,) = map(json.loads, (tmp_path / "one" / "metrics.jsonl").read_text().splitlines())
    kinds = {f"actions/{kind}_frac" for kind in ("move", "siphon", "program")}
    assert sum(row[name] for name in kinds) == pytest.approx(1)
    assert row["reward/step_penalty"] == pytest.approx(HackMatrixJaxEnv.prices[0] / 1000)
    assert read_checkpoint(tmp_path / "one" / "checkpoint_1.pkl", ENV).config["network"] == "centred"


def test_parameters_of_the_shipped_agent_need_its_network(tmp_path: Path, refused: CommandRefused) -> None:
    said = refused("train", "--no-wandb", "--checkpoint-dir", tmp_path, "--init-from", "best")
    assert "--network turned --hidden-dim 256 --num-layers 2 --value-head two-hot" in said


def test_a_mistake_is_found_before_jax_is_imported() -> None:
    code = """
import sys
from hackmatrix.cli.main import main
try:
    main(["train", "--num-minibatches", "7"])
except SystemExit as end:
    sys.exit(end.code if "jax" not in sys.modules else "JAX was imported")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("num_minibatches must divide the batch of 256 x 128")


@pytest.fixture
def asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., TrainConfig]:
    """The settings that a command line gives a trainer that does nothing."""

    def settings(*flags: str) -> TrainConfig:
        asked: list[TrainConfig] = []

        def train(config: TrainConfig, env: object, run: object, **rest: object) -> TrainResult:
            asked.append(config)
            return TrainResult(Progress(), Progress(), [])

        monkeypatch.setattr(training, "train", train)
        assert main([*flags, "--no-wandb", "--checkpoint-dir", str(tmp_path)]) == INTERRUPTED_EXIT_CODE
        return asked[0]

    return settings


@pytest.mark.parametrize("name", PROGRAM.train_config.presets)
def test_a_preset_is_said_and_does_what_its_flags_do(
    name: str, asked_for: Callable[..., TrainConfig], capsys: pytest.CaptureFixture[str]
) -> None:
    config = asked_for("--preset", name)
    said = " ".join(capsys.readouterr().out.split())
    flags = re.findall(rf"Preset {name}: ((?:--\S+ \S+ ?)+)", said)[0].split()
    assert config == asked_for(*flags)
    assert config != asked_for()


def test_flags_go_over_a_preset(asked_for: Callable[..., TrainConfig]) -> None:
    quick, louder = asked_for("--preset", "quick"), asked_for("--ent-coef", "0.3", "--preset", "quick")
    assert louder == dataclasses.replace(quick, ent_coef=0.3)
    assert (quick.total_timesteps, quick.num_minibatches, quick.learning_rate) == (2_000_000, 32, 4e-4)


@pytest.mark.parametrize("name", PROGRAM.train_config.presets)
def test_on_an_accelerator_a_preset_has_batches_of_the_same_size(
    name: str,
    asked_for: Callable[..., TrainConfig],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    here = asked_for("--preset", name)
    device = dataclasses.replace(config_module.get_device_config(), platform="gpu")
    for module in ("train", "train_plan"):
        monkeypatch.setattr(f"rlworldkit.cli.{module}.get_device_config", lambda: device)
    there = asked_for("--preset", name)
    assert dataclasses.replace(there, num_envs=here.num_envs, num_steps=here.num_steps) == here
    assert there.batch_size == here.batch_size
    assert (there.num_envs > here.num_envs) == (name == "win")
    assert f"--num-envs {there.num_envs:,}" in capsys.readouterr().out or name == "quick"
    assert asked_for("--preset", name, "--num-envs", "64").num_envs == 64


def test_the_documented_preset_is_the_documented_run(asked_for: Callable[..., TrainConfig]) -> None:
    documented = asked_for("--preset", "documented")
    assert (documented.num_envs, documented.num_steps, documented.total_timesteps) == (2048, 128, 100_000_000)
    assert (documented.learning_rate, documented.ent_coef) == (6.25e-5, 0.15)
    assert (documented.num_minibatches, documented.update_epochs) == (32, 2)  # what fits the batch
