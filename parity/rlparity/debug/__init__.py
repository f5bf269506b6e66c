"""A debugger for two engines of one world: stop, step back, edit, fork."""

from rlparity.debug.attach import here
from rlparity.debug.session import Session
from rlparity.debug.timeline import Fork, Moment

__all__ = ["Fork", "Moment", "Session", "here"]
