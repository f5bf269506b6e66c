"""Valid actions (M), moving and attacking (V), the siphon (S) and the programs (P).

Every function that removes enemies or transmissions returns the number of kills (V4).
"""

from collections.abc import Callable, Iterable

from . import randomness as site
from .board import (
    ACTION,
    CELLS,
    COST,
    DIRECTIONS,
    ENEMIES,
    MAX_HP,
    NAME,
    NUM_ACTIONS,
    PROGRAM_ACTIONS,
    Enemy,
    Game,
    Transmission,
    apart,
    around,
    beside,
    col,
    cross,
    row,
    saturated,
)
from .randomness import WORD, Draws


def mask(game: Game) -> list[bool]:
    """The valid actions (M, C4)."""
    if game.hp == 0 or game.stage == 9:
        return [False] * NUM_ACTIONS
    moves = [_can_move(game, direction) for direction in DIRECTIONS]
    programs = [
        action in game.owned_programs
        and game.credits >= COST[action][0]
        and game.energy >= COST[action][1]
        and _applies(game, action)
        for action in PROGRAM_ACTIONS
    ]
    return [*moves, game.data_siphons > 0, *programs]


def _can_move(game: Game, direction: tuple[int, int]) -> bool:
    there = beside(game.player, direction)
    return there is not None and (there not in game.blocks or there in game.enemies)


def _of_type(game: Game, enemy_type: str) -> list[int]:
    return sorted(cell for cell, enemy in game.enemies.items() if enemy.enemy_type == enemy_type)


def _applies(game: Game, action: int) -> bool:
    """The column "applicable when" of table P."""
    enemies, player = game.enemies, game.player
    conditions: dict[str, Callable[[], bool]] = {
        **dict.fromkeys(("push", "pull", "poly"), lambda: bool(enemies)),
        "crash": lambda: any(cell in game.blocks or cell in game.occupied() for cell in around(player)),
        "warp": lambda: bool(game.occupied()),
        "debug": lambda: any(cell in game.blocks for cell in enemies),
        "row": lambda: any(row(cell) == row(player) for cell in enemies),
        "col": lambda: any(col(cell) == col(player) for cell in enemies),
        "undo": lambda: game.history is not None,
        "exch": lambda: game.credits >= 4,
        "show": lambda: not game.show_activated,
        "reset": lambda: game.hp < 3,
        "calm": lambda: not game.scheduled_tasks_disabled,
        "d_bom": lambda: bool(_of_type(game, "daemon")),
        "delay": lambda: bool(game.transmissions),
        "anti-v": lambda: bool(_of_type(game, "virus")),
        "score": lambda: game.stage < 8,
        "reduc": lambda: any(b.spawn_count > 0 and cell not in game.siphoned for cell, b in game.blocks.items()),
        "atk+": lambda: game.atk_plus_uses < 2 and game.attack_damage < 3,
        "hack": lambda: bool(game.siphoned),
    }
    return conditions.get(NAME[action], lambda: True)()


def _remove(game: Game, cells: Iterable[int]) -> int:
    """Remove whatever moves in the cells (V4)."""
    kills = 0
    for cell in list(cells):
        gone: Enemy | Transmission | None = game.enemies.pop(cell, None) or game.transmissions.pop(cell, None)
        kills += gone is not None and not gone.from_schedule
    return kills


def _hit(game: Game, cells: Iterable[int], damage: int) -> int:
    """Hit the enemies in the cells (V2, "hit n" of table P)."""
    kills = 0
    for cell in [cell for cell in cells if cell in game.enemies]:
        enemy = game.enemies[cell]
        enemy.hp -= damage
        enemy.stunned = True
        if enemy.hp <= 0:
            kills += _remove(game, [cell])
    return kills


def target(game: Game, direction: tuple[int, int]) -> int | None:
    """V1."""
    cell = beside(game.player, direction)
    while cell is not None:
        if cell in game.occupied():
            return cell
        cell = None if cell in game.blocks else beside(cell, direction)
    return None


def move(game: Game, direction: tuple[int, int]) -> tuple[int, bool]:
    """Move or attack (V1-V4); returns the kills and whether a pickup was walked onto."""
    aim = target(game, direction)
    if aim is not None:
        return _remove(game, [aim]) if aim in game.transmissions else _hit(game, [aim], game.attack_damage), False
    there = beside(game.player, direction)
    assert there is not None
    game.player = there
    taken = there in game.pickups
    game.pickups -= {there}
    game.data_siphons = saturated(game.data_siphons + taken)
    return 0, taken


