"""What episodes of Orchard are reported by."""

from rlworldkit.score import Score

SCORE = Score(actions=("pick", "rest"))
