"""PopArt, schedules, the entropy floor, normalised batches and privileged critics."""

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from orchard.env import OrchardJaxEnv
from orchard.in_jax import Orchard

from rlparity.errors import UsageError
from rlworldkit.agents.numpy_network import NumpyNetwork
from rlworldkit.ppo.checkpoints import read_checkpoint
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.loop import Saver
from rlworldkit.ppo.networks import network_of
from rlworldkit.ppo.optimizer import UpdateRates, optimizer_of, rates_at
from rlworldkit.ppo.params import checkpoint_path, load_initial_params, load_params, params_of_checkpoint
from rlworldkit.ppo.ppo import LossStats, evaluate, learn, ppo_loss
from rlworldkit.ppo.program import compile_training
from rlworldkit.ppo.state import Samples, TrainState, init_runner
from rlworldkit.ppo.training import train
from rlworldkit.ppo.value_heads import FIRST_SCALE, ValueScale, moved
from rlworldkit.runs.run import Run, TrainResult

from .conftest import SMALLEST
from .orchards import PackedOrchard

CONFIG = dataclasses.replace(SMALLEST, total_timesteps=72)
ALL = dataclasses.replace(
    CONFIG,
    activation="relu",
    value_head="popart",
    clip_value_loss=False,
    clip_eps_end=0.1,
    ent_coef_end=0.01,
    learning_rate_end=0.01,
    learning_rate_steps="updates",
    entropy_floor=3.0,
    entropy_floor_coef=0.05,
    normalize_advantage="batch",
    privileged_critic=True,
    diagnostics=True,
)
"""Every setting that these tests are about."""
WORLD = PackedOrchard()


class Almanac(OrchardJaxEnv):
    """Orchard whose critic knows how many turns there were, and three more numbers."""

    num_privileges = 4

    def compact(self, state: Orchard) -> tuple[Array, Array]:
        return super().compact(state), state.turn

    def expand(self, compact: tuple[Array, Array]) -> Array:
        return compact[0]

    def privileges(self, compact: tuple[Array, Array]) -> Array:
        return compact[1][..., None] * jnp.array([1.0, 0.5, 0.0, -1.0])


ALMANAC = Almanac()


Rolled = Callable[..., tuple[TrainConfig, TrainState, Samples]]


@pytest.fixture
def rolled(batch: tuple[TrainState, Samples]) -> Rolled:
    """Makes settings, a network that has learnt nothing, and a rollout of the one with a plain value."""

    def rolled(**settings: Any) -> tuple[TrainConfig, TrainState, Samples]:  # noqa: ANN401 - settings
        config = dataclasses.replace(CONFIG, **settings)
        state = batch[0] if config.value_head == "plain" else init_runner(config, WORLD).train_state
        return config, state.replace(tx=optimizer_of(config)), batch[1]

    return rolled


def loss_of(config: TrainConfig, state: TrainState, samples: Samples, rates: UpdateRates | None = None) -> LossStats:
    @jax.jit
    def loss(rates: UpdateRates | None, samples: Samples) -> LossStats:
        return ppo_loss(state.params, state.apply_fn, samples, config, WORLD, rates)[1]

    stats: LossStats = loss(rates, samples)
    return stats


def test_the_first_batches_count_alike_and_later_ones_for_beta() -> None:
    """In numpy: mean and variance of all numbers of batches that are equally large."""
    batches = np.array([[0.0, 4.0], [10.0, 12.0], [-3.0, 5.0]])
    scale = FIRST_SCALE
    for number, batch in enumerate(batches, start=1):
        scale = scale.following(batch.mean(), batch.var(), 0.001)
        assert scale.mean == pytest.approx(batches[:number].mean())
        if number > 1:  # the first one's deviation is its own
            assert scale.deviation == pytest.approx(batches[:number].std())
    late = ValueScale(2.0, 3.0, 5000).following(12.0, 4.0, 0.25)
    assert late.mean == 0.75 * 2 + 0.25 * 12
    assert late.deviation == pytest.approx((0.75 * 9 + 0.25 * 4 + 0.25 * 0.75 * 10**2) ** 0.5)
    assert FIRST_SCALE.following(7.0, 0.0, 1.0).deviation == 1e-4


