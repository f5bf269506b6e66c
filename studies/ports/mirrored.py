"""The starts of JAX ports, in which their originals can begin although each library draws by itself."""

from collections.abc import Callable
from typing import Any


def starts_of(start: Callable[[Any], Any]) -> Callable[[int], Any]:
    """The state, of numpy, that the game of a seed begins with; ``start(key)`` gives it to the port."""
    import jax

    compiled = jax.jit(lambda seed: start(jax.random.key(seed)))
    return lambda seed: jax.device_get(compiled(seed))
