"""JAX's switches that a person sets in a shell: each works, is fixed where we compute, is recorded, or is refused."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from jax import Array
from orchard.env import OrchardJaxEnv
from orchard.in_jax import Orchard

from rlparity.errors import UsageError
from rlworldkit.jax.engine import JaxEngine
from rlworldkit.jax.switches import RECORDED
from rlworldkit.ppo.checkpoints import read_checkpoint
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.loop import Saver
from rlworldkit.ppo.training import train
from rlworldkit.runs.run import Run

HINDERING = {
    "jax_enable_x64": True,
    "jax_numpy_dtype_promotion": "strict",
    "jax_numpy_rank_promotion": "raise",
    "jax_transfer_guard": "disallow",
}
RANDOM = {"jax_default_prng_impl": "rbg", "jax_threefry_partitionable": False}
CONFIG = TrainConfig(8, 8, 64, hidden_dim=8, num_layers=1, num_minibatches=2, log_interval=1)


@pytest.fixture(autouse=True)
def switched_back() -> Iterator[None]:
    """Switches of the whole process, as a shell sets them, are as before afterwards."""
    before = dict(jax.config.values)
    yield
    for name, value in before.items():
        if jax.config.values[name] != value:
            jax.config.update(name, value)


class RandomOrchard(OrchardJaxEnv):
    """Orchard with JAX's random numbers in what is observed."""

    def observe(self, state: Orchard) -> Array:
        observation = super().observe(state)
        return observation + jax.random.uniform(jax.random.key(state.turn), observation.shape)


def played() -> list[Any]:
    """What a new environment, which is traced anew, shows of a few games."""
    engine, slots = JaxEngine(2, RandomOrchard()), np.arange(2)
    seen = [engine.reset(np.arange(2, dtype=np.uint64), slots), engine.mask(), engine.seeds()]
    steps = [engine.step_restarting(np.full(2, 5, np.int32)) for _ in range(3)]
    engine.set_state(engine.get_state(slots)[::-1], slots)
    return [*seen, *((step.observation, step.reward, step.terminated) for step in steps), engine.get_state(slots)]


def test_a_jax_engine_plays_the_same_games_whatever_the_shell_says() -> None:
    expected = played()
    switches = {**HINDERING, **RANDOM, "jax_check_tracer_leaks": True}
    for name, value in switches.items():
        jax.config.update(name, value)
    jax.tree.map(np.testing.assert_array_equal, played(), expected)
    assert {name: getattr(jax.config, name) for name in switches} == switches


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("run")
    with Run(folder) as run:
        return folder, train(CONFIG, OrchardJaxEnv(), run, saver=Saver(every_updates=1)).params


def around() -> tuple[object, ...]:
    """Of this process and its folder, what training must leave alone."""
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    return handlers, dict(os.environ), sorted(Path().iterdir())


def test_training_gives_the_same_parameters_with_all_that_would_hinder_it_and_changes_nothing_around_it(
    trained: tuple[Path, Any],
) -> None:
    for name, value in HINDERING.items():
        jax.config.update(name, value)
    before = around()
    again = train(CONFIG, OrchardJaxEnv())
    assert (around(), again.progress.updates, again.files) == (before, 1, [])
    jax.config.update("jax_transfer_guard", "allow")
    jax.tree.map(np.testing.assert_array_equal, again.params, trained[1])


@pytest.mark.parametrize(
    ("name", "value"),
    [("jax_disable_jit", True), ("jax_check_tracer_leaks", True), ("jax_error_checking_behavior_nan", "raise")],
)
def test_training_refuses_what_keeps_it_from_compiling(name: str, value: object) -> None:
    jax.config.update(name, value)
    with pytest.raises(UsageError, match=rf"^{name.upper()} is set, .*: unset it\.$"):
        train(CONFIG, OrchardJaxEnv())


@pytest.mark.parametrize(
    ("name", "value", "was"),
    [
        ("jax_default_prng_impl", "rbg", "JAX_DEFAULT_PRNG_IMPL 'threefry2x32'"),
        ("jax_threefry_partitionable", False, "JAX_THREEFRY_PARTITIONABLE True"),
        ("jax_default_matmul_precision", "bfloat16", "JAX_DEFAULT_MATMUL_PRECISION unset"),
    ],
)
def test_a_run_records_what_gives_other_parameters_and_resumes_with_nothing_else(
    trained: tuple[Path, Any], name: str, value: object, was: str
) -> None:
    folder = trained[0]
    recorded = json.loads((folder / "config.json").read_text())["jax"]
    assert recorded == {"version": jax.__version__, **{each: jax.config.values[each] for each in RECORDED}}
    env = OrchardJaxEnv()
    start = read_checkpoint(folder / "checkpoint_1.pkl", env)
    jax.config.update(name, value)
    longer = dataclasses.replace(CONFIG, total_timesteps=128)
    with pytest.raises(UsageError) as refused:
        train(longer, env, start=start)
    assert str(refused.value) == f"{start.path} was trained with {was}: set the same again, or start a new run."


def test_a_variable_that_jax_does_not_take_is_named_in_one_sentence(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "import sys; from hackmatrix.cli.main import main; sys.exit(main())", "train"]
    environment = {"JAX_ENABLE_X64": "perhaps", "HOME": str(tmp_path)}
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "JAX does not start (invalid truth value 'perhaps' for environment 'JAX_ENABLE_X64'): "
        "correct the JAX_* variables of the environment.\n",
    )
