"""Start states for sides with different random resets: start the original in its port's state, or compare resets."""

from collections.abc import Callable, Mapping
from typing import Any

from rlparity.adapters.pairing import Pairing
from rlparity.adapters.single import Outcome, SingleGame
from rlparity.world import World


def starts_of(start: Callable[[Any], Any]) -> Callable[[int], Any]:
    """Make a function from a seed to the start state (numpy) of a port to JAX, whose ``start(key)`` returns it.

    With that state as its ``start``, an original begins as the port does, although its own reset draws otherwise.
    """
    import jax

    compiled = jax.jit(lambda seed: start(jax.random.key(seed)))
    return lambda seed: jax.device_get(compiled(seed))


class ResetGame(SingleGame):
    """Game of a single step, whose observation is ``read(seed)``: one reset, or statistics of many."""

    def __init__(self, read: Callable[[int], Any]) -> None:
        self._read = read

    def begin(self, seed: int) -> Any:
        self._seed = seed
        return self._read(seed)

    def act(self, action: Any) -> Outcome:
        return Outcome(self._read(self._seed), 0.0, True, False)


def resets_world(name: str, **readers: Callable[[int], Any]) -> World:
    """Make a world that compares resets: by engine, ``read(seed)`` returns e.g. the minimum and maximum of many."""

    def game_of(read: Callable[[int], Any]) -> Callable[[], ResetGame]:
        return lambda: ResetGame(read)

    games: Mapping[str, Callable[[], ResetGame]] = {engine: game_of(read) for engine, read in readers.items()}
    return Pairing(name, games, ("end",), draws=None).world()
