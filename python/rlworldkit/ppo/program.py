"""Compile the updates of one or several runs into one program, and execute the training loops that request them."""

import dataclasses
import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh
from jax.typing import ArrayLike

from rlworldkit.jax.env import JaxEnv
from rlworldkit.jax.switches import training_switches
from rlworldkit.jax.trace_cache import compile_in_background, load_or_trace, without_collector
from rlworldkit.ppo import parallel, ppo
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.optimizer import optimizer_has_rate
from rlworldkit.ppo.ppo import UpdateStats
from rlworldkit.ppo.state import RunnerState, init_runner, shardings_of

POLL_SECONDS = 0.05
_Result = TypeVar("_Result")


class Updates(NamedTuple):
    """Result of a number of updates of a run: the state after them, their stats, and the seconds that they took."""

    runner: RunnerState
    stats: UpdateStats
    number: int
    seconds: float


TrainingLoop = Generator[tuple[RunnerState, int], Updates, _Result]
"""Generator of a run: it yields its state and the most updates that it wants next, and is sent ``Updates``."""

TrainFunction = Callable[..., tuple[list[RunnerState], UpdateStats]]
"""``train(runners, num_updates[, updates_of_run[, prices]])``: takes the state of each run, returns the new ones.

prices: those of each run, (runs, prices). Stats have a leading axis of runs.
"""


class CompiledTraining(NamedTuple):
    """Compiled runs that are ready to start, and the seconds that compiling took.

    runners: the first state of each run. stats: shapes of the stats of one run.
    """

    train: TrainFunction
    runners: list[RunnerState]
    compile_seconds: float
    stats: UpdateStats


def make_train(config: TrainConfig, env: JaxEnv, mesh: Mesh | None = None) -> jax.stages.Wrapped:
    """Return the jitted ``train(runner, num_updates, updates_of_run, prices)``: that many whole updates in one call.

    ``num_updates`` (int32, 1 to ``config.log_interval``) is an ordinary argument, so a shorter last
    call needs no second compilation. So are ``updates_of_run`` (int32; ``config.num_updates`` by default), after which
    schedules end, and ``prices`` (``env.prices`` by default). The stats have a leading axis of ``log_interval``, of
    which the first ``num_updates`` entries are valid. ``config`` must be one that ``TrainConfig.validated`` accepts.
    """

    # Jitted, so that `eval_shape` and the call below share one trace.
    @jax.jit
    def update(runner: RunnerState, updates_of_run: Array | int, prices: ArrayLike) -> tuple[RunnerState, UpdateStats]:
        return ppo.update(runner, config, env.with_prices(jnp.asarray(prices)), mesh, updates_of_run)

    def train(
        runner: RunnerState,
        num_updates: Array,
        updates_of_run: Array | int = config.num_updates,
        prices: ArrayLike = env.prices,
    ) -> tuple[RunnerState, UpdateStats]:
        def body(index: Array, carry: tuple[RunnerState, UpdateStats]) -> tuple[RunnerState, UpdateStats]:
            runner, history = carry
            runner, stats = update(runner, updates_of_run, prices)
            return runner, jax.tree.map(lambda past, new: past.at[index].set(new), history, stats)

        _, shapes = jax.eval_shape(update, runner, updates_of_run, prices)
        history = jax.tree.map(lambda leaf: jnp.zeros((config.log_interval, *leaf.shape), leaf.dtype), shapes)
        runner, history = jax.lax.fori_loop(0, num_updates, body, (runner, history))
        if mesh is not None:
            runner = jax.lax.with_sharding_constraint(runner, shardings_of(runner, mesh))
        return runner, history

    return jax.jit(train)


