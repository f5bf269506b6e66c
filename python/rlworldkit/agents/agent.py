"""Agents: a policy's logits and values, whatever file it comes from, the choice of actions, and players that act so."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlparity import State
from rlparity.io.arguments import Values
from rlparity.threefry import Words, seed_pairs, threefry2x32
from rlworldkit.agents.numpy_network import Floats, NumpyNetwork

Masks = NDArray[np.bool_]
Player = Callable[[NDArray[Any], Masks, NDArray[np.uint64], NDArray[np.int64]], NDArray[np.int32]]
"""Observations (n, *shape), masks bool (n, actions), seeds uint64 (n,), steps (n,) → valid actions int32 (n,)."""
DRAWN: Final = "drawn"
LIKELIEST: Final = "likeliest"

_ONE = np.uint32(0x3F800000)
"""Bits of 1.0 in float32."""


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


class Lookahead(NamedTuple):
    """Size of a search. rollouts: continuations that are played for each action tried. steps: length of each."""

    rollouts: int
    steps: int

    def __str__(self) -> str:
        return f"{self.rollouts}×{self.steps}"


@dataclass(frozen=True)
class Lookaheads(Values):
    """Argument ``ROLLOUTSxSTEPS`` with ``x`` or ``×``; at least two rollouts, since one has no standard error."""

    most: int

    def fault(self, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
        """Describe the fault of a value that is no Lookahead within the range; None: there is none."""
        fits = isinstance(value, Lookahead) and 2 <= value.rollouts <= self.most and 1 <= value.steps <= self.most
        return None if fits else f"must be ROLLOUTSxSTEPS, such as 8x16, {self.span()}"

    def span(self) -> str:
        """Describe the range in words."""
        return f"2 to {self.most:,} rollouts of 1 to {self.most:,} steps"

    def read(self, word: str) -> Lookahead:
        """Parse the numbers on either side of the cross; raises ValueError for any other text."""
        found = re.fullmatch(r"([0-9]{1,9})[x×]([0-9]{1,9})", word)
        if found is None:
            raise ValueError(word)
        return Lookahead(int(found[1]), int(found[2]))


LOOKAHEAD = Lookaheads(1000)


@dataclass(frozen=True)
class Choice:
    """How actions are chosen. how: ``drawn`` by the policy's probabilities, or the ``likeliest``.

    player_seed: seed of drawn actions and of searches, 0 … 2**32 - 1. search: search instead; None: do not.
    """

    how: str = DRAWN
    player_seed: int = 0
    search: Lookahead | None = None

    def __str__(self) -> str:
        """Describe the choice in a few words."""
        return f"{self.how} actions" if self.search is None else f"a search of {self.search} steps"

    def actions(
        self,
        logits: NDArray[np.float32],
        masks: Masks,
        seeds: NDArray[np.uint64],
        steps: NDArray[np.int64],
    ) -> NDArray[np.int32]:
        """Choose actions by masked logits, ``likeliest`` or ``drawn``; ``search`` is left to ``AgentPlayer``."""
        if self.how == LIKELIEST:
            return likeliest(logits, masks)
        return drawn(logits, masks, seeds, steps, self.player_seed)


DEFAULT = Choice()
"""Default of all commands: actions are drawn, as in training and in the published figures."""


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


def likeliest(logits: NDArray[np.float32], masks: Masks) -> NDArray[np.int32]:
    """Return the valid action with the highest logit, the first of several: (n, actions) to int32 (n,)."""
    return np.where(masks, logits, -np.inf).argmax(axis=1).astype(np.int32)


def drawn(
    logits: NDArray[np.float32],
    masks: Masks,
    seeds: NDArray[np.uint64],
    steps: NDArray[np.int64],
    player_seed: int,
) -> NDArray[np.int32]:
    """Draw valid actions with the probabilities of the masked logits: int32 (n,).

    logits and masks are (n, actions), the seeds and steps of the games (n,), player_seed 0 ... 2**32 - 1. A draw
    depends on (player's seed, game's seed, step) alone. It is the Gumbel-max trick on addressed words, and equals
    ``jax.random.categorical`` with the three folded into ``jax.random.key`` in this order (``fold_in``), but needs no
    JAX.
    """
    return likeliest(logits + _gumbel(seeds, steps, player_seed, logits.shape[1]), masks)


def probabilities(logits: NDArray[np.float32], masks: Masks) -> NDArray[np.float64]:
    """Return the softmax over the valid actions, (n, actions); 0 for the others."""
    valid = np.where(masks, logits, -np.inf).astype(np.float64)
    weights = np.exp(valid - valid.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def _gumbel(
    seeds: NDArray[np.uint64], steps: NDArray[np.int64], player_seed: int, num_actions: int
) -> NDArray[np.float32]:
    """Draw noise of Gumbel's distribution, float32 (n, actions)."""
    low, high = seed_pairs(seeds).T
    nothing = np.zeros_like(low)
    key: tuple[Words, Words] = nothing, np.full_like(low, player_seed)
    for number in (low, high, steps.astype(np.uint32)):
        key = threefry2x32(key, (nothing, number))
    action = np.arange(num_actions, dtype=np.uint32)
    one, other = threefry2x32((key[0][:, None], key[1][:, None]), (np.zeros_like(action), action))
    uniform = ((one ^ other) >> np.uint32(9) | _ONE).view(np.float32) - np.float32(1)
    return -np.log(-np.log(np.maximum(uniform, np.finfo(np.float32).tiny)))
