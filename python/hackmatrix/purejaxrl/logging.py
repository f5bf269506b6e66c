"""The documented module name of what a run shows and writes; `worldkit.runs` has it."""

from worldkit.runs.console import *  # noqa: F403
from worldkit.runs.curve import *  # noqa: F403
from worldkit.runs.sinks import *  # noqa: F403
