"""How far a run is."""

from typing import NamedTuple


class Progress(NamedTuple):
    """Updates done, steps of all games, and seconds of training, compilation excluded."""

    updates: int = 0
    timesteps: int = 0
    seconds: float = 0.0
