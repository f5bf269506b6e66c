"""Training metrics of this game beside those of any world."""

from hackmatrix import rules
from rlworldkit.runs.sinks import Milestone

HIGHEST_STAGE = "stats/highest_stage"
MILESTONE = Milestone(
    HIGHEST_STAGE,
    name="highest stage",
    title=f"Highest stage in any game ({rules.WON_STAGE}: game won)",
    unit="stage",
    least=1,
    most=rules.WON_STAGE,
)


def action_share(kind: str) -> str:
    """The metric that says how many of the actions are of a kind."""
    return f"actions/{kind}_frac"
