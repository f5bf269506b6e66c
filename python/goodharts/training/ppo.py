"""The arithmetic of PPO (Schulman et al. 2017): advantages, losses. Pure functions."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


def advantages(
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    ended: Tensor,
    gamma: float,
    gae_lambda: float,
) -> Tensor:
    """Generalized advantage estimates (Schulman et al. 2016) of steps (t, n), all float32 or bool of that shape.

    Args:
        rewards: of each step.
        values: of what was seen before each step.
        next_values: of what the same episode showed after it; where it terminated they count as 0.
        terminated: whether the episode terminated with the step.
        ended: whether it ended at all, so that the next step belongs to another episode.
        gamma: discount factor.
        gae_lambda: λ.
    """
    surprises = rewards + gamma * next_values * ~terminated - values
    found = torch.empty_like(rewards)
    later = torch.zeros_like(rewards[0])
    for t in reversed(range(len(rewards))):
        later = surprises[t] + gamma * gae_lambda * ~ended[t] * later
        found[t] = later
    return found


class Batch(NamedTuple):
    """Steps to learn from, (n,) each. log_probs: of the actions, when they were taken. targets: scaled returns."""

    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    targets: Tensor


class Losses(NamedTuple):
    """Means over a batch, scalars but for ``action_probs`` (8,)."""

    policy_loss: Tensor
    value_loss: Tensor
    entropy: Tensor
    approx_kl: Tensor
    clip_fraction: Tensor
    action_probs: Tensor


def losses(logits: Tensor, values: Tensor, batch: Batch, clip_eps: float) -> Losses:
    """The losses of a network's logits (n, 8) and scaled values (n,) for a batch."""
    log_probs = torch.log_softmax(logits, dim=1)
    probs = log_probs.exp()
    log_ratio = log_probs.gather(1, batch.actions[:, None])[:, 0] - batch.log_probs
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - clip_eps, 1 + clip_eps)
    gain = torch.minimum(ratio * batch.advantages, clipped * batch.advantages)
    with torch.no_grad():
        approx_kl = (ratio - 1 - log_ratio).mean()
        clip_fraction = ((ratio - 1).abs() > clip_eps).float().mean()
    return Losses(
        policy_loss=-gain.mean(),
        value_loss=(values - batch.targets).square().mean(),
        entropy=-(probs * log_probs).sum(dim=1).mean(),
        approx_kl=approx_kl,
        clip_fraction=clip_fraction,
        action_probs=probs.detach().mean(dim=0),
    )
