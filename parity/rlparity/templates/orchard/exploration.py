"""Where directed runs of Orchard start, how they play, and what is smaller than a state."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rlparity import State, UsageError, View, World
from rlparity.agent import Judge
from rlparity.io.safe_read import MIB, Unreadable, read_json
from rlparity.shrinkers import fewer_entries, smaller_numbers


def end_game(rng: np.random.Generator) -> State:
    """One apple left, the wasp close, much picked already."""
    walker = int(rng.integers(16))
    return {
        "seed": int(rng.integers(2**63)),
        "walker": walker,
        "wasp": (walker + 1) % 16,
        "hp": int(rng.integers(1, 4)),
        "score": int(rng.integers(10)),
        "turn": int(rng.integers(50)),
        "apples": [{"cell": int(rng.integers(16)), "ripeness": int(rng.integers(1, 4))}],
    }


def greedy(view: View) -> NDArray[np.float64]:
    """Picks wherever it can."""
    return np.where(np.arange(6) == 4, 20.0, 1.0) * np.ones((len(view.mask), 1))


def sleepy(view: View) -> NDArray[np.float64]:
    """Rests when the states say that hp is low."""
    low = np.array([state["hp"] == 1 for state in view.states()])
    return np.where((np.arange(6) == 5) & low[:, None], 20.0, 1.0)


def read_agent(world: World, path: Path) -> Judge:
    """A file with six weights as a JSON list."""
    try:
        with np.errstate(divide="ignore"):
            logits = np.log(np.array(read_json(path, MIB), dtype=np.float64))
    except (Unreadable, ValueError, TypeError) as error:
        raise UsageError(f"{path} is no agent: {error}.") from error
    return lambda seen, mask: (np.broadcast_to(logits, mask.shape), np.zeros(len(seen)))


STARTS = {"end game": end_game}
POLICIES = {"greedy": greedy, "sleepy": sleepy}
SHRINKERS = (fewer_entries, smaller_numbers)
