"""A training that is none: rows as trainers hand them over, for the tests and to look at the page.

PYTHONPATH=python python -m tests.goodharts.dashboard.demo
"""

import argparse
import math
import random
import time
from collections.abc import Iterator
from typing import Any

from goodharts.dashboard import Dashboard
from goodharts.dashboard.progress import Outcome
from goodharts.rules import ACTIONS, MODES

DEFAULT_MODES = [name for name, mode in MODES.items() if mode.is_default]
# What episode rewards and lengths come to, and how fast.
_REWARD = {"ground_truth": 60.0, "ground_truth_blinded": -9.0, "proxy_mortal": 14.0, "proxy": 75.0}
_LENGTH = {"ground_truth": 470.0, "ground_truth_blinded": 90.0, "proxy_mortal": 60.0, "proxy": 512.0}
_PACE = {"ground_truth": 5, "ground_truth_blinded": 2, "proxy_mortal": 3, "proxy": 4}


def row(mode: str, update: int, updates: int) -> dict[str, Any]:
    """The row of an update; the same again for the same arguments."""
    noise = random.Random(f"{mode} {update}")
    share = update / updates
    pace = _PACE[mode]
    learnt = 1 - math.exp(-pace * share)
    length = 512.0 if mode == "proxy" else 30 + (_LENGTH[mode] - 30) * learnt * noise.uniform(0.9, 1)
    weights = [math.exp(learnt * noise.gauss(0.6 * ((action * 7 + len(mode)) % 5 - 2), 0.25)) for action in range(8)]
    numbers = {
        "episode_reward": _REWARD[mode] * learnt + noise.gauss(0, 3),
        "episode_length": length,
        "policy_loss": -0.006 * pace * (1 - share) + noise.gauss(0, 0.002),
        "value_loss": 0.3 * pace * math.exp(-pace * share) + abs(noise.gauss(0, 0.03)),
        "entropy": math.log(8) - 1.3 * learnt + noise.gauss(0, 0.02),
        "entropy_coef": 0.1 - 0.099 * share,
        "entropy_floor_penalty": 0.0,
        "clip_eps": 0.2 - 0.1 * share,
        "learning_rate": 3e-4 - 2e-4 * share,
        "approx_kl": abs(noise.gauss(0.008, 0.002)),
        "clip_fraction": abs(noise.gauss(0.1, 0.02)),
        "explained_variance": learnt,
        "grad_norm": abs(noise.gauss(0.4, 0.1)),
        "steps_per_second": noise.gauss(22_000 + 700 * pace, 300),
        "seconds_left": (updates - update) * 1.02,
    }
    has_episodes = mode != "proxy" or update % 4 == 0
    return {
        "mode": mode,
        "update": update,
        "updates": updates,
        "timesteps": update * 192 * 128,
        "episodes": 192 if has_episodes else 0,
        **numbers,
        **({} if has_episodes else {"episode_reward": None, "episode_length": None}),
        **{f"action_prob_{action}": weights[action] / sum(weights) for action in range(len(ACTIONS))},
    }


def rows(updates: int, until: int | None = None, modes: list[str] = DEFAULT_MODES) -> Iterator[dict[str, Any]]:
    """The rows of a run of ``updates``, all modes in turn, to its end or to the update ``until``."""
    for update in range(1, (until or updates) + 1):
        for mode in modes:
            yield row(mode, update, updates)


def main() -> None:
    """Show a run that ends, is stopped or, with --fail, loses a mode."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--fail", action="store_true")
    options = parser.parse_args()
    dashboard = Dashboard(DEFAULT_MODES)
    dashboard.start()
    print(dashboard.url, flush=True)
    modes = list(DEFAULT_MODES)
    for update in range(1, options.updates + 1):
        if dashboard.stop_requested.wait(0.25):
            break
        if options.fail and update == options.updates // 3:
            dashboard.finish(modes.pop(), "The process ended with exit code 1; its last model is of update 99.")
        for mode in modes:
            dashboard.update(row(mode, update, options.updates))
    time.sleep(1)
    for mode in modes:
        outcome: Outcome = "stopped" if dashboard.stop_requested.is_set() else "finished"
        dashboard.finish(mode, f"Saved models/ppo_{mode}.pth.", outcome)
    time.sleep(3)
    dashboard.close()


if __name__ == "__main__":
    main()
