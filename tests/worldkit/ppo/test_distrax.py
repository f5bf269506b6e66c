"""distrax imports and works on the installed JAX."""

from types import ModuleType

import jax.numpy as jnp
from jax._src import core

from worldkit.jax._distrax import distrax, restore_aval_table


def test_a_missing_table_is_put_back() -> None:
    module = ModuleType("xla")
    restore_aval_table(module)
    assert module.pytype_aval_mappings is core.pytype_aval_mappings


def test_an_existing_table_is_left_alone() -> None:
    module = ModuleType("xla")
    table: dict[type, object] = {}
    module.pytype_aval_mappings = table  # type: ignore[attr-defined]
    restore_aval_table(module)
    assert module.pytype_aval_mappings is table


def test_a_categorical_distribution_works() -> None:
    policy = distrax.Categorical(logits=jnp.log(jnp.array([0.25, 0.75])))
    assert jnp.allclose(policy.log_prob(jnp.array([0, 1])), jnp.log(jnp.array([0.25, 0.75])))
