"""How well somebody plays HackMatrix: what the kit's evaluation is told of the game, as ``EVALUATION``."""

from hackmatrix.env_spec import ENV_SPEC
from hackmatrix.evaluation.players import policy_of, walk
from hackmatrix.evaluation.report import DIED, INVALID, WON, figures, notes, rows
from hackmatrix.rules import ACTIONS, SIPHON
from worldkit.evaluation.spec import EvaluationSpec

EVALUATION = EvaluationSpec(
    env=ENV_SPEC,
    endings={"victory": WON, "death": DIED, "invalid_action": INVALID},
    players={"walk": walk},
    policy_of=policy_of,
    notes=notes,
    actions=ACTIONS[SIPHON:],
    figures=figures,
    rows=rows,
)
