"""Alias, under the documented name, of a run's console, curve and sinks in `rlworldkit.runs`."""

from rlworldkit.runs.console import *  # noqa: F403
from rlworldkit.runs.curve import *  # noqa: F403
from rlworldkit.runs.sinks import *  # noqa: F403
