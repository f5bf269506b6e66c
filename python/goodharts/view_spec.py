"""The `ViewSpec` of each mode of Goodharts, for watching, playing and viewing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from goodharts.env_spec import ENV_SPECS
from goodharts.models import model_path, read_model
from goodharts.numpy_networks import NUMPY_NETWORKS
from goodharts.rules import DEFAULT_MODE, DEFAULT_NUMBERS, MODES, VERSION
from rlparity import State
from rlparity.core.trace import read_trace
from rlparity.errors import UsageError
from rlworldkit.evaluation.onnx_policy import ONNX, WORLD, onnx_metadata
from rlworldkit.evaluation.spec import EvaluationSpec
from rlworldkit.render.panels import Panels
from rlworldkit.watch.spec import Agent, ViewSpec

if TYPE_CHECKING:
    from rlparity.viewer.page import End

MODEL = ".pth"
_DIED = "died"


class GoodhartsPanels(Panels):
    """The surroundings of the agent in 17 lines of 34 columns, and the numbers of the state."""

    hint = "arrows move, y u b n move along the diagonals"
    keys = ("y", "left", "b", "up", "down", "u", "right", "n")
    cell_width = 2


def view_of(mode: str | None, path: Path | None) -> ViewSpec:
    """A mode as it is shown: the one asked for, or else that of a model, a folder of them or a trace, or the first.

    Raises UsageError where the file cannot be read, or is of another mode than the one asked for.
    """
    found = None if path is None else _mode_of(path, mode)
    if mode is not None and found not in (None, mode):
        raise UsageError(f"{path} is of mode {found}, not of {mode}: leave out --mode, or name another file.")
    chosen = mode or found or DEFAULT_MODE
    return ViewSpec(
        evaluation=EvaluationSpec(ENV_SPECS[chosen], endings={"death": _DIED}),
        text_size=(70, 18),
        end=_end,
        rules_version=VERSION,
        networks=NUMPY_NETWORKS,
        readers={MODEL: _read_agent},
        default_agent=model_path(chosen),
        panels=GoodhartsPanels,
        trace_names=(f"goodharts.world:{chosen.upper()}",),
    )


def _read_agent(path: Path) -> Agent:
    from goodharts.agents import read_agent  # torch takes a while to import

    return read_agent(path)


def _mode_of(path: Path, wanted: str | None) -> str | None:
    """The mode of a file; in a folder the first of which it has a model, unless one is wanted."""
    if not path.is_file():
        return wanted or next((mode for mode in MODES if model_path(mode, path).exists()), None)
    if path.suffix == MODEL:
        return read_model(path).mode
    named = {".json": lambda: read_trace(path).world, ONNX: lambda: onnx_metadata(path).get(WORLD, "")}
    found = named.get(path.suffix, str)().removeprefix("goodharts-")
    return found if found in MODES else None


def _end(before: State, after: State, action: int, ending: str | None) -> tuple[End | None, str]:
    """Of a death, what it was; where is no matter on a board that has the agent in the middle."""
    lost = before["energy"] - after["energy"]
    return None, "" if ending != _DIED else ", starved" if lost <= DEFAULT_NUMBERS.step_energy else ", poisoned"
