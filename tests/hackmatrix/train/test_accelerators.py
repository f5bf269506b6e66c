"""Training lowers for GPUs and TPUs, which nobody needs to have for it, and asks nothing of them that only a CPU has.

What is compiled there is not tested here; `hackmatrix doctor` and a short run say so on the machine itself.
"""

import re
from dataclasses import replace
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
from rlworldkit.ppo import parallel
from rlworldkit.ppo.config import auto_scale_for_batch_size
from rlworldkit.ppo.metrics import metrics_of
from rlworldkit.ppo.program import make_train
from rlworldkit.ppo.state import UpdateStats, init_runner

PLATFORMS = ("tpu", "cuda")
SMALL = TrainConfig(num_envs=8, num_steps=2, num_minibatches=2, update_epochs=1, hidden_dim=8, log_interval=1)
CONFIG = replace(SMALL, network=CONV)  # which computes all that the other networks do, and more
ORTHOGONAL = {"Qr", "ProductOfElementaryHouseholderReflectors", "cusolver_geqrf_ffi", "cusolver_orgqr_ffi"}
"""The algebra of a TPU and of CUDA that makes orthogonal matrices, which networks begin with."""

OPERATIONS = {"gather": 25, "scatter": 52}
"""The most of them in an update: TPUs are slow at them."""


@pytest.fixture(scope="module")
def start() -> Traced:
    """A fresh network, and the first stage of every game."""
    return jax.jit(partial(init_runner, CONFIG, HackMatrixJaxEnv())).trace()


@pytest.fixture(scope="module")
def update(start: Traced) -> Traced:
    """A whole update: steps of the environment in a rollout, advantages, epochs, metrics."""
    return make_train(CONFIG, HackMatrixJaxEnv()).trace(start.out_info, jnp.int32(1))


def lowered(traced: Traced, *platforms: str) -> str:
    """The program for any of these platforms; what depends on the platform is there for each."""
    text: str = traced.lower(lowering_platforms=platforms).as_text()
    return text


def calls_out_of_xla(text: str) -> set[str]:
    """Calls to libraries of the platform, by name, and to the host."""
    return set(re.findall(r"custom_call @(\w+)", text)) | set(
        re.findall(r"stablehlo\.(infeed|outfeed|send|recv)", text)
    )


def test_an_update_is_left_to_xla_alone(update: Traced) -> None:
    text = lowered(update, *PLATFORMS)
    assert calls_out_of_xla(text) == set()
    assert "f64" not in text  # which TPUs do not have
    found = count_operations(text)
    assert all(0 < found[name] <= most for name, most in OPERATIONS.items()), found


def test_the_metrics_of_an_update_have_the_documented_names(update: Traced) -> None:
    stats: UpdateStats = jax.tree.map(lambda like: np.ones(like.shape, like.dtype), update.out_info[1])
    wanted = {f"reward/{name}" for name in rules.COMPONENTS} | {"stats/highest_stage"}
    wanted |= {f"actions/{kind}_frac" for kind in ("move", "siphon", "program")}
    assert wanted < metrics_of(stats, 1, HackMatrixJaxEnv()).keys()


@pytest.mark.long
@pytest.mark.parametrize("chips", [4, 8, 16, 32])
def test_the_documented_update_lowers_for_every_documented_size_of_a_tpu(chips: int) -> None:
    """The v4-8 to v4-64, each chip of which is one device of JAX."""
    config, env = auto_scale_for_batch_size(TrainConfig(**TrainConfig.presets["documented"])), HackMatrixJaxEnv()
    mesh: Any = AbstractMesh((chips,), (parallel.GAMES,))
    runner = jax.eval_shape(partial(init_runner, config, env))
    text = lowered(make_train(config, env, mesh).trace(runner, jnp.int32(1)), "tpu")
    assert f'axes = [{{name = "games", size = {chips} : i64}}]' in text
    assert calls_out_of_xla(text) == set()
    assert "f64" not in text


def test_the_start_of_a_run_asks_for_nothing_but_the_platforms_own_algebra(start: Traced) -> None:
    assert calls_out_of_xla(lowered(start, *PLATFORMS)) == ORTHOGONAL
