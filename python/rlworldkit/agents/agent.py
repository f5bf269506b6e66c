"""``Agent``: how a player judges what it sees, whatever file it came from, and ``AgentPlayer``, which acts by it."""

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
    """A player's judgement of what it sees.

    judge: observations float32 (n, *shape) and masks bool (n, actions) → logits float32 (n, actions), of which those of
        invalid actions mean nothing, and values float32 (n,), NaN where the agent has none.
    path: its file, or its name.
    network: the same in numpy, for exports and searches; None: there is none.
    settings: of its training, with those ``prices`` that were not the world's own; empty where they are not known.
    values_in: the values (n,) in n complete states, of a critic that knows more than an observation; None: as judged.
    layers: the activations of its layers by name, (n, …) each, at observations, which pictures show; None: none do.
    """

    judge: Callable[[Floats, Masks], tuple[Floats, Floats]]
    path: Path = Path()
    network: Callable[[], NumpyNetwork] | None = None
    settings: Callable[[], Mapping[str, Any]] = dict
    values_in: Callable[[Sequence[State]], Floats] | None = field(default=None)
    layers: Callable[[Floats], Sequence[tuple[str, Floats]]] | None = field(default=None)

    def __call__(self, observations: Floats, masks: Masks) -> tuple[Floats, Floats]:
        """Logits (n, actions) and values (n,)."""
        return self.judge(observations, masks)


def agent_of_logits(name: str, logits_of: Callable[[NDArray[Any], Masks], Floats]) -> Agent:
    """An agent without values, by the logits (n, actions) that it gives observations and masks."""
    return Agent(lambda seen, masks: (logits_of(seen, masks), np.full(len(seen), np.nan, np.float32)), Path(name))


def uniform(observations: NDArray[Any], masks: Masks) -> Floats:
    """Logits of chance: all actions are equally likely, whatever is seen."""
    return np.zeros(masks.shape, np.float32)


@dataclass(frozen=True)
class AgentPlayer:
    """An agent that chooses its actions in one way, the same in all commands.

    searcher: chooses in its place, for all games of an engine together.
    """

    agent: Agent
    choice: Choice = DEFAULT
    searcher: Player | None = None

    def __call__(
        self, observations: NDArray[Any], masks: Masks, seeds: NDArray[np.uint64], steps: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """The actions in n games, as ``Player``."""
        if self.searcher is not None:
            return self.searcher(observations, masks, seeds, steps)
        return self.choice.actions(self.agent(observations, masks)[0], masks, seeds, steps)
