"""The observation (O)."""

import numpy as np
from numpy.typing import NDArray

from .board import CELLS, ENEMIES, MAX_HP, PROGRAM_ACTIONS, Game, aligned, col, row

BLOCKS = ("data", "program", "question")


def quotient(number: int, divisor: int) -> np.float32:
    """The float32 nearest to the quotient, capped at 1 (O1)."""
    return np.float32(min(number, divisor)) / np.float32(divisor)


def observe(game: Game) -> NDArray[np.float32]:
    """The 1545 values (O1, O2, O3)."""
    player = [
        quotient(row(game.player), 5),
        quotient(col(game.player), 5),
        quotient(game.hp, 3),
        quotient(game.credits, 50),
        quotient(game.energy, 50),
        quotient(game.stage - 1, 7),
        quotient(game.siphons, 10),
        quotient(game.attack - 1, 2),
        np.float32(game.show),
        np.float32(game.calm),
    ]
    programs = [np.float32(action in game.owned) for action in PROGRAM_ACTIONS]
    cells = [_cell(game, cell) for cell in CELLS]
    return np.concatenate([np.array(player), np.array(programs), *cells]).astype(np.float32)


def _cell(game: Game, cell: int) -> NDArray[np.float32]:
    """The 42 channels of a cell (O3, O4)."""
    values = np.zeros(42, np.float32)
    enemy, block, coming = game.enemies.get(cell), game.blocks.get(cell), game.transmissions.get(cell)
    if enemy is not None and (enemy.kind != "cryptog" or game.show or aligned(cell, game.player)):
        assert 0 < enemy.hp <= MAX_HP[enemy.kind]
        values[ENEMIES.index(enemy.kind)] = 1
        values[4] = quotient(enemy.hp, 3)
        values[5] = enemy.stunned
        values[6] = enemy.from_siphon
    if block is not None:
        values[7 + BLOCKS.index(block.kind)] = 1
        values[11] = cell in game.siphoned
        if block.kind != "question":
            values[10] = quotient(block.points, 9)
            values[35] = quotient(block.spawn, 9)
            if block.program is not None:
                values[12 + PROGRAM_ACTIONS.index(block.program)] = 1
    if coming is not None:
        values[36] = quotient(coming.turns, 4)
    if block is None or cell in game.siphoned:
        values[37] = quotient(game.cell_credits[cell], 3)
        values[38] = quotient(game.cell_energy[cell], 3)
    values[39] = cell in game.pickups
    values[40] = cell == game.exit
    values[41] = cell in game.centres
    return values
