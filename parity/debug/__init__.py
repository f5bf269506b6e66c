"""A debugger for two engines of one world: stop, step back, edit, fork."""

from parity.debug.attach import here
from parity.debug.session import Session
from parity.debug.timeline import Fork, ForkComparison, Moment

__all__ = ["Fork", "ForkComparison", "Moment", "Session", "here"]
