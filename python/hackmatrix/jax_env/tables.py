"""The tables of the rules (A5, table P, W, O1) as this engine holds them."""

from typing import NamedTuple

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

PLAYER_FEATURES = 10
CELL_FEATURES = 42
OBSERVATION_SIZE = PLAYER_FEATURES + NUM_PROGRAMS + NUM_CELLS * CELL_FEATURES
