"""A whole update: what is drawn, which samples are learnt from and in which order, and what its losses say."""

import dataclasses
from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from jax import Array
from toy_world import in_jax
from toy_world.in_jax import Orchard

from worldkit.jax.env import Encoder
from worldkit.jax.threefry import trainer_seeds
from worldkit.ppo.config import TrainConfig
from worldkit.ppo.masked_ppo import ADAM_EPSILON, LossStats, make_optimizer, ppo_loss
from worldkit.ppo.networks import make_network
from worldkit.ppo.rollout import RunnerState, collect_rollout, samples_of
from worldkit.ppo.train_state import TrainState
from worldkit.ppo.update import UpdateStats, _update, init_runner, make_train

from .conftest import LIMIT, SMALLEST, Rollout, roll_out
from .orchards import PackedOrchard


def number(game: Orchard) -> Array:
    return game.seed[0] * 1000 + game.turn.astype(jnp.uint32)


class Watched(PackedOrchard):
    """Tells ``seen`` the number of every observation that is expanded: of which game, and when in it."""

    def __init__(self, seen: Callable[[Array], None]) -> None:
        self._seen = seen

    def expand(self, compact: Orchard) -> Array:
        jax.debug.callback(self._seen, number(compact))
        return super().expand(compact)


def updated(config: TrainConfig, env: PackedOrchard) -> tuple[RunnerState, UpdateStats]:
    return make_train(config, env)(init_runner(config, env), jnp.int32(1))


def epochs_of(kind: type[Watched], **settings: str) -> tuple[set[int], list[list[list[int]]]]:
    """The numbers that one update plays, and those of the two minibatches of each of its epochs."""
    seen: list[list[int]] = []
    updated(dataclasses.replace(SMALLEST, **settings), kind(lambda numbers: seen.append(np.asarray(numbers).tolist())))  # type: ignore[arg-type]
    jax.effects_barrier()
    played = {number for numbers in seen if len(numbers) == SMALLEST.num_envs for number in numbers}
    minibatches = [numbers for numbers in seen if len(numbers) == SMALLEST.minibatch_size]
    return played, [minibatches[start : start + 2] for start in range(0, len(minibatches), 2)]


def test_every_epoch_learns_from_every_sample_once_in_an_order_of_its_own() -> None:
    played, epochs = epochs_of(Watched)
    assert len(epochs) == SMALLEST.update_epochs
    for one, other in epochs:
        assert len({*one, *other}) == SMALLEST.batch_size
        assert {*one, *other} <= played
    assert len({frozenset(one) for one, _ in epochs}) == SMALLEST.update_epochs


class IntRange(nn.Module):
    """An encoder that leaves observations as they are."""

    dtype: str

    def __call__(self, obs: Array) -> Array:
        return obs


def test_minibatches_are_sorted_by_the_key_of_the_environment() -> None:
    class Sorted(Watched):
        def networks(self) -> Mapping[str, Encoder | None]:
            return {"whole": IntRange}

        def sort_key(self, compact: Orchard) -> Array:
            return (number(compact) % 3).astype(jnp.int32)

    for epoch in epochs_of(Sorted, network="whole")[1]:
        for numbers in epoch:
            keys = [number % 3 for number in numbers]
            assert keys == sorted(keys)
        assert len({*epoch[0], *epoch[1]}) == SMALLEST.batch_size


def test_no_random_key_is_used_twice() -> None:
    """JAX follows every key while it traces two updates, one after the other."""
    env = PackedOrchard()

    def two_updates() -> Array:
        runner = init_runner(SMALLEST, env)
        for _ in range(2):
            runner, _stats = _update(runner, SMALLEST, env, None)
        return runner.key

    with jax.debug_key_reuse(True):
        jax.jit(two_updates).trace()


def test_a_run_begins_with_the_trainers_games_and_does_not_draw_from_the_networks_key() -> None:
    runner = init_runner(SMALLEST, PackedOrchard())
    seeds = trainer_seeds(SMALLEST.seed, SMALLEST.num_envs)
    np.testing.assert_array_equal(jnp.stack(runner.env_state.seed, axis=-1), seeds)
    network = make_network("mlp", None, PackedOrchard.num_actions, SMALLEST.hidden_dim, SMALLEST.num_layers)
    drawn = network.init(runner.key, jnp.zeros((1, *PackedOrchard.observation_shape)))
    assert (drawn["params"]["policy"]["kernel"] != runner.train_state.params["params"]["policy"]["kernel"]).any()


def test_a_seed_has_64_bits() -> None:
    one, other = (init_runner(dataclasses.replace(SMALLEST, seed=seed), PackedOrchard()) for seed in (5, 5 + 2**32))
    hidden = [runner.train_state.params["params"]["hidden_0"]["kernel"] for runner in (one, other)]
    assert (hidden[0] != hidden[1]).any()
    assert (jax.random.key_data(one.key) != jax.random.key_data(other.key)).any()


def loss_of(config: TrainConfig, env: PackedOrchard, state: TrainState | None = None) -> LossStats:
    """The loss of a whole first batch to a network, to that which played it where none is given."""

    @jax.jit
    def loss(state: TrainState | None) -> LossStats:
        before = init_runner(config, env)
        runner, transitions, _ = collect_rollout(before, config, env)
        judged = state or before.train_state
        samples = samples_of(runner, transitions, config, env)
        return ppo_loss(judged.params, judged.apply_fn, env.expand, samples, config)[1]

    return loss(state)


