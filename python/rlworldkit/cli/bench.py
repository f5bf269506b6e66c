"""``bench``: run benchmarks, print each figure as soon as it is measured, and write them as JSON."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec

from rich.console import Console

from rlparity import World
from rlparity.core.prices import add_price_flags, read_prices
from rlparity.errors import EngineError
from rlparity.io.arguments import GAMES, STANDARD_OUTPUT, IntRange, Parser
from rlparity.io.atomic_write import is_replaceable
from rlparity.io.console import open_console
from rlworldkit.bench.records import Record, as_json, as_row
from rlworldkit.cli.outputs import JSON_HELP, OUTPUT, fail, write_output
from rlworldkit.extras import install_package
from rlworldkit.jax.engine_backend import add_backend_flag
from rlworldkit.jax.xla import PARTS, of_parts, prefer_wide_vectors
from rlworldkit.program import Benchmark, Program, measured_by
from rlworldkit.sb3.config import MaskablePPOConfig


def main(program: Program, argv: Sequence[str]) -> int:
    """Run the benchmarks named in ``argv``, or all if none is named; return 0.

    Figures are shown and written even if a later benchmark fails or is interrupted with Ctrl+C.
    """
    parser = _parser(program, all_benchmarks(program, program.world))
    args = parser.parse_args(argv)
    world = program.world.with_prices(read_prices(args.price, args.prices))
    benchmarks = all_benchmarks(program, world)
    for name in args.benchmarks:
        if name not in benchmarks:
            parser.error(f"unknown benchmark {name!r}; there are {', '.join(benchmarks)}")
        if not _is_installed(benchmarks[name]):
            parser.error(f"{name} needs {benchmarks[name].needs}: run `{install_package(benchmarks[name].needs)}`")
    prefer_wide_vectors()
    if args.cpu_devices is not None:
        os.environ.update(of_parts(args.cpu_devices))
    # If the JSON goes to standard output, nothing else may.
    console = open_console(stderr=True)
    rows = console if args.json == STANDARD_OUTPUT else open_console()
    chosen = {name: benchmarks[name] for name in args.benchmarks or _possible(program, benchmarks, console)}
    found: list[Record] = []
    is_rewritten = args.json and args.json != STANDARD_OUTPUT and is_replaceable(args.json)
    try:
        for record in _measured(chosen, args.num_envs, args.repetitions, console):
            found.append(record)
            if is_rewritten:
                write_output(args.json, as_json(found))
            rows.print(as_row(record, with_heading=len(found) == 1), soft_wrap=True)
    finally:  # also after Ctrl+C or an error
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


def all_benchmarks(program: Program, world: World) -> dict[str, Benchmark]:
    """Benchmarks of rlworldkit and of the program, for a world with its prices."""
    return {**kit_benchmarks(program, world), **program.benchmarks(world)}


def kit_benchmarks(program: Program, world: World) -> dict[str, Benchmark]:
    """Benchmarks of rlworldkit that this world can run."""

    def of(module: str, *given: object) -> Callable[[int, int], Iterable[Record]]:
        return measured_by(f"rlworldkit.bench.{module}", world, *given)

    def startup(num_envs: int, repetitions: int) -> Iterable[Record]:
        own = program.starts()
        if own and (fault := _engine_fault(program)):
            left_out = ", ".join(start.name for start in own)
            open_console(stderr=True).print(f"leaving out the start of {left_out}: {fault}")
            own = ()
        return of("startup", program.module, own)(num_envs, repetitions)

    sb3 = MaskablePPOConfig()
    starts = "time from a command's start to its first result, with a cold and a warm compilation cache"
    benchmarks = {
        "env": Benchmark("random play on the JAX engine alone", of("env"), plays=False),
        "train": Benchmark("whole PPO updates", of("train", program.train_config), plays=False),
        "gym": Benchmark("random play in the Gymnasium environments", of("gym"), needs="gymnasium"),
        "sb3": Benchmark("MaskablePPO of Stable-Baselines3", of("sb3", sb3), games=sb3.num_envs, needs="sb3_contrib"),
        "lockstep": Benchmark("two engines in lockstep, everything compared", of("lockstep")),
        "startup": Benchmark(starts, startup, plays=False),
    }
    return {name: each for name, each in benchmarks.items() if program.trains or name in ("gym", "sb3")}


def _possible(program: Program, benchmarks: dict[str, Benchmark], console: Console) -> list[str]:
    """List the benchmarks whose library is installed and whose engine can start."""
    missing = {name: install_package(each.needs) for name, each in benchmarks.items() if not _is_installed(each)}
    names = [name for name in benchmarks if name not in missing]
    for command in dict.fromkeys(missing.values()):
        left_out = " and ".join(name for name in missing if missing[name] == command)
        console.print(f"leaving out {left_out}: `{command}`", soft_wrap=True)
    playing = [name for name in names if benchmarks[name].plays]
    if playing and (fault := _engine_fault(program)):
        console.print(f"leaving out {', '.join(playing)}: {fault}")
        names = [name for name in names if name not in playing]
    return names


def _engine_fault(program: Program) -> EngineError | None:
    """Return why the world's first engine cannot start; None if it can."""
    try:
        next(iter(program.world.engines.values()))(1).close()
    except EngineError as error:
        return error
    return None


def _is_installed(benchmark: Benchmark) -> bool:
    return benchmark.needs is None or find_spec(benchmark.needs) is not None


def _parser(program: Program, benchmarks: dict[str, Benchmark]) -> Parser:
    parser = Parser(prog=f"{program.name} bench", description="Measure speed, compile time and memory on this machine.")
    described = "; ".join(f"{name}: {each.purpose}" for name, each in benchmarks.items())
    own = ", ".join(f"{each.games} of {name}" for name, each in benchmarks.items() if each.games != Benchmark.games)
    parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK", help=f"benchmarks (default: all). {described}")
    parser.add_argument(
        "--num-envs",
        type=_counts,
        metavar="N[,N...]",
        help="games played in parallel; several numbers are measured one by one "
        f"(default: {Benchmark.games}{', ' + own if own else ''})",
    )
    parser.add_argument("--repetitions", type=IntRange(1, 10_000), default=5, help="samples per figure (default: 5)")
    parser.add_argument(
        "--cpu-devices",
        type=PARTS,
        metavar="N",
        help="number of devices to split the CPU into; they share its cores and the games of env and train",
    )
    add_backend_flag(parser)
    parser.add_argument("--json", type=OUTPUT, metavar="FILE", help=JSON_HELP)
    add_price_flags(parser, lambda: program.world)
    return parser


def _counts(text: str) -> list[int]:
    return [GAMES(count) for count in text.split(",")]
