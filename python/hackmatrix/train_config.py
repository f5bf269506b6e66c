"""The settings of training HackMatrix: those of the kit, with this game's networks."""

from dataclasses import dataclass

from parity.arguments import OneOf
from worldkit.purejaxrl import config
from worldkit.settings import setting

CENTRED, MLP = "centred", "mlp"


@dataclass(frozen=True)
class TrainConfig(config.TrainConfig):
    """The kit's settings; the network is the one that sees the board from the player's cell."""

    network: str = setting(
        CENTRED,
        "`centred` reads the board as it lies around the player, `mlp` reads the observation flat",
        group="network",
        values=OneOf((CENTRED, MLP)),
    )
