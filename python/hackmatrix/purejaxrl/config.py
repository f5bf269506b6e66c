"""Settings of a training run, and how they follow from the device and the batch size."""

import dataclasses
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from parity.errors import UsageError

REFERENCE_BATCH_SIZE = 256 * 128
REFERENCE_NUM_MINIBATCHES = 4
REFERENCE_UPDATE_EPOCHS = 4
TARGET_MINIBATCH_SIZE = REFERENCE_BATCH_SIZE // REFERENCE_NUM_MINIBATCHES
MIN_UPDATE_EPOCHS = 2
DTYPES = ("float32", "bfloat16")
NETWORKS = ("centred", "mlp")


@dataclass(frozen=True)
class TrainConfig:
    """Everything a PPO run depends on besides the environment; the defaults are the documented ones.

    Those leave the kind of ``network`` open.

    Counts are per update unless said otherwise: one update plays ``num_envs`` games for
    ``num_steps`` steps each and learns from that batch ``update_epochs`` times, in
    ``num_minibatches`` parts. ``total_timesteps`` counts the steps of all games together.
    """

    num_envs: int = 256
    num_steps: int = 128
    total_timesteps: int = 10_000_000
    learning_rate: float = 2.5e-4
    gamma: float = 0.99
    gae_lambda: float = 0.95
    num_minibatches: int = 4
    update_epochs: int = 4
    clip_eps: float = 0.2
    vf_coef: float = 0.5
    ent_coef: float = 0.15
    max_grad_norm: float = 0.5
    hidden_dim: int = 256
    num_layers: int = 2
    seed: int = 0
    log_interval: int = 10
    dtype: str = "float32"
    network: str = "centred"

    @property
    def batch_size(self) -> int:
        """Steps collected per update, over all games."""
        return self.num_envs * self.num_steps

    @property
    def minibatch_size(self) -> int:
        """Steps per gradient step."""
        return self.batch_size // self.num_minibatches

    @property
    def num_updates(self) -> int:
        """Whole updates that fit into ``total_timesteps``."""
        return self.total_timesteps // self.batch_size

    def validated(self) -> "TrainConfig":
        """Return this configuration, or raise UsageError with one sentence about its first fault."""
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, got {getattr(self, name)}.")
        for name in _POSITIVE:
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise UsageError(f"{name} must be a number above 0, got {getattr(self, name)}.")
        for name in _NOT_NEGATIVE:
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise UsageError(f"{name} must be a number of at least 0, got {getattr(self, name)}.")
        for name in _FRACTIONS:
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} must lie between 0 and 1, got {getattr(self, name)}.")
        if self.dtype not in DTYPES:
            raise UsageError(f"dtype must be {' or '.join(DTYPES)}, got {self.dtype}.")
        if self.network not in NETWORKS:
            raise UsageError(f"network must be {' or '.join(NETWORKS)}, got {self.network}.")
        if not 0 <= self.seed < 2**64:
            raise UsageError(f"seed must lie between 0 and 2^64 - 1, got {self.seed}.")
        if self.batch_size % self.num_minibatches:
            raise UsageError(
                f"num_minibatches must divide the batch of {self.num_envs} x {self.num_steps} = {self.batch_size} "
                f"steps, got {self.num_minibatches}; leave it out to have it chosen."
            )
        if self.total_timesteps < self.batch_size:
            raise UsageError(
                f"total_timesteps must cover at least one batch of {self.num_envs} x {self.num_steps} = "
                f"{self.batch_size} steps, got {self.total_timesteps}."
            )
        return self


_COUNTS = (
    "num_envs",
    "num_steps",
    "total_timesteps",
    "num_minibatches",
    "update_epochs",
    "hidden_dim",
    "num_layers",
    "log_interval",
)
_POSITIVE = ("learning_rate", "clip_eps", "max_grad_norm")
_NOT_NEGATIVE = ("vf_coef", "ent_coef")
_FRACTIONS = ("gamma", "gae_lambda")


@dataclass(frozen=True)
class DeviceConfig:
    """The accelerator JAX runs on, and the batch and learning rate documented for it."""

    platform: str
    kind: str
    count: int
    num_envs: int
    num_steps: int
    learning_rate: float


def get_device_config() -> DeviceConfig:
    """Describe JAX's default device: 256 games on a CPU, 2048 (with their lower learning rate) elsewhere."""
    import jax  # here, so that settings can be checked without waiting for JAX

    device = jax.devices()[0]
    is_cpu = device.platform == "cpu"
    return DeviceConfig(
        platform=device.platform,
        kind=device.device_kind,
        count=jax.device_count(),
        num_envs=256 if is_cpu else 2048,
        num_steps=128,
        learning_rate=2.5e-4 if is_cpu else 6.25e-5,
    )


def auto_tune_for_device(config: TrainConfig, explicit: Collection[str] = ()) -> TrainConfig:
    """Take batch and learning rate from the detected device, except for the fields named in ``explicit``."""
    device = get_device_config()
    tuned = {name: getattr(device, name) for name in ("num_envs", "num_steps", "learning_rate")}
    return _replace_unless(config, explicit, tuned)


def auto_scale_for_batch_size(config: TrainConfig, explicit: Collection[str] = ()) -> TrainConfig:
    """Fit minibatches and epochs to the batch, except for the fields named in ``explicit``.

    Beyond the reference batch of 256 x 128 the minibatches keep about 8,192 steps and the epochs
    shrink in proportion, to 2 at least: 32 minibatches and 2 epochs at 2048 x 128. Up to the
    reference batch the reference's 4 and 4 stay. The minibatches always divide the batch.
    """
    if config.num_envs < 1 or config.num_steps < 1:
        return config  # nothing to scale to; ``validated`` names the fault
    if config.batch_size <= REFERENCE_BATCH_SIZE:
        wanted = float(REFERENCE_NUM_MINIBATCHES)
    else:
        wanted = config.batch_size / TARGET_MINIBATCH_SIZE
    epochs = REFERENCE_UPDATE_EPOCHS * REFERENCE_BATCH_SIZE // config.batch_size
    scaled = {
        "num_minibatches": _nearest_divisor(config.batch_size, wanted),
        "update_epochs": min(REFERENCE_UPDATE_EPOCHS, max(MIN_UPDATE_EPOCHS, epochs)),
    }
    return _replace_unless(config, explicit, scaled)


def _nearest_divisor(number: int, wanted: float) -> int:
    """The divisor of ``number`` whose ratio to ``wanted`` is closest to 1 (the smaller of two equally close)."""
    small = [divisor for divisor in range(1, math.isqrt(number) + 1) if number % divisor == 0]
    divisors = small + [number // divisor for divisor in small]
    return min(divisors, key=lambda divisor: (abs(math.log(divisor / wanted)), divisor))


def _replace_unless(config: TrainConfig, explicit: Collection[str], values: dict[str, Any]) -> TrainConfig:
    return dataclasses.replace(config, **{name: value for name, value in values.items() if name not in explicit})
