"""The settings of MaskablePPO on Goodharts: rlworldkit's, and the mode."""

from dataclasses import dataclass
from typing import Any

from goodharts.rules import DEFAULT_MODE, MODES
from rlparity.io.arguments import OneOf
from rlworldkit.sb3.config import MaskablePPOConfig
from rlworldkit.settings import setting


@dataclass(frozen=True)
class GoodhartsSB3Config(MaskablePPOConfig):
    """`MaskablePPOConfig` and the mode that is trained; `--resume` keeps it."""

    mode: str = setting(
        DEFAULT_MODE, "what the agent sees and is rewarded for", group="run", values=OneOf(tuple(MODES))
    )

    def ppo(self) -> dict[str, Any]:
        """The arguments of MaskablePPO, of which the mode is none."""
        return {name: value for name, value in super().ppo().items() if name != "mode"}
