"""The JAX engine where these tests do not run: lowered for TPUs and GPUs, and split over several devices (G10)."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from jax import Array, export

from goodharts.jax_env.env import Game
from goodharts.jax_env.state import State, blank
from goodharts.jax_env.tables import Variant
from goodharts.jax_training import env_of
from goodharts.rules import MODES
from worldkit.bench.env import step_operations

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("sharded_games.py")
ACCELERATORS = ("tpu", "cuda")
GAMES = 192
TRAINED, EVALUATED = Game(Variant(MODES["ground_truth_handhold"])), Game(Variant(MODES["proxy"], evaluating=True))
STATE, ACTIONS, WANTED = blank(GAMES), np.zeros(GAMES, np.int32), np.zeros(GAMES, np.bool_)


def test_an_engine_s_functions_are_lowered_for_accelerators_that_are_not_here() -> None:
    def functions(state: State, action: Array, wanted: Array) -> Any:  # noqa: ANN401 - trees
        steps = TRAINED.step(state, action), EVALUATED.step(state, action)
        following = TRAINED.reset(state.key), TRAINED.restart(state, wanted), EVALUATED.respawn(state, wanted)
        return steps, following, TRAINED.observe(state)

    lowered = export.export(jax.jit(jax.vmap(functions)), platforms=ACCELERATORS)(STATE, ACTIONS, WANTED)
    assert lowered.platforms == ACCELERATORS
    assert all(result.dtype.itemsize <= 4 for result in lowered.out_avals)


def test_a_step_has_few_gathers_and_scatters_which_tpus_are_slow_at() -> None:
    found = step_operations(env_of(MODES["ground_truth"]))
    assert 0 < found["gather"] <= 18
    assert 0 < found["scatter"] <= 25


@pytest.mark.long
def test_G10_games_split_over_eight_devices_are_the_same() -> None:
    paths = os.pathsep.join([str(ROOT / "python"), str(ROOT)])
    devices = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "PYTHONPATH": paths}
    command = [sys.executable, str(SCRIPT), "ground_truth_handhold"]
    done = subprocess.run(
        command, env={**os.environ, **devices}, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (0, "the same on 8 devices\n"), done.stderr
