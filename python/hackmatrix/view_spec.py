"""The `ViewSpec` of HackMatrix, for watching, playing and viewing: ``VIEW``."""

from hackmatrix.agents import AGENTS, BEST
from hackmatrix.evaluation import EVALUATION, WON
from hackmatrix.explain.ending import LEFT, STEP_LIMIT, ending
from hackmatrix.explain.transition import Transition
from hackmatrix.numpy_networks import NUMPY_NETWORKS
from hackmatrix.panels import HackMatrixPanels
from hackmatrix.rules import NUM_STAGES, SIZE, VERSION
from hackmatrix.world import TRACE_NAMES
from rlparity import State
from rlparity.viewer.page import End
from rlworldkit.evaluation.play import TRUNCATED
from rlworldkit.watch.spec import ViewSpec


def _end(before: State, after: State, action: int, how: str | None) -> tuple[End, str]:
    """The end in its drawn cell, row 0 on top (A1 has it at the bottom), and who killed the player, if somebody did."""
    ended = ending(Transition(before, after, action), STEP_LIMIT if how == TRUNCATED else LEFT)
    row, column = ended.place
    origin = ", from a siphon" if ended.from_siphon else ""
    end = End(level=f"stage {ended.stage}", cause=ended.cause, row=SIZE - 1 - row, column=column)
    return end, f": {ended.cause}{origin}" if ended.attackers else ""


VIEW = ViewSpec(
    evaluation=EVALUATION,
    victory=WON,
    progress=lambda state: f" in stage {min(state['stage'], NUM_STAGES)}",
    end=_end,
    rules_version=VERSION,
    networks=NUMPY_NETWORKS,
    default_agent=AGENTS[BEST],
    panels=HackMatrixPanels,
    trace_names=TRACE_NAMES,
)
