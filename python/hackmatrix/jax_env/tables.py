"""The numbers of the rules as this engine holds them (A5, A7, B2, table P, table W, O1, O3).

Names, their order and their counts are in ``hackmatrix.rules``. The rows here are keyed by name.
"""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from hackmatrix import rules
from hackmatrix.jax_env.random import Site

_Number = TypeVar("_Number")


def _indices(names: Iterable[str]) -> SimpleNamespace:
    """The index of each name in its list, as attributes: ``ANTI_V`` for ANTI-V, ``SIPH_PLUS`` for SIPH+."""
    spelled = (name.upper().replace("-", "_").replace("+", "_PLUS") for name in names)
    return SimpleNamespace(**{name: index for index, name in enumerate(spelled)})


Action = _indices(rules.ACTIONS)
"""The number of every action (M): ``Action.UP``, ``Action.SIPHON``, ``Action.WARP``."""
EnemyType = _indices(rules.ENEMIES)
"""The number of every enemy type (A5): ``EnemyType.VIRUS``."""

MAX_COUNTER = 9999
"""A7: credits, energy, data siphons, score and pending spawns saturate here."""
MAX_TIMER = 255
"""A7: turns remaining and ``disabled`` saturate here."""
MAX_POINTS = 9
"""Most points of a data block (A4)."""
MAX_SPAWN_COUNT = 9
"""Largest spawn count of a block (A4)."""
MAX_AMOUNT = 3
"""Most credits or energy of a cell (A3)."""
MAX_ATK_PLUS_USES = 2
"""Most uses of ATK+ in a stage (table P)."""
MIN_INTERVAL = 4
"""Lowest spawn interval that a siphon leaves (S5)."""


def scheduled_task_interval(stage: _Number) -> _Number:
    """Turns between scheduled spawns at the start of a stage (B2); ``stage`` is a number or an array."""
    return 13 - stage  # type: ignore[operator, return-value]


class Enemy(NamedTuple):
    """Maximum hp and speed of an enemy type (A5)."""

    max_hp: int
    speed: int


_ENEMIES = {"virus": Enemy(2, 2), "daemon": Enemy(3, 1), "glitch": Enemy(2, 1), "cryptog": Enemy(2, 1)}
ENEMIES = tuple(_ENEMIES[name] for name in rules.ENEMIES)


class ProgramCosts(NamedTuple):
    """Costs and spawn count of a program (table P)."""

    credits: int
    energy: int
    spawn: int


_PROGRAMS = {
    "PUSH": ProgramCosts(0, 2, 4),
    "PULL": ProgramCosts(0, 2, 4),
    "CRASH": ProgramCosts(3, 2, 6),
    "WARP": ProgramCosts(2, 2, 5),
    "POLY": ProgramCosts(1, 1, 3),
    "WAIT": ProgramCosts(0, 1, 1),
    "DEBUG": ProgramCosts(3, 0, 4),
    "ROW": ProgramCosts(3, 1, 2),
    "COL": ProgramCosts(3, 1, 2),
    "UNDO": ProgramCosts(1, 0, 3),
    "STEP": ProgramCosts(0, 3, 4),
    "SIPH+": ProgramCosts(5, 0, 7),
    "EXCH": ProgramCosts(4, 0, 3),
    "SHOW": ProgramCosts(2, 0, 2),
    "RESET": ProgramCosts(0, 4, 2),
    "CALM": ProgramCosts(2, 4, 6),
    "D_BOM": ProgramCosts(3, 0, 4),
    "DELAY": ProgramCosts(1, 2, 4),
    "ANTI-V": ProgramCosts(3, 0, 4),
    "SCORE": ProgramCosts(0, 5, 5),
    "REDUC": ProgramCosts(2, 1, 3),
    "ATK+": ProgramCosts(4, 4, 8),
    "HACK": ProgramCosts(2, 2, 4),
}
PROGRAMS = tuple(_PROGRAMS[name] for name in rules.PROGRAMS)

CREDIT_COST = np.array([0] * rules.FIRST_PROGRAM + [program.credits for program in PROGRAMS], np.int32)
"""Credits that each action costs."""
ENERGY_COST = np.array([0] * rules.FIRST_PROGRAM + [program.energy for program in PROGRAMS], np.int32)
"""Energy that each action costs."""
SPAWN_COUNT = np.array([program.spawn for program in PROGRAMS], np.int32)
"""The spawn count of a block that holds each of the programs (A4)."""

