"""Two environments that should play the same game, as a world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from parity.adapters.single import REPLAYED_STATE, SEED, SingleGame, engine_of
from parity.engine import State
from parity.world import Board, StartMaker, Tolerance, World


def draw_state(state: State) -> Board:
    """A state as a table of its values."""
    return Board(
        (), {name: value if isinstance(value, (int, float, str)) else str(value) for name, value in state.items()}
    )


@dataclass(frozen=True)
class Pairing:
    """Environments that should play the same game; ``world`` is what the commands take as ``--world``.

    Games that have states are compared by them and can be brought to the same start (``--mode injected``); others see
    the same seeds and actions, and are compared by what they show.

    name: of the world. games: name -> maker of a game; the first is the original. actions: their names.
    observation_shape: of both. state_fields: the keys of their states. tolerances: as ``World.tolerances``.
    seed_bits: width of the seeds that all of them take. starts: made states, by name, for games that have states.
    """

    name: str
    games: Mapping[str, Callable[[], SingleGame]]
    actions: tuple[str, ...]
    observation_shape: tuple[int, ...]
    state_fields: tuple[str, ...] = ()
    components: tuple[str, ...] = ("reward",)
    tolerances: Mapping[str, float | Tolerance | tuple[Tolerance, ...]] = field(default_factory=dict)
    seed_bits: int = 31
    starts: Mapping[str, StartMaker] = field(default_factory=dict)
    draw: Callable[[State], Board] = draw_state

    def world(self) -> World:
        """The world of these environments."""
        makers = {
            name: engine_of(make, len(self.actions), lambda seed: (seed + 1) % 2**self.seed_bits)
            for name, make in self.games.items()
        }
        return World(
            name=self.name,
            engines=makers,
            actions=self.actions,
            components=self.components,
            observation_shape=self.observation_shape,
            state_fields=(SEED, *self.state_fields) if self.state_fields else REPLAYED_STATE,
            states_replay=not self.state_fields,
            draw=self.draw,
            tolerances=self.tolerances,
            seed_bits=self.seed_bits,
            starts=self.starts,
        )
