"""Configuration from `config.default.toml`, a user's `config.toml`, the environment and the flags.

Later sources override earlier ones. Every setting is defined once, as a field with its default, range and meaning;
``as_toml`` writes all of them to ``config.default.toml`` in the root of the repository, where a change of a value
changes the default of that checkout. An installed package has no such file: `goodharts config` prints it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from goodharts.rules import DEFAULT_MODES, MODES, NUM_CELLS, Numbers
from goodharts.torch_env.tables import PRICES
from rlparity.errors import UsageError, quoted
from rlparity.io.arguments import GAMES, SEED, SHARE, STEPS, FloatRange, IntRange, OneOf, Values
from rlparity.io.safe_read import Unreadable
from rlparity.world import PriceValues
from rlworldkit.sections import Layer, Sections
from rlworldkit.settings import setting

DEFAULTS_FILE = Path(__file__).resolve().parents[2] / "config.default.toml"
USER_FILE = "config.toml"
MODEL = ".pth"
"""Suffix of a model's file."""
_PREFIX = "GOODHARTS_"
_SHORT = {"GOODHARTS_DEVICE": ("runtime", "device")}

AUTO, OFF, ALL = "auto", "off", "all"
ENGINES: tuple[Literal["torch", "jax"], ...] = ("torch", "jax")
TORCH, JAX = ENGINES
COMPILE_MODES = ("reduce-overhead", "max-autotune")
BENCHMARK_UPDATES = 5
"""Default number of measured updates of ``--benchmark``."""