def test_a_moved_layer_says_the_same_values() -> None:
    kernel, bias, hidden = np.array([[2.0], [-1.0]]), np.array([0.5]), np.array([[1.0, 3.0]])
    before, after = ValueScale(1.0, 2.0, 1), ValueScale(-40.0, 300.0, 2)
    other, offset = moved(kernel, bias, before, after)
    np.testing.assert_allclose(after.values(hidden @ other + offset), before.values(hidden @ kernel + bias), atol=1e-12)


def learnt(config: TrainConfig, state: TrainState, samples: Samples, key: Array) -> tuple[TrainState, LossStats]:
    after, stats = jax.jit(partial(learn, config=config, env=WORLD))(state, samples, key)
    return after, stats


def test_an_update_without_steps_keeps_the_values_and_learns_on_the_scale_of_the_head(
    rolled: Rolled, key: Array
) -> None:
    """Values that nothing moved are not clipped, so the loss is half the squared error in deviations."""
    config, state, samples = rolled(value_head="popart", learning_rate=1e-30)
    values_of: Any = jax.jit(lambda state: evaluate(state, WORLD, samples.transition.obs)[1])
    values = values_of(state)
    samples = samples._replace(transition=samples.transition._replace(value=values))
    after, stats = learnt(config, state, samples, key)
    scale = after.value_scale
    assert scale is not None
    assert float(scale.mean) == pytest.approx(float(samples.target.mean()), rel=1e-5)
    assert float(scale.deviation) == pytest.approx(float(samples.target.std()), rel=1e-4)
    error = float(jnp.square((values - samples.target) / samples.target.std()).mean())
    assert float(stats.value_loss) == pytest.approx(error / 2, rel=1e-3)
    np.testing.assert_allclose(values, values_of(after), rtol=1e-4, atol=1e-6)


class TestRates:
    SCHEDULED = dataclasses.replace(
        CONFIG,
        total_timesteps=5 * CONFIG.batch_size,
        clip_eps_end=0.1,
        ent_coef=0.15,
        ent_coef_end=0.35,
        learning_rate_end=0.01,
        learning_rate_steps="updates",
    )

    @pytest.mark.parametrize(("update", "done"), [(0, 0.0), (1, 0.25), (4, 1.0), (9, 1.0)])
    def test_every_gradient_step_of_an_update_has_the_rates_of_the_update(self, update: int, done: float) -> None:
        for step in (6 * update, 6 * update + 5):
            rates: Any = rates_at(self.SCHEDULED, step)
            expected = [0.2 - 0.1 * done, 0.15 + 0.2 * done, 0.05 - 0.04 * done]
            np.testing.assert_allclose(rates, expected, rtol=1e-6)

    def test_the_clipping_range_and_the_bonus_are_those_of_the_update(self, rolled: Rolled) -> None:
        config, state, samples = rolled()
        drawn = jax.random.uniform(jax.random.key(0), samples.advantage.shape)
        samples = samples._replace(transition=samples.transition._replace(log_prob=samples.transition.log_prob - drawn))
        wide, narrow = (loss_of(config, state, samples, UpdateRates(clip, 0.5)) for clip in (0.9, 0.1))
        assert float(wide.clip_frac) == pytest.approx(float((jnp.exp(drawn) - 1 > 0.9).mean()))
        assert float(narrow.clip_frac) == pytest.approx(float((jnp.exp(drawn) - 1 > 0.1).mean()))
        parts = narrow.pg_loss + 0.5 * narrow.value_loss - 0.5 * narrow.entropy
        assert float(narrow.total_loss) == pytest.approx(float(parts), rel=1e-5)


