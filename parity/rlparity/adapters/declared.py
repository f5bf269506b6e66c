"""What environments declare of themselves, as JSON values that are alike for all libraries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlparity.adapters.single import json_of

_NAMES = {"minimum": "low", "maximum": "high", "num_values": "n"}
"""What specs of dm_env and Jumanji call what spaces of Gymnasium and Gymnax have."""
_SPACE = ("low", "high", "n", "start", "nvec", "min_length", "max_length", "characters")


def declared(library: str, observations: Any, actions: Any, rewards: Any = None) -> dict[str, Any]:  # noqa: ANN401
    """Spaces or specs of a library and, where there is one, the range of rewards: (lowest, highest)."""
    spaces = {"observation_space": space_values(observations), "action_space": space_values(actions)}
    return {"library": library, **spaces, **({} if rewards is None else {"reward_range": json_of(rewards)})}


def space_values(space: Any) -> Any:  # noqa: ANN401 - a space or spec, and JSON values
    """A space as JSON values: its dtype, shape and bounds, equal bounds as one number."""
    parts = getattr(space, "spaces", getattr(space, "_specs", space))
    if isinstance(parts, Mapping):
        return {str(name): space_values(part) for name, part in parts.items()}
    if isinstance(parts, (tuple, list)):
        return [*map(space_values, parts)]
    values: dict[str, Any] = {"dtype": str(np.dtype(space.dtype)), "shape": json_of(space.shape)}
    for name in (name for name in (*_SPACE, *_NAMES) if getattr(space, name, None) is not None):
        value, common = np.asarray(getattr(space, name)), _NAMES.get(name, name)
        if common in ("low", "high"):
            value = np.ravel(value)[0] if np.unique(value).size == 1 else np.broadcast_to(value, space.shape)
        values[common] = json_of(value)
    if "n" in values:  # from which the bounds of a spec follow; only Gymnasium's spaces may begin elsewhere
        return {"start": 0} | {name: value for name, value in values.items() if name not in ("low", "high")}
    return values


def range_of(spec: Any) -> tuple[float, float] | None:  # noqa: ANN401 - of rewards, by dm_env or Jumanji
    """The lowest and the highest number of a spec that has bounds."""
    return (float(np.min(spec.minimum)), float(np.max(spec.maximum))) if hasattr(spec, "minimum") else None