_ROLLOUT = IntRange(1, 2**16)
_RATE = FloatRange(0, 1)
_WEIGHT = FloatRange(0, 1e6)
_ITEMS = IntRange(0, NUM_CELLS // 4)
"""Range of the counts of food and of poison: at least half of the grid stays empty, so that placing takes few draws."""
_ENERGY = FloatRange(-1000, 1000)
_PRICE, _UNITS = FloatRange(-1000, 1000), 100_000
"""Range of the prices of the reward, and hundred-thousandths per unit of reward."""
_PRICES = {
    "energy": {
        **{name: ("world", f"{name}_energy") for name in ("step", "food", "poison")},
        "death": ("world", "death_reward"),
    },
    "interest": {name: ("world", f"{name}_interestingness") for name in ("food", "poison")},
    "handhold": {name: ("handhold", f"{name}_reward") for name in ("step", "food", "poison", "death")},
}
"""The setting of each price, for each kind of reward of a mode (G12)."""


def model_path(mode: str, folder: Path = Path("models")) -> Path:
    """Return the path of a mode's model."""
    return folder / f"ppo_{mode}{MODEL}"


def mode_of(content: Mapping[str, Any]) -> str:
    """Return the mode that a file names; raises Unreadable."""
    mode = content.get("mode")
    if not isinstance(mode, str) or mode not in MODES:
        raise Unreadable(f"its mode is {quoted(mode)}, none of {', '.join(MODES)}")
    return mode


class Modes(Values):
    """Modes by name, separated by commas, and the ``others`` of a command; ``all`` is the four default modes."""

    def __init__(self, *others: str) -> None:
        self._names = (*MODES, *others)

    def fault(self, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
        """Reject anything but a tuple of these names."""
        fits = isinstance(value, tuple) and value and all(mode in self._names for mode in value)
        return None if fits else f"must be {ALL}, or one or more of {', '.join(self._names)}, separated by commas"

    def read(self, word: str) -> tuple[str, ...]:
        """Split the names at commas, and return each once."""
        words = [name.strip() for name in word.split(",")]
        return tuple(dict.fromkeys(mode for name in words for mode in (DEFAULT_MODES if name == ALL else (name,))))


def _value(default: Any, help: str, values: Values | None = None, flag: str | None = None) -> Any:  # noqa: ANN401 - stands where dataclasses.field does
    return setting(default, help, group="", values=values, flag=flag)


class Rates(NamedTuple):
    """The rates of one update."""

    learning_rate: float
    clip_eps: float
    entropy_coef: float


@dataclass(frozen=True)
class Training:
    """Settings of PPO. Counts of games and steps are those of one update, over all processes."""

    learning_rate: float = _value(3e-4, "learning rate of Adam, at the first update", _RATE, "--lr")
    learning_rate_final: float = _value(1e-4, "learning rate at the last update, reached linearly", _RATE, "--lr-final")
    gamma: float = _value(0.99, "discount factor", SHARE)
    gae_lambda: float = _value(0.95, "lambda of generalized advantage estimation", SHARE)
    eps_clip: float = _value(0.2, "clipping range of the probability ratio, at the first update", SHARE)
    eps_clip_final: float = _value(0.1, "clipping range at the last update, reached linearly", SHARE)
    k_epochs: int = _value(4, "epochs per update", IntRange(1, 1000))
    steps_per_env: int = _value(128, "steps of each game per update", _ROLLOUT)
    n_envs: int = _value(192, "games played in parallel", GAMES)
    minibatches: int = _value(1, "minibatches per epoch", STEPS)
    updates: int = _value(128, "updates of a run", STEPS)
    entropy_initial: float = _value(0.1, "weight of the entropy bonus, at the first update", _WEIGHT)
    entropy_final: float = _value(0.001, "weight of the bonus at the last update, reached linearly", _WEIGHT)
    entropy_floor: float = _value(0.5, "lowest mean entropy (nats) that the loss does not penalize", _WEIGHT)
    entropy_floor_coef: float = _value(0.05, "weight of the penalty below entropy_floor", _WEIGHT)
    value_coef: float = _value(0.5, "weight of the value loss", _WEIGHT)
    max_grad_norm: float = _value(0.5, "gradient norm to clip at", FloatRange(0, 1e6, above=True))
    popart_beta: float = _value(0.001, "lowest update rate of PopArt's statistics", FloatRange(0, 1, above=True))
    network: Literal["cnn", "mlp", "auto"] = _value(AUTO, "network: cnn or mlp; auto is mlp on a CPU, else cnn")
    hidden: int = _value(512, "width of the hidden layers", IntRange(1, 8192))
    privileged: bool = _value(True, "let the critic see the counts and the ground truth")
    engine: Literal["torch", "jax"] = _value(TORCH, "library that plays and learns: torch or jax")
    seed: int = _value(42, "seed of the weights, the games and the actions", SEED)
    min_food: int = _value(64, "least food of an episode; it is drawn from min_food to max_food", _ITEMS)
    max_food: int = _value(256, "most food of an episode", _ITEMS)
    min_poison: int = _value(64, "least poison of an episode; it is drawn likewise", _ITEMS)
    max_poison: int = _value(256, "most poison of an episode", _ITEMS)

    def rates(self, update: int) -> Rates:
        """The rates of an update, counted from 0: linear from the first of ``updates`` to the last."""
        done = update / max(self.updates - 1, 1)
        first = Rates(self.learning_rate, self.eps_clip, self.entropy_initial)
        last = Rates(self.learning_rate_final, self.eps_clip_final, self.entropy_final)
        return Rates(*(begin + (end - begin) * done for begin, end in zip(first, last, strict=True)))


@dataclass(frozen=True)
class Runtime:
    """Device, precision and outputs; none of them changes a rule."""

    device: str = _value(AUTO, "device: auto, cpu, cuda, cuda:1 or mps (torch only)")
    amp: bool = _value(True, "mixed precision (bfloat16) on devices that benefit")
    compile_mode: str = _value(
        OFF, "torch.compile mode: reduce-overhead, max-autotune, or off", OneOf((*COMPILE_MODES, OFF))
    )
    checkpoint_minutes: float = _value(5.0, "minutes between checkpoints", FloatRange(0, 1e6, above=True))
    dashboard_port: int = _value(8050, "port of the dashboard; 0 takes a free one", IntRange(0, 2**16 - 1))


@dataclass(frozen=True)
class Evaluation:
    """Length and world of an evaluation; published are 8192 games of 16384 steps."""

    games: int = _value(256, "games per agent", GAMES)
    steps: int = _value(4096, "steps of each game", STEPS)
    food: int = _value(128, "food in a game", _ITEMS)
    poison: int = _value(128, "poison in a game", _ITEMS)
    seed: int = _value(0, "seed of the games and of drawn actions", SEED)


@dataclass(frozen=True)
class World:
    """Energies and rewards of the world; energies and interestingness are rounded to thousandths, once."""

    start_energy: float = _value(1.0, "energy at the start of a life", FloatRange(0.001, 1000))
    step_energy: float = _value(0.01, "energy that a step costs", FloatRange(0, 1000))
    food_energy: float = _value(1.0, "energy that food gives", _ENERGY)
    poison_energy: float = _value(-2.0, "energy that poison gives", _ENERGY)
    food_interestingness: float = _value(1.0, "interestingness of food", SHARE)
    poison_interestingness: float = _value(0.5, "interestingness of poison", SHARE)
    death_reward: float = _value(
        PRICES["energy"].death / _UNITS, "reward of a death, in the modes rewarded for energy", _PRICE
    )
    reward_clip: float = _value(20.0, "largest magnitude of a reward; others are clipped", FloatRange(0, 1e4))
    max_steps: int = _value(512, "steps after which an episode is truncated", STEPS)


@dataclass(frozen=True)
class Handhold:
    """Rewards of the mode ground_truth_handhold, besides the shaping."""

    step_reward: float = _value(PRICES["handhold"].step / _UNITS, "reward of a step", _PRICE)
    food_reward: float = _value(PRICES["handhold"].food / _UNITS, "reward of food", _PRICE)
    poison_reward: float = _value(PRICES["handhold"].poison / _UNITS, "reward of poison", _PRICE)
    death_reward: float = _value(PRICES["handhold"].death / _UNITS, "reward of a death", _PRICE)


@dataclass(frozen=True)
class Prices:
    """Prices of the reward in every mode that is trained, over those of [world] and [handhold]; energies stay."""

    step: float | None = _value(None, "price of a step", _PRICE)
    food: float | None = _value(None, "price of food", _PRICE)
    poison: float | None = _value(None, "price of poison", _PRICE)
    death: float | None = _value(None, "price of a death", _PRICE)


@dataclass(frozen=True)
class Config(Sections):
    """A whole configuration, section by section."""

    training: Training = Training()
    runtime: Runtime = Runtime()
    evaluation: Evaluation = Evaluation()
    world: World = World()
    handhold: Handhold = Handhold()
    prices: Prices = Prices()

    @property
    def batch_size(self) -> int:
        """Steps of an update, over all games."""
        return self.training.n_envs * self.training.steps_per_env

    def numbers(self) -> Numbers:
        """The world in integers (G9), without the prices of the reward."""
        world, training = self.world, self.training
        thousandths = {
            **{name: getattr(world, name) for name in ("start_energy", "step_energy", "food_energy", "poison_energy")},
            "food_interest": world.food_interestingness,
            "poison_interest": world.poison_interestingness,
        }
        return Numbers(
            **{name: round(value * 1000) for name, value in thousandths.items()},
            reward_clip=round(world.reward_clip * _UNITS),
            **{name: getattr(training, name) for name in ("min_food", "max_food", "min_poison", "max_poison")},
            max_steps=world.max_steps,
            evaluation_food=self.evaluation.food,
            evaluation_poison=self.evaluation.poison,
        )

    def price_values(self, mode: str) -> PriceValues:
        """The prices of a mode (G12), in hundred-thousandths, rounded once.

        [prices] overrides the other sections, which override the game's defaults. The price of an energy or
        interestingness is rounded as in ``numbers``.
        """
        prices = PRICES[MODES[mode].rewarded_for]
        for name, (section, key) in _PRICES[MODES[mode].rewarded_for].items():
            value = getattr(getattr(self, section), key)
            if value != getattr(self.sections()[section], key):  # a dataclass has its defaults as attributes
                scale = _UNITS if key.endswith("_reward") else 1000
                units = round(value * scale) * (_UNITS // scale)
                prices = prices._replace(**{name: -units if key == "step_energy" else units})
        given = {name: round(value * _UNITS) for name, value in vars(self.prices).items() if value is not None}
        return tuple(prices._replace(**given))

    def changed_prices(self, mode: str) -> dict[str, float]:
        """The prices of ``price_values`` that differ from the game's defaults, by name, in reward."""
        own = PRICES[MODES[mode].rewarded_for]
        each = zip(own._fields, own, self.price_values(mode), strict=True)
        return {name: value / _UNITS for name, default, value in each if value != default}

    def validated(self) -> Self:
        """Return this configuration, or raise UsageError with one sentence about its first fault."""
        super().validated()
        self.numbers()
        training = self.training
        if fault := IntRange(2, STEPS.most).fault(self.batch_size):
            raise UsageError(
                f"The steps of an update {fault}, got {training.n_envs} x {training.steps_per_env}: change n_envs or "
                "steps_per_env."
            )
        if self.batch_size % training.minibatches:
            raise UsageError(
                f"[training] minibatches must divide the batch of {training.n_envs} x {training.steps_per_env} = "
                f"{self.batch_size} steps, got {training.minibatches}."
            )
        return self


def read_config(
    flags: Layer | None = None, folder: Path | None = None, environ: Mapping[str, str] | None = None
) -> Config:
    """Read the configuration from all sources; ``flags`` override the rest, and ``folder`` may have a ``config.toml``.

    Raises UsageError where a file cannot be read, or a name or value is invalid; the message names the place.
    """
    files = DEFAULTS_FILE, (folder or Path()) / USER_FILE
    return Config.layered(files, os.environ if environ is None else environ, _PREFIX, _SHORT, flags or {}).validated()


def as_toml() -> str:
    """Content of the file ``config.default.toml``."""
    return Config.as_toml(
        "Every setting and its default. Copy what you want to change into config.toml, which overrides this file."
    )
