"""The settings of training HackMatrix: those of the kit, with this game's networks."""

from dataclasses import dataclass
from typing import ClassVar

from parity.arguments import OneOf
from worldkit.purejaxrl import config
from worldkit.settings import setting

CENTRED, MLP = "centred", "mlp"


@dataclass(frozen=True)
class TrainConfig(config.TrainConfig):
    """The kit's settings; the network is the one that sees the board from the player's cell.

    Presets: ``documented`` is the run for an accelerator. ``quick`` is for four minutes on two CPU cores: small
    minibatches make many gradient steps, which a short run learns more from.
    """

    presets: ClassVar = {
        "documented": {
            "num_envs": 2048,
            "total_timesteps": 100_000_000,
            "learning_rate": 6.25e-5,
            "ent_coef": 0.15,
        },
        "quick": {
            "total_timesteps": 2_000_000,
            "learning_rate": 5e-4,
            "num_minibatches": 32,
            "ent_coef": 0.05,
            "log_interval": 4,
        },
    }

    network: str = setting(
        CENTRED,
        "`centred` reads the board as it lies around the player, `mlp` reads the observation flat",
        group="network",
        values=OneOf((CENTRED, MLP)),
    )
