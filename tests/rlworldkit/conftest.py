"""Fixtures of the tests of rlworldkit."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from command_line import run
from orchard import WORLD

from rlparity import World
from rlworldkit.cli.app import main
from rlworldkit.envs.spaces import register
from rlworldkit.ppo.networks import ActorCritic
from rlworldkit.ppo.params import save_params
from rlworldkit.program import Program

register(WORLD)


@pytest.fixture(scope="session")
def params(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a new network for Orchard with firm opinions."""
    network = ActorCritic(len(WORLD.actions), hidden_dim=16, num_layers=1)
    made: Any = jax.jit(network.init)(jax.random.key(1), jnp.zeros((1, *WORLD.observation_shape)))
    made["params"]["policy"]["kernel"] *= 100
    path = tmp_path_factory.mktemp("params") / "params_1.npz"
    save_params(path, made)
    return path


@pytest.fixture
def refused() -> Callable[..., str]:
    """Run a command, Orchard's by default, that must refuse its arguments with exit code 2; returns its one line."""

    def said(*words: str, program: Program | World = WORLD) -> str:
        return run(partial(main, program), *words).refusal()

    return said
