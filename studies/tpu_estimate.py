"""Estimate how fast HackMatrix would be on a TPU, without one: the TPU's compiler runs on any machine.

    pip install "jax[tpu]==VERSION"    # the version of jax that is installed
    python studies/tpu_estimate.py [--games N] [--chips v4 v5e v6e] [--update NETWORK] [--save DIR]

The compiler states cycles of most operations. Here they are summed, those of a loop as often as its body runs in a step
of so many games: that is counted on the CPU, over random play. It is an estimate: it lacks what the compiler gives no
cycles for (the last line counts it) and waits for memory. ``--update`` compiles an update of the trainer as well, split
over the chips of v5e:2x2, and lists how the chips exchange data.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.stages import Traced
from shared.loop_counts import Place, Rounds, rounds_per_call
from shared.tpu_program import COLLECTIVES, TpuProgram, read

from hackmatrix.env import ENV
from hackmatrix.train_config import TrainConfig
from rlparity.io.arguments import GAMES as GAMES_RANGE
from rlparity.io.arguments import Parser
from rlworldkit.bench.env import Play, new_games, one_step
from rlworldkit.jax.target import tracing_for
from rlworldkit.ppo.parallel import GAMES
from rlworldkit.ppo.program import make_train
from rlworldkit.ppo.state import init_runner, shardings_of

_ENGINE = "/jax_env/"
"""Substring of the paths of the engine's files."""
_STEPS = 128
"""Steps of every game in which loops are counted, after as many warm-up steps."""
_DEAREST = 10
_UPDATED_ON = "v5e:2x2"


@dataclass(frozen=True)
class Chip:
    """A TPU: its topology as the compiler names it, and its clock.

    The clock is the published peak of bfloat16 products (275, 197 and 918 TFLOP/s) over the operations per cycle:
    2 · 128² in each of four units, in two cores on v4, and four times as many on v6e. For a product of 4,096² matrices
    the compiler expects 117, 127 and 456 thousand operations per cycle and core, which is 87% to 97% of this peak.
    """

    topology: str
    hertz: float


CHIPS = {
    "v4": Chip("v4:2x2x1", 275e12 / (2 * 4 * 2 * 128**2)),
    "v5e": Chip("v5e:2x2", 197e12 / (4 * 2 * 128**2)),
    "v6e": Chip("v6e:2x2", 918e12 / (4 * 4 * 2 * 128**2)),
}


def main() -> None:
    """Read the command line, count, compile, and print the tables."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=GAMES_RANGE, default=8192, help="games on a chip (default 8192)")
    parser.add_argument("--chips", nargs="+", choices=CHIPS, default=list(CHIPS), help="which TPUs (default all)")
    parser.add_argument("--update", choices=list(ENV.networks()), help="compile an update of this network, too")
    parser.add_argument("--save", type=Path, metavar="DIR", help="write the compiled texts there")
    args = parser.parse_args()
    _prepare()
    texts = estimate_step(args.games, args.chips)
    if args.update:
        texts[f"update-{args.update}"] = text = compiled_update(args.update)
        print(
            f"\nAn update of `{args.update}` over {_UPDATED_ON} exchanges:\n", collectives_table(read(text)), sep="\n"
        )
    if args.save:
        args.save.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (args.save / f"{name}.hlo").write_text(text)


def _prepare() -> None:
    """Configure the TPU's compiler to start without a TPU and beside another process, and JAX to compute on the CPU."""
    names = {"TPU_SKIP_MDS_QUERY": "1", "TPU_ACCELERATOR_TYPE": "v5litepod-4", "TPU_WORKER_HOSTNAMES": "localhost"}
    for name, value in {**names, "TPU_WORKER_ID": "0", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"}.items():
        os.environ.setdefault(name, value)
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_traceback_in_locations_limit", -1)


# ---------------------------------------------------------------------------------------------------- compiling


def estimate_step(games: int, chips: Iterable[str]) -> dict[str, str]:
    """Print the estimated time of a step of ``games`` games on each chip; return the compiled texts by name."""
    start = new_games(ENV, games)
    rounds = rounds_per_call(_traced_step(start).jaxpr, start, _STEPS)
    texts = {}
    for name in chips:
        whole = NamedSharding(_mesh(CHIPS[name].topology, 1), PartitionSpec())
        shapes = jax.tree.map(partial(_shape_of, whole), start)
        texts[f"step-{name}-{games}"] = text = _compiled(_traced_step(shapes))
        print(
            f"\n{name}, {games:,} games:\n", step_tables(read(text), rounds, CHIPS[name], games), sep="\n", flush=True
        )
    return texts


def _traced_step(start: Play) -> Traced:
    with tracing_for("tpu"):
        return jax.jit(one_step(ENV, compact=True)).trace(start)


def compiled_update(network: str, games: int = 256) -> str:
    """Compile an update of the trainer, with games and samples split over four chips."""
    config = TrainConfig(num_envs=games, network=network, log_interval=1)
    mesh = _mesh(_UPDATED_ON, 4)
    with tracing_for("tpu"):
        runner = jax.eval_shape(partial(init_runner, config, ENV))
        shapes = jax.tree.map(_shape_of, shardings_of(runner, mesh), runner)
        number = jax.ShapeDtypeStruct((), jnp.int32, sharding=NamedSharding(mesh, PartitionSpec()))
        return _compiled(make_train(config, ENV, mesh).trace(shapes, number))


def _mesh(topology: str, chips: int) -> Mesh:
    described: Any = topologies.get_topology_desc(topology_name=topology, platform="tpu")
    return Mesh(np.array(described.devices[:chips]), (GAMES,))


def _shape_of(sharding: NamedSharding, leaf: Any) -> jax.ShapeDtypeStruct:  # noqa: ANN401 - an array or its shape
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)


