"""How HackMatrix is watched, played and viewed: ``SHOW``."""

from pkgutil import resolve_name

from hackmatrix.explain.ending import LEFT, STEP_LIMIT, ending
from hackmatrix.explain.transition import Transition
from hackmatrix.panels import HackMatrixPanels
from hackmatrix.render.model import board_model
from hackmatrix.render.text import draw_text
from hackmatrix.rules import NUM_STAGES, SIZE
from hackmatrix.score import WON
from rlparity import State
from rlparity.viewer.page import End
from rlworldkit.evaluation.play import TRUNCATED
from rlworldkit.render.show import Show


def _end(before: State, after: State, action: int, how: str | None) -> tuple[End, str]:
    """The end in its drawn cell, row 0 on top (A1 has it at the bottom), and who killed the player, if somebody did."""
    ended = ending(Transition(before, after, action), STEP_LIMIT if how == TRUNCATED else LEFT)
    row, column = ended.place
    origin = ", from a siphon" if ended.from_siphon else ""
    end = End(level=f"stage {ended.stage}", cause=ended.cause, row=SIZE - 1 - row, column=column)
    return end, f": {ended.cause}{origin}" if ended.attackers else ""


SHOW = Show(
    text=lambda state: draw_text(board_model(state)),
    picture=lambda state: resolve_name("hackmatrix.render.picture:draw_picture")(board_model(state)),
    victory=WON,
    progress=lambda state: f" in stage {min(state['stage'], NUM_STAGES)}",
    end=_end,
    panels=HackMatrixPanels,
)
