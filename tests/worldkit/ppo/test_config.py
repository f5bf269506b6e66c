"""Settings: defaults, validation, scaling with the batch, tuning to the device."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parity.errors import UsageError
from worldkit.ppo import config as config_module
from worldkit.ppo.config import (
    DeviceConfig,
    TrainConfig,
    auto_scale_for_batch_size,
    auto_tune_for_device,
    get_device_config,
)


def test_defaults_are_the_documented_ones() -> None:
    assert dataclasses.asdict(TrainConfig()) == {
        "num_envs": 256,
        "num_steps": 128,
        "total_timesteps": 10_000_000,
        "max_steps": None,
        "learning_rate": 2.5e-4,
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "num_minibatches": 4,
        "update_epochs": 4,
        "clip_eps": 0.2,
        "vf_coef": 0.5,
        "ent_coef": 0.15,
        "max_grad_norm": 0.5,
        "hidden_dim": 256,
        "num_layers": 2,
        "seed": 0,
        "log_interval": 10,
        "dtype": "float32",
        "network": "mlp",
        "value_head": "plain",
        "advantage": "standard",
        "popart_beta": 0.001,
        "privileged_critic": False,
        "learning_rate_end": None,
        "learning_rate_steps": "gradient-steps",
        "clip_eps_end": None,
        "clip_value_loss": True,
        "ent_coef_end": None,
        "entropy_floor": 0.0,
        "entropy_floor_coef": 0.0,
        "normalize_advantage": "minibatch",
        "diagnostics": False,
        "curriculum": "none",
        "curriculum_share": 0.2,
    }


@pytest.mark.parametrize(
    ("num_envs", "num_steps", "num_minibatches", "update_epochs"),
    [
        (2048, 128, 32, 2),
        (1024, 128, 16, 2),
        (512, 128, 8, 2),
        (256, 256, 8, 2),
        (256, 128, 4, 4),
        (64, 128, 4, 4),
        (32, 64, 4, 4),
        (300, 128, 5, 3),
        (3, 5, 5, 4),
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
        ("num_envs", 0),
        ("num_steps", -1),
        ("total_timesteps", 0),
        ("num_minibatches", 0),
        ("update_epochs", 0),
        ("hidden_dim", 0),
        ("num_layers", 0),
        ("log_interval", 0),
        ("learning_rate", 0.0),
        ("learning_rate", math.nan),
        ("clip_eps", -0.1),
        ("max_grad_norm", math.inf),
        ("vf_coef", -1.0),
        ("ent_coef", math.nan),
        ("gamma", 1.01),
        ("gamma", math.nan),
        ("gae_lambda", -0.01),
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


@pytest.mark.parametrize(
    "config",
    [
        TrainConfig(),
        TrainConfig(gamma=0.0, gae_lambda=1.0, vf_coef=0.0, ent_coef=0.0, seed=2**64 - 1),
        TrainConfig(total_timesteps=256 * 128),
    ],
)
def test_possible_values_pass(config: TrainConfig) -> None:
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
