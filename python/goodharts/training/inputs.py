"""Inputs of the networks, made of compact observations (G7, G8)."""

from __future__ import annotations

import torch
from torch import Tensor

from goodharts.rules import FOOD, POISON, Mode, Numbers
from goodharts.torch_env.observation import shown
from goodharts.torch_env.tables import channels


class Inputs:
    """Turns codes and counts into what the policy sees and what the critic knows beside it."""

    def __init__(self, mode: Mode, numbers: Numbers, privileged: bool, device: torch.device) -> None:
        self._mode, self._privileged = mode, privileged
        self._channels = torch.tensor(channels(mode, numbers), device=device)
        self._least = torch.tensor([numbers.min_food, numbers.min_poison], device=device)
        most = torch.tensor([numbers.max_food, numbers.max_poison], device=device)
        self._span = most - self._least

    def __call__(self, codes: Tensor, counts: Tensor) -> tuple[Tensor, Tensor | None]:
        """Observations, float32 (n, 2, 11, 11), and privileges, float32 (n, PRIVILEGES), for a privileged critic.

        codes: int8 (n, 121). counts: the episodes' food and poison (n, 2).
        """
        if not self._privileged:
            return shown(codes, self._channels), None
        truth = torch.stack((codes == FOOD, codes == POISON), dim=1).float()
        sees = truth.view(-1, 2, 11, 11) if self._mode.sees_truth else shown(codes, self._channels)
        return sees, torch.cat((self._scaled(counts), truth.flatten(1)), dim=1)

    def _scaled(self, counts: Tensor) -> Tensor:
        """Counts from their training range to [-1, 1]; 0 where there is only one."""
        share = (counts - self._least) / self._span.clamp_min(1)
        return torch.where(self._span > 0, 2 * share - 1, 0.0)
