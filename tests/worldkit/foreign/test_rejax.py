"""rejax trains on a world as it is."""

from typing import Any

import jax
import pytest

from hackmatrix.purejaxrl.env_wrapper import HackMatrixGymnax
from worldkit.ppo.gymnax_style import GymnaxStyle

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
def test_it_learns_without_a_mask_what_is_valid_and_what_pays(name: str, free_style: GymnaxStyle) -> None:
    length, earned = train(name, free_style, 32_768)
    # A valid action takes 1 in 5.6 of all, a right one 1 in 28: whoever knows neither plays 1.2 steps for nothing.
    assert length > 4
    assert earned > 0.9 * length


@pytest.mark.long
def test_dqn_trains_on_the_game() -> None:
    length, _ = train("DQN", HackMatrixGymnax(max_steps=64), 2048)
    assert length >= 1
