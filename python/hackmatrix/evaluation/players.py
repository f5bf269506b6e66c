"""Who plays: trained parameters, and a walk along the shortest way to the exit."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hackmatrix.rules import SIPHON
from hackmatrix.world.policies import ways_to_exit
from worldkit.evaluation.spec import Logits


def policy_of(path: Path) -> Logits:
    """The network whose parameters the trainer wrote as ``params_*.npz``; raises ParityError for anything else."""
    from hackmatrix.jax_training import HackMatrixJaxEnv
    from worldkit.ppo.networks import load_logits

    return load_logits(path, HackMatrixJaxEnv())


def walk(
    observations: NDArray[np.float32], masks: NDArray[np.bool_], seeds: NDArray[np.uint64], steps: NDArray[np.int64]
) -> NDArray[np.int32]:
    """A step of a shortest way to the exit around blocks, the first in A2's order; else the first valid action."""
    preferred = masks.astype(np.int32)
    preferred[:, :SIPHON] += masks[:, :SIPHON] & ways_to_exit(observations)
    return preferred.argmax(axis=1).astype(np.int32)
