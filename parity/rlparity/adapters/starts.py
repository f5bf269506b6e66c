"""Starts of games whose sides draw them differently: those of a port for its original, and what resets can show."""

from collections.abc import Callable, Mapping
from typing import Any

from rlparity.adapters.pairing import Pairing
from rlparity.adapters.single import Outcome, SingleGame
from rlparity.world import World


def starts_of(start: Callable[[Any], Any]) -> Callable[[int], Any]:
    """The state, of numpy, in which a port to JAX begins the game of a seed; ``start(key)`` gives it to the port.

    An original that is put into it as a game begins, plays on from the port's start although it draws otherwise.
    """
    import jax

    compiled = jax.jit(lambda seed: start(jax.random.key(seed)))
    return lambda seed: jax.device_get(compiled(seed))


class ResetGame(SingleGame):
    """A game that ends at once: ``read(seed)`` is what a reset shows, or what many resets can show."""

    def __init__(self, read: Callable[[int], Any]) -> None:
        self._read = read

    def begin(self, seed: int) -> Any:
        self._seed = seed
        return self._read(seed)

    def act(self, action: Any) -> Outcome:
        return Outcome(self._read(self._seed), 0.0, True, False)


def resets_world(name: str, **readers: Callable[[int], Any]) -> World:
    """The world of what resets show, by engine: ``read(seed)``, such as the least and the greatest of many seeds."""

    def game_of(read: Callable[[int], Any]) -> Callable[[], ResetGame]:
        return lambda: ResetGame(read)

    games: Mapping[str, Callable[[], ResetGame]] = {engine: game_of(read) for engine, read in readers.items()}
    return Pairing(name, games, ("end",), draws=None).world()
