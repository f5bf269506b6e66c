"""Display of Goodharts for watch, play and view: ``SHOW``."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from goodharts.config import MODEL, model_path
from goodharts.rules import DEFAULT_NUMBERS, MODES
from goodharts.score import DIED
from rlparity import State
from rlworldkit.render.panels import Panels
from rlworldkit.render.show import Show
from rlworldkit.runs.folder import read_saved_config

if TYPE_CHECKING:
    from rlparity.viewer.page import End


class GoodhartsPanels(Panels):
    """The surroundings of the agent in 17 lines of 34 columns, and the numbers of the state."""

    hint = "arrows move, y u b n move along the diagonals"
    keys = ("y", "left", "b", "up", "down", "u", "right", "n")
    cell_width = 2


def mode_of(path: Path, wanted: str | None) -> str | None:
    """The mode of a model, or of the run that left a file; in a folder of models the first, unless one is wanted."""
    if str(path) in MODES:
        return str(path)
    if path.suffix == MODEL and path.is_file():
        from goodharts.models import read_model  # torch takes seconds to import

        return read_model(path).mode
    if wanted and not path.is_file():
        return wanted
    saved = read_saved_config(path if path.is_dir() else path.parent).get("mode") if path.exists() else None
    return next((mode for mode in MODES if mode == saved or model_path(mode, path).exists()), None)


def _end(before: State, after: State, action: int, ending: str | None) -> tuple[End | None, str]:
    """The cause of a death; without a place, since the drawn board has the agent in the middle."""
    lost = before["energy"] - after["energy"]
    return None, "" if ending != DIED else ", starved" if lost <= DEFAULT_NUMBERS.step_energy else ", poisoned"


SHOW = Show(
    picture=lambda state: resolve_name("goodharts.render.picture:draw_picture")(state),
    frames_per_second=15,
    end=_end,
    panels=GoodhartsPanels,
)
