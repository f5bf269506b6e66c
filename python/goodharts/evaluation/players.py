"""Who plays: trained models, and chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from goodharts.models import Model
from goodharts.rules import ACTIONS, DEFAULT_NUMBERS, MODES, Mode, Numbers
from goodharts.torch_env import random
from goodharts.torch_env.observation import shown
from goodharts.torch_env.tables import channels

_ACTION_KEY_EVENT = -1  # 2³² − 1 as int32, which no step of a game has


@dataclass(frozen=True)
class Player:
    """Somebody who lives in a world.

    mode: whose world. logits: codes int8 (n, 121) → float32 (n, 8), on their device.
    """

    mode: Mode
    logits: Callable[[Tensor], Tensor]


def trained_player(model: Model, device: torch.device, numbers: Numbers = DEFAULT_NUMBERS) -> Player:
    """A model's policy, which moves to the device, in float32 throughout."""
    mode = MODES[model.mode]
    policy = model.policy.to(device).eval()
    seen_as = torch.tensor(channels(mode, numbers), device=device)
    return Player(mode, lambda codes: policy.logits(shown(codes, seen_as)))


def random_player() -> Player:
    """All actions are equally likely."""
    return Player(MODES["ground_truth"], lambda codes: torch.zeros((len(codes), len(ACTIONS)), device=codes.device))


def likeliest(logits: Tensor) -> Tensor:
    """The likeliest actions, int64 (n,), the lowest of several; logits: (n, 8)."""
    return logits.argmax(dim=1)  # of equal values torch gives the first


def drawn(logits: Tensor, chance: Tensor) -> Tensor:
    """Actions, int64 (n,), each as likely as its logits (n, 8) say; chance: float32 (n,) in [0, 1)."""
    up_to = logits.softmax(dim=1).cumsum(dim=1)
    # Rounding may leave a chance beside the last action's share, which then takes it.
    return (up_to <= chance[:, None] * up_to[:, -1:]).sum(dim=1).clamp(max=len(ACTIONS) - 1)


def action_keys(keys: Tensor) -> Tensor:
    """From what a game's actions are drawn, int32 (n, 2): Threefry(the game's key, (2³² − 1, 0)), its key (n, 2)."""
    event = torch.full((len(keys),), _ACTION_KEY_EVENT, dtype=torch.int32, device=keys.device)
    return random.words(keys, event, random.address(0, 1, keys.device))


def chances(keys: Tensor, first_step: int, steps: int) -> Tensor:
    """What decides the actions of some steps: float32 (steps, n) in [0, 1), by ``action_keys`` (n, 2) and step alone.

    The upper 24 bits of the first word of Threefry(key, (step, 0)).
    """
    step = torch.arange(first_step, first_step + steps, dtype=torch.int32, device=keys.device)
    words = random.words(keys.repeat(steps, 1), step.repeat_interleave(len(keys)), random.address(0, 1, keys.device))
    return ((words[:, 0] >> 8) & 0xFFFFFF).view(steps, len(keys)) / 2**24
