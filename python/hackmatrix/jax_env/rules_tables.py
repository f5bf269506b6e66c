"""Every table of the rules as this engine holds it, in the form of the protocol's ``getRules``."""

from typing import Any

import numpy as np

from hackmatrix import rules as names
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.random import Site


def rules() -> dict[str, Any]:
    """The tables A5, P, W, O1-O3, R5 and B2 as JSON values, under the names of ``getRules``."""
    return {
        "rulesVersion": names.VERSION,
        "actionSpaceSize": names.NUM_ACTIONS,
        "enemies": [
            {
                "type": name,
                "maxHP": enemy.max_hp,
                "speed": enemy.speed,
                "entersBlocks": number == tables.EnemyType.GLITCH,
            }
            for number, (name, enemy) in enumerate(zip(names.ENEMIES, tables.ENEMIES, strict=True))
        ],
        "programs": [
            {"actionIndex": action, "name": name.lower(), **program._asdict()}
            for action, (name, program) in enumerate(
                zip(names.PROGRAMS, tables.PROGRAMS, strict=True), names.FIRST_PROGRAM
            )
        ],
        "rewards": _rewards(),
        "observation": {
            "size": names.OBSERVATION_SIZE,
            "player": _features(names.PLAYER_FEATURES, tables.PLAYER_DIVISORS),
            "programs": _features(tuple(map(str.lower, names.PROGRAMS)), {}),
            "cell": _features(names.CELL_FEATURES, tables.CELL_DIVISORS),
        },
        "sites": {site.name: int(site) for site in Site},
        "stages": [
            {"stage": stage, "scheduledTaskInterval": tables.scheduled_task_interval(stage), "transmissions": stage}
            for stage in range(1, names.NUM_STAGES + 1)
        ],
    }


def _rewards() -> dict[str, Any]:
    prices = {name: list(np.atleast_1d(price).tolist()) for name, price in tables.PRICE._asdict().items()}
    prices["victory"] += prices.pop("victory_per_score")
    return {"components": list(names.COMPONENTS), "prices": prices}


def _features(features: tuple[str, ...], divisors: dict[str, int]) -> list[dict[str, Any]]:
    return [{"name": name, "divisor": divisors.get(name, 1)} for name in features]
