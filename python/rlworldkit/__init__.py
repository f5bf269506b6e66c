"""Environments, trainers, evaluation, benchmarks and viewers for every world of the harness.

Name a world by the name that its package registers, or as ``module:attribute``:

    >>> import rlworldkit
    >>> env = rlworldkit.make("orchard:WORLD", engine="jax")
    >>> run = rlworldkit.train("orchard:WORLD", num_envs=8, num_steps=8, total_timesteps=128, quiet=True)
    >>> rlworldkit.evaluate("orchard:WORLD", run, games=20)["episodes"]
    20

The package contains no world: pass in an `rlparity.World`. docs/tutorials/your-own-world.md builds one.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlparity import __version__
    from rlworldkit.api import evaluate, make, train

__all__ = ["__version__", "evaluate", "make", "train"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a function of ``api``, or the version, which is the harness's
    """Import an attribute when it is accessed, so that importing the package takes no time."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("rlparity" if name == "__version__" else "rlworldkit.api"), name)


def __dir__() -> list[str]:
    return __all__
