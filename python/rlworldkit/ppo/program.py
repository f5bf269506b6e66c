"""Updates as one compiled program, of one seed or of several, and the runs that ask for them."""

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
from rlworldkit.jax.trace_cache import compile_in_background, load_or_trace
from rlworldkit.ppo import parallel
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.masked_ppo import optimizer_has_rate
from rlworldkit.ppo.rollout import RunnerState
from rlworldkit.ppo.update import TrainFunction, UpdateStats, init_runner, make_train, shardings_of

POLL_SECONDS = 0.05
_Result = TypeVar("_Result")


class Updates(NamedTuple):
    """So many updates of a run: the state after them, what they were like, and how long they took."""

    runner: RunnerState
    stats: UpdateStats
    number: int
    seconds: float


TrainingLoop = Generator[tuple[RunnerState, int], Updates, _Result]
"""A run: it yields its state and how many updates it wants at most, and is sent some."""


class CompiledTraining(NamedTuple):
    """Runs that are ready to start, and how long that took.

    runners: the first state of each seed. stats: what ``train`` gives of one beside its state, as shapes.
    """

    train: TrainFunction
    runners: list[RunnerState]
    compile_seconds: float
    stats: UpdateStats

    @property
    def runner(self) -> RunnerState:
        """The first state of the first seed."""
        return self.runners[0]


def compile_training(
    config: TrainConfig, env: JaxEnv, mesh: Mesh | None = None, of_seeds: Sequence[int] = ()
) -> CompiledTraining:
    """Prepare the first state of a run and compile its updates; raises UsageError for what the world lacks.

    of_seeds: seeds whose updates are one program, instead of that of ``config``. ``train`` then takes and gives a list
    of states, one of each seed, with the prices of each, (seeds, prices); stats have a leading axis of seeds.
    """
    start = time.perf_counter()
    train = make_train(config, env, mesh)
    world = [f"{type(env).__module__}.{type(env).__qualname__}", env.name]
    # a program depends on neither of these, unless the optimizer's own schedule ends with the run
    at_run_time = {"seed", "total_timesteps"}
    if config.learning_rate_end is not None and optimizer_has_rate(config):
        at_run_time = {"seed"}
    settings = str({name: value for name, value in dataclasses.asdict(config).items() if name not in at_run_time})
    packages = env.packages if jax.process_count() == 1 else ()
    first_games = [jnp.asarray(env.initial_seeds(seed, config.num_envs)) for seed in of_seeds or [config.seed]]
    games = load_or_trace(jax.jit(jax.vmap(env.reset)), first_games[0], about=["games", *world], packages=packages)
    shapes = jax.eval_shape(partial(init_runner, config, env), games.results)
    if mesh is not None:
        wanted = shardings_of(shapes, mesh)
        shapes = jax.tree.map(
            lambda leaf, sharding: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding), shapes, wanted
        )

    # the functions in a TrainState cannot be written down with a trace, so the program takes and gives leaves
    leaves, structure = jax.tree.flatten(shapes)

    def on_leaves(
        leaves: list[Array], num_updates: Array, of_run: Array, prices: Array
    ) -> tuple[list[Array], UpdateStats]:
        after, stats = train(jax.tree.unflatten(structure, leaves), num_updates, of_run, prices)
        return jax.tree.leaves(after), stats

    def on_states(
        states: list[list[Array]], num_updates: Array, of_run: Array, prices: Array
    ) -> tuple[list[list[Array]], UpdateStats]:
        if not of_seeds:
            after, stats = on_leaves(states[0], num_updates, of_run, prices)
            return [after], stats
        stacked = [jnp.stack(of_all) for of_all in zip(*states, strict=True)]
        stacked, stats = jax.vmap(on_leaves, in_axes=(0, None, None, 0))(stacked, num_updates, of_run, prices)
        each = [jax.tree.unflatten(structure, [leaf[index] for leaf in stacked]) for index in range(len(states))]
        if mesh is not None:
            each = [jax.lax.with_sharding_constraint(after, wanted) for after in each]
        return [jax.tree.leaves(after) for after in each], stats

    @training_switches()  # in the thread that it runs in
    def first_states() -> list[RunnerState]:
        play = games.compile()
        configs = [dataclasses.replace(config, seed=seed) for seed in of_seeds or [config.seed]]
        return [init_runner(each, env, play(seeds)) for each, seeds in zip(configs, first_games, strict=True)]

    with compile_in_background() as executor:
        making = executor.submit(first_states)
        about, one = ["updates", *world, settings], jnp.int32(1)
        states = [leaves] * len(first_games)
        all_prices = np.stack([env.prices] * len(of_seeds)) if of_seeds else env.prices
        program = load_or_trace(jax.jit(on_states), states, one, one, all_prices, about=about, packages=packages)
        compiled = program.compile()
        runners = making.result()
    if mesh is not None:
        runners = [jax.tree.map(parallel.placed, runner, wanted) for runner in runners]

    def updates(
        runner: Any,  # noqa: ANN401 - a state, or a list of them
        num_updates: Array,
        updates_of_run: Array | int = config.num_updates,
        prices: ArrayLike = env.prices,
    ) -> tuple[Any, UpdateStats]:
        states = [jax.tree.leaves(each) for each in (runner if of_seeds else [runner])]
        after, stats = compiled(states, num_updates, jnp.int32(updates_of_run), prices)
        runners = [jax.tree.unflatten(structure, each) for each in after]
        return (runners if of_seeds else runners[0]), stats

    stats = program.results[1]
    if of_seeds:
        stats = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), stats)
    return CompiledTraining(updates, runners, time.perf_counter() - start, stats)


def run_loop(train: TrainFunction, loop: TrainingLoop[_Result], config: TrainConfig, env: JaxEnv) -> _Result:
    """Give a run the updates that it asks for, until it ends; return its result, and raise what it raises."""
    updates = None
    try:
        while True:
            runner, number = loop.send(updates)  # type: ignore[arg-type]  # None begins it
            start_time = time.perf_counter()
            runner, stats = train(runner, jnp.int32(number), config.num_updates, env.prices)
            _wait_for(stats)
            updates = Updates(runner, stats, number, time.perf_counter() - start_time)
    except StopIteration as end:
        return end.value


def run_loops(
    train: Callable[..., tuple[Any, UpdateStats]],
    loops: Sequence[TrainingLoop[_Result]],
    config: TrainConfig,
    prices: Array,
) -> list[_Result | Exception]:
    """Give several runs their updates from one program of ``compile_training``; return each one's result or exception.

    A run that has ended leaves the others alone: its place in the program is another's. prices: (runs, prices).
    """
    results: dict[int, _Result | Exception] = {}
    asking: dict[int, tuple[RunnerState, int]] = {}

    def send(index: int, updates: Any) -> None:  # noqa: ANN401 - None begins it
        asking.pop(index, None)
        try:
            asking[index] = loops[index].send(updates)
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
    """Wait for a running chunk in short sleeps, between which Python can act on signals."""
    last = jax.tree.leaves(stats)[-1]
    while not last.is_ready():
        time.sleep(POLL_SECONDS)
    jax.block_until_ready(stats)
