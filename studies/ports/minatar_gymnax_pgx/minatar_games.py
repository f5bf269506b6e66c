"""The five games of MinAtar, as the original and both ports describe them, and their states as JSON values."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rlparity import State

TAKEN, TERMINAL, MOVES = "taken", "terminal", "nlurdf"
Path = tuple[int, ...]


@dataclass(frozen=True)
class Lists:
    """A list of entities: the width of an entity, and what Gymnax calls the number of those that its buffer holds."""

    width: int
    count: str


@dataclass(frozen=True)
class Game:
    """A game: its moves, channels and state fields; where Gymnax's and pgx's keys have their numbers."""

    name: str
    gymnax: str
    moves: str
    channels: int
    fields: tuple[str, ...]
    lists: Mapping[str, Lists] = field(default_factory=dict)
    gymnax_places: Mapping[Path, int] = field(default_factory=dict)
    pgx_places: Mapping[Path, int] = field(default_factory=dict)


GAMES = (
    Game(
        "breakout", "Breakout", "nlr", 4,
        ("ball_y", "ball_x", "ball_dir", "pos", "brick_map", "strike", "last_x", "last_y"),
    ),
    Game(
        "space_invaders", "SpaceInvaders", "nlrf", 6,
        ("pos", "f_bullet_map", "e_bullet_map", "alien_map", "alien_dir", "enemy_move_interval", "alien_move_timer",
         "alien_shot_timer", "ramp_index", "shot_timer"),
    ),
    Game(
        "asterix", "Asterix", "nlurd", 4,
        ("player_x", "player_y", "entities", "spawn_speed", "spawn_timer", "move_speed", "move_timer", "ramp_timer",
         "ramp_index"),
        gymnax_places={(0,): 0, (1,): 1, (2,): 2},
        pgx_places={(1,): 0, (2,): 1, (3,): 2},
    ),
    Game(
        "freeway", "Freeway", "nud", 7, ("cars", "pos", "move_timer", "terminate_timer"),
        gymnax_places={(0,): 0, (1,): 1},
        pgx_places={(1, 0): 0, (1, 1): 1, (1,): 1},
    ),
    Game(
        "seaquest", "Seaquest", "nlurdf", 10,
        ("oxygen", "diver_count", "sub_x", "sub_y", "sub_or", "f_bullets", "e_bullets", "e_fish", "e_subs", "divers",
         "e_spawn_speed", "e_spawn_timer", "d_spawn_timer", "move_speed", "ramp_index", "shot_timer", "surface"),
        lists={"f_bullets": Lists(3, "f_bullet_count"), "e_bullets": Lists(3, "e_bullet_count"),
               "e_fish": Lists(4, "e_fish_count"), "e_subs": Lists(5, "e_subs_count"),
               "divers": Lists(4, "divers_count")},
        gymnax_places={(0, 0): 0, (0, 1): 2, (1, 0): 3, (1, 1): 4},
        pgx_places={(1,): 0, (2,): 1, (3,): 2, (4,): 3, (5,): 4},
    ),
)  # fmt: skip


def whole(value: Any) -> Any:
    """A value as integers in lists."""
    return np.asarray(value).astype(int).tolist()


def texts(state: State) -> State:
    """A state with its lists as texts, so that each differs as one field."""
    return {name: json.dumps(value) if isinstance(value, list) else value for name, value in state.items()}


def lists(state: State) -> State:
    """The reverse of ``texts``."""
    return {name: json.loads(value) if isinstance(value, str) else value for name, value in state.items()}
