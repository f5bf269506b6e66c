"""Turns (C) and reward (W)."""

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, replace

from .actions import mask, move, run_program, siphon
from .board import ACTION, CELLS, DIRECTIONS, Game, cross, neighbours, saturated
from .enemies import enemy_turn
from .randomness import WORD, Draws
from .stage import generate_stage

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
STAGE_REWARD = (1000, 2000, 4000, 8000, 16000, 32000, 64000, 100000)
SIPHON, WAIT, UNDO, RESET, WARP = 4, ACTION["wait"], ACTION["undo"], ACTION["reset"], ACTION["warp"]


@dataclass(frozen=True)
class Step:
    """What a step gives: the next state, the 15 components in thousandths, and the flags."""

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
    if action not in range(28) or not mask(before)[action]:
        return Step(deepcopy(before), dict.fromkeys(REWARD_NAMES, 0), invalid_action=True)
    game = deepcopy(before)
    game.event = (game.event + 1) & WORD
    draws = Draws(game.seed, game.event)
    ends_turn = action <= SIPHON or action == WAIT
    if ends_turn:
        game.record = replace(deepcopy(before), record=None)
        game.kills = game.pickups_taken = 0

    kills, taken = 0, False
    moved = action < SIPHON
    if moved:
        kills, taken = move(game, DIRECTIONS[action])
        moved = game.player != before.player
    elif action == SIPHON:
        siphon(game)
    else:
        kills = run_program(game, draws, action)
    if game.record is not None:
        game.kills = saturated(game.kills + kills)
        game.pickups_taken = saturated(game.pickups_taken + taken)

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
    """The 15 components; brings ``after.closest`` up to date (W1)."""
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
        reward["kills"] = -300 * before.kills
        reward["data_siphon"] = -1000 * before.pickups_taken
    if death:
        reward["death_penalty"] = -sum(STAGE_REWARD[: after.stage - 1]) // 2
        beside_player = [after.enemies[cell] for cell in neighbours(after.player) if cell in after.enemies]
        reward["siphon_death_penalty"] = -10000 if any(enemy.from_siphon for enemy in beside_player) else 0
    if action == SIPHON:
        reward["siphon_quality"] = -25 * missed(before)
    if action == RESET and before.hp == 2:
        reward["program_waste"] = -300
    return reward


def _gain(before: Game, after: Game, action: int, complete: bool, death: bool) -> int:
    """Cells gained on the closest approach (W1, W3)."""
    if complete:
        return before.closest
    if action == UNDO:
        return before.closest - after.closest
    distance = after.distance()
    if death or distance is None or distance >= before.closest:
        return 0
    after.closest = distance
    return before.closest - distance


@dataclass(frozen=True)
class Yield:
    """What a siphon in a cell would give (W2)."""

    points: Counter[int]
    programs: frozenset[int]
    credits: int
    energy: int
    block_cells: frozenset[int]


def yield_of(game: Game, cell: int) -> Yield:
    """W2; the block cells are the unsiphoned ones of the cross."""
    fresh = [there for there in cross(cell) if there not in game.siphoned]
    block_cells = [there for there in fresh if there in game.blocks]
    if cell in game.blocks:
        return Yield(Counter(), frozenset(), 0, 0, frozenset(block_cells))
    blocks = [game.blocks[there] for there in block_cells]
    bare = [there for there in fresh if there not in game.blocks]
    return Yield(
        Counter(block.points for block in blocks if block.program is None),
        frozenset(block.program for block in blocks if block.program is not None) - game.owned,
        sum(game.cell_credits[there] for there in bare),
        sum(game.cell_energy[there] for there in bare),
        frozenset(block_cells),
    )


def missed(game: Game) -> int:
    """Missed credits plus missed energy of a siphon in the player's cell (W2)."""
    current = yield_of(game, game.player)
    must_hold = current.block_cells if current.points or current.programs else frozenset()
    better = [
        offer
        for cell in CELLS
        if cell not in game.blocks
        for offer in [yield_of(game, cell)]
        if (offer.points, offer.programs) == (current.points, current.programs)
        and offer.credits >= current.credits
        and offer.energy >= current.energy
        and (offer.credits, offer.energy) != (current.credits, current.energy)
        and must_hold <= set(cross(cell))
    ]
    credits = max((offer.credits for offer in better), default=current.credits)
    energy = max((offer.energy for offer in better), default=current.energy)
    return credits - current.credits + energy - current.energy
