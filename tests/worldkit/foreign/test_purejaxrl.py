"""PureJaxRL's single-file PPO trains on a world; only the name of the environment changes."""

import gymnax
import jax
import numpy as np
import pytest

from tests.worldkit.foreign.purejaxrl_ppo import CONFIG, make_train
from worldkit.envs.gymnax_style import GymnaxStyle


@pytest.mark.long  # tests/worldkit/foreign/test_rejax.py holds the same of another trainer
def test_it_learns_without_a_mask_what_is_valid(paid: GymnaxStyle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gymnax, "make", lambda name: (paid, paid.default_params))
    metrics = jax.tree.map(np.asarray, jax.jit(make_train(CONFIG))(jax.random.key(0))["metrics"])
    # (updates, steps, games)
    ended, lengths = metrics["returned_episode"], metrics["returned_episode_lengths"]
    assert lengths[0][ended[0]].mean() < 3.5
    assert lengths[-1][ended[-1]].mean() > 4.5
    returns = metrics["returned_episode_returns"]
    assert returns[-1][ended[-1]].mean() > 0.9 * lengths[-1][ended[-1]].mean()
