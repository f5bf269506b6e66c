"""PopArt (van Hasselt et al. 2016): a value head learns scaled returns, and keeps its values when the scale moves."""

from __future__ import annotations

import torch
from torch import Tensor, nn

_LEAST_DEVIATION = 1e-4


class PopArt:
    """The scale of a value head: mean and deviation of the returns so far, float32 scalars on its device.

    The first batches count alike, until each counts for ``beta``.
    """

    def __init__(self, head: nn.Linear, beta: float) -> None:
        self._head, self._beta = head, beta
        self.mean = torch.zeros((), device=head.weight.device)
        self.deviation = torch.ones((), device=head.weight.device)
        self.batches = 0

    def values(self, scaled: Tensor) -> Tensor:
        """Values in units of reward, from those of the head."""
        return scaled * self.deviation + self.mean

    def scaled(self, returns: Tensor) -> Tensor:
        """What the head should say for these returns."""
        return (returns - self.mean) / self.deviation

    @torch.no_grad()
    def follow(self, mean: Tensor, variance: Tensor) -> None:
        """Take in the mean and variance of a batch of returns; the head's weights change so that its values do not."""
        self.batches += 1
        beta = max(self._beta, 1 / self.batches)
        off = mean - self.mean
        spread = (1 - beta) * self.deviation.square() + beta * variance + beta * (1 - beta) * off.square()
        self.move(self.mean + beta * off, spread.sqrt().clamp_min(_LEAST_DEVIATION))

    @torch.no_grad()
    def move(self, mean: Tensor, deviation: Tensor) -> None:
        """Change the scale, and the head's weights so that its values stay."""
        self._head.weight *= self.deviation / deviation
        self._head.bias.copy_((self.values(self._head.bias) - mean) / deviation)
        self.mean, self.deviation = mean, deviation
