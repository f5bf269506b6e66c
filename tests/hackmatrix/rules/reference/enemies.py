"""The enemy turn (E)."""

from . import randomness as site
from .board import MAX_HP, SPEED, Enemy, Game, aligned, apart, neighbours, path_lengths, saturated
from .randomness import WORD, Draws
from .stage import SCHEDULE_WAVE, SIPHON_WAVE, spawn


def enemy_turn(game: Game, draws: Draws) -> None:
    """E1-E12."""
    if game.step_active:
        game.step_active = False
        return
    game.turn = (game.turn + 1) & WORD
    _arrive(game)
    attacked: set[int] = set()
    for number in range(2 if any(enemy.enemy_type == "virus" for enemy in game.enemies.values()) else 1):
        _round(game, draws, number, attacked)
    if not game.scheduled_tasks_disabled and game.turn >= game.next_scheduled_task_turn:
        spawn(game, draws, 1, SCHEDULE_WAVE)
        game.next_scheduled_task_turn = (game.turn + game.scheduled_task_interval) & WORD
    spawn(game, draws, game.pending_siphon_transmissions, SIPHON_WAVE)
    game.pending_siphon_transmissions = 0
    for enemy in game.enemies.values():
        enemy.disabled_turns = saturated(enemy.disabled_turns - 1)
        enemy.stunned = False


def _arrive(game: Game) -> None:
    """E3."""
    for cell, coming in list(game.transmissions.items()):
        coming.turns_remaining = saturated(coming.turns_remaining - 1)
        if coming.turns_remaining == 0:
            del game.transmissions[cell]
            full_hp = MAX_HP[coming.enemy_type]
            enemy = Enemy(coming.enemy_type, full_hp, False, 1, coming.from_siphon, coming.from_schedule)
            enemy.last_known = cell if enemy.enemy_type == "cryptog" else None
            game.enemies[cell] = enemy


def _round(game: Game, draws: Draws, number: int, attacked: set[int]) -> None:
    """One round of E4; ``attacked``: the identities of the enemies that have attacked this turn."""
    order = [game.enemies[cell] for cell in draws.order(game.enemies, site.ORDER, 36 * number)]
    for enemy in order:
        if enemy.disabled_turns or enemy.stunned or id(enemy) in attacked or number >= SPEED[enemy.enemy_type]:
            continue
        here = next(cell for cell, other in game.enemies.items() if other is enemy)
        if apart(here, game.player) == 1:
            game.hp = saturated(game.hp - 1)
            attacked.add(id(enemy))
            continue
        to = destination(game, draws, number, here)
        if to is not None:
            game.enemies[to] = game.enemies.pop(here)
            if enemy.enemy_type == "cryptog" and aligned(to, game.player):
                enemy.last_known = to


def candidates(game: Game, here: int) -> list[int]:
    """The cells that E6, else E7 offers, before the preferences and the draw; in direction order."""
    walls = set() if game.enemies[here].enemy_type == "glitch" else set(game.blocks)
    occupied = game.occupied() - {here}
    return _first_steps(game, here, walls | occupied) or [
        cell for cell in _first_steps(game, here, walls) if cell not in occupied
    ]


def _first_steps(game: Game, here: int, closed: set[int]) -> list[int]:
    lengths = path_lengths(game.player, closed)
    reached = [cell for cell in neighbours(here) if cell in lengths]
    shortest = min((lengths[cell] for cell in reached), default=None)
    return [cell for cell in reached if lengths[cell] == shortest]


def destination(game: Game, draws: Draws, number: int, here: int) -> int | None:
    """The cell that an enemy that does not attack moves to, if any (E6, E7, E8)."""
    enemy_type = game.enemies[here].enemy_type
    offered = candidates(game, here)
    if not offered:
        closed = game.occupied() | (set() if enemy_type == "glitch" else set(game.blocks))
        open_cells = [cell for cell in neighbours(here) if cell not in closed]
        return min(open_cells, key=lambda cell: apart(cell, game.player), default=None)
    preferred = offered
    if enemy_type == "cryptog":
        preferred = [cell for cell in offered if not aligned(cell, game.player)]
    if enemy_type == "glitch":
        preferred = [cell for cell in offered if cell in game.blocks]
    return draws.one_of(preferred or offered, site.STEP, 36 * number + here)
