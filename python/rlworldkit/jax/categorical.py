"""Categorical distribution that policies draw actions from: distrax's, or an equivalent where distrax is missing.

distrax 0.1.5 imports tensorflow-probability 0.25, which at import reads ``jax.interpreters.xla.pytype_aval_mappings``,
a name that JAX 0.7 removed; `restore_aval_table` puts it back. Where distrax is not installed, or a JAX release breaks
it, `Categorical` takes its place: the same actions, probabilities and gradients, so training does not depend on it.
"""

from functools import cache
from types import ModuleType

import jax
import jax.interpreters.xla
import jax.numpy as jnp
from jax import Array
from jax._src import core


class Categorical:
    """Subset of ``distrax.Categorical`` that policies use, with the same results.

    logits: float (..., actions), normalised by the constructor. Methods return arrays of the leading axes.
    """

    def __init__(self, logits: Array) -> None:
        self.logits = jax.nn.log_softmax(logits)

    @property
    def probs(self) -> Array:
        """Probabilities, float (..., actions)."""
        return jax.nn.softmax(self.logits)

    def sample(self, *, seed: Array, sample_shape: tuple[int, ...] = ()) -> Array:
        """Draw actions with a key: int (*sample_shape, ...), -1 where the logits are not finite."""
        drawn = jax.random.categorical(seed, self.logits, shape=(*sample_shape, *self.logits.shape[:-1]))
        return jnp.where(jnp.isfinite(self.probs).all(axis=-1), drawn, -1)

    def sample_and_log_prob(self, *, seed: Array) -> tuple[Array, Array]:
        """Draw actions with a key; returns (actions, their log probabilities in nats)."""
        action = self.sample(seed=seed)
        return action, self.log_prob(action)

    def log_prob(self, value: Array) -> Array:
        """Log probabilities of actions in nats, -inf outside the range."""
        actions = self.logits.shape[-1]
        log_prob = (self.logits * jax.nn.one_hot(value, actions, dtype=self.logits.dtype)).sum(axis=-1)
        return jnp.where((value < 0) | (value >= actions), -jnp.inf, log_prob)

    def entropy(self) -> Array:
        """Entropy in nats; an action of probability 0 adds 0, however small its logit."""
        log_probs = jax.nn.log_softmax(self.logits)
        probs = jnp.exp(log_probs)
        return -(jnp.where(probs == 0, 0.0, log_probs) * probs).sum(axis=-1)


@cache
def categorical_class() -> type[Categorical]:
    """Return ``distrax.Categorical`` if distrax imports, else `Categorical`. Importing distrax takes seconds."""
    restore_aval_table(jax.interpreters.xla)
    try:
        import distrax
    except Exception:  # not installed, or broken in any way by another release of JAX
        return Categorical
    return distrax.Categorical


def restore_aval_table(module: ModuleType) -> None:
    """Add the attribute ``pytype_aval_mappings`` to ``module``, ``jax.interpreters.xla``, if it is missing."""
    if not hasattr(module, "pytype_aval_mappings") and hasattr(core, "pytype_aval_mappings"):
        module.pytype_aval_mappings = core.pytype_aval_mappings  # type: ignore[attr-defined]
