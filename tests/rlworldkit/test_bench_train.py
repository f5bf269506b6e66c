"""``bench train``: the trainer beside itself where the world costs nothing."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from orchard.env import OrchardJaxEnv
from orchard.in_jax import Orchard

from rlworldkit.bench import timing, train
from rlworldkit.bench.constant_env import ConstantEnv, ConstantState
from rlworldkit.bench.records import Record, plain_record
from rlworldkit.bench.timing import Program
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.ppo import collect_rollout
from rlworldkit.ppo.state import init_runner

CONFIG = TrainConfig(num_envs=4, num_steps=8, hidden_dim=8, num_layers=1)
SEED = jnp.array([3, 0], jnp.uint32)


def test_nothing_ever_happens_in_the_world_that_costs_nothing_but_a_time_limit_ends_its_episodes() -> None:
    world, nothing = OrchardJaxEnv(), ConstantEnv(OrchardJaxEnv())
    first, game = jax.jit(lambda seed: (world.reset(seed), nothing.reset(seed)))(SEED)
    observation, mask = jax.jit(lambda game: (world.observe(game), world.mask(game)))(first)
    play, look = jax.jit(nothing.step), jax.jit(lambda game: (nothing.observe(game), nothing.mask(game)))
    for action in range(world.num_actions):
        step = play(game, jnp.int32(action))
        game = step.state
        for shown, expected in zip(look(game), (observation, mask), strict=True):
            np.testing.assert_array_equal(shown, expected)
        assert not step.reward
        assert not step.components.any()
        assert not (step.terminated | step.truncated)
    assert nothing.step_autoreset(game, jnp.int32(0), jnp.bool_(True)).truncated
    # XLA computes only once what follows from a value that a loop hands on as it got it.
    after = jax.make_jaxpr(lambda state: nothing.step(state, jnp.int32(0)).state)(game)
    assert not any(given is made for given, made in zip(after.jaxpr.invars, after.jaxpr.outvars, strict=True))


def test_a_rollout_of_nothing_keeps_the_same_arrays_as_one_of_the_world() -> None:
    def shapes(env: OrchardJaxEnv | ConstantEnv) -> object:
        runner = jax.eval_shape(lambda: init_runner(CONFIG, env))
        _, transitions, metrics = jax.eval_shape(lambda given: collect_rollout(given, CONFIG, env), runner)
        return runner.train_state.params, transitions, metrics._replace(sums={}, maxima={})

    assert shapes(ConstantEnv(OrchardJaxEnv())) == shapes(OrchardJaxEnv())


def test_the_trainer_is_measured_beside_its_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []

    def compile_program(
        update: Callable[[train.Training], train.Training], carry: train.Training
    ) -> Program[train.Training]:
        compiled.append(carry.runner.env_state)
        assert compiled[1:] or jax.eval_shape(update, carry) == jax.eval_shape(lambda: carry)
        return Program(lambda each: each, carry, trace_seconds=1.0, compile_seconds=2.0, peak_bytes=3)

    monkeypatch.setattr(timing, "SECONDS_PER_SAMPLE", 1e-5)
    monkeypatch.setattr(train, "compile_program", compile_program)
    real, ceiling, share = train.measure(OrchardJaxEnv(), CONFIG, 3)
    assert [type(games) for games in compiled] == [Orchard, ConstantState]
    assert (real.name, ceiling.name) == ("train_steps_per_second_mlp", "train_ceiling_steps_per_second_mlp")
    assert (share.name, share.unit, share.num_envs) == ("train_share_of_ceiling_mlp", "", 4)
    assert min(real.value, ceiling.value, share.value) > 0
    assert (real.trace_seconds, real.compile_seconds, real.peak_bytes) == (1.0, 2.0, 3)


def test_the_records_of_a_network_are_there_before_the_next_one_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    def beside(names: tuple[str, str, str], num_envs: int, *_: object) -> list[Record]:
        begun.append(names[0])
        return [plain_record(names[0], num_envs, [1.0])]

    monkeypatch.setattr(train, "compiled", lambda env, config: None)
    monkeypatch.setattr(train, "beside", beside)
    monkeypatch.setattr(OrchardJaxEnv, "networks", lambda self: {"mlp": None, "other": None})
    records = train.measure(OrchardJaxEnv(), CONFIG, 1)
    names = [f"train_steps_per_second_{network}" for network in ("mlp", "other")]
    assert (next(records).name, begun) == (names[0], names[:1])
    assert (next(records).name, begun) == (names[1], names)
