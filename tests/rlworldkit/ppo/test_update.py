"""A whole update: what is drawn, which samples are learnt from and in which order, and what its losses say."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from jax import Array
from orchard import in_jax
from orchard.in_jax import Orchard

from rlworldkit.jax.env import Encoder
from rlworldkit.jax.threefry import trainer_seeds
from rlworldkit.ppo.networks import make_network
from rlworldkit.ppo.optimizer import ADAM_EPSILON, make_optimizer
from rlworldkit.ppo.ppo import LossStats, learn, ppo_loss, update
from rlworldkit.ppo.state import Samples, TrainState, init_runner

from .conftest import LIMIT, SMALLEST, Rollout
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


def learnt(env: PackedOrchard, state: TrainState, samples: Samples, **settings: Any) -> tuple[TrainState, LossStats]:  # noqa: ANN401 - settings
    """Learn from a whole rollout with other settings."""
    config = dataclasses.replace(SMALLEST, **settings)
    program = jax.jit(lambda state, samples: learn(state, samples, jax.random.key(1), config, env))
    after, losses = program(state, samples)
    return after, losses


def epochs_of(
    kind: type[Watched], batch: tuple[TrainState, Samples], **settings: str
) -> tuple[set[int], list[list[list[int]]]]:
    """The numbers of the samples, and those of the two minibatches of each of the epochs that learn from them."""
    seen: list[list[int]] = []
    learnt(kind(lambda numbers: seen.append(np.asarray(numbers).tolist())), *batch, **settings)  # type: ignore[arg-type]
    jax.effects_barrier()
    assert {len(numbers) for numbers in seen} == {SMALLEST.minibatch_size}
    played = set(np.asarray(number(batch[1].transition.obs)).tolist())
    return played, [seen[start : start + 2] for start in range(0, len(seen), 2)]


def test_every_epoch_learns_from_every_sample_once_in_an_order_of_its_own(batch: tuple[TrainState, Samples]) -> None:
    played, epochs = epochs_of(Watched, batch)
    assert (len(epochs), len(played)) == (SMALLEST.update_epochs, SMALLEST.batch_size)
    for one, other in epochs:
        assert sorted((*one, *other)) == sorted(played)
    assert len({frozenset(one) for one, _ in epochs}) == SMALLEST.update_epochs


@pytest.mark.parametrize("first_layer", ["its own", "a plain one"])
def test_minibatches_are_sorted_by_the_key_of_the_environment_for_a_first_layer_of_the_encoder_s_own(
    first_layer: str, batch: tuple[TrainState, Samples]
) -> None:
    class Layered(nn.Module):
        first_layer = nn.Dense

    class Sorted(Watched):
        def networks(self) -> Mapping[str, Encoder | None]:
            return {"mlp": Layered if first_layer == "its own" else nn.Module}

        def sort_key(self, compact: Orchard) -> Array:
            return (number(compact) % 3).astype(jnp.int32)

    played, epochs = epochs_of(Sorted, batch)
    keys = [[number % 3 for number in numbers] for epoch in epochs for numbers in epoch]
    assert all(each == sorted(each) for each in keys) == (first_layer == "its own")
    for one, other in epochs:
        assert {*one, *other} == played


def test_no_random_key_is_used_twice() -> None:
    """JAX follows every key while it traces two updates, one after the other."""
    env = PackedOrchard()

    def two_updates() -> Array:
        runner = init_runner(SMALLEST, env)
        for _ in range(2):
            runner, _stats = update(runner, SMALLEST, env, None)
        return runner.key

    with jax.debug_key_reuse(True):
        jax.jit(two_updates).trace()


def test_a_run_begins_with_the_trainers_games_and_with_keys_of_all_64_bits_of_its_seed() -> None:
    """And does not draw from the network's key."""
    one, other = (init_runner(dataclasses.replace(SMALLEST, seed=seed), PackedOrchard()) for seed in (5, 5 + 2**32))
    np.testing.assert_array_equal(jnp.stack(one.env_state.seed, axis=-1), trainer_seeds(5, SMALLEST.num_envs))
    (hidden, policy), (hidden_of_other, _) = (
        [runner.train_state.params["params"][name]["kernel"] for name in ("hidden_0", "policy")]
        for runner in (one, other)
    )
    assert (hidden != hidden_of_other).any()
    assert (jax.random.key_data(one.key) != jax.random.key_data(other.key)).any()
    network = make_network("mlp", None, PackedOrchard.num_actions, SMALLEST.hidden_dim, SMALLEST.num_layers)
    drawn = jax.jit(network.init)(one.key, jnp.zeros((1, *PackedOrchard.observation_shape)))
    assert (drawn["params"]["policy"]["kernel"] != policy).any()


def test_the_losses_are_the_means_over_epochs_and_minibatches(
    orchard: PackedOrchard, batch: tuple[TrainState, Samples]
) -> None:
    """With one minibatch an epoch, the first meets the very policy that played and the second has had one step.

    At a learning rate of next to nothing the minibatches' means are together the mean of the batch.
    """
    state, samples = batch

    @jax.jit
    def loss(state: TrainState) -> LossStats:
        return ppo_loss(state.params, state.apply_fn, samples, SMALLEST, orchard)[1]

    after_one, first = learnt(orchard, state, samples, num_minibatches=1, update_epochs=1)
    _, both = learnt(orchard, state, samples, num_minibatches=1, update_epochs=2)
    assert first.approx_kl == pytest.approx(0, abs=1e-7)
    assert (second := loss(after_one).approx_kl) > 1e-4
    assert both.approx_kl == pytest.approx(float(second) / 2, rel=1e-3)

    still = state.replace(tx=make_optimizer(1e-30, SMALLEST.max_grad_norm))
    _, halves = learnt(orchard, still, samples, update_epochs=1)
    assert halves.value_loss == pytest.approx(float(loss(state).value_loss), rel=1e-5)


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


def test_episodes_are_counted_with_their_returns_and_lengths(rollout: Rollout) -> None:
    reward, done = np.asarray(rollout.transitions.reward), np.asarray(rollout.transitions.done)
    returns, lengths = [], []
    for game in range(reward.shape[1]):
        began = 0
        for step in np.flatnonzero(done[:, game]).tolist():
            returns.append(reward[began : step + 1, game].sum())
            lengths.append(step + 1 - began)
            began = step + 1
    metrics = rollout.metrics
    assert max(lengths) == LIMIT
    assert metrics.episodes == len(returns)
    assert metrics.return_sum == pytest.approx(sum(returns), rel=1e-5)
    assert metrics.length_sum == sum(lengths)
    assert metrics.reward_sum == pytest.approx(reward.sum(), rel=1e-5)
    assert metrics.component_sums[0] == -10 * reward.size


def test_maxima_are_of_the_games_as_they_ended(rollout: Rollout) -> None:
    """The best score is that of a game's last turn, after which the next one begins."""
    games, action = rollout.transitions.obs, np.asarray(rollout.transitions.action)
    under = np.take_along_axis(np.asarray(games.fruit), np.asarray(games.walker)[..., None], axis=-1)[..., 0]
    scores = np.asarray(games.score) + np.where(action == in_jax.PICK, under, 0)
    assert games.score.max() < scores.max()
    assert rollout.metrics.maxima == {"stats/best_score": scores.max()}
