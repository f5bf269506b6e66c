"""Two environments that should play the same game, as a world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import ArrayLike

from rlparity.adapters.gymnasium import VectorGames, VectorSide
from rlparity.adapters.observations import Shape
from rlparity.adapters.single import REPLAYED_STATE, SEED, Outcome, SingleGame, SingleGames
from rlparity.engine import BatchEngine, EngineOptions, State
from rlparity.spaces import Box
from rlparity.tolerance import Tolerance
from rlparity.world import Board, EngineFactory, StartMaker, World


def draw_state(state: State) -> Board:
    """A state as a table of its values."""
    return Board(
        (), {name: value if isinstance(value, (int, float, str)) else str(value) for name, value in state.items()}
    )


def _same(value: Any) -> Any:  # noqa: ANN401 - of any type
    return value


@dataclass(frozen=True)
class Side:
    """An environment of a pairing whose actions, observations or states are others than those of the pairing.

    make: a new game of the environment. action: the pairing's action -> the environment's.
    observation, reward, mask: the environment's -> the pairing's.
    read: the environment's state -> the pairing's. inject: the pairing's state -> the environment's.
    """

    make: Callable[[], SingleGame]
    action: Callable[[Any], Any] = _same
    observation: Callable[[Any], Any] = _same
    reward: Callable[[Any], Any] = _same
    mask: Callable[[Any], ArrayLike] = _same
    read: Callable[[State], State] = _same
    inject: Callable[[State], State] = _same

    def __call__(self) -> SingleGame:
        """A new game, in the terms of the pairing."""
        return _MappedGame(self)


class _MappedGame(SingleGame):
    """A game of a side, in the terms of its pairing."""

    def __init__(self, side: Side) -> None:
        self._side, self._game = side, side.make()
        self.has_states = self._game.has_states
        self.visible, self.close = self._game.visible, self._game.close  # type: ignore[method-assign]

    def begin(self, seed: int) -> Any:  # noqa: ANN401 - an observation
        return self._side.observation(self._game.begin(seed))

    def act(self, action: Any) -> Outcome:  # noqa: ANN401 - an int or an array
        outcome, side = self._game.act(self._side.action(action)), self._side
        return replace(outcome, observation=side.observation(outcome.observation), reward=side.reward(outcome.reward))

    def mask(self) -> ArrayLike | None:
        mask = self._game.mask()
        return None if mask is None else self._side.mask(mask)

    def pull(self) -> State:
        return self._side.read(self._game.pull())

    def push(self, state: State) -> Any:  # noqa: ANN401 - an observation
        return self._side.observation(self._game.push(self._side.inject(state)))


Maker = Callable[[], SingleGame] | VectorSide


@dataclass(frozen=True)
class Pairing:
    """Environments that should play the same game; ``world()`` is what the commands take as ``--world``.

    Games that have states are compared by them and can be brought to the same start (``--mode injected``); others see
    the same seeds and actions, and are compared by what they show.

    name: of the world. games: name -> maker of a game, a ``Side``, or a ``VectorSide``; the first is the original.
    actions: their names, or the space of those that are arrays. observation_shape: of both, or name -> shape of the
    parts of one that is a dict. players: how many are rewarded.
    state_fields: the keys of their states, which are read, injected and compared; none: they have no states.
    visible: numbers of ``SingleGame.visible``, which are compared and not injected.
    tolerances: as ``World.tolerances``, each with its reason; ``Tolerance(ignored=True, reason=...)`` for what must not
    be compared, such as ``truncated``, ``observation.mission`` or ``state.time``.
    components: of the reward. seed_bits: width of the seeds that all of them take. draws: whether there is chance.
    starts: made states, by name, for games that have states. draw: a state as a board.
    """

    name: str
    games: Mapping[str, Maker]
    actions: tuple[str, ...] | Box
    observation_shape: Shape
    state_fields: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()
    players: int = 1
    components: tuple[str, ...] = ()
    tolerances: Mapping[str, float | Tolerance | tuple[Tolerance, ...]] = field(default_factory=dict)
    seed_bits: int = 31
    draws: bool = True
    starts: Mapping[str, StartMaker] = field(default_factory=dict)
    draw: Callable[[State], Board] = draw_state

    def world(self) -> World:
        """The world of these environments."""
        space = self.actions if isinstance(self.actions, Box) else None
        names = self.actions if isinstance(self.actions, tuple) else ()
        parts = self.observation_shape if isinstance(self.observation_shape, Mapping) else {}
        by_player = tuple(f"reward of player {number}" for number in range(self.players))
        return World(
            name=self.name,
            engines={name: self._factory(make) for name, make in self.games.items()},
            actions=names,
            action_space=space,
            components=self.components or (by_player if self.players > 1 else ("reward",)),
            observation_shape=() if parts else tuple(self.observation_shape),  # type: ignore[arg-type]
            observation_fields=parts,
            players=self.players,
            facts=self.visible,
            state_fields=(SEED, *self.state_fields) if self.state_fields else REPLAYED_STATE,
            states_replay=not self.state_fields,
            draw=self.draw,
            draws=self.draws,
            tolerances=self.tolerances,
            seed_bits=self.seed_bits,
            starts=self.starts,
        )

    def _factory(self, make: Maker) -> EngineFactory:
        shared = self.actions if isinstance(self.actions, Box) else len(self.actions), self._next_seed

        def open_engine(games: int, options: EngineOptions = EngineOptions(), /) -> BatchEngine:
            if isinstance(make, VectorSide):
                return VectorGames(games, make.make, *shared)
            return SingleGames(games, make, *shared, self.visible)

        return open_engine

    def _next_seed(self, seed: int) -> int:
        return (seed + 1) % 2**self.seed_bits