@without_collector()
def compile_training(
    config: TrainConfig, env: JaxEnv, mesh: Mesh | None = None, seeds: Sequence[int] = ()
) -> CompiledTraining:
    """Prepare the first state of each run and compile their updates; raises UsageError for what the world lacks.

    seeds: one for each run; by default there is one run, with the seed of ``config``.
    """
    start = time.perf_counter()
    train = make_train(config, env, mesh)
    configs = [dataclasses.replace(config, seed=seed) for seed in seeds or [config.seed]]
    world = [f"{type(env).__module__}.{type(env).__qualname__}", env.name]
    packages = env.packages if jax.process_count() == 1 else ()
    first_games = [jnp.asarray(env.initial_seeds(each.seed, config.num_envs)) for each in configs]
    games = load_or_trace(jax.jit(jax.vmap(env.reset)), first_games[0], about=["games", *world], packages=packages)
    shapes = jax.eval_shape(partial(init_runner, config, env), games.results)
    if mesh is not None:
        wanted = shardings_of(shapes, mesh)
        shapes = jax.tree.map(
            lambda leaf, sharding: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding), shapes, wanted
        )
    leaves, structure = jax.tree.flatten(shapes)
    of_all = _of_all(train, structure, None if mesh is None else wanted)

    @training_switches()  # they hold only in the thread that sets them
    def first_states() -> list[RunnerState]:
        play = games.compile()
        return [init_runner(each, env, play(seeds)) for each, seeds in zip(configs, first_games, strict=True)]

    with compile_in_background() as executor:
        making = executor.submit(first_states)
        about, own_prices = ["updates", *world, _traced(config)], np.stack([env.prices] * len(configs))
        like = [leaves] * len(configs), jnp.int32(1), jnp.int32(1), own_prices
        program = load_or_trace(jax.jit(of_all), *like, about=about, packages=packages)
        compiled = program.compile()
        runners = making.result()
    if mesh is not None:
        runners = [jax.tree.map(parallel.placed, runner, wanted) for runner in runners]

    def updates(
        runners: Sequence[RunnerState],
        num_updates: Array,
        updates_of_run: Array | int = config.num_updates,
        prices: ArrayLike = own_prices,
    ) -> tuple[list[RunnerState], UpdateStats]:
        after, stats = compiled([*map(jax.tree.leaves, runners)], num_updates, jnp.int32(updates_of_run), prices)
        return [jax.tree.unflatten(structure, each) for each in after], stats

    stats = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), program.results[1])
    return CompiledTraining(updates, runners, time.perf_counter() - start, stats)


def _of_all(train: jax.stages.Wrapped, structure: Any, wanted: RunnerState | None) -> Callable[..., Any]:  # noqa: ANN401
    """Wrap ``make_train``'s function for the leaves of all runs' states, with this structure and these shardings.

    A trace cannot be saved with the functions in a TrainState, so the program takes and returns leaves.
    """

    def of_one(
        leaves: list[Array], num_updates: Array, of_run: Array, prices: Array
    ) -> tuple[list[Array], UpdateStats]:
        after, stats = train(jax.tree.unflatten(structure, leaves), num_updates, of_run, prices)
        return jax.tree.leaves(after), stats

    def of_all(
        states: list[list[Array]], num_updates: Array, of_run: Array, prices: Array
    ) -> tuple[list[list[Array]], UpdateStats]:
        if len(states) == 1:
            after, stats = of_one(states[0], num_updates, of_run, prices[0])
            return [after], jax.tree.map(lambda leaf: leaf[None], stats)
        stacked = [jnp.stack(leaf) for leaf in zip(*states, strict=True)]
        stacked, stats = jax.vmap(of_one, in_axes=(0, None, None, 0))(stacked, num_updates, of_run, prices)
        each = [[leaf[index] for leaf in stacked] for index in range(len(states))]
        if wanted is not None:
            each = jax.lax.with_sharding_constraint(each, [jax.tree.leaves(wanted)] * len(states))
        return each, stats

    return of_all


def _traced(config: TrainConfig) -> str:
    """Settings that a trace depends on; the total of steps only if the optimizer's own schedule ends with the run."""
    of_schedule = config.learning_rate_end is not None and optimizer_has_rate(config)
    at_run_time = {"seed"} if of_schedule else {"seed", "total_timesteps"}
    return str({name: value for name, value in dataclasses.asdict(config).items() if name not in at_run_time})


def run_loops(
    train: TrainFunction, loops: Sequence[TrainingLoop[_Result]], config: TrainConfig, prices: ArrayLike
) -> list[_Result | Exception]:
    """Execute training loops, whose updates one program computes; return the result or exception of each.

    A run that has ended does not end the others: its slot in the program repeats another run. prices: (runs, prices).
    """
    results: dict[int, _Result | Exception] = {}
    asking: dict[int, tuple[RunnerState, int]] = {}

    def send(index: int, updates: Updates | None) -> None:
        asking.pop(index, None)
        try:
            asking[index] = loops[index].send(updates)  # type: ignore[arg-type]  # None begins it
        except StopIteration as end:
            results[index] = end.value
        except Exception as error:
            results[index] = error

    try:
        for index in range(len(loops)):
            send(index, None)
        while asking:
            number = min(wanted for _, wanted in asking.values())
            other = next(iter(asking.values()))
            before = [asking.get(index, other)[0] for index in range(len(loops))]
            start_time = time.perf_counter()
            after, stats = train(before, jnp.int32(number), config.num_updates, prices)
            _wait_for(stats)
            seconds, stats = time.perf_counter() - start_time, jax.tree.map(parallel.on_host, stats)
            for index in list(asking):
                own = jax.tree.map(lambda leaf, index=index: leaf[index], stats)
                send(index, Updates(after[index], own, number, seconds))
    finally:
        for loop in loops:
            loop.close()
    return [results[index] for index in range(len(loops))]


def _wait_for(stats: UpdateStats) -> None:
    """Wait for a running chunk in short sleeps, between which Python can handle signals."""
    last = jax.tree.leaves(stats)[-1]
    while not last.is_ready():
        time.sleep(POLL_SECONDS)
    jax.block_until_ready(stats)
