"""Settings: defaults, validation, scaling with the batch, tuning to the device."""

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from orchard import WORLD

from rlparity.errors import UsageError
from rlworldkit.cli import train
from rlworldkit.cli.app import main
from rlworldkit.ppo import config as config_module
from rlworldkit.ppo.config import (
    DeviceConfig,
    TrainConfig,
    auto_scale_for_batch_size,
    auto_tune_for_device,
    get_device_config,
)
from rlworldkit.ppo.loop import TrainJob

COUNTS = "num_envs", "num_steps", "total_timesteps", "num_minibatches", "update_epochs", "hidden_dim", "num_layers"
RATES = "learning_rate", "clip_eps", "max_grad_norm", "vf_coef", "ent_coef", "gamma", "gae_lambda"
DEFAULTS = (
    "TrainConfig(num_envs=256, num_steps=128, total_timesteps=10000000, max_steps=None, curriculum='none', "
    "curriculum_share=0.2, learning_rate=0.00025, learning_rate_end=None, learning_rate_steps='gradient-steps', "
    "gamma=0.99, gae_lambda=0.95, num_minibatches=4, update_epochs=4, clip_eps=0.2, clip_eps_end=None, "
    "clip_value_loss=True, vf_coef=0.5, ent_coef=0.15, ent_coef_end=None, entropy_floor=0.0, "
    "entropy_floor_coef=0.0, max_grad_norm=0.5, advantage='standard', "
    "normalize_advantage='minibatch', "
    "network='mlp', hidden_dim=256, num_layers=2, activation='tanh', dtype='float32', "
    "value_head='plain', popart_beta=0.001, "
    "privileged_critic=False, diagnostics=False, log_interval=10, seed=0)"
)


def test_defaults_are_the_documented_ones() -> None:
    assert str(TrainConfig()) == DEFAULTS


@pytest.mark.parametrize(
    ("num_envs", "num_steps", "num_minibatches", "update_epochs"),
    [
        (2048, 128, 32, 2),
        (256, 256, 8, 2),
        (256, 128, 4, 4),
        (300, 128, 5, 3),
        (1, 7, 7, 4),
        (1, 1, 1, 4),
        (8192, 128, 128, 2),
    ],
)
def test_minibatches_and_epochs_follow_the_batch(
    num_envs: int, num_steps: int, num_minibatches: int, update_epochs: int
) -> None:
    config = auto_scale_for_batch_size(TrainConfig(num_envs=num_envs, num_steps=num_steps))
    assert (config.num_minibatches, config.update_epochs) == (num_minibatches, update_epochs)


@given(st.integers(1, 5000), st.integers(1, 600))
def test_scaled_minibatches_always_divide_the_batch(num_envs: int, num_steps: int) -> None:
    config = TrainConfig(num_envs=num_envs, num_steps=num_steps, total_timesteps=num_envs * num_steps)
    scaled = auto_scale_for_batch_size(config).validated()
    assert 2 <= scaled.update_epochs <= 4


def test_scaling_leaves_explicit_values_alone() -> None:
    config = TrainConfig(num_envs=2048, num_minibatches=16, update_epochs=4)
    assert auto_scale_for_batch_size(config, explicit=("num_minibatches", "update_epochs")) == config
    assert auto_scale_for_batch_size(config, explicit=("num_minibatches",)).update_epochs == 2
    assert auto_scale_for_batch_size(config, explicit=("update_epochs",)).num_minibatches == 32


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((name, 0) for name in COUNTS),
        *((name, wrong) for name in RATES for wrong in (-0.01, math.nan, math.inf)),
        ("learning_rate", 0.0),
        ("gamma", 1.01),
        ("max_steps", 2**31),
        ("log_interval", 2**40),
        ("seed", -1),
        ("seed", 2**64),
        ("num_minibatches", 7),
        ("total_timesteps", 256 * 128 - 1),
    ],
)
def test_an_impossible_value_is_refused_in_one_sentence_that_names_it(field: str, value: float) -> None:
    with pytest.raises(UsageError) as caught:
        dataclasses.replace(TrainConfig(), **{field: value}).validated()  # type: ignore[arg-type]
    message = str(caught.value)
    assert field in message
    assert str(value) in message
    assert message.endswith(".")
    assert "\n" not in message


