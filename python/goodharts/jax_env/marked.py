"""Playing with marks: the functions of a game, each with the marks that it fired."""

from functools import partial

from goodharts.jax_env import env, observation
from goodharts.jax_env.tables import Variant
from goodharts.rules import marks_of
from worldkit.jaxkit.batching import batch_native_marked


class MarkedGame:
    """As ``env.Game``, each result beside the marks that fired: bool (marks,), in the order of ``marks_of``."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        with_marks = partial(batch_native_marked, names=marks_of(variant.mode))
        self.reset = with_marks(partial(env.reset, variant))
        self.step = with_marks(partial(env.step, variant))
        self.restart = with_marks(partial(env.restart, variant))
        self.observe = with_marks(partial(observation.observe, variant))
