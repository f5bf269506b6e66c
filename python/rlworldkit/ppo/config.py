"""Settings of a training run, and defaults that depend on the device and the batch size."""

import dataclasses
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeVar

from rlparity.errors import UsageError
from rlparity.io.arguments import ALL_STEPS, GAMES, SEED, SHARE, STEPS, FloatRange, IntRange, OneOf
from rlworldkit.ppo.value_heads import PLAIN, ValueHead
from rlworldkit.settings import check_settings, setting

REFERENCE_BATCH_SIZE = 256 * 128
REFERENCE_NUM_MINIBATCHES = 4
REFERENCE_UPDATE_EPOCHS = 4
TARGET_MINIBATCH_SIZE = REFERENCE_BATCH_SIZE // REFERENCE_NUM_MINIBATCHES
MIN_UPDATE_EPOCHS = 2
CPU = "cpu"

ROLLOUT = IntRange(1, 2**20)
EPOCHS = IntRange(1, 1000)
RATE = FloatRange(0, 1, above=True)
ABOVE_0 = FloatRange(0, 1e6, above=True)
WEIGHT = FloatRange(0, 1e6)
NO_CURRICULUM, ARCHIVE = "none", "archive"
AdvantageScale = Literal["standard", "robust", "levels"]
NormalizedOver = Literal["minibatch", "batch"]
RateSteps = Literal["gradient-steps", "updates"]
Activation = Literal["tanh", "relu"]

_GAMES, _PPO, _NETWORK, _LOGGING, _RUN = "environment", "PPO", "network", "logging and checkpoints", "run"


