"""The distribution that actions are drawn from: distrax's and its stand-in give the same results."""

import os
import sys
from collections.abc import Callable

import jax
import jax.interpreters.xla
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from rlworldkit.jax.categorical import Categorical, categorical_class, restore_aval_table
from rlworldkit.ppo.ppo import masked_categorical

restore_aval_table(jax.interpreters.xla)
import distrax  # noqa: E402 - the line above makes it importable

PARTS = "xla_cpu_parallel_codegen_split_count"
"""Programs of users are compiled in several parts; in one, unoptimised gradients of the two are rounded otherwise."""


def masked_logits() -> Array:
    """Float32 (8, 64, 28), half of the actions masked; one state has a single valid action, one logit is NaN."""
    random = np.random.default_rng(0)
    mask = random.random((8, 64, 28)) < 0.5
    mask[..., 3] = True
    mask[0, 0] = np.arange(28) == 7
    return jnp.where(mask, 4 * random.normal(size=mask.shape).astype(np.float32), -1e9).at[0, 1, 2].set(jnp.nan)


@jax.jit(static_argnums=0, compiler_options={PARTS: 32} if PARTS in os.environ.get("XLA_FLAGS", "") else None)
def results(cls: Callable[..., Categorical], logits: Array) -> dict[str, Array]:
    key, other = jax.random.key(1), jnp.arange(64) % 30 - 1  # of which two are no actions
    weight = jax.random.normal(key, (8, 64))

    def loss(logits: Array) -> Array:
        policy = cls(logits=logits)
        return (weight * (jnp.exp(policy.log_prob(other)) - policy.entropy())).sum()

    policy = cls(logits=logits)
    action, log_prob = policy.sample_and_log_prob(seed=key)
    return {
        "action": action,
        "log_prob": log_prob,
        "log_prob of other actions": policy.log_prob(other),
        "several actions": policy.sample(seed=key, sample_shape=(3,)),
        "entropy": policy.entropy(),
        "probs": policy.probs,
        "logits": policy.logits,
        "gradient": jax.grad(loss)(logits),
    }


def test_without_distrax_actions_probabilities_and_gradients_are_the_same_to_the_bit() -> None:
    expected, got = (results(cls, masked_logits()) for cls in (distrax.Categorical, Categorical))
    for name in expected:
        np.testing.assert_array_equal(got[name], expected[name], err_msg=name)
        assert got[name].dtype == expected[name].dtype, name
    assert expected["action"][0, :2].tolist() == [7, -1]


@pytest.mark.parametrize("fault", [ImportError("not installed"), AttributeError("jax.core has no such name")])
def test_where_distrax_does_not_import_policies_do_without_it(
    fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "distrax":
                raise fault

    monkeypatch.delitem(sys.modules, "distrax")
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    categorical_class.cache_clear()
    try:
        assert type(masked_categorical(jnp.zeros(2), jnp.ones(2, bool))) is Categorical
    finally:
        categorical_class.cache_clear()
