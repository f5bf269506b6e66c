"""PureJaxRL's interface is enough to play a world; only the name of the environment changes."""

import gymnax
import jax
import numpy as np
import pytest

from tests.worldkit.foreign.conftest import LIMIT
from tests.worldkit.foreign.purejaxrl_ppo import CONFIG, make_train
from worldkit.envs.gymnax_style import GymnaxStyle


def test_its_wrapper_counts_the_steps_of_every_episode(paid: GymnaxStyle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gymnax, "make", lambda name: (paid, paid.default_params))
    short = {**CONFIG, "TOTAL_TIMESTEPS": 1024}
    metrics = jax.tree.map(np.asarray, jax.jit(make_train(short))(jax.random.key(0))["metrics"])
    ended, lengths = metrics["returned_episode"], metrics["returned_episode_lengths"]
    assert ended.shape == (1, 16, 64)
    assert set(lengths[ended]) == set(range(1, LIMIT + 1))
