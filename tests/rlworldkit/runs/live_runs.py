"""Metrics of trainings that are none, for the page of live runs."""

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager

from rlworldkit.runs.live_page import ActionLabel, LivePage
from rlworldkit.runs.stop import StopRequest

NAMES = ["ground_truth", "ground_truth_blinded", "proxy_mortal", "proxy"]
UPDATES, STEPS = 1000, 24_576
SIDES = ("up", "↑", 2, 1), ("left", "←", 1, 2), ("right", "→", 3, 2), ("down", "↓", 2, 3)
ACTIONS = [ActionLabel(*each) for each in SIDES]


def metrics(name: str, update: int) -> dict[str, float]:
    """The row of an update; the same again for the same arguments."""
    noise = random.Random(f"{name} {update}")
    weights = [noise.uniform(1, 9) for _ in ACTIONS]
    return {
        "update": update,
        "timesteps": update * STEPS,
        "seconds": 60 + update * 1.02,
        "steps_per_second": noise.gauss(24_000, 300),
        "train/mean_episode_return": 60 * update / UPDATES if name != "proxy" or update % 4 == 0 else math.nan,
        "train/mean_episode_length": 512.0,
        "train/pg_loss": -0.02 + noise.gauss(0, 0.002),
        "train/value_loss": math.exp(-update / UPDATES),
        "train/entropy": 2 - update / UPDATES,
        **{f"train/action_prob_{action}": weight / sum(weights) for action, weight in enumerate(weights)},
    }


@contextmanager
def started(names: list[str] = NAMES, until: int = 0, poll_seconds: float = 0.02) -> Iterator[LivePage]:
    """A page of runs that have had so many updates."""
    totals = dict.fromkeys(names, UPDATES * STEPS)
    page = LivePage("Training", totals, StopRequest(), port=0, actions=ACTIONS, poll_seconds=poll_seconds)
    page.start()
    for update in range(1, until + 1):
        for name in names:
            page.write(metrics(name, update), name)
    yield page
    page.close()


def is_stopping(page: LivePage) -> bool:
    """Whether somebody has pressed the button."""
    return page._stop.requested
