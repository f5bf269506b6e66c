"""The tables of the rules (A5, table P, W, O1) as this engine holds them."""

from typing import NamedTuple, TypeVar

import numpy as np

NUM_CELLS = 36
NUM_ACTIONS = 28
NUM_PROGRAMS = 23
NUM_STAGES = 8
WON_STAGE = 9

SIPHON_ACTION = 4
FIRST_PROGRAM_ACTION = 5

MAX_HP = 3
MAX_ATTACK = 3
MAX_COUNTER = 9999
"""A7: credits, energy, siphons, score and pending spawns saturate here."""
MAX_TIMER = 255
"""A7: turns remaining and ``disabled`` saturate here."""


_Number = TypeVar("_Number")


def spawn_interval(stage: _Number) -> _Number:
    """Turns between scheduled spawns at the start of a stage (B2); ``stage`` is a number or an array."""
    return 13 - stage  # type: ignore[operator, return-value]


class Enemy(NamedTuple):
    """A row of A5."""

    name: str
    max_hp: int
    speed: int


VIRUS, DAEMON, GLITCH, CRYPTOG = range(4)
ENEMIES = (Enemy("virus", 2, 2), Enemy("daemon", 3, 1), Enemy("glitch", 2, 1), Enemy("cryptog", 2, 1))


class Program(NamedTuple):
    """A row of table P."""

    name: str
    credits: int
    energy: int
    spawn: int


PROGRAMS = (
    Program("push", 0, 2, 4),
    Program("pull", 0, 2, 4),
    Program("crash", 3, 2, 6),
    Program("warp", 2, 2, 5),
    Program("poly", 1, 1, 3),
    Program("wait", 0, 1, 1),
    Program("debug", 3, 0, 4),
    Program("row", 3, 1, 2),
    Program("col", 3, 1, 2),
    Program("undo", 1, 0, 3),
    Program("step", 0, 3, 4),
    Program("siph+", 5, 0, 7),
    Program("exch", 4, 0, 3),
    Program("show", 2, 0, 2),
    Program("reset", 0, 4, 2),
    Program("calm", 2, 4, 6),
    Program("d_bom", 3, 0, 4),
    Program("delay", 1, 2, 4),
    Program("anti-v", 3, 0, 4),
    Program("score", 0, 5, 5),
    Program("reduc", 2, 1, 3),
    Program("atk+", 4, 4, 8),
    Program("hack", 2, 2, 4),
)

(
    PUSH,
    PULL,
    CRASH,
    WARP,
    POLY,
    WAIT,
    DEBUG,
    ROW,
    COL,
    UNDO,
    STEP,
    SIPH_PLUS,
    EXCH,
    SHOW,
    RESET,
    CALM,
    D_BOM,
    DELAY,
    ANTI_V,
    SCORE,
    REDUC,
    ATK_PLUS,
    HACK,
) = range(FIRST_PROGRAM_ACTION, NUM_ACTIONS)
"""The actions of the programs."""

CREDIT_COST = np.array([0] * FIRST_PROGRAM_ACTION + [p.credits for p in PROGRAMS], np.int32)
"""Credits that each of the 28 actions costs."""
ENERGY_COST = np.array([0] * FIRST_PROGRAM_ACTION + [p.energy for p in PROGRAMS], np.int32)
"""Energy that each of the 28 actions costs."""
SPAWN_COUNT = np.array([p.spawn for p in PROGRAMS], np.int32)
"""The spawn count of a block that holds each of the 23 programs (A4)."""

REWARD_NAMES = (
    "step_penalty",
    "stage_completion",
    "score_gain",
    "kills",
    "data_siphon",
    "distance_shaping",
    "victory",
    "death_penalty",
    "resource_gain",
    "resource_holding",
    "damage_penalty",
    "hp_recovery",
    "siphon_quality",
    "siphon_death_penalty",
    "program_waste",
)
"""The 15 reward components in the order of table W."""

STAGE_COMPLETION = np.array([1000, 2000, 4000, 8000, 16000, 32000, 64000, 100000], np.int32)
"""Thousandths for completing stage 1..8."""

STAGES_BEFORE = np.concatenate([[0], np.cumsum(STAGE_COMPLETION)]).astype(np.int32)
"""The sum of stage_completion for the stages before stage 1, 2, … 9."""


class RewardRates(NamedTuple):
    """The numbers of table W besides those of stage_completion, in thousandths."""

    step_penalty: int = -10
    score_gain: int = 500
    kill: int = 300
    data_siphon: int = 1000
    distance_shaping: int = 50
    victory: int = 500_000
    victory_per_score: int = 100_000
    resource_gain: int = 50
    resource_holding: int = 10
    hp: int = 1000
    siphon_quality: int = -25
    siphon_death_penalty: int = -10_000
    program_waste: int = -300


REWARD = RewardRates()


class Feature(NamedTuple):
    """One number of the observation: an integer over a divisor (O1-O3)."""

    name: str
    divisor: int = 1


PLAYER_FEATURES = (
    Feature("row", 5),
    Feature("col", 5),
    Feature("hp", 3),
    Feature("credits", 50),
    Feature("energy", 50),
    Feature("stage", 7),
    Feature("dataSiphons", 10),
    Feature("attack", 2),
    Feature("showActivated"),
    Feature("scheduledTasksDisabled"),
)
"""O1."""
CELL_FEATURES = (
    *(Feature(enemy.name) for enemy in ENEMIES),
    Feature("enemyHP", 3),
    Feature("stunned"),
    Feature("fromSiphon"),
    Feature("data"),
    Feature("program"),
    Feature("question"),
    Feature("points", 9),
    Feature("siphoned"),
    *(Feature(f"block:{program.name}") for program in PROGRAMS),
    Feature("spawn", 9),
    Feature("transmissionTurns", 4),
    Feature("credits", 3),
    Feature("energy", 3),
    Feature("pickup"),
    Feature("exit"),
    Feature("siphonCentre"),
)
"""O3."""
OBSERVATION_SIZE = len(PLAYER_FEATURES) + NUM_PROGRAMS + NUM_CELLS * len(CELL_FEATURES)