def test_entropy_below_the_floor_costs_its_shortfall(rolled: Rolled) -> None:
    config, state, samples = rolled(diagnostics=True)
    free = loss_of(config, state, samples)
    for floor, price in ((3.0, 0.2 * (3.0 - float(free.entropy))), (0.1, 0.0)):
        dear = loss_of(dataclasses.replace(config, entropy_floor=floor, entropy_floor_coef=0.2), state, samples)
        assert float(dear.total_loss - free.total_loss) == pytest.approx(price, abs=1e-5)
        assert float(dear.diagnostics["entropy_floor_penalty"]) == pytest.approx(price, abs=1e-5)


def test_advantages_of_a_batch_are_scaled_together(rolled: Rolled) -> None:
    """At a ratio of 1 the surrogate is minus the mean advantage: of each half of a batch another one."""
    config, state, samples = rolled(normalize_advantage="batch")
    raised = samples.advantage + 100 * (jnp.arange(config.batch_size) < config.batch_size // 2)
    half: Samples = jax.tree.map(lambda leaf: leaf[: config.batch_size // 2], samples._replace(advantage=raised))
    assert float(loss_of(config, state, half).pg_loss) == pytest.approx(-float(half.advantage.mean()), rel=1e-4)
    by_itself = dataclasses.replace(config, normalize_advantage="minibatch")
    alone = loss_of(by_itself, state, half)
    assert float(alone.pg_loss) == pytest.approx(0, abs=1e-4)
    assert alone.diagnostics == {}
    by_level = dataclasses.replace(by_itself, advantage="levels")  # which are those of a batch too
    assert float(loss_of(by_level, state, half).pg_loss) == pytest.approx(-float(half.advantage.mean()), rel=1e-4)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TrainResult, list[dict[str, float]]]]:
    """A run with every setting, a checkpoint of each of its three updates, and its rows."""
    rows: list[dict[str, float]] = []
    with pytest.MonkeyPatch.context() as patch, Run(tmp_path_factory.mktemp("run")) as run:
        patch.setattr(Run, "write", lambda _, row: rows.append(row))
        patch.setattr("rlworldkit.ppo.training.compile_training", cache(compile_training))  # for whoever resumes it
        yield train(ALL, ALMANAC, run, saver=Saver(every_updates=1)), rows


def test_all_of_it_trains_and_a_resumed_run_is_the_run_without_a_break(
    trained: tuple[TrainResult, list[dict[str, float]]],
) -> None:
    whole, rows = trained
    assert {"train/grad_norm", "train/explained_variance", "train/action_prob_0"} <= rows[-1].keys()
    last, params = whole.files
    again = train(ALL, ALMANAC, start=read_checkpoint(checkpoint_path(last.parent, 1), ALMANAC))
    jax.tree.map(np.testing.assert_array_equal, whole.params, again.params)
    kept = params_of_checkpoint(last, ALMANAC.name, ALMANAC.rules_version)
    jax.tree.map(lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-6), kept, load_params(params))


def test_parameters_tell_a_privileged_critic_and_players_read_them(trained: tuple[TrainResult, Any]) -> None:
    path = trained[0].files[1]
    params = load_params(path)
    assert network_of(params, {"mlp": None}).num_privileges == 4
    seen = jax.random.uniform(jax.random.key(0), (5, *WORLD.observation_shape))
    ours: Any = network_of(params, {"mlp": None}).apply(params, seen)
    theirs = NumpyNetwork(params, {"mlp": None})(np.asarray(seen))
    for mine, plain in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, plain, rtol=1e-3, atol=1e-5)
    load_initial_params(path, ALL, ALMANAC)
    with pytest.raises(UsageError, match="--value-head popart --activation relu --privileged-critic"):
        load_initial_params(path, CONFIG, ALMANAC)
