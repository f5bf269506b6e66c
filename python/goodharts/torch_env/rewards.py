"""What a step is rewarded with (G9, G12), in hundred-thousandths."""

import torch
from torch import Tensor

from goodharts.rules import COMPONENT_UNIT, FOOD, POISON, REACH, Numbers
from goodharts.torch_env.tables import DISCOUNT, POTENTIALS, Prices

_WHOLE = 100
"""Hundredths in one: a potential in thousandths times this is in hundred-thousandths."""


class Rewards:
    """The five components of a mode's reward, and their sum."""

    def __init__(self, prices: Prices, numbers: Numbers, device: torch.device) -> None:
        self._eaten = torch.zeros((3, 5), dtype=torch.int64, device=device)
        self._eaten[:, 0] = prices.step
        self._eaten[FOOD, 1] = prices.food
        self._eaten[POISON, 2] = prices.poison
        self._death = prices.death
        self._clip = numbers.reward_clip

    def components(self, eaten: Tensor, is_dead: Tensor) -> Tensor:
        """Int64 (n, 5) from what was eaten, a code (n,), and who died, bool (n,); without shaping."""
        components = self._eaten[eaten]
        components[:, 3] = is_dead * self._death
        return components

    def total(self, components: Tensor) -> Tensor:
        """The reward, float32 (n,): the sum, clipped."""
        # Whole numbers this small are exact as float32, so dividing rounds once; a factor 0.00001 would round twice.
        return components.sum(dim=1).clamp(-self._clip, self._clip).float() / round(1 / COMPONENT_UNIT)


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
