"""The settings of MaskablePPO on the Swift engine, as the documents give them."""

from dataclasses import dataclass
from typing import Any

POLICY = "MultiInputPolicy"


@dataclass(frozen=True)
class TrainingConfig:
    """What `hackmatrix.sb3.training` trains with; the names are those of MaskablePPO.

    ``n_steps`` is per game: an update takes ``num_envs * n_steps`` steps. Rates are floats, or functions of the
    share of the run that is left, from 1 down to 0, as Stable-Baselines3 takes schedules.
    """

    timesteps: int = 1_000_000
    num_envs: int = 8
    seed: int = 0
    save_freq: int = 50_000
    eval_freq: int = 50_000
    eval_episodes: int = 50
    eval_max_steps: int = 2_000
    learning_rate: Any = 3e-4
    n_steps: int = 2048
    batch_size: int = 64
    n_epochs: int = 10
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_range: Any = 0.2
    ent_coef: float = 0.1

    def ppo(self) -> dict[str, Any]:
        """The arguments of MaskablePPO."""
        names = ("learning_rate", "n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "clip_range", "ent_coef")
        return {**{name: getattr(self, name) for name in names}, "seed": self.seed}
