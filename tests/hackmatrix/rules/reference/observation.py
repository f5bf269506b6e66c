"""The observation (O)."""

import numpy as np
from numpy.typing import NDArray

from .board import CELLS, ENEMIES, MAX_HP, PROGRAM_ACTIONS, Game, aligned, col, row

BLOCKS = ("data", "program", "question")
AFTER_PROGRAMS = 12 + len(PROGRAM_ACTIONS)
"""O3: the channel after those that say which program a block holds."""


def quotient(number: int, divisor: int) -> np.float32:
    """The float32 nearest to the quotient, capped at 1 (O1)."""
    return np.float32(min(number, divisor)) / np.float32(divisor)


def observe(game: Game) -> NDArray[np.float32]:
    """All values (O1, O2, O3)."""
    player = [
        quotient(row(game.player), 5),
        quotient(col(game.player), 5),
        quotient(game.hp, 3),
        quotient(game.credits, 50),
        quotient(game.energy, 50),
        quotient(game.stage - 1, 7),
        quotient(game.data_siphons, 10),
        quotient(game.attack_damage - 1, 2),
        np.float32(game.show_activated),
        np.float32(game.scheduled_tasks_disabled),
    ]
    programs = [np.float32(action in game.owned_programs) for action in PROGRAM_ACTIONS]
    cells = [_cell(game, cell) for cell in CELLS]
    return np.concatenate([np.array(player), np.array(programs), *cells]).astype(np.float32)


def _cell(game: Game, cell: int) -> NDArray[np.float32]:
    """The channels of a cell (O3, O4)."""
    values = np.zeros(AFTER_PROGRAMS + 7, np.float32)
    enemy, block, coming = game.enemies.get(cell), game.blocks.get(cell), game.transmissions.get(cell)
    if enemy is not None and (enemy.enemy_type != "cryptog" or game.show_activated or aligned(cell, game.player)):
        assert 0 < enemy.hp <= MAX_HP[enemy.enemy_type]
        values[ENEMIES.index(enemy.enemy_type)] = 1
        values[4] = quotient(enemy.hp, 3)
        values[5] = enemy.stunned
        values[6] = enemy.from_siphon
    if block is not None:
        values[7 + BLOCKS.index(block.block_type)] = 1
        values[11] = cell in game.siphoned
        if block.block_type != "question":
            values[10] = quotient(block.points, 9)
            values[AFTER_PROGRAMS] = quotient(block.spawn_count, 9)
            if block.program is not None:
                values[12 + PROGRAM_ACTIONS.index(block.program)] = 1
    if coming is not None:
        values[AFTER_PROGRAMS + 1] = quotient(coming.turns_remaining, 4)
    if block is None or cell in game.siphoned:
        values[AFTER_PROGRAMS + 2] = quotient(game.cell_credits[cell], 3)
        values[AFTER_PROGRAMS + 3] = quotient(game.cell_energy[cell], 3)
    values[AFTER_PROGRAMS + 4] = cell in game.pickups
    values[AFTER_PROGRAMS + 5] = cell == game.exit
    values[AFTER_PROGRAMS + 6] = cell in game.siphon_centers
    return values
