"""The engines where these tests do not run: on TPUs and GPUs, and split over several devices (G10)."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import torch
from jax import Array, export
from torch.utils._python_dispatch import TorchDispatchMode

from goodharts.env import env_of
from goodharts.jax_env.state import State, blank
from goodharts.rules import DEFAULT_NUMBERS, MODES
from goodharts.torch_env.rewards import Rewards
from goodharts.torch_env.tables import PRICES
from rlworldkit.bench.env import step_operations

ROOT = Path(__file__).resolve().parents[2]
ACCELERATORS = ("tpu", "cuda")
GAMES = 192
TRAINED, EVALUATED = env_of(MODES["ground_truth_handhold"]), env_of(MODES["proxy"], evaluating=True)
STATE, ACTIONS, SEEDS = blank(GAMES), np.zeros(GAMES, np.int32), np.zeros((GAMES, 2), np.uint32)


def test_an_engine_s_functions_are_lowered_for_accelerators_that_are_not_here() -> None:
    def functions(state: State, action: Array, seed: Array) -> Any:  # noqa: ANN401 - trees
        steps = TRAINED.step_autoreset(state, action), EVALUATED.step_autoreset(state, action)
        return steps, TRAINED.reset(seed), TRAINED.observe(state)

    lowered = export.export(jax.jit(jax.vmap(functions)), platforms=ACCELERATORS)(STATE, ACTIONS, SEEDS)
    assert lowered.platforms == ACCELERATORS
    assert all(result.dtype.itemsize <= 4 for result in lowered.out_avals)


def test_a_step_has_few_gathers_and_scatters_which_tpus_are_slow_at() -> None:
    found = step_operations(env_of(MODES["ground_truth"]))
    assert 0 < found["gather"] <= 18
    assert 0 < found["scatter"] <= 25


class _Divisors(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """What tensors are divided by."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        if func.overloadpacket in (torch.ops.aten.div, torch.ops.aten.div_):
            self.found.append(args[1])
        return func(*args, **(kwargs or {}))


def test_G12_torch_divides_rewards_by_a_tensor_since_cuda_multiplies_by_the_reciprocal_of_a_number() -> None:
    rewards = Rewards(PRICES["handhold"], DEFAULT_NUMBERS.reward_clip, torch.device("cpu"))
    with _Divisors() as divisors:
        total = rewards.total(torch.tensor([[-1, 7, 0, 0, 0], [-3, 0, 0, 0, 5]]))
    assert total.tolist() == [np.float32(6) / np.float32(100_000), np.float32(2) / np.float32(100_000)]
    assert [isinstance(each, torch.Tensor) for each in divisors.found] == [True]
