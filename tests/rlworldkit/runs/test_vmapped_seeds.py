"""Several seeds in one compiled program: each is the run of its seed alone."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from orchard import WORLD
from orchard.env import OrchardJaxEnv

from rlworldkit.cli.app import main
from rlworldkit.jax.native.env import native_env
from rlworldkit.ppo.checkpoints import read_checkpoint
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.loop import TrainJob
from rlworldkit.ppo.params import InitialParams
from rlworldkit.ppo.program import TrainingLoop, make_train, run_loops
from rlworldkit.ppo.state import init_runner
from rlworldkit.ppo.training import train, train_together
from rlworldkit.runs.run import Run, TrainingDiverged, TrainResult
from rlworldkit.runs.sinks import read_csv
from tests.rlworldkit.runs.conftest import SIZES, SMALL

ENV = OrchardJaxEnv()
pytestmark = pytest.mark.usefixtures("no_picture")
SEEDS = (3, 4, 5)
UPDATES = 4


def loop(states: list[str], wanted: int, last: int) -> TrainingLoop[str]:
    """A run that begins as "a" and fails at once where ``last`` is 0."""
    state, done = "a", 0
    while done < last:
        updates = yield state, min(wanted, last - done)  # type: ignore[misc]
        state, done = updates.runner, done + updates.number  # type: ignore[assignment]
        states.append(state)
    if not last:
        raise ZeroDivisionError
    return f"ended as {state}"


def test_runs_share_calls_until_each_has_ended_by_itself() -> None:
    calls: list[tuple[list[str], int]] = []

    def train(runners: list[str], number: jax.Array, updates_of_run: int, prices: jax.Array) -> Any:  # noqa: ANN401
        calls.append((runners, int(number)))
        return [f"{runner}{index}" for index, runner in enumerate(runners)], jnp.arange(len(runners))

    states: list[list[str]] = [[], [], []]
    loops = [loop(states[0], 2, 3), loop(states[1], 1, 0), loop(states[2], 3, 2)]
    results = run_loops(train, loops, SMALL, jnp.zeros((3, 1)))
    assert [str(result) for result in results] == ["ended as a00", "", "ended as a2"]
    assert isinstance(results[1], ZeroDivisionError)
    assert calls == [(["a", "a", "a"], 2), (["a0", "a0", "a0"], 1)], "the place of a run that has ended is another's"


@pytest.fixture(scope="module", autouse=True)
def optimised_programs() -> Iterator[None]:
    """Compile as for users: with few optimisations the sums of one seed and of several are in different orders."""
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


def config(seed: int, updates: int = UPDATES) -> TrainConfig:
    return dataclasses.replace(SMALL, seed=seed, total_timesteps=updates * SMALL.batch_size)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The folders of runs by themselves."""
    folders = {seed: tmp_path_factory.mktemp(f"alone-{seed}") for seed in SEEDS}
    for seed, folder in folders.items():
        with Run(folder) as run:
            train(config(seed), ENV, run)
    return folders


def together(folder: Path, updates: int = UPDATES, **of_seed_4: Any) -> list[TrainResult | Exception]:  # noqa: ANN401
    """Train all seeds, each in its folder, with other arguments for seed 4."""
    jobs = [TrainJob(config(seed, updates), ENV, Run(folder / str(seed))) for seed in SEEDS]
    jobs[1] = dataclasses.replace(jobs[1], **of_seed_4)
    return train_together(jobs)


def assert_same(run: Path, other: Path) -> None:
    """Compare the last checkpoints, with networks, optimizers and games, and the metrics."""
    ours, theirs = (read_checkpoint(folder / f"checkpoint_{UPDATES}.pkl", ENV).runner for folder in (run, other))
    assert ours.keys() == theirs.keys()
    assert [name for name, leaf in ours.items() if not np.array_equal(leaf, theirs[name])] == []
    rows, others = (read_csv(folder / "metrics.csv") for folder in (run, other))
    assert [row["update"] for row in rows] == list(range(1, UPDATES + 1))
    for row, one in zip(rows, others, strict=True):
        of_time = {"seconds": 0.0, "steps_per_second": 0.0}
        np.testing.assert_equal(row | of_time, one | of_time)


def test_translated_programs_take_prices_of_each_seed() -> None:
    env = native_env(ENV)
    limited = dataclasses.replace(SMALL, max_steps=5)
    runner = jax.eval_shape(lambda: init_runner(limited, env, jax.vmap(env.reset)(env.initial_seeds(0, 8))))
    each = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((3, *leaf.shape), leaf.dtype), runner)
    train = jax.vmap(make_train(limited, env), in_axes=(0, None, None, 0))
    after, _ = jax.eval_shape(train, each, 1, 1, np.stack([env.prices] * 3))
    assert jax.tree.leaves(after) == jax.tree.leaves(each)


@pytest.mark.long
def test_each_seed_is_bit_for_bit_its_run_alone(alone: dict[int, Path], tmp_path: Path) -> None:
    results = together(tmp_path)
    assert [result.progress.updates for result in results if isinstance(result, TrainResult)] == [UPDATES] * 3
    for seed, folder in alone.items():
        assert_same(tmp_path / str(seed), folder)


@pytest.mark.long
def test_a_seed_goes_on_exactly_beside_others_that_begin(alone: dict[int, Path], tmp_path: Path) -> None:
    together(tmp_path / "before", updates=1)
    start = read_checkpoint(tmp_path / "before" / "4" / "checkpoint_1.pkl", ENV)
    together(tmp_path, start=start, run=Run(tmp_path / "before" / "4"))
    assert_same(tmp_path / "before" / "4", alone[4])
    assert_same(tmp_path / "5", alone[5])


@pytest.mark.long
def test_a_seed_that_diverges_leaves_the_others_alone(alone: dict[int, Path], tmp_path: Path) -> None:
    with Run() as run:
        params = train(config(4, 1), ENV, run).params
    broken = InitialParams(Path("nan.npz"), jax.tree.map(lambda leaf: np.full_like(leaf, np.nan), params))
    first, diverged, last = together(tmp_path, initial=broken)
    assert isinstance(diverged, TrainingDiverged)
    assert isinstance(first, TrainResult)
    assert isinstance(last, TrainResult)
    for seed in (3, 5):
        assert_same(tmp_path / str(seed), alone[seed])


@pytest.mark.long
def test_the_command_trains_and_resumes_them(
    alone: dict[int, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "--no-wandb", *SIZES, "--seed=3", "--seeds=3", "--seeds-mode=vmap"]
    begun = [*words, f"--total-timesteps={SMALL.batch_size}", "--run-name=group", f"--checkpoint-dir={tmp_path}"]
    assert main(WORLD, begun) == 0
    (tmp_path / "group" / "seed-5" / "checkpoint_1.pkl").write_bytes(b"damaged")
    steps = f"--total-timesteps={UPDATES * SMALL.batch_size}"
    assert main(WORLD, [*words, steps, "--resume=latest", f"--checkpoint-dir={tmp_path / 'group'}"]) == 1
    output = capsys.readouterr().out
    assert "failed: " in output
    for seed in (3, 4):
        assert_same(tmp_path / "group" / f"seed-{seed}", alone[seed])