@dataclass(frozen=True)
class TrainConfig:
    """Everything a PPO run depends on besides the world.

    Counts are per update unless said otherwise: one update plays ``num_envs`` games for ``num_steps`` steps each and
    learns from that batch ``update_epochs`` times, in ``num_minibatches`` parts. ``total_timesteps`` counts the steps
    of all games together. A world may subclass this to change a default, and to name ``presets``: settings that go
    together.
    on_accelerator: values by preset that override its own, which are for a CPU, on any other platform.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    on_accelerator: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    num_envs: int = setting(256, "games played in parallel", group=_GAMES, values=GAMES)
    num_steps: int = setting(128, "steps of each game per update", group=_GAMES, values=ROLLOUT)
    total_timesteps: int = setting(
        10_000_000, "total steps of all games, rounded down to whole updates", group=_GAMES, values=ALL_STEPS
    )
    max_steps: int | None = setting(None, "truncate episodes after this many steps", group=_GAMES, values=STEPS)
    curriculum: str = setting(
        NO_CURRICULUM, "start states of a share of the games: a curriculum by name, or several as `a+b`", group=_GAMES
    )
    curriculum_share: float = setting(0.2, "share of games that the curriculum starts", group=_GAMES, values=SHARE)
    learning_rate: float = setting(
        2.5e-4, "learning rate; 6.25e-5 suits 2048 games", group=_PPO, flag="--lr", values=RATE
    )
    learning_rate_end: float | None = setting(
        None, "final learning rate, reached linearly; constant if not given", group=_PPO, flag="--lr-end", values=RATE
    )
    learning_rate_steps: RateSteps = setting(
        "gradient-steps",
        "schedule of `--lr-end`: `gradient-steps` changes the learning rate after every gradient step, `updates` after "
        "every update, so that the whole last update uses the final rate",
        group=_PPO,
        flag="--lr-steps",
    )
    gamma: float = setting(0.99, "discount factor", group=_PPO, values=SHARE)
    gae_lambda: float = setting(0.95, "lambda of GAE", group=_PPO, values=SHARE)
    num_minibatches: int = setting(4, "minibatches per epoch; more for large batches", group=_PPO, values=STEPS)
    update_epochs: int = setting(4, "epochs per update; fewer for large batches", group=_PPO, values=EPOCHS)
    clip_eps: float = setting(
        0.2, "clipping range of the probability ratio and of the value", group=_PPO, values=ABOVE_0
    )
    clip_eps_end: float | None = setting(
        None, "clipping range in the last update, reached linearly; constant if not given", group=_PPO, values=ABOVE_0
    )
    clip_value_loss: bool = setting(
        True, "clip the value loss around the old value; `--no-clip-value-loss` uses the unclipped error", group=_PPO
    )
    vf_coef: float = setting(0.5, "weight of the value loss", group=_PPO, values=WEIGHT)
    ent_coef: float = setting(0.15, "weight of the entropy bonus", group=_PPO, values=WEIGHT)
    ent_coef_end: float | None = setting(
        None, "final weight of the entropy bonus, reached linearly; constant if not given", group=_PPO, values=WEIGHT
    )
    entropy_floor: float = setting(
        0.0, "lowest mean entropy (nats) of a minibatch that the loss does not penalize", group=_PPO, values=WEIGHT
    )
    entropy_floor_coef: float = setting(0.0, "weight of the `--entropy-floor` penalty", group=_PPO, values=WEIGHT)
    max_grad_norm: float = setting(0.5, "gradient norm to clip at", group=_PPO, values=ABOVE_0)
    advantage: AdvantageScale = setting(
        "standard",
        "scaling of advantages: `standard` divides by their standard deviation; `robust`, for rare large rewards, "
        "divides by their mean absolute deviation and clips at 10; `levels`, for late rewards that dwarf early ones, "
        "is `robust` over the whole batch, with the geometric mean of that deviation and the one of the sample's level",
        group=_PPO,
    )
    normalize_advantage: NormalizedOver = setting(
        "minibatch", "samples whose advantages are scaled together: a `minibatch` or the whole `batch`", group=_PPO
    )
    network: str = setting("mlp", "network, by name", group=_NETWORK)
    hidden_dim: int = setting(256, "width of a hidden layer", group=_NETWORK, values=IntRange(1, 2**16))
    num_layers: int = setting(2, "number of hidden layers", group=_NETWORK, values=IntRange(1, 100))
    activation: Activation = setting("tanh", "activation of the hidden layers, `tanh` or `relu`", group=_NETWORK)
    dtype: str = setting(
        "float32",
        "dtype of the hidden layers; `bfloat16` suits TPUs and newer GPUs; parameters stay float32",
        group=_NETWORK,
        values=OneOf(("float32", "bfloat16")),
    )
    value_head: ValueHead = setting(
        PLAIN,
        "output of the critic: `plain` is one number; for returns that differ by orders of magnitude, `two-hot` is a "
        "distribution over fixed values, and `popart` one number, normalized by statistics of the returns",
        group=_NETWORK,
    )
    popart_beta: float = setting(
        0.001, "lowest rate at which `popart` updates its statistics of the returns", group=_NETWORK, values=RATE
    )
    privileged_critic: bool = setting(
        False, "let the critic also read parts of the state that the policy cannot see", group=_NETWORK
    )
    diagnostics: bool = setting(
        False,
        "also report gradient norm, explained variance, entropy floor penalty and the mean probability of each action",
        group=_LOGGING,
    )
    log_interval: int = setting(10, "updates per line of metrics", group=_LOGGING, values=IntRange(1, 100_000))
    seed: int = setting(0, "seed of network, games and shuffling", group=_RUN, values=SEED)

    @property
    def batch_size(self) -> int:
        """Steps collected per update, over all games."""
        return self.num_envs * self.num_steps

    @property
    def curricula(self) -> tuple[str, ...]:
        """Names in ``curriculum``, which share its games equally."""
        return tuple(self.curriculum.split("+"))

    @property
    def scaled_over(self) -> NormalizedOver:
        """Advantages that are scaled together: for ``levels`` the batch, as a minibatch has too few of some levels."""
        return "batch" if self.advantage == "levels" else self.normalize_advantage

    @property
    def natural_games(self) -> int:
        """Number of games, the first ones of a batch, that do not take part in the curriculum."""
        if self.curriculum == NO_CURRICULUM:
            return self.num_envs
        return self.num_envs - round(self.curriculum_share * self.num_envs)

    @property
    def minibatch_size(self) -> int:
        """Steps per gradient step."""
        return self.batch_size // self.num_minibatches

    @property
    def num_updates(self) -> int:
        """Whole updates that fit into ``total_timesteps``."""
        return self.total_timesteps // self.batch_size

    @property
    def schedules(self) -> list[str]:
        """Flags of the rates that change over the run."""
        ends = {
            "--lr-end": self.learning_rate_end,
            "--clip-eps-end": self.clip_eps_end,
            "--ent-coef-end": self.ent_coef_end,
        }
        return [flag for flag, end in ends.items() if end is not None]

    @property
    def num_gradient_steps(self) -> int:
        """Gradient steps of the whole run."""
        return self.num_updates * self.update_epochs * self.num_minibatches

    def validated(self) -> Self:
        """Return this configuration, or raise UsageError with one sentence about its first fault."""
        check_settings(self)
        if self.batch_size > STEPS.most:
            raise UsageError(
                f"an update is at most {STEPS.most:,} steps, got {self.num_envs} x {self.num_steps}: lower num_envs "
                "or num_steps."
            )
        if self.batch_size % self.num_minibatches:
            raise UsageError(
                f"num_minibatches must divide the batch of {self.num_envs} x {self.num_steps} = {self.batch_size} "
                f"steps, got {self.num_minibatches}; leave it out to have it chosen."
            )
        if self.natural_games == 0:
            raise UsageError(
                f"curriculum_share must leave at least one of {self.num_envs} games outside the curriculum, for the "
                f"metrics, got {self.curriculum_share}."
            )
        if self.total_timesteps < self.batch_size:
            raise UsageError(
                f"total_timesteps must cover at least one batch of {self.num_envs} x {self.num_steps} = "
                f"{self.batch_size} steps, got {self.total_timesteps}."
            )
        return self


Config = TypeVar("Config", bound=TrainConfig)


def preset_of(kind: type[TrainConfig], name: str | None, platform: str = CPU) -> dict[str, Any]:
    """Settings of a preset on a JAX platform, empty if the name is None; raises UsageError for an unknown name."""
    if name is None:
        return {}
    if name not in kind.presets:
        known = " or ".join(kind.presets) or "left out, since this world has none"
        raise UsageError(f"--preset must be {known}, got {name!r}.")
    return {**kind.presets[name], **({} if platform == CPU else kind.on_accelerator.get(name, {}))}


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
    import jax  # imported here, so that settings are checked without waiting for JAX

    device, is_cpu = jax.devices()[0], jax.default_backend() == CPU
    return DeviceConfig(
        platform=device.platform,
        kind=device.device_kind,
        count=jax.device_count(),
        num_envs=256 if is_cpu else 2048,
        num_steps=128,
        learning_rate=2.5e-4 if is_cpu else 6.25e-5,
    )


def auto_tune_for_device(config: Config, explicit: Collection[str] = ()) -> Config:
    """Take batch and learning rate from the detected device, except for the fields named in ``explicit``."""
    device = get_device_config()
    tuned = {name: getattr(device, name) for name in ("num_envs", "num_steps", "learning_rate")}
    return _replace_unless(config, explicit, tuned)


def auto_scale_for_batch_size(config: Config, explicit: Collection[str] = ()) -> Config:
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


def _replace_unless(config: Config, explicit: Collection[str], values: dict[str, Any]) -> Config:
    return dataclasses.replace(config, **{name: value for name, value in values.items() if name not in explicit})
