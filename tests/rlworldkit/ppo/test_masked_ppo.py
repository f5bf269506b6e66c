"""PPO's parts: masking, GAE, loss, and that a rollout stores what the policy saw."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from rlworldkit.ppo.ppo import (
    LossStats,
    collect_rollout,
    compute_gae,
    evaluate,
    masked_categorical,
    ppo_loss,
    samples_of,
)
from rlworldkit.ppo.state import Samples, Transition
from rlworldkit.ppo.targets import scaled_advantage

from . import reference
from .conftest import SMALL, Rollout


def test_masked_actions_are_never_sampled_and_have_no_share_in_the_entropy(key: Array) -> None:
    logits = jnp.array([50.0, 0.0, 0.0, -3.0])
    mask = jnp.array([False, True, True, False])

    @jax.jit
    def drawn() -> tuple[Array, Array, Array]:
        policy = masked_categorical(logits, mask)
        return policy.sample(seed=key, sample_shape=(20_000,)), policy.entropy(), policy.probs

    actions, entropy, probabilities = map(np.asarray, drawn())
    assert set(actions.tolist()) == {1, 2}
    assert entropy == pytest.approx(np.log(2))
    assert (probabilities[~np.asarray(mask)] == 0).all()


def test_every_action_of_a_rollout_was_valid(rollout: Rollout) -> None:
    transitions = rollout.transitions
    chosen = np.take_along_axis(np.asarray(transitions.action_mask), np.asarray(transitions.action)[..., None], axis=-1)
    assert chosen.all()
    assert not transitions.action_mask.all()


@pytest.mark.parametrize("with_limit", [False, True])
def test_gae_is_the_discounted_sum_of_each_episode_s_own_errors(with_limit: bool) -> None:
    random = np.random.default_rng(0)
    steps, games = 23, 9
    reward, value, own_last_value = (random.normal(size=(steps, games)) for _ in range(3))
    last_value = random.normal(size=games)
    kind = random.choice(3, p=[0.7, 0.15, 0.15], size=(steps, games))
    terminated, truncated = kind == 1, (kind == 2) & with_limit
    expected = reference.gae(reward, value, terminated, truncated, own_last_value, last_value, 0.97, 0.9)
    advantages, targets = compute_gae(
        jnp.asarray(reward),
        jnp.asarray(value),
        jnp.asarray(terminated | truncated),
        jnp.asarray(np.where(truncated, own_last_value, 0.0)) if with_limit else None,
        jnp.asarray(last_value),
        0.97,
        0.9,
    )
    np.testing.assert_allclose(advantages, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(targets, expected + value, rtol=1e-4, atol=1e-5)


def test_before_the_first_gradient_step_every_ratio_is_one(rollout: Rollout) -> None:
    """Holds only if each stored observation and mask is the one the policy saw, also where an episode ended."""
    assert rollout.transitions.done[:-1].any(), "no episode ended inside the rollout"

    @jax.jit
    def judged() -> tuple[LossStats, Array]:
        state, env = rollout.before.train_state, rollout.env
        samples = samples_of(rollout.after, rollout.transitions, rollout.config, env)
        _, stats = ppo_loss(state.params, state.apply_fn, samples, rollout.config, env)
        policy = masked_categorical(evaluate(state, env, samples.transition.obs)[0], samples.transition.action_mask)
        return stats, jnp.exp(policy.log_prob(samples.transition.action) - samples.transition.log_prob)

    stats, ratios = judged()
    assert abs(stats.approx_kl) < 1e-6
    assert stats.clip_frac == 0
    np.testing.assert_allclose(ratios, 1.0, atol=1e-5)


@pytest.fixture(scope="module")
def samples(rollout: Rollout) -> Samples:
    """What is learnt from the rollout."""
    program = jax.jit(lambda after, transitions: samples_of(after, transitions, rollout.config, rollout.env))
    made: Samples = program(rollout.after, rollout.transitions)
    return made


def test_a_rollout_stores_no_float_observation_and_no_value_for_a_limit_that_is_not_there(rollout: Rollout) -> None:
    _, transitions, _ = jax.eval_shape(lambda runner: collect_rollout(runner, SMALL, rollout.env), rollout.before)
    assert {leaf.dtype.kind for leaf in jax.tree.leaves(transitions.obs)} == {"i", "u"}
    assert transitions.truncated_value is None
    assert rollout.transitions.truncated_value is not None  # of which there is one


def test_the_loss_is_that_of_the_papers(rollout: Rollout, samples: Samples) -> None:
    """Old policy and values differ from the network's, so that every kind of clipping occurs."""
    random = np.random.default_rng(1)
    count = rollout.config.batch_size

    def disturbed(values: Array, scale: float) -> Array:
        return values + jnp.asarray(random.normal(scale=scale, size=count), jnp.float32)

    transition: Transition = samples.transition._replace(
        log_prob=disturbed(samples.transition.log_prob, 0.3), value=disturbed(samples.transition.value, 0.5)
    )
    samples = Samples(transition, samples.advantage, disturbed(samples.target, 0.5))
    state, config = rollout.before.train_state, rollout.config
    loss = jax.jit(lambda params, samples: ppo_loss(params, state.apply_fn, samples, config, rollout.env))
    total, stats = loss(state.params, samples)

    logits, value = jax.jit(lambda: evaluate(state, rollout.env, transition.obs))()
    expected = reference.loss(
        np.asarray(logits, np.float64),
        np.asarray(value, np.float64),
        np.asarray(transition.action_mask),
        np.asarray(transition.action),
        np.asarray(transition.log_prob, np.float64),
        np.asarray(transition.value, np.float64),
        np.asarray(samples.advantage, np.float64),
        np.asarray(samples.target, np.float64),
        clip_eps=config.clip_eps,
        vf_coef=config.vf_coef,
        ent_coef=config.ent_coef,
    )
    assert 0.1 < expected["clip_frac"] < 0.9
    assert total == stats.total_loss
    parts = zip(LossStats._fields, map(float, stats[:-1]), strict=False)
    assert dict(parts) == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_advantages_are_scaled_by_their_standard_or_mean_absolute_deviation() -> None:
    advantage = jnp.array([1.0, 2.0, 3.0, 6.0])
    np.testing.assert_allclose(scaled_advantage(advantage, "standard"), (advantage - 3) / 3.5**0.5)
    np.testing.assert_allclose(scaled_advantage(advantage, "robust"), (advantage - 3) / 1.5)