def _compiled(traced: Traced) -> str:
    return str(traced.lower(lowering_platforms=("tpu",)).compile().as_text())


# ---------------------------------------------------------------------------------------------------- reporting


def step_tables(program: TpuProgram, rounds: Rounds, chip: Chip, games: int) -> str:
    """Make the tables of a step: the time, the loops, and the most expensive lines of the engine."""
    runs, uncounted = program.runs(rounds)
    if uncounted:
        raise SystemExit(f"No count fits the loop or branch {uncounted[0].name} of the compiled step.")
    by_line, missing = defaultdict[str, float](float), defaultdict[str, float](float)
    for name, times in runs.items():
        for each in program.computations[name]:
            by_line[line_of(each.place)] += times * each.cycles
            missing.update(dict.fromkeys(program.without_cycles(each), times))
    total = sum(by_line.values())
    seconds = total / chip.hertz
    head = ("cycles of a step", "µs at its clock", "steps/s (estimate)")
    dearest = sorted(by_line.items(), key=itemgetter(1), reverse=True)[:_DEAREST]
    lines = [(line, f"{cycles:,.0f}", f"{cycles / total:.0%}") for line, cycles in dearest]
    return "\n\n".join(
        (
            _table(head, [(f"{total:,.0f}", f"{1e6 * seconds:,.0f}", f"{games / seconds:,.0f}")]),
            _table(("loop", "rounds in a step", "cycles of a round", "of a step"), loops_of(program, runs)),
            _table(("line of the engine", "cycles of a step", "share"), lines),
            "No cycles are given for: " + ", ".join(f"{times:.0f} {kind}" for kind, times in missing.items()),
        )
    )


def loops_of(program: TpuProgram, runs: dict[str, float]) -> list[tuple[str, ...]]:
    """Make rows of the loops, each without its inner loops, the most expensive first."""
    found = []
    for name in runs:
        for loop in (each for each in program.computations[name] if each.kind == "while"):
            cycles = sum(each.cycles for called in loop.called for each in program.computations[called])
            found.append((cycles * runs[loop.called[0]], runs[loop.called[0]], cycles, line_of(loop.place)))
    found.sort(reverse=True)
    return [(line, f"{times:.1f}", f"{cycles:,}", f"{total:,.0f}") for total, times, cycles, line in found]


def collectives_table(program: TpuProgram) -> str:
    """Table of the collective operations in the program: kind, shape and number."""
    found = Counter(
        (each.kind.removesuffix("-start"), each.shape.split("{")[0].strip("("))
        for part in program.computations.values()
        for each in part
        if each.kind.removesuffix("-start") in COLLECTIVES
    )
    rows = [(kind, shape, str(number)) for (kind, shape), number in sorted(found.items())]
    return _table(("operation", "of", "times in the program"), rows)


def line_of(place: Place) -> str:
    """Innermost line of the engine that an operation comes from, else of this project."""
    inside = [call for call in place if _ENGINE in call[0]] or list(place)
    return f"{Path(inside[0][0]).name}:{inside[0][1]}" if inside else "(the compiler's own)"


def _table(heading: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Format a Markdown table."""
    first, *others = (f"| {' | '.join(row)} |" for row in (heading, *rows))
    return "\n".join((first, "|" + "---|" * len(heading), *others))


if __name__ == "__main__":
    main()
