"""A training that is none: rows as trainers hand them over."""

import math
import random
from collections.abc import Iterator
from typing import Any

from goodharts.rules import ACTIONS
from goodharts.rules import DEFAULT_MODES as NAMES

DEFAULT_MODES = list(NAMES)


def row(mode: str, update: int, updates: int) -> dict[str, Any]:
    """The row of an update; the same again for the same arguments."""
    noise = random.Random(f"{mode} {update}")
    learnt = update / updates
    weights = [noise.uniform(1, 9) for _ in ACTIONS]
    has_episodes = mode != "proxy" or update % 4 == 0
    return {
        "mode": mode,
        "update": update,
        "updates": updates,
        "timesteps": update * 192 * 128,
        "episodes": 192 if has_episodes else 0,
        "episode_reward": 60 * learnt + noise.gauss(0, 3) if has_episodes else None,
        "episode_length": 512.0 if has_episodes else None,
        "policy_loss": -0.02 * (1 - learnt) + noise.gauss(0, 0.002),
        "value_loss": math.exp(-learnt) + abs(noise.gauss(0, 0.03)),
        "entropy": math.log(8) - learnt + noise.gauss(0, 0.02),
        "learning_rate": 3e-4 - 2e-4 * learnt,
        "steps_per_second": noise.gauss(24_000, 300),
        "seconds_left": (updates - update) * 1.02,
        **{f"action_prob_{action}": weight / sum(weights) for action, weight in enumerate(weights)},
    }


def rows(updates: int, until: int | None = None, modes: list[str] = DEFAULT_MODES) -> Iterator[dict[str, Any]]:
    """The rows of a run of ``updates``, all modes in turn, to its end or to the update ``until``."""
    for update in range(1, (until or updates) + 1):
        for mode in modes:
            yield row(mode, update, updates)
