"""``TrainState``: parameters, the optimizer's state, and the scale of the values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import jax
import optax  # type: ignore[import-untyped]
from jax import Array

from worldkit.ppo.params import Params
from worldkit.ppo.value_heads import FIRST_SCALE, ValueScale, rescaled


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["step", "params", "opt_state", "value_scale"],
    meta_fields=["apply_fn", "tx"],
)
@dataclass(frozen=True)
class TrainState:
    """Parameters that learn. Flax's class would take seconds to import.

    step: how many gradient steps there were. apply_fn: that of an ``ActorCritic``, or a function like it.
    tx: the optimizer. value_scale: of a ``popart`` head.
    """

    step: Array | int
    params: Params
    opt_state: Any
    apply_fn: Callable[..., Any]
    tx: optax.GradientTransformation
    value_scale: ValueScale | None = None

    def apply_gradients(self, grads: Params, learning_rate: Array | float | None = None) -> Self:
        """The state after one gradient step.

        learning_rate: of an optimizer that has none of its own.
        """
        updates, opt_state = self.tx.update(grads, self.opt_state, self.params)
        if learning_rate is not None:
            updates = jax.tree.map(lambda update: -learning_rate * update, updates)
        params = optax.apply_updates(self.params, updates)
        return self.replace(step=self.step + 1, params=params, opt_state=opt_state)

    def replace(self, **changes: Any) -> Self:  # noqa: ANN401 - values of the fields
        """The same with some fields changed."""
        return dataclasses.replace(self, **changes)

    @property
    def playable_params(self) -> Params:
        """The parameters to play with: their values are in units of reward."""
        if self.value_scale is None:
            return self.params
        return rescaled(self.params, self.value_scale, FIRST_SCALE)
