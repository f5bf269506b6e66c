"""Blackjack of Gymnasium and its port: as the book has it, as casinos pay, and with neither."""

from functools import partial
from typing import Any

import gymnasium
import numpy as np
from port import MOST_CARDS, Blackjack, observe, reset, step

from rlparity import State, World
from rlparity.adapters import GymGame, Pairing, PytreeGame

HANDS = Blackjack._fields


def to_dict(game: Blackjack) -> State:
    """The hands of the port as Gymnasium has them."""
    return {name: [card for card in hand.tolist() if card] for name, hand in game._asdict().items()}


def from_dict(state: State, game: Blackjack) -> Blackjack:
    """The reverse of ``to_dict``."""
    return Blackjack(*(np.int32(state[name] + [0] * (MOST_CARDS - len(state[name]))) for name in game._fields))


def blackjack(name: str, **rules: Any) -> World:
    """The world of both with these rules."""
    make = partial(gymnasium.make, "Blackjack-v1", **rules)
    port = partial(PytreeGame, reset, partial(step, **rules), observe, to_dict=to_dict, from_dict=from_dict)
    return Pairing(
        name=name,
        games={
            "gymnasium": lambda: GymGame(make, HANDS, observe=lambda env: env._get_obs(), shared_draws=True),
            "jax": lambda: port(shared_draws=True),
        },
        actions=("stick", "hit"),
        observation_shape={"0": (), "1": (), "2": ()},
        state_fields=(*HANDS, "taken"),
        accept=("no game is truncated",),  # there is no limit of time
    ).world()


SAB = blackjack("blackjack-sab", sab=True, natural=False)
NATURAL = blackjack("blackjack-natural", sab=False, natural=True)
PLAIN = blackjack("blackjack-plain", sab=False, natural=False)
