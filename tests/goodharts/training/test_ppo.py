"""PPO: its losses, and what an update does; that it is the update of the trainer in JAX, ``test_jax_ppo.py`` holds."""

from typing import Any

import numpy as np
import pytest
import torch

from goodharts.architecture import PRIVILEGES
from goodharts.config import Training
from goodharts.rules import DEFAULT_NUMBERS, FOOD, MODES, POISON, Mode, Numbers
from goodharts.torch_networks import Inputs
from goodharts.training.runs import EPISODE

from .small_runs import small_trainer

CPU = torch.device("cpu")


def test_rates_are_linear_from_the_first_update_to_the_last() -> None:
    training = Training(updates=101)
    assert training.rates(0) == Training(updates=1).rates(0) == (3e-4, 0.2, 0.1)
    assert training.rates(100) == pytest.approx((1e-4, 0.1, 0.001))
    assert training.rates(50) == pytest.approx((2e-4, 0.15, 0.0505))


class TestInputs:
    CODES = torch.tensor([[FOOD, POISON, *[0] * 119]], dtype=torch.int8)
    COUNTS = torch.tensor([[64, 256]], dtype=torch.int16)

    @pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
    def test_G8_the_critic_alone_sees_the_counts_and_the_truth(self, mode: Mode) -> None:
        seen, privileges = Inputs(mode, DEFAULT_NUMBERS, True, CPU)(self.CODES, self.COUNTS)
        alone, nothing = Inputs(mode, DEFAULT_NUMBERS, False, CPU)(self.CODES, self.COUNTS)
        assert torch.equal(seen, alone)
        assert nothing is None
        assert seen.shape == (1, 2, 11, 11)
        first = [[1.0, 0.0], [0.0, 1.0]] if mode.sees_truth else [[1.0, 0.5], [1.0, 0.5]]
        assert seen[0].flatten(1)[:, :2].tolist() == first
        assert privileges is not None
        assert privileges.shape == (1, PRIVILEGES)
        assert privileges[0, :2].tolist() == [-1.0, 1.0]
        assert privileges[0, 2:].view(2, 121)[:, :2].tolist() == [[1.0, 0.0], [0.0, 1.0]]
        assert privileges[0, 2:].sum() == 2

    def test_G8_a_count_that_is_always_the_same_says_nothing(self) -> None:
        numbers = Numbers(min_food=64, max_food=64)
        _, privileges = Inputs(MODES["proxy"], numbers, True, CPU)(self.CODES, self.COUNTS)
        assert privileges is not None
        assert privileges[0, :2].tolist() == [0.0, 1.0]


def test_episodes_are_counted_as_they_were_played() -> None:
    trainer = small_trainer("ground_truth")
    rows = [dict(zip(EPISODE, episode, strict=True)) for _ in range(4) for episode in trainer.step().episodes]
    assert rows
    for row in rows:
        ended = row["terminated"]
        # a thousandth at a time: 1 to begin with, 0.01 a step, 1 for food, -2 for poison
        energy = 1000 - 10 * row["length"] + 1000 * row["food"] - 2000 * row["poison"]
        assert ended == (energy <= 0)
        happened = row["length"], row["food"], row["poison"], ended
        reward = np.dot(happened, trainer.config.price_values("ground_truth")) / 100_000
        assert row["reward"] == pytest.approx(reward, abs=1e-4)
        assert row["length"] == 20 or ended


def test_an_update_has_the_documented_metrics() -> None:
    metrics = small_trainer("proxy").step().metrics
    names = "mean_episode_return mean_episode_length num_episodes pg_loss value_loss entropy approx_kl clip_frac"
    names += " entropy_floor_penalty grad_norm explained_variance"
    names += "".join(f" action_prob_{action}" for action in range(8))
    assert set(metrics) == {
        *("update", "timesteps", "seconds", "steps_per_second"),
        *(f"train/{name}" for name in names.split()),
    }
    assert (metrics["update"], metrics["timesteps"], metrics["train/num_episodes"]) == (1, 128, 0)
    assert sum(metrics[f"train/action_prob_{action}"] for action in range(8)) == pytest.approx(1)


def test_an_agent_learns_to_eat_food_and_leave_poison() -> None:
    items: dict[str, Any] = dict.fromkeys(
        ("min_food", "max_food", "min_poison", "max_poison"), 1024
    )  # so that it eats often
    rates: dict[str, Any] = {"learning_rate": 0.01, "entropy_initial": 0.01, "minibatches": 4, "k_epochs": 4}
    trainer = small_trainer(n_envs=64, steps_per_env=32, hidden=32, updates=12, **rates, **items)

    def efficiency() -> float:
        episodes = trainer.step().episodes
        food, poison = (sum(row[EPISODE.index(kind)] for row in episodes) for kind in ("food", "poison"))
        return float(food / (food + poison))

    found = [efficiency() for _ in range(12)]
    assert found[0] < 0.5
    assert found[-1] > 0.8
