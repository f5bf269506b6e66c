"""Start and stage generation (B), and spawning (C6)."""

from dataclasses import dataclass

from . import randomness as site
from .board import (
    CELLS,
    CORNERS,
    DIRECTIONS,
    ENEMIES,
    PROGRAM_ACTIONS,
    SPAWN,
    Block,
    Game,
    Transmission,
    beside,
    neighbours,
    path_lengths,
)
from .randomness import Draws


def in_line_of_fire(game: Game) -> set[int]:
    """Cells in the player's line of fire (C6)."""
    reached: set[int] = set()
    for direction in DIRECTIONS:
        cell = beside(game.player, direction)
        while cell is not None:
            reached.add(cell)
            cell = None if cell in game.enemies or cell in game.blocks else beside(cell, direction)
    return reached


@dataclass(frozen=True)
class Wave:
    """Origin of transmissions that are spawned together, and the sites of their draws."""

    cell_site: int
    type_site: int
    from_siphon: bool = False
    from_schedule: bool = False


STAGE_WAVE = Wave(site.STAGE_CELL, site.STAGE_TYPE)
SCHEDULE_WAVE = Wave(site.SCHEDULE_CELL, site.SCHEDULE_TYPE, from_schedule=True)
SIPHON_WAVE = Wave(site.SIPHON_CELL, site.SIPHON_TYPE, from_siphon=True)


def spawn(game: Game, draws: Draws, count: int, wave: Wave) -> None:
    """Spawn ``count`` transmissions one after another (C6)."""
    for j in range(count):
        empty = set(CELLS) - game.occupied() - set(game.blocks) - {game.player}
        if not empty:
            return
        cells = empty - in_line_of_fire(game) or empty
        cell = draws.order(cells, wave.cell_site, 36 * j)[0]
        enemy_type = draws.one_of(ENEMIES, wave.type_site, j)
        game.transmissions[cell] = Transmission(enemy_type, 1, wave.from_siphon, wave.from_schedule)


def is_valid_placement(blocks: set[int], exit_cell: int) -> bool:
    """B6."""
    open_cells = set(CELLS) - blocks - {exit_cell}
    connected = set(path_lengths(min(open_cells), blocks | {exit_cell})) == open_cells
    exit_reachable = bool(set(neighbours(exit_cell)) - blocks)
    return connected and exit_reachable and all(set(neighbours(block)) - blocks for block in blocks)


def _contents(draws: Draws, cells: list[int], attempt: int) -> dict[int, Block]:
    unused = list(PROGRAM_ACTIONS)
    blocks = {}
    for cell in sorted(cells):
        index = 36 * attempt + cell
        question = draws.below(10, site.QUESTION, index) == 0
        if draws.below(2, site.DATA, index) == 0:
            points = 1 + draws.below(9, site.POINTS, index)
            blocks[cell] = Block("question" if question else "data", points, points)
        else:
            program = draws.one_of(unused, site.PROGRAM, index)
            unused.remove(program)
            blocks[cell] = Block("question" if question else "program", SPAWN[program], program=program)
    return blocks


def draw_blocks(draws: Draws, free: set[int], exit_cell: int) -> tuple[dict[int, Block], int]:
    """The blocks of a stage and the number of attempts that were made (B4, B5, B6)."""
    for attempt in range(100):
        count = 5 + draws.below(7, site.BLOCK_COUNT, attempt)
        cells = draws.order(free, site.BLOCK_CELL, 36 * attempt)[:count]
        if is_valid_placement(set(cells), exit_cell):
            return _contents(draws, cells, attempt), attempt + 1
    return {}, 100


def generate_stage(game: Game) -> int:
    """Generate ``game.stage`` around player, enemies and transmissions (B2-B8); returns the attempts of B6."""
    draws = Draws(game.seed, game.event_number)
    game.cell_credits, game.cell_energy = [0] * 36, [0] * 36
    game.siphoned, game.siphon_centers = set(), set()
    game.turn, game.scheduled_task_interval = 0, 13 - game.stage
    game.next_scheduled_task_turn = game.scheduled_task_interval
    game.show_activated = game.scheduled_tasks_disabled = game.step_active = False
    game.atk_plus_uses = game.pending_siphon_transmissions = 0
    game.history, game.kills_since_history, game.pickups_since_history = None, 0, 0

    game.exit, *others = draws.order(set(CORNERS) - {game.player}, site.EXIT)
    game.pickups = set(others)
    free = set(CELLS) - set(CORNERS) - game.occupied() - {game.player}
    game.blocks, attempts = draw_blocks(draws, free, game.exit)
    for cell in set(CELLS) - set(game.blocks) - {game.exit}:
        twentieth = draws.below(20, site.AMOUNT, cell)
        amount = 1 if twentieth <= 8 else 2 if twentieth <= 17 else 3
        amounts = game.cell_credits if draws.below(2, site.RESOURCE, cell) == 0 else game.cell_energy
        amounts[cell] = amount
    spawn(game, draws, game.stage, STAGE_WAVE)
    game.closest_approach = game.distance() or 0
    return attempts


def new_game(seed: int) -> Game:
    """B1."""
    draws = Draws(seed, 0)
    game = Game(player=draws.order(CORNERS, site.START)[0], seed=seed)
    match draws.below(3, site.BONUS):
        case 0:
            game.credits = 10
        case 1:
            game.energy = 11
        case _:
            game.data_siphons = 1
    generate_stage(game)
    return game