def test_a_victory_among_many_steps_is_cut_and_leaves_the_others_their_size(key: Array) -> None:
    with_victory = jax.random.normal(key, (1024,)).at[0].set(500.0)
    robust = scaled_advantage(with_victory, "robust")
    assert robust[0] == 10
    assert jnp.abs(robust[1:]).mean() > 0.4
    assert jnp.abs(scaled_advantage(with_victory, "standard")[1:]).mean() < 0.06


def test_a_level_of_small_advantages_is_scaled_up_by_the_root_of_what_it_is_smaller_by() -> None:
    level = jnp.array([0, 0, 0, 0, 2, 2, 2, 2])
    late = jnp.array([0, 0, 0, 0, 1, 1, 1, 1], bool)
    advantage = jnp.array([1.0, -1.0, 3.0, -3.0, 100.0, -100.0, 300.0, -300.0])
    unit = jnp.where(late, (200 * 101) ** 0.5, (2 * 101) ** 0.5)
    np.testing.assert_allclose(scaled_advantage(advantage, "levels", level, 3), advantage / unit, rtol=1e-6)
    alone = scaled_advantage(advantage, "levels", jnp.zeros_like(level), 3)
    np.testing.assert_allclose(alone, scaled_advantage(advantage, "robust"), rtol=1e-6)
    victory = jnp.zeros(1024).at[0].set(500.0)
    assert scaled_advantage(victory, "levels", jnp.zeros(1024, int), 3)[0] == 10
