"""The documented module name of what a run shows and writes; `rlworldkit.runs` has it."""

from rlworldkit.runs.console import *  # noqa: F403
from rlworldkit.runs.curve import *  # noqa: F403
from rlworldkit.runs.sinks import *  # noqa: F403
