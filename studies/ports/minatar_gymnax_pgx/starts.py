"""States of MinAtar that play from the start seldom reaches: late, crowded, or close to an end."""

from collections.abc import Iterator
from typing import Any

import numpy as np

State = dict[str, Any]


def _integer(rng: np.random.Generator, low: int, high: int) -> int:
    """From low to high, both included."""
    return int(rng.integers(low, high + 1))


def _begun(rng: np.random.Generator) -> State:
    return {"seed": _integer(rng, 0, 2**31 - 1), "taken": 0, "terminal": 0}


def _entity(rng: np.random.Generator, row: int, *timers: int) -> list[int]:
    right = _integer(rng, 0, 1)
    return [_integer(rng, 0, 9), row, right, *(_integer(rng, 0, most) for most in timers)]


def breakout(rng: np.random.Generator) -> State:
    """The ball anywhere below few bricks or none."""
    bricks = np.zeros((10, 10), int)
    bricks[1:4] = rng.random((3, 10)) < rng.choice([0, 0.05, 0.3])
    x, y = _integer(rng, 0, 9), _integer(rng, 4, 8)
    return _begun(rng) | {
        "ball_y": y,
        "ball_x": x,
        "ball_dir": _integer(rng, 0, 3),
        "pos": int(np.clip(x + _integer(rng, -2, 2), 0, 9)),
        "brick_map": bricks.tolist(),
        "strike": 0,
        "last_x": x,
        "last_y": y,
    }


def space_invaders(rng: np.random.Generator) -> State:
    """A few aliens at any height."""
    aliens, bullets, shots = (np.zeros((10, 10), int) for _ in range(3))
    top, left = _integer(rng, 0, 6), _integer(rng, 0, 4)
    aliens[top : top + 4, left : left + 6] = (rng.random((4, 6)) < rng.choice([0.1, 0.5]))[: 10 - top]
    aliens[top, left] = 1
    bullets[_integer(rng, 0, 8), _integer(rng, 0, 9)] = shots[_integer(rng, 0, 8), _integer(rng, 0, 9)] = 1
    interval = _integer(rng, 6, 12)
    return _begun(rng) | {
        "pos": _integer(rng, 0, 9),
        "f_bullet_map": bullets.tolist(),
        "e_bullet_map": shots.tolist(),
        "alien_map": aliens.tolist(),
        "alien_dir": int(rng.choice([-1, 1])),
        "enemy_move_interval": interval,
        "alien_move_timer": _integer(rng, 0, interval),
        "alien_shot_timer": _integer(rng, 0, 10),
        "ramp_index": 12 - interval,
        "shot_timer": _integer(rng, 0, 5),
    }


def asterix(rng: np.random.Generator) -> State:
    """Any difficulty, at which most rows are occupied when it is late."""
    ramps = _integer(rng, 0, 9)
    spawn, move = max(1, 10 - ramps), max(1, 5 - ramps // 2)
    full = rng.random(8) < ramps / 9
    entities = [[*_entity(rng, row + 1), _integer(rng, 0, 1)] if is_full else None for row, is_full in enumerate(full)]
    return _begun(rng) | {
        "player_x": _integer(rng, 0, 9),
        "player_y": _integer(rng, 1, 8),
        "entities": entities,
        "spawn_speed": spawn,
        "spawn_timer": _integer(rng, 0, spawn),
        "move_speed": move,
        "move_timer": _integer(rng, 0, move),
        "ramp_timer": _integer(rng, -1, 100),
        "ramp_index": ramps,
    }


def freeway(rng: np.random.Generator) -> State:
    """Shortly before a crossing, or before the time is up."""
    speeds = rng.integers(1, 6, 8) * rng.choice([-1, 1], 8)
    cars = [
        [_integer(rng, 0, 9), row + 1, _integer(rng, 0, abs(int(speed))), int(speed)]
        for row, speed in enumerate(speeds)
    ]
    return _begun(rng) | {
        "cars": cars,
        "pos": _integer(rng, 1, 9),
        "move_timer": _integer(rng, 0, 3),
        "terminate_timer": int(rng.choice([0, 1, 2, 5, 60, 1000])),
    }


def seaquest(rng: np.random.Generator) -> State:
    """Any difficulty, oxygen and number of divers, with enemies, all of a row going the same way."""
    ramps = _integer(rng, 0, 19)
    speed = max(2, 5 - ramps // 2)
    subs, fish, shots = [], [], []
    for row in range(1, 9):
        kind = _integer(rng, 0, 3)
        if kind == 0:
            subs.append(_entity(rng, row, speed, 10))
            shots.append([*_entity(rng, row)[:2], subs[-1][2]])
        elif kind == 1:
            fish.append(_entity(rng, row, speed))
    x, y = _integer(rng, 0, 9), _integer(rng, 0, 8)
    return _begun(rng) | {
        "oxygen": int(rng.choice([0, 1, 2, 50, 200])),
        "diver_count": int(rng.choice([0, 1, 3, 6])),
        "sub_x": x,
        "sub_y": y,
        "sub_or": {0: 0, 9: 1}.get(x, _integer(rng, 0, 1)),  # at an edge it faces that edge
        "f_bullets": [_entity(rng, _integer(rng, 1, 8))] if rng.random() < 0.5 else [],
        "e_bullets": sorted(shots),
        "e_fish": sorted(fish),
        "e_subs": sorted(subs),
        "divers": [_entity(rng, _integer(rng, 1, 8), 5)],
        "e_spawn_speed": 20 - ramps,
        "e_spawn_timer": _integer(rng, 0, 20 - ramps),
        "d_spawn_timer": _integer(rng, 0, 30),
        "move_speed": speed,
        "ramp_index": ramps,
        "shot_timer": _integer(rng, 0, 5),
        "surface": int(y == 0),
    }


def smaller(state: State) -> Iterator[State]:
    """States with an entity, alien, brick or bullet less."""
    for name, value in state.items():
        if not isinstance(value, list):
            continue
        for row, part in enumerate(value):
            if name == "entities" and part is not None:
                yield state | {name: [*value[:row], None, *value[row + 1 :]]}
            elif name.endswith("_map") and any(part):
                yield state | {name: [*value[:row], [0] * len(part), *value[row + 1 :]]}
            elif name not in ("entities", "cars") and not name.endswith("_map"):
                yield state | {name: value[:row] + value[row + 1 :]}
