"""A debugger for two engines of one world: stop, step back, edit, fork."""

from rlparity.debug.attach import here
from rlparity.debug.session import Session
from rlparity.debug.timeline import Fork, ForkComparison, Moment

__all__ = ["Fork", "ForkComparison", "Moment", "Session", "here"]
