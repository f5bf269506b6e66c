"""An agent to look into, as the tests of watching make it."""

from tests.hackmatrix.watch.conftest import params

__all__ = ["params"]
