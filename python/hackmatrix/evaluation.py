"""The ``EVALUATION`` of HackMatrix for rlworldkit: its players and figures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hackmatrix.env_spec import ENV_SPEC
from hackmatrix.explain.transition import around, place_of
from hackmatrix.rules import ACTIONS, SIPHON, WON_STAGE
from hackmatrix.world.policies import ways_to_exit
from rlparity import State
from rlworldkit.evaluation.report import interval, mean, percent, share, shares
from rlworldkit.evaluation.spec import Episode, EvaluationSpec, Figures, Logits, Rows

WON, DIED, INVALID = "won", "died", "invalid"


def policy_of(path: Path) -> Logits:
    """The network whose parameters the trainer wrote as ``params_*.npz``; raises ParityError for anything else."""
    from hackmatrix.jax_training import HackMatrixJaxEnv
    from rlworldkit.ppo.networks import load_logits

    return load_logits(path, HackMatrixJaxEnv())


def walk(
    observations: NDArray[np.float32], masks: NDArray[np.bool_], seeds: NDArray[np.uint64], steps: NDArray[np.int64]
) -> NDArray[np.int32]:
    """A step of a shortest way to the exit around blocks, the first in A2's order; else the first valid action."""
    preferred = masks.astype(np.int32)
    preferred[:, :SIPHON] += masks[:, :SIPHON] & ways_to_exit(observations)
    return preferred.argmax(axis=1).astype(np.int32)


def notes(ending: str, state: State) -> Mapping[str, Any]:
    """The enemies beside a player who died: their types, sorted, each once, and whether a siphon brought one.

    Who of them attacked takes the state before the last step (``explain.ending``), which an evaluation does not read.
    """
    near = around(place_of(state["player"]))
    beside = [enemy for enemy in state["enemies"] if place_of(enemy) in near] if ending == DIED else []
    return {
        "died_beside": tuple(sorted({enemy["type"] for enemy in beside})),
        "died_beside_siphon_enemy": any(enemy["spawnedFromSiphon"] for enemy in beside),
    }


def figures(general: Figures, episodes: Sequence[Episode]) -> Figures:
    """The general figures, with stages, wins and deaths among them."""
    died = [episode for episode in episodes if episode.ending == DIED]
    beside = Counter(" and ".join(episode.notes["died_beside"]) or "nobody" for episode in died)
    highest = [episode.stats["highest_stage"] for episode in episodes]
    stages = Counter(highest)
    return {
        **{name: general[name] for name in ("episodes", "return", "length")},
        "highest_stage": mean(highest),
        "win_rate": share(general["endings"].get(WON, 0), len(episodes)),
        "endings": general["endings"],
        "died_beside": dict(beside.most_common()),
        "died_beside_siphon_enemy": sum(episode.notes["died_beside_siphon_enemy"] for episode in episodes),
        "stages": {str(stage): stages[stage] for stage in sorted(stages)},
        **{name: general[name] for name in ("reward", "actions")},
    }


def rows(general: Rows, figures: Figures) -> Rows:
    """The lines of the overview."""
    *before, endings = general
    count = figures["episodes"]
    return [
        *before,
        ("highest stage", f"{interval(figures['highest_stage'])} ({WON_STAGE}: won)"),
        ("won", percent(figures["win_rate"])),
        endings,
        ("died beside", shares(figures["died_beside"], count)),
        ("died beside an enemy from a siphon", f"{figures['died_beside_siphon_enemy'] / count:.1%}"),
        ("stages", shares(figures["stages"], count)),
    ]


EVALUATION = EvaluationSpec(
    env=ENV_SPEC,
    endings={"victory": WON, "death": DIED, "invalid_action": INVALID},
    players={"walk": walk},
    policy_of=policy_of,
    notes=notes,
    actions=ACTIONS[SIPHON:],
    figures=figures,
    rows=rows,
)