def test_the_losses_are_the_means_over_the_epochs() -> None:
    """With one minibatch an epoch, the first meets the very policy that played and the second has had one step."""
    config = dataclasses.replace(SMALLEST, num_minibatches=1, update_epochs=2)
    env = PackedOrchard()
    after_one, first = updated(dataclasses.replace(config, update_epochs=1), env)
    _, both = updated(config, env)
    second = loss_of(config, env, after_one.train_state)
    assert first.loss.approx_kl[0] == pytest.approx(0, abs=1e-7)
    assert second.approx_kl > 1e-4
    assert both.loss.approx_kl[0] == pytest.approx(float(second.approx_kl) / 2, rel=1e-3)


def test_the_losses_are_the_means_over_the_minibatches() -> None:
    """At a learning rate of next to nothing the minibatches' means are together the mean of the batch."""
    config = dataclasses.replace(SMALLEST, update_epochs=1, learning_rate=1e-30)
    env = PackedOrchard()
    whole = loss_of(config, env)
    _, stats = updated(config, env)
    assert stats.loss.value_loss[0] == pytest.approx(float(whole.value_loss), rel=1e-5)


def test_the_optimizer_is_adam_after_clipping_the_norm() -> None:
    """Kingma & Ba 2015 in plain NumPy; a large gradient first, so that clipping late shows in the moments."""
    rate, most = 0.01, 0.5
    optimizer = make_optimizer(rate, most)
    params = jnp.zeros(2)
    state = optimizer.init(params)
    first, second, expected = np.zeros(2), np.zeros(2), np.zeros(2)
    for step, gradient in enumerate(([30.0, 40.0], [1e-5, -2e-5], [0.1, 0.2]), start=1):
        updates, state = optimizer.update(jnp.array(gradient), state, params)
        clipped = np.array(gradient) * min(1.0, most / np.linalg.norm(gradient))
        first = 0.9 * first + 0.1 * clipped
        second = 0.999 * second + 0.001 * clipped**2
        mean, variance = first / (1 - 0.9**step), second / (1 - 0.999**step)
        expected = -rate * mean / (np.sqrt(variance) + ADAM_EPSILON)
        np.testing.assert_allclose(updates, expected, rtol=1e-4)
    assert ADAM_EPSILON == 1e-5  # PureJaxRL's; optax's own is 1e-8


def test_the_learning_rate_falls_in_a_straight_line_to_its_end() -> None:
    """Adam's first steps along a constant gradient are as long as the rate."""
    optimizer = make_optimizer(0.1, 10.0, (0.02, 4))
    params = jnp.zeros(1)
    state = optimizer.init(params)
    lengths = []
    for _ in range(6):
        updates, state = optimizer.update(jnp.ones(1), state, params)
        lengths.append(-float(updates[0]))
    np.testing.assert_allclose(lengths, [0.1, 0.08, 0.06, 0.04, 0.02, 0.02], rtol=1e-3)


def test_the_rate_ends_with_the_run() -> None:
    assert SMALLEST.num_gradient_steps == 6
    assert dataclasses.replace(SMALLEST, total_timesteps=250).num_gradient_steps == 60


@pytest.fixture(scope="module")
def cut_off(orchard: PackedOrchard) -> Rollout:
    """Long enough for several episodes of every game, all of them cut off after ``LIMIT`` steps at the latest."""
    return roll_out(dataclasses.replace(SMALLEST, num_steps=30, max_steps=LIMIT), orchard)


def test_episodes_are_counted_with_their_returns_and_lengths(cut_off: Rollout) -> None:
    reward, done = np.asarray(cut_off.transitions.reward), np.asarray(cut_off.transitions.done)
    returns, lengths = [], []
    for game in range(reward.shape[1]):
        began = 0
        for step in np.flatnonzero(done[:, game]).tolist():
            returns.append(reward[began : step + 1, game].sum())
            lengths.append(step + 1 - began)
            began = step + 1
    metrics = cut_off.metrics
    assert max(lengths) == LIMIT
    assert metrics.episodes == len(returns)
    assert metrics.return_sum == pytest.approx(sum(returns), rel=1e-5)
    assert metrics.length_sum == sum(lengths)
    assert metrics.reward_sum == pytest.approx(reward.sum(), rel=1e-5)
    assert metrics.component_sums[0] == -10 * reward.size


def test_maxima_are_of_the_games_as_they_ended(orchard: PackedOrchard) -> None:
    """Nothing can be picked in the first turn, and games are cut off in their second."""
    short = roll_out(dataclasses.replace(SMALLEST, num_envs=32, max_steps=2), orchard)
    games, action = short.transitions.obs, np.asarray(short.transitions.action)
    under = np.take_along_axis(np.asarray(games.fruit), np.asarray(games.walker)[..., None], axis=-1)[..., 0]
    picked = np.where(action == in_jax.PICK, under, 0).max()
    assert games.score.max() == 0 < picked
    assert short.metrics.maxima == {"stats/best_score": picked}