def siphon(game: Game) -> None:
    """S1-S5."""
    for cell in cross(game.player):
        if cell in game.siphoned:
            continue
        game.siphoned.add(cell)
        block = game.blocks.get(cell)
        if block is None:
            game.credits = saturated(game.credits + game.cell_credits[cell])
            game.energy = saturated(game.energy + game.cell_energy[cell])
            game.cell_credits[cell] = game.cell_energy[cell] = 0
            continue
        block.block_type = block.hides
        if block.program is None:
            game.score = saturated(game.score + block.points)
        else:
            game.owned_programs.add(block.program)
        game.pending_siphon_transmissions = saturated(game.pending_siphon_transmissions + block.spawn_count)
        block.spawn_count = 0
    game.siphon_centers.add(game.player)
    game.data_siphons -= 1
    game.scheduled_task_interval = max(4, game.scheduled_task_interval - 1)
    game.next_scheduled_task_turn = (game.next_scheduled_task_turn + 5) & WORD


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _shove(game: Game, toward: bool) -> None:
    """P-PUSH, or with ``toward`` P-PULL."""
    sense = -1 if toward else 1
    order = sorted(game.enemies, key=lambda cell: (sense * -apart(cell, game.player), cell))
    for enemy in [game.enemies[cell] for cell in order]:
        here = next(cell for cell, other in game.enemies.items() if other is enemy)
        rows = sense * _sign(row(here) - row(game.player))
        cols = sense * _sign(col(here) - col(game.player))
        steps = [step for step in ((rows, cols), (rows, 0), (0, cols)) if step != (0, 0)]
        offered = [cell for step in steps if (cell := beside(here, step)) not in (None, game.player)]
        chosen = min(offered, key=lambda cell: -sense * apart(cell, game.player), default=None)
        if chosen is not None and chosen not in game.occupied():
            game.enemies[chosen] = game.enemies.pop(here)


def _crash(game: Game) -> int:
    cells = around(game.player)
    for cell in cells:
        game.blocks.pop(cell, None)
    return _remove(game, cells)


def _warp(game: Game, draws: Draws) -> int:
    game.player = draws.order(game.occupied(), site.WARP)[0]
    return _remove(game, [game.player])


def _poly(game: Game, draws: Draws) -> int:
    kills = 0
    for cell, enemy in list(game.enemies.items()):
        damage = MAX_HP[enemy.enemy_type] - enemy.hp
        others = [other for other in ENEMIES if other != enemy.enemy_type]
        enemy.enemy_type = draws.one_of(others, site.POLY, cell)
        enemy.hp = MAX_HP[enemy.enemy_type] - damage
        enemy.last_known = cell if enemy.enemy_type == "cryptog" else None
        if enemy.hp <= 0:
            kills += _remove(game, [cell])
    return kills


def _bomb(game: Game) -> int:
    nearest = min(_of_type(game, "daemon"), key=lambda cell: apart(cell, game.player))
    return _remove(game, [nearest]) + _hit(game, around(nearest), 1)


def _restore(game: Game) -> None:
    """P-UNDO."""
    record = game.history
    assert record is not None
    kept = {"seed": game.seed, "event_number": game.event_number}
    emptied = {"history": None, "kills_since_history": 0, "pickups_since_history": 0}
    vars(game).update(vars(record) | kept | emptied)
    game.credits = saturated(game.credits - COST[ACTION["undo"]][0])
    game.energy = saturated(game.energy - COST[ACTION["undo"]][1])


def run_program(game: Game, draws: Draws, action: int) -> int:
    """Pay for a program and run it (P), WAIT's enemy turn and WARP's exit excepted; returns the kills."""
    if action == ACTION["undo"]:
        _restore(game)
        return 0
    game.credits -= COST[action][0]
    game.energy -= COST[action][1]
    hits: dict[str, Callable[[int], bool]] = {
        "debug": lambda cell: cell in game.blocks,
        "row": lambda cell: row(cell) == row(game.player),
        "col": lambda cell: col(cell) == col(game.player),
        "hack": lambda cell: cell in game.siphoned,
    }
    name = NAME[action]
    match name:
        case "push" | "pull":
            _shove(game, toward=name == "pull")
        case "crash":
            return _crash(game)
        case "warp":
            return _warp(game, draws)
        case "poly":
            return _poly(game, draws)
        case "debug" | "row" | "col" | "hack":
            return _hit(game, filter(hits[name], CELLS), game.attack_damage)
        case "d_bom":
            return _bomb(game)
        case "anti-v":
            return _hit(game, _of_type(game, "virus"), 1)
        case "step":
            game.step_active = True
        case "siph+":
            game.data_siphons = saturated(game.data_siphons + 1)
        case "exch":
            game.energy = saturated(game.energy + 4)
        case "show":
            game.show_activated = True
        case "reset":
            game.hp = 3
        case "calm":
            game.scheduled_tasks_disabled = True
        case "delay":
            for coming in game.transmissions.values():
                coming.turns_remaining = saturated(coming.turns_remaining + 3, 255)
        case "score":
            game.score = saturated(game.score + 8 - game.stage)
        case "reduc":
            for cell, block in game.blocks.items():
                block.spawn_count -= cell not in game.siphoned and block.spawn_count > 0
        case "atk+":
            game.attack_damage, game.atk_plus_uses = game.attack_damage + 1, game.atk_plus_uses + 1
    return 0
