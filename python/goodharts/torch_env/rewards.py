"""Rewards of a step (G9, G12), in hundred-thousandths."""

import torch
from torch import Tensor

from goodharts.rules import COMPONENT_UNIT, FOOD, POISON, REACH
from goodharts.torch_env.tables import DISCOUNT, POTENTIALS, Prices

_CODES = 3
"""Number of cell contents: EMPTY, FOOD and POISON."""
_WHOLE = 100
"""Hundredths in one: a potential in thousandths times this is in hundred-thousandths."""


class Rewards:
    """The five components of a mode's reward, and their sum."""

    def __init__(self, prices: Prices, clip: int, device: torch.device) -> None:
        self._clip = clip
        # a tensor: CUDA would multiply by a number's reciprocal, and so round twice
        self._units = torch.tensor(1 / COMPONENT_UNIT, device=device).round()
        components = torch.zeros((2, _CODES, 5), dtype=torch.int64, device=device)
        components[:, :, 0] = prices.step
        components[:, FOOD, 1] = prices.food
        components[:, POISON, 2] = prices.poison
        components[1, :, 3] = prices.death
        # One row per code for agents that live on, then one row per code for agents that died.
        self._components = components.view(-1, 5)
        self._totals = self.total(self._components)

    def of(self, eaten: Tensor, is_dead: Tensor) -> tuple[Tensor, Tensor]:
        """Components, int64 (n, 5), and their total, float32 (n,), without shaping.

        eaten: what was eaten, a code (n,). is_dead: which agents died, bool (n,).
        """
        row = torch.add(eaten, is_dead, alpha=_CODES)
        return self._components.index_select(0, row), self._totals.index_select(0, row)

    def total(self, components: Tensor) -> Tensor:
        """The reward, float32 (n,): the sum, clipped."""
        # whole numbers this small are exact as float32, so that dividing rounds once
        return components.sum(dim=1).clamp(-self._clip, self._clip).float() / self._units


class Potentials:
    """Φ of the handhold: how near the nearest food in view is (G9)."""

    def __init__(self, device: torch.device) -> None:
        reach = torch.arange(-REACH, REACH + 1, device=device).abs()
        distance = torch.maximum(reach[:, None], reach[None, :]).flatten()
        self._of_cell = torch.tensor((0, *POTENTIALS), dtype=torch.int16, device=device)[distance]

    def of(self, codes: Tensor) -> Tensor:
        """Φ in thousandths, int64 (n,), of codes int8 (n, 121)."""
        return ((codes == FOOD) * self._of_cell).amax(dim=1).long()


def shaping(before: Tensor, after: Tensor, is_dead: Tensor) -> Tensor:
    """0.99·after − before in hundred-thousandths, int64 (n,); ``after`` counts as 0 on termination."""
    return DISCOUNT * (after * ~is_dead) - _WHOLE * before
