"""The five games of MinAtar, and their ports in Gymnax and pgx-minatar, as worlds."""

from dataclasses import replace

import starts
from jax_ports import gymnax, pgx
from minatar_games import GAMES, TAKEN, TERMINAL, Game, lists, texts
from original import Original
from policies import MINATAR

from rlparity import World
from rlparity.adapters.pairing import Pairing


def world_of(game: Game) -> World:
    """The three of a game, as a world. That it draws is left unsaid: some games begin in one or two states."""
    pairing = Pairing(
        name=f"minatar-{game.name}",
        games={"minatar": lambda: Original(game), "gymnax": gymnax(game), "pgx": pgx(game)},
        actions=tuple(game.moves),
        observation_shape=(10, 10, game.channels),
        state_fields=(*game.fields, TERMINAL, TAKEN),
        draws=False,
        starts={"made": lambda rng: texts(getattr(starts, game.name)(rng))},
        policies={"simple": MINATAR[game.name]},
    )
    return replace(pairing.world(), shrinkers=(lambda state: map(texts, starts.smaller(lists(state))),))


BREAKOUT, SPACE_INVADERS, ASTERIX, FREEWAY, SEAQUEST = map(world_of, GAMES)