_STAGE_COMPLETION = (1000, 2000, 4000, 8000, 16000, 32000, 64000, 100000)
_DEATH_PENALTY = tuple(-(sum(_STAGE_COMPLETION[:before]) // 2) for before in range(rules.NUM_STAGES))


class Prices(NamedTuple):
    """Table W in thousandths: each price under the name of its component."""

    step_penalty: int = -10
    stage_completion: tuple[int, ...] = _STAGE_COMPLETION
    """For stages 1, 2, … 8."""
    score_gain: int = 500
    kills: int = 300
    data_siphon: int = 1000
    distance_shaping: int = 50
    victory: int = 500_000
    victory_per_score: int = 100_000
    death_penalty: tuple[int, ...] = _DEATH_PENALTY
    """In stages 1, 2, … 8: half of what the stages before were worth."""
    resource_gain: int = 50
    resource_holding: int = 10
    damage_penalty: int = -1000
    hp_recovery: int = 1000
    siphon_quality: int = -25
    siphon_death_penalty: int = -10_000
    program_waste: int = -300


PRICES = np.hstack(Prices()).astype(np.int32)
"""The prices of table W one after another: int32 (30,)."""


def split_prices(prices: ArrayLike) -> dict[str, Array]:
    """Split an array like ``PRICES`` by the names in ``Prices``: (8,) for prices per stage, else (1,)."""
    ends = np.cumsum([np.size(price) for price in Prices()])[:-1]
    return dict(zip(Prices._fields, jnp.split(jnp.asarray(prices), ends), strict=True))


PLAYER_DIVISORS = {
    "row": 5,
    "col": 5,
    "hp": 3,
    "credits": 50,
    "energy": 50,
    "stage": 7,
    "dataSiphons": 10,
    "attack": 2,
}
"""O1: divisors of the numbers of the player; a number that is not named stays as it is."""
CELL_DIVISORS = {"enemyHP": 3, "points": 9, "spawn": 9, "transmissionTurns": 4, "credits": 3, "energy": 3}
"""O3: divisors of the numbers of a cell, in the same way."""


def rules_tables(prices: ArrayLike = PRICES) -> dict[str, Any]:
    """The tables A5, P, W, O1-O3, R5 and B2 as JSON values, under the names of the protocol's ``getRules``.

    ``prices``: the prices of table W in use, in the order of ``PRICES``.
    """
    table_w = {name: price.tolist() for name, price in split_prices(prices).items()}
    table_w["victory"] += table_w.pop("victory_per_score")
    return {
        "rulesVersion": rules.VERSION,
        "actionSpaceSize": rules.NUM_ACTIONS,
        "enemies": [
            {
                "type": name,
                "maxHP": enemy.max_hp,
                "speed": enemy.speed,
                "entersBlocks": number == EnemyType.GLITCH,
            }
            for number, (name, enemy) in enumerate(zip(rules.ENEMIES, ENEMIES, strict=True))
        ],
        "programs": [
            {"actionIndex": action, "name": name.lower(), **program._asdict()}
            for action, (name, program) in enumerate(zip(rules.PROGRAMS, PROGRAMS, strict=True), rules.FIRST_PROGRAM)
        ],
        "rewards": {"components": list(rules.COMPONENTS), "prices": table_w},
        "observation": {
            "size": rules.OBSERVATION_SIZE,
            "player": _features(rules.PLAYER_FEATURES, PLAYER_DIVISORS),
            "programs": _features(tuple(map(str.lower, rules.PROGRAMS)), {}),
            "cell": _features(rules.CELL_FEATURES, CELL_DIVISORS),
        },
        "sites": {site.name: int(site) for site in Site},
        "stages": [
            {"stage": stage, "scheduledTaskInterval": scheduled_task_interval(stage), "transmissions": stage}
            for stage in range(1, rules.NUM_STAGES + 1)
        ],
    }


def _features(features: tuple[str, ...], divisors: dict[str, int]) -> list[dict[str, Any]]:
    return [{"name": name, "divisor": divisors.get(name, 1)} for name in features]
