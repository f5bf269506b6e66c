"""Playing with marks: the functions of a game, each with the marks that it fired."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
from jax import Array

from goodharts.jax_env import env, observation
from goodharts.jax_env.tables import Variant
from goodharts.rules import marks_of
from worldkit.jaxkit.batching import batch_native
from worldkit.jaxkit.marks import collecting, packed


class MarkedGame:
    """As ``env.Game``, each result beside the marks that fired: bool (marks,), in the order of ``marks_of``."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        names = tuple(marks_of(variant.mode))

        def with_marks(core: Callable[..., Any]) -> Callable[..., Any]:
            def run(*args: Any) -> tuple[Any, Array]:  # noqa: ANN401 - whatever the core takes
                out, marks = collecting(core)(*args)
                return out, packed(marks, names, jax.tree.leaves(args)[0].shape[:1])

            return batch_native(run)

        self.reset = with_marks(partial(env.reset, variant))
        self.step = with_marks(partial(env.step, variant))
        self.restart = with_marks(partial(env.restart, variant))
        self.observe = with_marks(partial(observation.observe, variant.mode))
