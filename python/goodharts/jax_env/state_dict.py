"""States as the dicts of the rules (G13), and back; numpy, one game at a time."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goodharts.jax_env.grid import BITS
from goodharts.jax_env.state import State
from goodharts.rules import NUM_CELLS, refuse_impossible
from rlworldkit.jax.int64_pair import Int64Pair, to_int64
from rlworldkit.jax.threefry import Seed

_WORD = 2**BITS - 1


def to_dict(state: State) -> dict[str, Any]:
    """The dict of a game with numpy leaves."""
    return {
        "food": np.flatnonzero(flags(state.food)).tolist(),
        "poison": np.flatnonzero(flags(state.poison)).tolist(),
        "x": int(state.x),
        "y": int(state.y),
        "energy": int(to_int64(np.stack(state.energy))),
        "steps": int(to_int64(np.stack(state.steps))),
        "event": int(state.event),
        "key": [int(word) for word in state.key],
        "foodCount": int(state.food_count),
        "poisonCount": int(state.poison_count),
    }


def from_dict(state: Mapping[str, Any]) -> State:
    """The game, numpy leaves, that a dict describes; raises StateRefused for one that is against the rules."""
    refuse_impossible(state)
    names = ("x", "x"), ("y", "y"), ("food_count", "foodCount"), ("poison_count", "poisonCount")
    leaves: dict[str, Any] = {leaf: np.int32(state[name]) for leaf, name in names}
    leaves |= {name: _plane(state[name]) for name in ("food", "poison")}
    leaves |= {name: Int64Pair(*_words(state[name])) for name in ("energy", "steps")}
    key: list[Any] = [np.uint32(word) for word in state["key"]]
    return State(event=np.uint32(state["event"]), key=Seed(*key), **leaves)  # type: ignore[arg-type]


def flags(planes: Any) -> NDArray[np.uint8]:  # noqa: ANN401 - of numpy or of JAX
    """1 for each cell of sets (…, 512): uint8 (…, 16384)."""
    little = np.ascontiguousarray(planes, "<u4")
    return np.unpackbits(little.view(np.uint8), axis=-1, bitorder="little")


def _words(number: int) -> tuple[Any, Any]:
    return np.uint32(number & _WORD), np.uint32(number >> BITS & _WORD)


def _plane(cells: list[int]) -> NDArray[np.uint32]:
    held = np.zeros(NUM_CELLS, np.uint8)
    held[cells] = 1
    return np.packbits(held, bitorder="little").view("<u4").astype(np.uint32)
