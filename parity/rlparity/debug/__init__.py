"""Debugger of two engines of one world, with breakpoints, stepping back, edits of the state, and forks."""

from rlparity.debug.attach import here
from rlparity.debug.session import Session
from rlparity.debug.timeline import Fork, Moment

__all__ = ["Fork", "Moment", "Session", "here"]
