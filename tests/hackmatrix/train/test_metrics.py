"""The game's own metrics of a step, and which of its episodes were cut off."""

from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import pytest

from hackmatrix import jax_env
from hackmatrix.env import HackMatrixJaxEnv
from hackmatrix.jax_env import StepResult
from hackmatrix.jax_env.tables import Prices
from hackmatrix.rules import EVENTS, SIPHON, WON_STAGE
from rlworldkit.jax.env import StepOutput


def step_of_the_game(stage: int, next_stage: int) -> StepOutput:
    """A step that led to ``stage`` and, where the game ended, to the next game's ``next_stage``."""
    final, state = (SimpleNamespace(now=SimpleNamespace(stage=number)) for number in (stage, next_stage))
    no: Any = jnp.bool_(False)
    return StepOutput(state, jnp.float32(0), jnp.zeros(15, int), no, no, final)


def test_the_highest_stage_is_that_of_the_game_that_was_played() -> None:
    step = step_of_the_game(stage=WON_STAGE, next_stage=1)
    assert HackMatrixJaxEnv().metrics(step, jnp.int32(0)).maxima == {"stats/highest_stage": WON_STAGE}


@pytest.mark.parametrize(("action", "kind"), [(0, "move"), (3, "move"), (4, "siphon"), (5, "program"), (27, "program")])
def test_every_action_is_of_one_kind(action: int, kind: str) -> None:
    assert SIPHON == 4
    shares = HackMatrixJaxEnv().metrics(step_of_the_game(1, 1), jnp.int32(action)).means
    assert {name for name, taken in shares.items() if taken} == {f"actions/{kind}_frac"}


@pytest.mark.parametrize(
    ("terminated", "limit", "truncated"), [(1, 1, False), (1, 0, False), (0, 1, True), (0, 0, False)]
)
def test_C4_a_game_that_ends_by_itself_at_the_limit_is_not_truncated(
    monkeypatch: pytest.MonkeyPatch, terminated: int, limit: int, truncated: bool
) -> None:
    flags = {name: jnp.bool_(False) for name in EVENTS}
    counts = dict.fromkeys((*Prices._fields, "stage_index"), jnp.int32(0))
    result = StepResult(counts=counts, terminated=jnp.bool_(terminated), **flags)
    monkeypatch.setattr(jax_env, "step_auto_reset", lambda state, action, truncate: (state, result, state))
    step = HackMatrixJaxEnv().step_autoreset(jax_env.state.BLANK_STATE, jnp.int32(0), jnp.bool_(limit))
    assert (bool(step.terminated), bool(step.truncated)) == (bool(terminated), truncated)
