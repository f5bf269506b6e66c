"""Turns (C) and reward (W)."""

from collections.abc import Mapping
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


def _of_stages(name: str, *prices: int) -> dict[str, int]:
    return {f"{name}_{stage}": price for stage, price in enumerate(prices, 1)}


PRICES = {
    "step_penalty": -10,
    **_of_stages("stage_completion", 1000, 2000, 4000, 8000, 16000, 32000, 64000, 100000),
    "score_gain": 500,
    "kills": 300,
    "data_siphon": 1000,
    "distance_shaping": 50,
    "victory": 500000,
    "victory_per_score": 100000,
    **_of_stages("death_penalty", 0, -500, -1500, -3500, -7500, -15500, -31500, -63500),
    "resource_gain": 50,
    "resource_holding": 10,
    "damage_penalty": -1000,
    "hp_recovery": 1000,
    "siphon_quality": -25,
    "siphon_death_penalty": -10000,
    "program_waste": -300,
}
"""Table W in thousandths; of the prices of stages each has its stage in its name."""
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


def step(before: Game, action: int, prices: Mapping[str, int] = PRICES) -> Step:
    """One action on a copy of the game (C1-C4), paid at these prices."""
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
    components = _reward(before, game, action, kills, taken, complete, prices)
    return Step(game, components, complete, death, game.stage == 9)


def _complete_stage(game: Game) -> None:
    """C3."""
    game.hp = min(3, game.hp + 1)
    game.stage += 1
    if game.stage < 9:
        generate_stage(game)


def _reward(
    before: Game, after: Game, action: int, kills: int, taken: bool, complete: bool, prices: Mapping[str, int]
) -> dict[str, int]:
    """The 15 components; brings ``after.closest_approach`` up to date (W1)."""
    death = after.hp == 0
    beside_player = [after.enemies[cell] for cell in neighbours(after.player) if cell in after.enemies]
    counts = {
        "step_penalty": 1,
        "score_gain": after.score - before.score,
        "kills": -before.kills_since_history if action == UNDO else kills,
        "data_siphon": -before.pickups_since_history if action == UNDO else taken,
        "resource_gain": after.credits - before.credits + after.energy - before.energy,
        "damage_penalty": max(0, before.hp - after.hp),
        "hp_recovery": max(0, after.hp - before.hp),
        "distance_shaping": _gain(before, after, action, complete, death),
        "resource_holding": complete * (after.credits + after.energy),
        "siphon_death_penalty": death and any(enemy.from_siphon for enemy in beside_player),
        "siphon_quality": _missed(before) if action == SIPHON else 0,
        "program_waste": action == RESET and before.hp == 2,
    }
    reward = dict.fromkeys(REWARD_NAMES, 0) | {name: prices[name] * count for name, count in counts.items()}
    if complete:
        reward["stage_completion"] = prices[f"stage_completion_{before.stage}"]
    if complete and after.stage == 9:
        reward["victory"] = prices["victory"] + prices["victory_per_score"] * after.score
    if death:
        reward["death_penalty"] = prices[f"death_penalty_{after.stage}"]
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
