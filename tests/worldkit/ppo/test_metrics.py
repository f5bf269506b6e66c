"""Metrics: every name gets its own figure, in the unit that the documents give it."""

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hackmatrix import jax_env
from hackmatrix.jax_env import StepResult
from hackmatrix.jax_training import HackMatrixJaxEnv
from hackmatrix.rules import COMPONENTS, EVENTS, SIPHON, WON_STAGE
from worldkit.jax.env import StepOutput
from worldkit.ppo.checkpoints import Log, Progress
from worldkit.ppo.loop import _metrics_since, metrics_of
from worldkit.ppo.masked_ppo import LossStats
from worldkit.ppo.rollout import RolloutMetrics
from worldkit.ppo.update import UpdateStats

from .free_engine import REWARD_NAMES, FreeEnv

STEPS = 40


@pytest.fixture(scope="module")
def metrics() -> dict[str, float]:
    """Those of two updates in whose stats no two numbers are alike."""
    rollout = RolloutMetrics(
        reward_sum=jnp.array([10.0, 30.0]),
        component_sums=jnp.arange(30.0).reshape(2, 15),
        episodes=jnp.array([3, 5]),
        return_sum=jnp.array([6.0, 34.0]),
        length_sum=jnp.array([12, 44]),
        sums={"actions/move_frac": jnp.array([6.0, 14.0]), "actions/siphon_frac": jnp.array([1.0, 3.0])},
        maxima={"stats/highest_stage": jnp.array([7, 2])},
    )
    parts: Any = {name: jnp.array([number, number + 10.0]) for number, name in enumerate(LossStats._fields[:-1])}
    losses = LossStats(**parts, diagnostics={"grad_norm": jnp.array([1.0, 4.0])})
    return metrics_of(on_host(UpdateStats(losses, rollout)), STEPS, FreeEnv())


def on_host(stats: UpdateStats) -> UpdateStats:
    host: UpdateStats = jax.tree.map(np.asarray, stats)
    return host


def test_every_component_has_its_own_name_in_rewards_per_step(metrics: dict[str, float]) -> None:
    sums = [15 + 2 * number for number in range(15)]
    for name, total in zip(REWARD_NAMES, sums, strict=True):
        assert metrics[f"reward/{name}"] == pytest.approx(total / STEPS / 1000), name


def test_losses_are_means_over_the_updates(metrics: dict[str, float]) -> None:
    for number, name in enumerate(LossStats._fields[:-1]):
        assert metrics[f"train/{name}"] == number + 5
    assert metrics["train/grad_norm"] == 2.5


def test_episodes_are_counted_per_update_and_averaged_over_all(metrics: dict[str, float]) -> None:
    assert metrics["train/num_episodes"] == 4
    assert metrics["train/mean_episode_return"] == 40 / 8
    assert metrics["train/mean_episode_length"] == 56 / 8
    assert metrics["train/mean_reward"] == 1.0


def test_what_the_world_adds_is_a_share_of_steps_or_the_highest(metrics: dict[str, float]) -> None:
    assert metrics["actions/move_frac"] == 0.5
    assert metrics["actions/siphon_frac"] == 0.1
    assert metrics["stats/highest_stage"] == 7


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


def test_speed_is_that_since_the_last_row() -> None:
    one: Any = jnp.ones(1)
    count = jnp.ones(1, int)
    losses = LossStats(**dict.fromkeys(LossStats._fields[:-1], one))
    stats = UpdateStats(losses, RolloutMetrics(one, jnp.ones((1, 15)), count, one, count, {}, {}))
    log = Log(Progress(updates=4, timesteps=400, seconds=100.0), {}, (on_host(stats),))
    row = _metrics_since(log, Progress(updates=5, timesteps=500, seconds=110.0), FreeEnv())
    assert row["steps_per_second"] == 10
    assert (row["update"], row["timesteps"], row["seconds"]) == (5, 500, 110)


@pytest.mark.parametrize(
    ("terminated", "limit", "truncated"), [(1, 1, False), (1, 0, False), (0, 1, True), (0, 0, False)]
)
def test_C4_a_game_that_ends_by_itself_at_the_limit_is_not_truncated(
    monkeypatch: pytest.MonkeyPatch, terminated: int, limit: int, truncated: bool
) -> None:
    flags = {name: jnp.bool_(False) for name in EVENTS}
    result = StepResult(components=jnp.zeros(len(COMPONENTS), int), terminated=jnp.bool_(terminated), **flags)
    monkeypatch.setattr(jax_env, "step_auto_reset", lambda state, action, truncate: (state, result, state))
    step = HackMatrixJaxEnv().step_autoreset(jax_env.state.BLANK_STATE, jnp.int32(0), jnp.bool_(limit))
    assert (bool(step.terminated), bool(step.truncated)) == (bool(terminated), truncated)
