"""Pairing of environments that should play the same game, as a World."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from rlparity.adapters.gymnasium import VectorGames, VectorSide
from rlparity.adapters.observations import Shape, shape_of
from rlparity.adapters.single import REPLAYED_STATE, SEED, SingleGame, SingleGames
from rlparity.agent import Policy
from rlparity.engine import BatchEngine, EngineOptions, State
from rlparity.errors import UsageError
from rlparity.spaces import Box
from rlparity.tolerance import Tolerance
from rlparity.world import Board, EngineFactory, StartMaker, World

SEED_BITS = 31
"""Bits of seeds that every library accepts."""


def draw_state(state: State) -> Board:
    """Draw a state as a table of its values."""
    return Board(
        (), {name: value if isinstance(value, (int, float, str)) else str(value) for name, value in state.items()}
    )


Maker = Callable[[], SingleGame] | VectorSide


@dataclass(frozen=True)
class Pairing:
    """Environments that should play the same game; ``world()`` makes the World for ``--world``.

    Games with states are compared by their states, too, and can be set to the same start (``--mode injected``); others
    get the same seeds and actions, and are compared without states.

    name: of the world. games: name -> factory of a game, or a ``VectorSide``; the first is the original.
    actions: their names, or the space of array actions. observation_shape: the common shape, or shapes by leaf of a
    dict; None: that of the original's first observation, for which the original is opened once.
    players: the number of players with a reward.
    state_fields: keys of the states, which are read, injected and compared; empty: the games have no states.
    tolerances: as ``World.tolerances``, each with its reason; ``Tolerance(ignored=True, reason=...)`` for fields that
    must not be compared, such as ``truncated``, ``observation.mission`` or ``state.time``.
    components: names of the reward components. draws: whether the game is random. accept: as ``World.accept``.
    starts: made start states, by name, for games with states. policies: as ``World.policies``. draw: draws a state as a
    board. mirrored: the other games start in the original's state after its reset with their seed, so that engines
    with different random resets start alike; their own resets are not compared.
    """

    name: str
    games: Mapping[str, Maker]
    actions: tuple[str, ...] | Box
    observation_shape: Shape | None = None
    state_fields: tuple[str, ...] = ()
    players: int = 1
    components: tuple[str, ...] = ()
    tolerances: Mapping[str, float | Tolerance] = field(default_factory=dict)
    draws: bool | None = True
    accept: tuple[str, ...] = ()
    starts: Mapping[str, StartMaker] = field(default_factory=dict)
    policies: Mapping[str, Policy] = field(default_factory=dict)
    draw: Callable[[State], Board] = draw_state
    mirrored: bool = False

    def world(self) -> World:
        """Make the World of these environments."""
        space = self.actions if isinstance(self.actions, Box) else None
        names = () if isinstance(self.actions, Box) else tuple(self.actions)
        shape = self.observation_shape
        if shape is None:
            with closing(self._factory(next(iter(self.games.values())))(1)) as engine:
                (observation,) = engine.reset(np.zeros(1, np.uint64), np.arange(1))
            shape = shape_of(observation)
        parts = shape if isinstance(shape, Mapping) else {}
        by_player = tuple(f"reward of player {number}" for number in range(self.players))
        return World(
            name=self.name,
            engines={name: self._factory(make) for name, make in self.games.items()},
            actions=names,
            action_space=space,
            components=self.components or (by_player if self.players > 1 else ("reward",)),
            observation_shape=() if isinstance(shape, Mapping) else tuple(shape),
            observation_fields=parts,
            players=self.players,
            state_fields=(SEED, *self.state_fields) if self.state_fields else REPLAYED_STATE,
            states_replay=not self.state_fields,
            draw=self.draw,
            draws=self.draws,
            accept=self.accept,
            tolerances=self.tolerances,
            seed_bits=SEED_BITS,
            starts=self.starts,
            policies=self.policies,
        )

    def _factory(self, make: Maker) -> EngineFactory:
        actions = self.actions if isinstance(self.actions, Box) else len(self.actions)
        first = next(iter(self.games.values()))
        original = first if self.mirrored and make is not first and not isinstance(first, VectorSide) else None

        def open_engine(games: int, options: EngineOptions = EngineOptions(), /) -> BatchEngine:
            if isinstance(make, VectorSide):
                return VectorGames(games, make.make, actions, _next_seed)
            engine = SingleGames(games, make, actions, _next_seed, original and original())
            if engine.declarations()["replays_states"] == bool(self.state_fields):
                wrong = (
                    "no states: give observe, or pull and push" if self.state_fields else "states: name their fields"
                )
                raise UsageError(f"its games have {wrong}, or change state_fields")
            return engine

        return open_engine


def _next_seed(seed: int) -> int:
    return (seed + 1) % 2**SEED_BITS
