"""rejax trains on a world as it is."""

from typing import Any

import jax
import pytest

from worldkit.envs.gymnax_style import GymnaxStyle

rejax = pytest.importorskip("rejax", reason="rejax is not installed: pip install rejax")

SETTINGS: dict[str, dict[str, Any]] = {
    "PPO": {"num_envs": 64, "num_steps": 16, "num_minibatches": 4, "num_epochs": 4},
    "DQN": {"num_envs": 64, "buffer_size": 2048, "fill_buffer": 1024, "batch_size": 64, "target_update_freq": 256},
}


def train(name: str, env: GymnaxStyle, timesteps: int) -> tuple[float, float]:
    """Mean length and return of 128 episodes after training."""
    algorithm = getattr(rejax, name).create(
        env=env,
        total_timesteps=timesteps,
        eval_freq=timesteps,
        learning_rate=1e-3,
        skip_initial_evaluation=True,
        **SETTINGS[name],
    )
    _, (lengths, returns) = jax.jit(algorithm.train)(jax.random.key(0))
    assert lengths.shape == returns.shape == (1, 128)
    assert lengths.max() <= env.max_steps
    return float(lengths.mean()), float(returns.mean())


@pytest.mark.parametrize("name", ["PPO", pytest.param("DQN", marks=pytest.mark.long)])
def test_it_learns_without_a_mask_what_is_valid(name: str, paid: GymnaxStyle) -> None:
    length, earned = train(name, paid, 32_768)
    # one action in three is invalid: whoever does not know which plays 2.7 steps
    assert length > 4.5
    assert earned > 0.95 * length