def test_possible_values_pass() -> None:
    extremes = TrainConfig(gamma=0.0, gae_lambda=1.0, vf_coef=0.0, ent_coef=0.0, seed=2**64 - 1)
    for config in (TrainConfig(), extremes, TrainConfig(total_timesteps=256 * 128)):
        assert config.validated() is config


def test_the_cpu_keeps_the_reference_batch() -> None:
    device = get_device_config()
    assert (device.platform, device.num_envs, device.num_steps) == ("cpu", 256, 128)
    assert auto_tune_for_device(TrainConfig()) == TrainConfig()


def test_tuning_takes_the_device_s_batch_but_no_explicit_value(monkeypatch: pytest.MonkeyPatch) -> None:
    device = DeviceConfig(platform="tpu", kind="a TPU", count=4, num_envs=2048, num_steps=128, learning_rate=6.25e-5)
    monkeypatch.setattr(config_module, "get_device_config", lambda: device)
    tuned = auto_tune_for_device(TrainConfig(num_steps=64, hidden_dim=8), explicit=("num_steps",))
    assert tuned == TrainConfig(num_envs=2048, num_steps=64, learning_rate=6.25e-5, hidden_dim=8)


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[TrainConfig]:
    """The configurations that the command would have trained with."""
    configs: list[TrainConfig] = []
    monkeypatch.chdir(tmp_path)

    def keep(game: object, job: TrainJob, *rest: object) -> int:
        configs.append(job.config)
        return 0

    monkeypatch.setattr(train, "_train", keep)
    return configs


def test_flags_override_the_file_which_overrides_the_defaults(configured: list[TrainConfig]) -> None:
    Path("settings.toml").write_text("learning_rate = 1\nnum_envs = 16\nvalue_head = 'popart'\nlearning_rate_end = 0.5")
    assert main(WORLD, ["train", "--config", "settings.toml", "--num-envs", "32", "--total-timesteps", "5000"]) == 0
    (config,) = configured
    assert (config.num_envs, config.learning_rate, config.learning_rate_end) == (32, 1.0, 0.5)
    assert type(config.learning_rate) is float
    assert (config.value_head, config.gamma) == ("popart", 0.99)


@pytest.mark.parametrize("name", ["lr", "learning_rate", "learning-rate"])
def test_a_setting_has_the_names_of_its_field_and_of_its_flag(name: str, configured: list[TrainConfig]) -> None:
    small, flag = ["train", "--total-timesteps=40000"], f"--{name.replace('_', '-')}=0.5"
    Path("settings.toml").write_text(f"{name} = 0.5\nnum-envs = 16")
    assert main(WORLD, [*small, "--config=settings.toml"]) == main(WORLD, [*small, flag, "--num-envs=16"]) == 0
    assert [(each.learning_rate, each.num_envs) for each in configured] == [(0.5, 16), (0.5, 16)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("lrr = 0.1", "settings.toml has an unknown key 'lrr' (did you mean 'lr'?): there are num_envs,"),
        (
            "lr = 0.1\nlearning_rate = 0.1",
            "settings.toml gives learning_rate twice, as learning_rate too: leave",
        ),
        ("[train]\ngamma = 1", "settings.toml has an unknown key 'train': there are num_envs,"),
        ("gamma = 'much'", "settings.toml: gamma must be a number from 0 to 1, got 'much'."),
        ("gamma = true", "settings.toml: gamma must be a number from 0 to 1, got True."),
        ("num_envs = 1.5", "settings.toml: num_envs must be a whole number from 1 to 1,048,576, got 1.5."),
        ("clip_value_loss = 1", "settings.toml: clip_value_loss must be true or false, got 1."),
        ("network = 1", "settings.toml: network must be a text, got 1."),
        ("num_minibatches = 3", "num_minibatches must divide the batch"),
        ("gamma =", "settings.toml cannot be read as a file of settings: it is no TOML (end of document: "),
        (None, "there is no file of settings settings.toml: name a TOML file."),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(
    text: str | None, sentence: str, configured: list[TrainConfig], refused: Callable[..., str]
) -> None:
    if text is not None:
        Path("settings.toml").write_text(text)
    assert sentence in refused("train", "--config", "settings.toml")
    assert configured == []
