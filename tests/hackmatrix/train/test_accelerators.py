"""Training lowers for GPUs and TPUs, which nobody needs to have for it, and asks nothing of them that only a CPU has.

What is compiled there is not tested here; `hackmatrix doctor` and a short run say so on the machine itself.
"""

import re
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh
from jax.stages import Traced

from hackmatrix import rules
from hackmatrix.env import HackMatrixJaxEnv
from hackmatrix.train_config import CONV, TrainConfig
from rlworldkit.bench.env import count_operations
from rlworldkit.jax.target import tracing_for
from rlworldkit.ppo import parallel
from rlworldkit.ppo.config import auto_scale_for_batch_size
from rlworldkit.ppo.metrics import metrics_of
from rlworldkit.ppo.ppo import UpdateStats
from rlworldkit.ppo.program import make_train
from rlworldkit.ppo.state import init_runner

CONFIG = TrainConfig(  # of a network that computes all that the others do, and more
    network=CONV, num_envs=8, num_steps=2, num_minibatches=2, update_epochs=1, hidden_dim=8, log_interval=1
)
ORTHOGONAL = {
    "tpu": {"Qr", "ProductOfElementaryHouseholderReflectors"},
    "gpu": {"cusolver_geqrf_ffi", "cusolver_orgqr_ffi"},
}
"""The algebra that makes orthogonal matrices, which networks begin with."""

OPERATIONS = {"gather": 24, "scatter": 53}
"""The most of them in an update: TPUs are slow at them."""


@pytest.fixture(scope="module", params=["tpu", pytest.param("gpu", marks=pytest.mark.long)])
def platform(request: pytest.FixtureRequest) -> str:
    """What programs are traced and lowered for."""
    return str(request.param)


@pytest.fixture(scope="module")
def start(platform: str) -> Traced:
    """A fresh network, and the first stage of every game."""
    with tracing_for(platform):
        return jax.jit(partial(init_runner, CONFIG, HackMatrixJaxEnv())).trace()


@pytest.fixture(scope="module")
def update(platform: str, start: Traced) -> Traced:
    """A whole update: steps of the environment in a rollout, advantages, epochs, metrics."""
    with tracing_for(platform):
        return make_train(CONFIG, HackMatrixJaxEnv()).trace(start.out_info, jnp.int32(1))


def lowered(traced: Traced, platform: str) -> str:
    """The text of what was traced for a platform."""
    return str(traced.lower(lowering_platforms=(platform.replace("gpu", "cuda"),)).as_text())


def calls_out_of_xla(text: str) -> set[str]:
    """Calls to libraries of the platform, by name, and to the host."""
    calls = r"custom_call @(\w+)", r"stablehlo\.(infeed|outfeed|send|recv)"
    return {name for call in calls for name in re.findall(call, text)}


def test_an_update_is_left_to_xla_alone(update: Traced, platform: str) -> None:
    text = lowered(update, platform)
    assert calls_out_of_xla(text) == set()
    assert "f64" not in text  # which TPUs do not have
    found = count_operations(text)
    assert all(0 < found[name] <= most for name, most in OPERATIONS.items()), found


def test_the_metrics_of_an_update_have_the_documented_names(update: Traced) -> None:
    stats: UpdateStats = jax.tree.map(lambda like: np.ones(like.shape, like.dtype), update.out_info[1])
    wanted = {f"reward/{name}" for name in rules.COMPONENTS} | {"stats/highest_stage"}
    wanted |= {f"actions/{kind}_frac" for kind in ("move", "siphon", "program")}
    assert wanted < metrics_of(stats.loss.by_name(), stats.rollout, 1, HackMatrixJaxEnv()).keys()


@pytest.mark.long
@pytest.mark.parametrize("chips", [4, 8, 16, 32])
def test_the_documented_update_lowers_for_every_documented_size_of_a_tpu(chips: int) -> None:
    """The v4-8 to v4-64, each chip of which is one device of JAX."""
    config, env = auto_scale_for_batch_size(TrainConfig(**TrainConfig.presets["documented"])), HackMatrixJaxEnv()
    mesh: Any = AbstractMesh((chips,), (parallel.GAMES,))
    with tracing_for("tpu"):
        runner = jax.eval_shape(partial(init_runner, config, env))
        text = lowered(make_train(config, env, mesh).trace(runner, jnp.int32(1)), "tpu")
    assert f'axes = [{{name = "games", size = {chips} : i64}}]' in text
    assert calls_out_of_xla(text) == set()
    assert "f64" not in text


def test_the_start_of_a_run_asks_for_nothing_but_the_platforms_own_algebra(start: Traced, platform: str) -> None:
    assert calls_out_of_xla(lowered(start, platform)) == ORTHOGONAL[platform]
