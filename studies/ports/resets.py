"""What resets draw, compared by itself."""

from collections.abc import Callable
from typing import Any

from rlparity.adapters.single import Outcome, SingleGame


class ResetGame(SingleGame):
    """A game that ends at once: ``read(seed)`` is what a reset shows, or what many resets can show."""

    def __init__(self, read: Callable[[int], Any]) -> None:
        self._read = read

    def begin(self, seed: int) -> Any:
        self._seed = seed
        return self._read(seed)

    def act(self, action: int) -> Outcome:
        return Outcome(self._read(self._seed), 0.0, True, False)
