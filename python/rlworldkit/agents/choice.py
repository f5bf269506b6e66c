"""Action choice of players: the likeliest one, or one drawn by the policy's probabilities.

A draw depends on (player's seed, game's seed, step) alone. It is the Gumbel-max trick on addressed words, and the one
that ``jax.random.categorical`` makes with the three folded into ``jax.random.key`` in this order (``fold_in``); written
in numpy, so that whoever plays needs no JAX for it.
"""

import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlparity.io.arguments import Values
from rlparity.threefry import Words, seed_pairs, threefry2x32

Masks = NDArray[np.bool_]
DRAWN: Final = "drawn"
LIKELIEST: Final = "likeliest"

_ONE = np.uint32(0x3F800000)
"""The bits of 1.0 in float32."""


class Lookahead(NamedTuple):
    """rollouts: games that are played on after each action that is tried. steps: how far each of them is played on."""

    rollouts: int
    steps: int

    def __str__(self) -> str:
        return f"{self.rollouts}×{self.steps}"


@dataclass(frozen=True)
class Lookaheads(Values):
    """``ROLLOUTSxSTEPS`` with ``x`` or ``×``, at least two rollouts, since one does not tell how much is chance."""

    most: int

    def fault(self, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
        """Anything but a Lookahead within the range."""
        fits = isinstance(value, Lookahead) and 2 <= value.rollouts <= self.most and 1 <= value.steps <= self.most
        return None if fits else f"must be ROLLOUTSxSTEPS, such as 8x16, {self.span()}"

    def span(self) -> str:
        """From … to …."""
        return f"2 to {self.most:,} rollouts of 1 to {self.most:,} steps"

    def read(self, word: str) -> Lookahead:
        """The numbers on either side of the cross."""
        found = re.fullmatch(r"([0-9]{1,9})[x×]([0-9]{1,9})", word)
        if found is None:
            raise ValueError(word)
        return Lookahead(int(found[1]), int(found[2]))


LOOKAHEAD = Lookaheads(1000)


@dataclass(frozen=True)
class Choice:
    """How actions are chosen. how: ``drawn`` by the policy's probabilities, or the ``likeliest``.

    player_seed: of drawn actions and of searches, 0 … 2**32 - 1. search: look ahead instead; None: do not.
    """

    how: str = DRAWN
    player_seed: int = 0
    search: Lookahead | None = None

    def __str__(self) -> str:
        """In a few words."""
        return f"{self.how} actions" if self.search is None else f"a search of {self.search} steps"

    def actions(
        self,
        logits: NDArray[np.float32],
        masks: Masks,
        seeds: NDArray[np.uint64],
        steps: NDArray[np.int64],
    ) -> NDArray[np.int32]:
        """Actions by masked logits, as ``likeliest`` or ``drawn``; the searcher's are not among them."""
        if self.how == LIKELIEST:
            return likeliest(logits, masks)
        return drawn(logits, masks, seeds, steps, self.player_seed)


DEFAULT = Choice()
"""Of all commands: the policy as it was trained, and as its figures were measured."""


def likeliest(logits: NDArray[np.float32], masks: Masks) -> NDArray[np.int32]:
    """The valid action of the highest logit, the first of several: (n, actions) to int32 (n,)."""
    return np.where(masks, logits, -np.inf).argmax(axis=1).astype(np.int32)


def drawn(
    logits: NDArray[np.float32],
    masks: Masks,
    seeds: NDArray[np.uint64],
    steps: NDArray[np.int64],
    player_seed: int,
) -> NDArray[np.int32]:
    """Valid actions, each with the probability that the masked logits give it: int32 (n,).

    logits and masks are (n, actions), the seeds and steps of the games (n,), player_seed 0 ... 2**32 - 1.
    """
    return likeliest(logits + _gumbel(seeds, steps, player_seed, logits.shape[1]), masks)


def probabilities(logits: NDArray[np.float32], masks: Masks) -> NDArray[np.float64]:
    """The softmax over the valid actions, (n, actions); 0 for the others."""
    valid = np.where(masks, logits, -np.inf).astype(np.float64)
    weights = np.exp(valid - valid.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def _gumbel(
    seeds: NDArray[np.uint64], steps: NDArray[np.int64], player_seed: int, num_actions: int
) -> NDArray[np.float32]:
    """Noise of Gumbel's distribution, float32 (n, actions)."""
    low, high = seed_pairs(seeds).T
    nothing = np.zeros_like(low)
    key: tuple[Words, Words] = nothing, np.full_like(low, player_seed)
    for number in (low, high, steps.astype(np.uint32)):
        key = threefry2x32(key, (nothing, number))
    action = np.arange(num_actions, dtype=np.uint32)
    one, other = threefry2x32((key[0][:, None], key[1][:, None]), (np.zeros_like(action), action))
    uniform = ((one ^ other) >> np.uint32(9) | _ONE).view(np.float32) - np.float32(1)
    return -np.log(-np.log(np.maximum(uniform, np.finfo(np.float32).tiny)))
