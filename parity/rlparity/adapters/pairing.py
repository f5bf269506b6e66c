"""Two environments that should play the same game, as a world."""

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
"""Of seeds that every library takes."""


def draw_state(state: State) -> Board:
    """A state as a table of its values."""
    return Board(
        (), {name: value if isinstance(value, (int, float, str)) else str(value) for name, value in state.items()}
    )


Maker = Callable[[], SingleGame] | VectorSide


@dataclass(frozen=True)
class Pairing:
    """Environments that should play the same game; ``world()`` is what the commands take as ``--world``.

    Games that have states are compared by them and can be brought to the same start (``--mode injected``); others see
    the same seeds and actions, and are compared by what they show.

    name: of the world. games: name -> maker of a game, or a ``VectorSide``; the first is the original.
    actions: their names, or the space of those that are arrays. observation_shape: of both, or name -> shape of the
    parts of one that is a dict; None: as the original shows it, which is opened once for that.
    players: how many are rewarded.
    state_fields: the keys of their states, which are read, injected and compared; none: they have no states.
    tolerances: as ``World.tolerances``, each with its reason; ``Tolerance(ignored=True, reason=...)`` for what must not
    be compared, such as ``truncated``, ``observation.mission`` or ``state.time``.
    components: of the reward. draws: whether there is chance. accept: as ``World.accept``.
    starts: made states, by name, for games that have states. policies: as ``World.policies``. draw: a state as a board.
    mirrored: games of the others begin in the state that the original's reset gives for their seed, so that engines
    that draw otherwise at a reset begin alike; their own resets are not compared.
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
        """The world of these environments."""
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
