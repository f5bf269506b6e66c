"""Turns (C) and reward (W)."""

from copy import deepcopy
from dataclasses import dataclass, replace

from .actions import mask, move, run_program, siphon
from .board import ACTION, CELLS, DIRECTIONS, NUM_ACTIONS, Game, cross, neighbours, saturated
from .enemies import enemy_turn
from .randomness import WORD, Draws
from .stage import generate_stage

REWARD_NAMES = (
    *("step_penalty", "stage_completion", "score_gain", "kills", "data_siphon", "distance_shaping", "victory"),
    *("death_penalty", "resource_gain", "resource_holding", "damage_penalty", "hp_recovery", "siphon_quality"),
    *("siphon_death_penalty", "program_waste"),
)
STAGE_REWARD = (1000, 2000, 4000, 8000, 16000, 32000, 64000, 100000)
SIPHON, WAIT, UNDO, RESET, WARP = 4, ACTION["wait"], ACTION["undo"], ACTION["reset"], ACTION["warp"]


@dataclass(frozen=True)
class Step:
    """Result of a step: the next state, the 15 components in thousandths, and the flags."""

    game: Game
    components: dict[str, int]
    stage_complete: bool = False
    death: bool = False
    victory: bool = False
    invalid_action: bool = False

    @property
    def terminated(self) -> bool:
        return self.death or self.victory or self.invalid_action


def step(before: Game, action: int) -> Step:
    """One action on a copy of the game (C1-C4)."""
    if action not in range(NUM_ACTIONS) or not mask(before)[action]:
        return Step(deepcopy(before), dict.fromkeys(REWARD_NAMES, 0), invalid_action=True)
    game = deepcopy(before)
    game.event_number = (game.event_number + 1) & WORD
    draws = Draws(game.seed, game.event_number)
    ends_turn = action <= SIPHON or action == WAIT
    if ends_turn:
        game.history = replace(deepcopy(before), history=None)
        game.kills_since_history = game.pickups_since_history = 0

    kills, taken = 0, False
    moved = action < SIPHON
    if moved:
        kills, taken = move(game, DIRECTIONS[action])
        moved = game.player != before.player
    elif action == SIPHON:
        siphon(game)
    else:
        kills = run_program(game, draws, action)
    if game.history is not None:
        game.kills_since_history = saturated(game.kills_since_history + kills)
        game.pickups_since_history = saturated(game.pickups_since_history + taken)

    complete = (moved or action == WARP) and game.player == game.exit
    if complete:
        _complete_stage(game)
    elif ends_turn:
        enemy_turn(game, draws)
    death = game.hp == 0
    components = _reward(before, game, action, kills, taken, complete)
    return Step(game, components, complete, death, game.stage == 9)


def _complete_stage(game: Game) -> None:
    """C3."""
    game.hp = min(3, game.hp + 1)
    game.stage += 1
    if game.stage < 9:
        generate_stage(game)


def _reward(before: Game, after: Game, action: int, kills: int, taken: bool, complete: bool) -> dict[str, int]:
    """The 15 components; brings ``after.closest_approach`` up to date (W1)."""
    reward = dict.fromkeys(REWARD_NAMES, 0)
    death = after.hp == 0
    reward["step_penalty"] = -10
    reward["score_gain"] = 500 * (after.score - before.score)
    reward["kills"] = 300 * kills
    reward["data_siphon"] = 1000 * taken
    reward["resource_gain"] = 50 * (after.credits - before.credits + after.energy - before.energy)
    reward["damage_penalty"] = -1000 * max(0, before.hp - after.hp)
    reward["hp_recovery"] = 1000 * max(0, after.hp - before.hp)
    reward["distance_shaping"] = 50 * _gain(before, after, action, complete, death)
    if complete:
        reward["stage_completion"] = STAGE_REWARD[before.stage - 1]
        reward["resource_holding"] = 10 * (after.credits + after.energy)
        reward["victory"] = 500000 + 100000 * after.score if after.stage == 9 else 0
    if action == UNDO:
        reward["kills"] = -300 * before.kills_since_history
        reward["data_siphon"] = -1000 * before.pickups_since_history
    if death:
        reward["death_penalty"] = -sum(STAGE_REWARD[: after.stage - 1]) // 2
        beside_player = [after.enemies[cell] for cell in neighbours(after.player) if cell in after.enemies]
        reward["siphon_death_penalty"] = -10000 if any(enemy.from_siphon for enemy in beside_player) else 0
    if action == SIPHON:
        reward["siphon_quality"] = -25 * _missed(before)
    if action == RESET and before.hp == 2:
        reward["program_waste"] = -300
    return reward


def _gain(before: Game, after: Game, action: int, complete: bool, death: bool) -> int:
    """Cells gained on the closest approach (W1, W3)."""
    if complete:
        return before.closest_approach
    if action == UNDO:
        return before.closest_approach - after.closest_approach
    distance = after.distance()
    if death or distance is None or distance >= before.closest_approach:
        return 0
    after.closest_approach = distance
    return before.closest_approach - distance


def _missed(before: Game) -> int:
    """Missed credits plus missed energy of a siphon (W2)."""
    found, credits, energy = _yield(before, before.player)
    most_credits, most_energy = credits, energy
    has_blocks = found != ([], set())
    needed = {cell for cell in cross(before.player) if cell in before.blocks and cell not in before.siphoned}
    for cell in CELLS:
        if cell in before.blocks or (has_blocks and not needed <= set(cross(cell))):
            continue
        found_there, credits_there, energy_there = _yield(before, cell)
        if found_there == found and credits_there >= credits and energy_there >= energy:
            most_credits, most_energy = max(most_credits, credits_there), max(most_energy, energy_there)
    return most_credits - credits + most_energy - energy


def _yield(game: Game, cell: int) -> tuple[tuple[list[int], set[int]], int, int]:
    """The sorted points with the new programs, the credits and the energy that a siphon in the cell would give (W2)."""
    points, programs, credits, energy = [], set(), 0, 0
    for there in cross(cell) if cell not in game.blocks else ():
        block = game.blocks.get(there)
        if there in game.siphoned:
            continue
        if block is None:
            credits += game.cell_credits[there]
            energy += game.cell_energy[there]
        elif block.program is None:
            points.append(block.points)
        elif block.program not in game.owned_programs:
            programs.add(block.program)
    return (sorted(points), programs), credits, energy
