"""Boards by hand, without an engine's compiled code."""

from collections.abc import Callable
from typing import Any

import pytest

from hackmatrix import jax_env
from hackmatrix.render.model import BoardModel, board_model

Draw = Callable[..., BoardModel]


@pytest.fixture(scope="session")
def model() -> Draw:
    """The model of a state with these fields, the player in the middle unless said otherwise."""

    def build(**fields: Any) -> BoardModel:  # noqa: ANN401 - fields of a state dict
        state = {"player": {"row": 2, "col": 2}, **fields}
        return board_model(jax_env.get_state(jax_env.set_state(state)))

    return build


@pytest.fixture(scope="session")
def crowded(model: Draw) -> BoardModel:
    """Everything that can lie on a board."""
    return model(
        player={
            "row": 2,
            "col": 2,
            "hp": 2,
            "credits": 17,
            "energy": 9,
            "dataSiphons": 2,
            "attackDamage": 2,
            "score": 41,
        },
        enemies=[
            {"type": "virus", "row": 5, "col": 0, "hp": 1, "stunned": True, "disabledTurns": 2},
            {
                "type": "cryptog",
                "row": 4,
                "col": 0,
                "hp": 2,
                "lastKnownRow": 4,
                "lastKnownCol": 4,
                "isFromScheduledTask": True,
            },
            {"type": "cryptog", "row": 0, "col": 2, "hp": 2},
            {"type": "glitch", "row": 3, "col": 1, "hp": 2, "stunned": True},
            {"type": "daemon", "row": 5, "col": 5, "hp": 3},
        ],
        transmissions=[
            {"row": 4, "col": 1, "turnsRemaining": 3, "enemyType": "daemon"},
            {"row": 0, "col": 0, "turnsRemaining": 1, "enemyType": "virus", "spawnedFromSiphon": True},
        ],
        blocks=[
            {"row": 3, "col": 0, "type": "question", "points": 4},
            {"row": 3, "col": 1, "type": "program", "programType": "anti-v"},
            {"row": 3, "col": 4, "type": "data", "points": 3, "siphoned": True, "spawnCount": 0},
            {"row": 1, "col": 1, "type": "data", "points": 9},
            {"row": 2, "col": 4, "type": "program", "programType": "warp"},
        ],
        resources=[
            {"row": 0, "col": 0, "dataSiphon": True},
            {"row": 0, "col": 5, "dataSiphon": True},
            {"row": 1, "col": 1, "credits": 2},
            {"row": 3, "col": 4, "credits": 3, "energy": 3},
            {"row": 2, "col": 0, "credits": 2},
            {"row": 0, "col": 3, "energy": 1},
        ],
        siphoned=[{"row": 2, "col": 3}],
        siphonCenters=[{"row": 2, "col": 3}, {"row": 3, "col": 4}],
        ownedPrograms=[27, 8],
        stage=7,
        turn=23,
        nextScheduledTaskTurn=28,
        stepActive=True,
    )
