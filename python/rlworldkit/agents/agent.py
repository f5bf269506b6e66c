"""``Agent``: a policy's logits and values, whatever file it comes from; ``AgentPlayer``: a player that acts on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity import State
from rlworldkit.agents.choice import DEFAULT, Choice, Masks
from rlworldkit.agents.numpy_network import Floats, NumpyNetwork

Player = Callable[[NDArray[Any], Masks, NDArray[np.uint64], NDArray[np.int64]], NDArray[np.int32]]
"""Observations (n, *shape), masks bool (n, actions), seeds uint64 (n,), steps (n,) → valid actions int32 (n,)."""


@dataclass(frozen=True)
class Agent:
    """A policy and its value, from a file or by name.

    judge: observations float32 (n, *shape) and masks bool (n, actions) → logits float32 (n, actions), meaningless for
        invalid actions, and values float32 (n,), NaN if the agent has none.
    path: its file, or its name.
    network: makes the agent's network in numpy, for exports and searches; None: there is none.
    settings: returns its training settings, with the ``prices`` that differed from the world's; empty if unknown.
    values_in: values (n,) of n complete states, from a critic that sees more than observations; None: as ``judge``.
    layers: observations → activations of its layers by name, (n, …) each, for pictures; None: pictures omit them.
    """

    judge: Callable[[Floats, Masks], tuple[Floats, Floats]]
    path: Path = Path()
    network: Callable[[], NumpyNetwork] | None = None
    settings: Callable[[], Mapping[str, Any]] = dict
    values_in: Callable[[Sequence[State]], Floats] | None = field(default=None)
    layers: Callable[[Floats], Sequence[tuple[str, Floats]]] | None = field(default=None)

    def __call__(self, observations: Floats, masks: Masks) -> tuple[Floats, Floats]:
        """Return logits (n, actions) and values (n,)."""
        return self.judge(observations, masks)


def agent_of_logits(name: str, logits_of: Callable[[NDArray[Any], Masks], Floats]) -> Agent:
    """Make an agent without values from a function of observations and masks that returns logits (n, actions)."""
    return Agent(lambda seen, masks: (logits_of(seen, masks), np.full(len(seen), np.nan, np.float32)), Path(name))


def uniform(observations: NDArray[Any], masks: Masks) -> Floats:
    """Return logits by which all actions are equally likely, whatever the observations."""
    return np.zeros(masks.shape, np.float32)


@dataclass(frozen=True)
class AgentPlayer:
    """A player that acts on an agent's logits by a ``Choice``, the same way in all commands.

    searcher: player that chooses the actions instead, for all games of an engine together.
    """

    agent: Agent
    choice: Choice = DEFAULT
    searcher: Player | None = None

    def __call__(
        self, observations: NDArray[Any], masks: Masks, seeds: NDArray[np.uint64], steps: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Choose the actions in n games; see ``Player``."""
        if self.searcher is not None:
            return self.searcher(observations, masks, seeds, steps)
        return self.choice.actions(self.agent(observations, masks)[0], masks, seeds, steps)
