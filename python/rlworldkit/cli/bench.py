"""``bench``: measure, show each figure as soon as it is there, and write them as JSON."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec

from rich.console import Console

from rlparity.core.prices import add_price_flags, changed_prices, price_flags, read_prices
from rlparity.errors import EngineError
from rlparity.io.arguments import GAMES, STANDARD_OUTPUT, IntRange, Parser
from rlparity.io.atomic_write import is_replaceable
from rlparity.io.console import open_console
from rlworldkit.bench.records import Record, as_json, as_row
from rlworldkit.cli.outputs import JSON_HELP, OUTPUT, fail, write_output
from rlworldkit.extras import install_package
from rlworldkit.game import Benchmark, Game, measured_by
from rlworldkit.jax.xla import PARTS, of_parts, prefer_wide_vectors


def main(game: Game, argv: Sequence[str]) -> int:
    """Run the benchmarks named in ``argv``, all where none is named; return 0.

    What was measured is shown and written whatever comes next, Ctrl+C too.
    """
    parser = _parser(game, all_benchmarks(game))
    args = parser.parse_args(argv)
    game = game.with_prices(read_prices(args.price, args.prices))
    benchmarks = all_benchmarks(game)
    for name in args.benchmarks:
        if name not in benchmarks:
            parser.error(f"unknown benchmark {name!r}; there are {', '.join(benchmarks)}")
        if not _is_installed(benchmarks[name]):
            parser.error(f"{name} needs {benchmarks[name].needs}: run `{install_package(benchmarks[name].needs)}`")
    prefer_wide_vectors()
    if args.cpu_devices is not None:
        os.environ.update(of_parts(args.cpu_devices))
    # The JSON may go to standard output, and then nothing else may.
    console = open_console(stderr=True)
    rows = console if args.json == STANDARD_OUTPUT else open_console()
    chosen = {name: benchmarks[name] for name in args.benchmarks or _possible(game, benchmarks, console)}
    found: list[Record] = []
    is_rewritten = args.json and args.json != STANDARD_OUTPUT and is_replaceable(args.json)
    try:
        for record in _measured(chosen, args.num_envs, args.repetitions, console):
            found.append(record)
            if is_rewritten:
                write_output(args.json, as_json(found))
            rows.print(as_row(record, with_heading=len(found) == 1), soft_wrap=True)
    finally:  # also where that is Ctrl+C or a fault
        if args.json and found and not is_rewritten:
            write_output(args.json, as_json(found))
    if not found:
        fail("Nothing was measured: install what is missing, or name another benchmark.")
    return 0


def _measured(
    benchmarks: dict[str, Benchmark], counts: list[int] | None, repetitions: int, console: Console
) -> Iterator[Record]:
    for name, benchmark in benchmarks.items():
        for num_envs in counts or [benchmark.games]:
            console.print(f"measuring {name} with {num_envs:,} games ...")
            yield from benchmark.measure(num_envs, repetitions)


def all_benchmarks(game: Game) -> dict[str, Benchmark]:
    """Worldkit's benchmarks and the world's own."""
    return {**kit_benchmarks(game), **game.benchmarks(game)}


def kit_benchmarks(game: Game) -> dict[str, Benchmark]:
    """Worldkit's benchmarks that this world can run."""
    open_env = game.train_env

    def train(num_envs: int, repetitions: int) -> Iterator[Record]:
        from rlworldkit.bench.train import measure

        assert open_env is not None
        return measure(open_env(), game.train_config(num_envs=num_envs), repetitions)

    def startup(num_envs: int, repetitions: int) -> Iterator[Record]:
        from rlworldkit.bench.startup import evaluated, first_update, measure

        starts = [first_update(game.module, num_envs)]
        if game.evaluation is not None:
            starts.append(evaluated(game.module))
        own = game.starts()
        if own and (fault := _engine_fault(game)):
            left_out = ", ".join(start.name for start in own)
            open_console(stderr=True).print(f"leaving out the start of {left_out}: {fault}")
            own = ()
        words = price_flags(changed_prices(game.env().world))
        return measure([replace(each, words=(*each.words, *words)) for each in (*starts, *own)], repetitions)

    gym = measured_by("rlworldkit.bench.gym", game.env)
    sb3 = measured_by("rlworldkit.bench.sb3", game.env, game.sb3_config)
    played = {
        "gym": Benchmark("random play in the Gymnasium environments", gym, needs="gymnasium"),
        "sb3": Benchmark(
            "MaskablePPO, beside one on an environment that does nothing",
            sb3,
            games=game.sb3_config().num_envs,
            needs="sb3_contrib",
        ),
    }
    if open_env is None:
        return played
    env = measured_by("rlworldkit.bench.env", open_env)
    lockstep = measured_by("rlworldkit.bench.lockstep", lambda: game.env().world)
    starts = "commands from their start to what one waits for, with a cold and a warm compilation cache"
    return {
        "env": Benchmark("random play on the JAX engine alone", env, plays=False),
        "train": Benchmark("whole PPO updates, beside those on an environment that costs nothing", train, plays=False),
        **played,
        "lockstep": Benchmark("two engines in lockstep, everything compared", lockstep),
        "startup": Benchmark(starts, startup, plays=False),
    }


def _possible(game: Game, benchmarks: dict[str, Benchmark], console: Console) -> list[str]:
    """Name all but those whose library is not installed or whose engine cannot start."""
    names = [name for name, each in benchmarks.items() if _is_installed(each)]
    if len(names) < len(benchmarks):
        missing = " and ".join(name for name in benchmarks if name not in names)
        console.print(f"leaving out {missing}: `{install_package('gymnasium')}`", soft_wrap=True)
    playing = [name for name in names if benchmarks[name].plays]
    if playing and (fault := _engine_fault(game)):
        console.print(f"leaving out {', '.join(playing)}: {fault}")
        names = [name for name in names if name not in playing]
    return names


def _engine_fault(game: Game) -> EngineError | None:
    """Return why the world's first engine cannot start; None where it can."""
    try:
        next(iter(game.env().world.engines.values()))(1).close()
    except EngineError as error:
        return error
    return None


def _is_installed(benchmark: Benchmark) -> bool:
    return benchmark.needs is None or find_spec(benchmark.needs) is not None


def _parser(game: Game, benchmarks: dict[str, Benchmark]) -> Parser:
    parser = Parser(prog=f"{game.name} bench", description="Measure speed, compile time and memory on this machine.")
    described = "; ".join(f"{name}: {each.purpose}" for name, each in benchmarks.items())
    own = ", ".join(f"{each.games} of {name}" for name, each in benchmarks.items() if each.games != Benchmark.games)
    parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK", help=f"{described} (default: all)")
    parser.add_argument(
        "--num-envs",
        type=_counts,
        metavar="N[,N...]",
        help="games played at the same time, one measurement for each number "
        f"(default: {Benchmark.games}{', ' + own if own else ''})",
    )
    parser.add_argument("--repetitions", type=IntRange(1, 10_000), default=5, help="samples per figure (default: 5)")
    parser.add_argument(
        "--cpu-devices",
        type=PARTS,
        metavar="N",
        help="split the processor into so many devices, which share its cores, and the games of env and train",
    )
    parser.add_argument("--json", type=OUTPUT, metavar="FILE", help=JSON_HELP)
    add_price_flags(parser, lambda: game.env().world)
    return parser


def _counts(text: str) -> list[int]:
    return [GAMES(count) for count in text.split(",")]
