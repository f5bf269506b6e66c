"""``HackMatrix-v0``: one game as a Gymnasium environment, and many as a vector environment."""

from typing import Any

from hackmatrix.env_spec import ENV_SPEC
from worldkit.envs.gym_env import WorldEnv
from worldkit.envs.vector_env import WorldVectorEnv


class HackMatrixEnv(WorldEnv):
    """HackMatrix, a roguelike on a 6x6 grid, played in the Swift engine or in the JAX one.

    Observation: a Dict of ``player`` float32 (10,), ``programs`` int8 (23,), ``grid`` float32 (6, 6, 42), all
    in [0, 1] (O1-O3). `gym_wrappers.FlatObservation` makes one vector of it in the order O.

    Action: Discrete(28): 0-3 move up, down, left, right, 4 siphon, 5-27 the programs of table P. Which are
    valid says ``info["action_mask"]``, int8 (28,), as ``action_space.sample(mask)`` takes it, and
    ``action_masks()``, bool (28,), as MaskablePPO asks for it; neither costs a call to the engine. An invalid
    action ends the episode (C1).

    Reward: the sum of table W. ``info["reward_breakdown"]`` has its 15 components.

    Info, after every reset and step: ``action_mask``, ``seed`` (of this game, as int64: ``seed % 2**64`` is the seed),
    ``stage``, ``score``, ``hp``, ``turn``. After a step also ``reward_breakdown`` and, only when true,
    ``invalid_action``, ``stage_complete``, ``death``, ``victory``. At the end ``episode_stats``: ``return``,
    ``reward_breakdown``, ``actions`` (move, siphon, program), ``programs_used``, ``highest_stage`` (9: won),
    ``steps``.

    Start: ``reset(seed=s)`` plays the game that every engine plays from seed *s* (R1). Without a seed comes
    the game that follows by R6, the first time a random one. ``options={"state": S}`` starts from a complete
    state, as ``get_state`` gives it (the dict S of docs/reference/protocol.md).

    End: terminated at hp 0, at victory and after an invalid action (C4). The game never truncates; pass
    ``max_episode_steps``, here or to ``gym.make``.

    Args:
        render_mode: ``ansi``, ``rgb_array``, ``human`` or None.
        engine: ``swift`` or ``jax``; the same seeds and actions give the same results, bit for bit.
        deadline: seconds that the Swift engine may take for an answer; None: 10.
        restart: start the engine again when it fails: the episode is truncated, and
            ``info["engine_restarted"]`` says why. Otherwise SwiftEngineError is raised.
        max_episode_steps: an episode is truncated after this many steps.
        prices: those of the reward that are not the game's own, by name.

    Raises:
        UsageError: an argument is wrong.
        SwiftEngineError: the Swift engine is not built, or fails.
    """

    metadata = ENV_SPEC.metadata

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:  # noqa: ANN401 - as WorldEnv has them
        super().__init__(ENV_SPEC, render_mode, **options)


class HackMatrixVectorEnv(WorldVectorEnv):
    """``num_envs`` games of HackMatrix; `HackMatrixEnv` describes one, `WorldVectorEnv` the options of many."""

    def __init__(self, num_envs: int = 1, **options: Any) -> None:  # noqa: ANN401 - as WorldVectorEnv has them
        super().__init__(ENV_SPEC, num_envs, **options)
