"""Every table of the rules as this engine holds it, in the form of the protocol's ``getRules``."""

from typing import Any

from hackmatrix import RULES_VERSION
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.random import Site


def rules() -> dict[str, Any]:
    """The tables A5, P, W, O1-O3, R5 and B2 as JSON values, under the names of ``getRules``."""
    return {
        "rulesVersion": RULES_VERSION,
        "actionSpaceSize": tables.NUM_ACTIONS,
        "enemies": [
            {
                "type": enemy.name,
                "maxHP": enemy.max_hp,
                "speed": enemy.speed,
                "entersBlocks": kind == tables.GLITCH,
            }
            for kind, enemy in enumerate(tables.ENEMIES)
        ],
        "programs": [
            {"actionIndex": tables.FIRST_PROGRAM_ACTION + row, **program._asdict()}
            for row, program in enumerate(tables.PROGRAMS)
        ],
        "rewards": _rewards(),
        "observation": {
            "size": tables.OBSERVATION_SIZE,
            "player": [feature._asdict() for feature in tables.PLAYER_FEATURES],
            "programs": [{"name": program.name, "divisor": 1} for program in tables.PROGRAMS],
            "cell": [feature._asdict() for feature in tables.CELL_FEATURES],
        },
        "sites": {site.name: int(site) for site in Site},
        "stages": [
            {"stage": stage, "spawnInterval": tables.spawn_interval(stage), "transmissions": stage}
            for stage in range(1, tables.NUM_STAGES + 1)
        ],
    }


def _rewards() -> dict[str, Any]:
    rates = {_camel(name): value for name, value in tables.REWARD._asdict().items()}
    return {
        "components": list(tables.REWARD_NAMES),
        "stageCompletion": tables.STAGE_COMPLETION.tolist(),
        "deathPenalty": [-(int(before) // 2) for before in tables.STAGES_BEFORE[: tables.NUM_STAGES]],
        **rates,
    }


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
