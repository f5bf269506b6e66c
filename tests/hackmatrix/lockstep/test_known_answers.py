"""Whole published games through the harness; ``tests/hackmatrix/rules`` plays them on the JAX engine."""

import json
from pathlib import Path

import numpy as np

import parity

GAMES = json.loads((Path(__file__).parents[1] / "rules" / "known-answers.json").read_text())["games"]


def test_R1_known_games_come_out_as_published(swift_built: None) -> None:
    with parity.open_engine("hackmatrix", "swift") as engine:
        for game in GAMES:
            engine.reset(seed=int(game["seed"]))
            assert engine.get_state() == game["first"]
            for action, components in zip(game["actions"], game["components"], strict=True):
                np.testing.assert_array_equal(engine.step(action).components, components)
            assert engine.get_state() == game["last"]
