"""GAE and the PPO loss in plain NumPy, written from the papers."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def gae(
    reward: Floats,
    value: Floats,
    terminated: NDArray[np.bool_],
    truncated: NDArray[np.bool_],
    own_last_value: Floats,
    last_value: Floats,
    gamma: float,
    gae_lambda: float,
) -> Floats:
    """Advantages, (steps, games), as the plain sum of discounted TD errors of each step's own episode."""
    steps, games = reward.shape
    advantages = np.zeros((steps, games))
    for game in range(games):
        for start in range(steps):
            weight = 1.0
            for step in range(start, steps):
                if terminated[step, game]:
                    next_value = 0.0
                elif truncated[step, game]:
                    next_value = own_last_value[step, game]
                else:
                    next_value = last_value[game] if step == steps - 1 else value[step + 1, game]
                error = reward[step, game] + gamma * next_value - value[step, game]
                advantages[start, game] += weight * error
                weight *= gamma * gae_lambda
                if terminated[step, game] or truncated[step, game]:
                    break
    return advantages


def loss(
    logits: Floats,
    value: Floats,
    mask: NDArray[np.bool_],
    action: NDArray[np.int32],
    old_log_prob: Floats,
    old_value: Floats,
    advantage: Floats,
    target: Floats,
    *,
    clip_eps: float,
    vf_coef: float,
    ent_coef: float,
) -> dict[str, float]:
    """The loss and its parts; invalid actions take no part in the distribution at all."""
    ratios, entropies, log_ratios = [], [], []
    for sample in range(len(action)):
        valid = np.flatnonzero(mask[sample])
        weights = np.exp(logits[sample, valid] - logits[sample, valid].max())
        probabilities = weights / weights.sum()
        entropies.append(-(probabilities * np.log(probabilities)).sum())
        chosen = probabilities[list(valid).index(action[sample])]
        log_ratios.append(np.log(chosen) - old_log_prob[sample])
        ratios.append(np.exp(log_ratios[-1]))
    ratio, log_ratio = np.array(ratios), np.array(log_ratios)
    scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    surrogate = np.where(
        scaled >= 0, np.minimum(ratio, 1 + clip_eps) * scaled, np.maximum(ratio, 1 - clip_eps) * scaled
    )
    near_old = np.clip(value, old_value - clip_eps, old_value + clip_eps)
    value_loss = 0.5 * np.maximum((value - target) ** 2, (near_old - target) ** 2).mean()
    parts = {
        "pg_loss": -surrogate.mean(),
        "value_loss": value_loss,
        "entropy": np.mean(entropies),
        "entropy_ratio": np.sum(entropies) / np.log(mask.sum(axis=1)).sum(),
        "approx_kl": (ratio - 1 - log_ratio).mean(),
        "clip_frac": ((ratio > 1 + clip_eps) | (ratio < 1 - clip_eps)).mean(),
    }
    total = parts["pg_loss"] + vf_coef * value_loss - ent_coef * parts["entropy"]
    return {name: float(part) for name, part in {"total_loss": total, **parts}.items()}
