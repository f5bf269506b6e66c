"""HackMatrix as a Gymnax-style environment."""

from hackmatrix.env import HackMatrixJaxEnv
from rlworldkit.envs.gymnax_style import EnvParams, EnvState, GymnaxStyle


class HackMatrixGymnax(GymnaxStyle):
    """HackMatrix with Gymnax's interface; observations float32 (1545,) (O), actions 0-27 (M), auto-reset by R6.

    ``info`` of a step has ``reward_breakdown`` (15 components), ``stage``, ``score``, ``hp``, ``terminated``,
    ``truncated``, ``invalid_action``, ``stage_complete``, ``death``, ``victory`` and ``terminal_observation``.
    ``max_steps`` truncates an episode after that many steps; None never does.
    """

    def __init__(self, max_steps: int | None = None) -> None:
        super().__init__(HackMatrixJaxEnv(), max_steps)


__all__ = ["EnvParams", "EnvState", "HackMatrixGymnax"]
