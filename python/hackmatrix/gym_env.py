"""``HackMatrix-v0``: one game as a Gymnasium environment, and many as a vector environment."""

from typing import Any

from hackmatrix.world import WORLD
from rlworldkit.envs.gym_env import WorldEnv
from rlworldkit.envs.spaces import metadata_of
from rlworldkit.envs.vector_env import WorldVectorEnv


class HackMatrixEnv(WorldEnv):
    """HackMatrix, a roguelike on a 6x6 grid, played in the Swift engine or in the JAX one.

    Observation: a Dict of ``player`` float32 (10,), ``programs`` int8 (23,), ``grid`` float32 (6, 6, 42), all
    in [0, 1] (O1-O3). `gym_wrappers.FlatObservation` makes one vector of it in the order O.

    Action: Discrete(28): 0-3 move up, down, left, right, 4 siphon, 5-27 the programs of table P. An invalid action ends
    the episode (C1).

    Reward: the sum of table W. ``info["reward_breakdown"]`` has its 15 components.

    Info, besides that of `WorldEnv`: the facts ``stage``, ``score``, ``hp``, ``turn``, the events ``invalid_action``,
    ``stage_complete``, ``death``, ``victory``, and in ``episode_stats`` ``actions`` by kind (move, siphon, program),
    ``programs_used`` and ``highest_stage`` (9: won).

    Start: as in `WorldEnv`; the following game has the seed of R6, and a complete state is the dict S of
    docs/reference/protocol.md.

    End: terminated at hp 0, at victory and after an invalid action (C4). The game never truncates; pass
    ``max_episode_steps``, here or to ``gym.make``.

    Arguments and errors are those of `WorldEnv`. ``engine`` is ``swift`` or ``jax``: the same seeds and actions give
    the same results, bit for bit.
    """

    metadata = metadata_of(WORLD)

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:  # noqa: ANN401 - as WorldEnv has them
        super().__init__(WORLD, render_mode, **options)


class HackMatrixVectorEnv(WorldVectorEnv):
    """``num_envs`` games of HackMatrix; `HackMatrixEnv` describes one, `WorldVectorEnv` the options of many."""

    def __init__(self, num_envs: int = 1, **options: Any) -> None:  # noqa: ANN401 - as WorldVectorEnv has them
        super().__init__(WORLD, num_envs, **options)
