"""HackMatrix as environments show it: its spaces, the parts of an observation (O), its statistics and its pictures."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hackmatrix import rules
from hackmatrix.metrics import HIGHEST_STAGE, action_share
from hackmatrix.render.model import board_model
from hackmatrix.render.text import draw_text
from hackmatrix.world import WORLD
from rlparity import State
from rlworldkit.envs.spec import EnvSpec
from rlworldkit.envs.statistics import Counts, Summary

if TYPE_CHECKING:
    from gymnasium import spaces

Observation = dict[str, NDArray[Any]]
"""The parts of O1-O3, with any leading axes: player float32 (10,), programs int8 (23,), grid float32 (6, 6, 42)."""


def dict_space() -> Any:  # noqa: ANN401 - Gymnasium's Dict is no space of dicts to the type checker
    """The Dict of O1-O3."""
    from gymnasium import spaces

    return spaces.Dict(
        {
            "player": spaces.Box(0.0, 1.0, (len(rules.PLAYER_FEATURES),), np.float32),
            "programs": spaces.MultiBinary(rules.NUM_PROGRAMS),
            "grid": spaces.Box(0.0, 1.0, rules.GRID_SHAPE, np.float32),
        }
    )


def flat_space() -> "spaces.Box":
    """The same as one vector in the order O, (1545,)."""
    from gymnasium import spaces

    return spaces.Box(0.0, 1.0, (rules.OBSERVATION_SIZE,), np.float32)


def split(flat: NDArray[np.float32]) -> Observation:
    """The parts of observations in the order O, float32 (..., 1545); the floats are views of them."""
    return {
        "player": flat[..., rules.PLAYER_PART],
        "programs": flat[..., rules.PROGRAM_PART].astype(np.int8),
        "grid": flat[..., rules.GRID_PART].reshape(*flat.shape[:-1], *rules.GRID_SHAPE),
    }


def join(observation: Observation) -> NDArray[np.float32]:
    """The parts in the order O: float32 (..., 1545)."""
    programs, grid = observation["programs"], observation["grid"]
    batch = programs.shape[:-1]
    parts = [observation["player"], programs.astype(np.float32), grid.reshape(*batch, -1)]
    return np.concatenate(parts, axis=-1)


def own_statistics(counts: Counts) -> Summary:
    """``actions`` by kind, ``programs_used`` by name, and ``highest_stage`` (9 is a game won)."""
    moves, programs = counts.actions[:, : rules.SIPHON], counts.actions[:, rules.FIRST_PROGRAM :]
    kinds = (moves.sum(axis=1), counts.actions[:, rules.SIPHON], programs.sum(axis=1))
    return {
        "actions": dict(zip(rules.ACTION_KINDS, kinds, strict=True)),
        "programs_used": dict(zip(rules.PROGRAMS, programs.T, strict=True)),
        "highest_stage": counts.maxima[:, rules.FACTS.index("stage")],
    }


def episode_metrics(summaries: Sequence[Summary]) -> dict[str, float]:
    """Metrics of the moves of episodes.

    ``actions/*_frac``: share of moves, siphons and programs. ``programs/*``: uses of each program in an episode.
    ``stats/highest_stage``: the highest stage of them (9: won).
    """
    counts = {kind: sum(summary["actions"][kind] for summary in summaries) for kind in rules.ACTION_KINDS}
    used = {name: [summary["programs_used"][name] for summary in summaries] for name in rules.PROGRAMS}
    return {
        **{f"programs/{name}": float(np.mean(counts)) for name, counts in used.items()},
        **{action_share(kind): count / sum(counts.values()) for kind, count in counts.items()},
        HIGHEST_STAGE: max(summary["highest_stage"] for summary in summaries),
    }


def _picture(state: State) -> NDArray[np.uint8]:
    from hackmatrix.render.picture import draw_picture

    return draw_picture(board_model(state))


ENV_SPEC = EnvSpec(
    world=WORLD,
    id="HackMatrix-v0",
    make_space=dict_space,
    split=split,
    own_statistics=own_statistics,
    episode_metrics=episode_metrics,
    text=lambda state: draw_text(board_model(state)),
    picture=_picture,
    home=f"{__name__}:ENV_SPEC",
)
