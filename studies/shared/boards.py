"""Boards with given numbers of enemies, and boards in the middle of each stage, to measure the cost of a step."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import jax
import numpy as np

from hackmatrix import jax_env
from hackmatrix.cells import CELLS, Place
from hackmatrix.exploration.starts import ENEMY_HP, at
from hackmatrix.rules import ENEMIES, MOVES, NUM_STAGES
from hackmatrix.world import open_swift
from rlparity import BatchEngine, State

ENEMY_COUNTS = (0, 1, 2, 5, 10, 20, 30)
STAGES = tuple(range(1, NUM_STAGES + 1))
DIFFERENT = 256
"""Number of different boards of each kind; more games than that share boards."""
STEPS_IN_STAGE = 8
"""Random valid actions until the middle of a stage, when its first transmissions have arrived."""


def boards(num_games: int, different: int = DIFFERENT) -> Iterator[tuple[str, jax_env.State]]:
    """Yield batches of ``num_games`` games, named ``enemies_N`` and ``stage_N``; EngineError without an engine."""
    rng = np.random.default_rng(0)
    slots = np.arange(different)
    with closing(open_swift(different)) as engine:
        engine.reset(slots.astype(np.uint64), slots)
        fresh = engine.get_state(slots)
        for count in ENEMY_COUNTS:
            yield f"enemies_{count}", _batch([_with_enemies(state, count, rng) for state in fresh], num_games)
        for stage in STAGES:
            yield f"stage_{stage}", _batch(_in_stage(stage, fresh, engine, rng), num_games)


def _batch(states: Sequence[State], num_games: int) -> jax_env.State:
    """Stack states to a batch of ``num_games`` games on a leading axis, repeating the states if there are fewer."""
    leaves = jax.tree.map(lambda *each: np.stack(each), *map(jax_env.set_state, states))
    return jax.tree.map(lambda leaf: leaf[np.arange(num_games) % len(states)], leaves)


def _with_enemies(state: State, count: int, rng: np.random.Generator) -> State:
    """Return the state with ``count`` unhurt enemies and no transmissions."""
    free = [place for place in CELLS if place not in (_place(state["player"]), _place(state["exit"]))]
    taken = [free[number] for number in rng.permutation(len(free))[:count]]
    enemies = [_enemy(ENEMIES[number % len(ENEMIES)], place) for number, place in enumerate(taken)]
    blocks = [block for block in state["blocks"] if _place(block) not in taken]
    return {**state, "enemies": enemies, "transmissions": [], "blocks": blocks}


def _enemy(kind: str, place: Place) -> State:
    nowhere = {"lastKnownRow": place[0], "lastKnownCol": place[1]} if kind == "cryptog" else {}
    return {**at(place), "type": kind, "hp": ENEMY_HP[kind], **nowhere}


def _in_stage(stage: int, fresh: Sequence[State], engine: BatchEngine, rng: np.random.Generator) -> list[State]:
    """Enter the stage through the exit of the one before, take random actions, and return the games still in it."""
    slots = np.arange(len(fresh))
    if stage == 1:
        engine.set_state(fresh, slots)
    else:
        engine.set_state([_at_the_exit(state, stage - 1) for state in fresh], slots)
        engine.step(np.array([_way_out(state) for state in fresh], np.int32))
    for _ in range(STEPS_IN_STAGE):
        mask = engine.mask()
        engine.step((mask * rng.random(mask.shape)).argmax(axis=1).astype(np.int32))
    return [state for state in engine.get_state(slots) if state["stage"] == stage and state["player"]["hp"] > 0]


def _at_the_exit(state: State, stage: int) -> State:
    """Return the board as one of this stage, with the player beside the exit and without enemies."""
    row, column = _place(state["exit"])
    door = (row + (1 if row == 0 else -1), column)
    blocks = [block for block in state["blocks"] if _place(block) != door]
    player = {**state["player"], **at(door)}
    return {**state, "player": player, "blocks": blocks, "enemies": [], "transmissions": [], "stage": stage}


def _way_out(state: State) -> int:
    """Return the move from beside the exit to the exit."""
    return MOVES.index("down" if state["exit"]["row"] == 0 else "up")


def _place(holder: Mapping[str, Any]) -> Place:
    return holder["row"], holder["col"]
