"""Measure play and training on this machine's accelerator, beside environments of others, in at most ten minutes.

    python studies/gpu_figures.py [--minutes N] [--games N,N] [--sample-seconds N] [--only WORDS]

Each figure is printed as a line of JSON once it is known, the most important first, so that a run can be stopped at any
time. The peers are those of studies/peers.py. A figure whose peer is missing or fails, or that had no time left, says
so in its line. Games are played by native kernels; one figure measures XLA instead.
"""

import contextlib
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from rlparity.io.arguments import GAMES, FloatRange, Parser
from rlparity.io.strict_json import json_text
from rlworldkit.jax.engine_backend import NATIVE, XLA, choose_backend, on_backend
from rlworldkit.jax.xla import prefer_wide_vectors

Figure = Callable[[], dict[str, Any]]
PEER_GAMES = (2**16, 2**20)
TRAINED = (("mlp", "float32"), ("turned", "bfloat16"))
STEPS, MINIBATCH, SEEDS, SEED_GAMES = 16, 2**15, 4, 2**12
"""Settings of training: steps of an update, samples of a minibatch, number of parallel runs, and games of each run."""
_POWER = ("nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader,nounits")


def play(env: Any, games: int, compact: bool, played: dict[int, float] | None = None) -> dict[str, Any]:  # noqa: ANN401
    """Measure play with random valid actions, and store its steps per second in ``played``."""
    from rlworldkit.bench import env as bench

    found = _measured(bench.compiled(env, games, compact=compact), bench.STEPS_PER_CALL * games)
    if played is not None:
        played[games] = found["steps_per_second"]
    return found


def train(games: int, network: str, dtype: str, played: dict[int, float]) -> dict[str, Any]:
    """Measure whole updates of masked PPO, and the share of their time that playing the same steps takes."""
    from rlworldkit.bench import train as bench

    config = _config(games, network, dtype)
    found = _measured(bench.compiled(_env(), config), config.batch_size)
    share = found["steps_per_second"] / played[games] if games in played else None
    return {**found, "share_of_environment": share}


def seeds(number: int, games: int, vmapped: bool) -> dict[str, Any]:
    """Measure updates of several runs with the same settings, in one program or one after another."""
    import jax
    import jax.numpy as jnp

    from rlworldkit.bench import timing
    from rlworldkit.ppo.program import compile_training

    config = _config(games, "mlp", "float32")
    made = compile_training(config, _env(), None, range(number) if vmapped else (0,))

    def call(runners: list[Any]) -> list[Any]:
        for _ in range(1 if vmapped else number):
            runners = made.train(runners, jnp.int32(1))[0]
        return jax.block_until_ready(runners)

    program = timing.TimedProgram(call, made.runners, 0.0, made.compile_seconds, 0)
    return _measured(program, number * config.batch_size)


def _env(backend: str = NATIVE) -> Any:  # noqa: ANN401 - a JaxEnv
    from hackmatrix.env import ENV

    choose_backend(backend)
    return on_backend(ENV)


def _config(games: int, network: str, dtype: Any) -> Any:  # noqa: ANN401 - TrainConfig, whose module needs JAX
    from hackmatrix.train_config import TrainConfig

    return TrainConfig(
        num_envs=games,
        num_steps=STEPS,
        num_minibatches=max(1, games * STEPS // MINIBATCH),
        update_epochs=1,
        network=network,
        dtype=dtype,
        log_interval=1,
    )


def _measured(program: Any, steps: int) -> dict[str, Any]:  # noqa: ANN401 - TimedProgram, whose module needs JAX
    import jax

    from rlworldkit.bench.timing import calls_per_second

    with _watts() as watts:
        samples = [calls * steps for calls in islice(calls_per_second(program), 3)]
    return {
        "steps_per_second": statistics.median(samples),
        "spread": (max(samples) - min(samples)) / statistics.median(samples),
        "trace_seconds": program.trace_seconds,
        "compile_seconds": program.compile_seconds,
        "planned_bytes": program.peak_bytes,
        "process_peak_bytes": (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use"),
        "watts": statistics.mean(watts) if watts else None,
    }


@contextlib.contextmanager
def _watts() -> Iterator[list[float]]:
    """Sample the GPU's power five times a second within the block; the list stays empty without ``nvidia-smi``."""
    found = list[float]()
    if not shutil.which(_POWER[0]):
        yield found
        return
    with subprocess.Popen([*_POWER, "--loop-ms=200"], stdout=subprocess.PIPE, text=True) as process:
        yield found
        process.terminate()
        for line in (process.communicate()[0] or "").splitlines():
            with contextlib.suppress(ValueError):  # nvidia-smi may print no number
                found.append(float(line))


def figures(games: Sequence[int]) -> Iterator[tuple[str, Figure]]:
    """Yield all figures by name, the most important first."""
    import peers

    env = _env()
    played = dict[int, float]()
    for number in games:
        yield f"play hackmatrix {number}", partial(play, env, number, True, played)
    yield f"play hackmatrix by XLA {games[0]}", lambda: play(_env(XLA), games[0], True)
    trained = [number for number in games if number * STEPS >= MINIBATCH] or [*games]
    for network, dtype in TRAINED:
        yield f"train hackmatrix {network} {dtype} {trained[0]}", partial(train, trained[0], network, dtype, played)
    sizes = [number for number in PEER_GAMES if number in games] or [games[0]]
    for number in sizes:
        for peer in peers.PEERS:
            opened = lambda peer=peer, number=number: play(peer.open(peer.title), number, False)  # noqa: E731
            yield f"play {peer.title} {number}", opened
        yield f"play hackmatrix whole observation {number}", partial(play, env, number, False)
    for network, dtype in TRAINED:
        for number in trained[1:]:
            yield f"train hackmatrix {network} {dtype} {number}", partial(train, number, network, dtype, played)
    each = min(SEED_GAMES, max(games))
    for vmapped in (True, False):
        how = "vmapped" if vmapped else "one after another"
        yield f"train {SEEDS} seeds {how} {each}", partial(seeds, SEEDS, each, vmapped)


def main() -> None:
    """Read the command line, and print each figure once it is measured."""
    parser = Parser(description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--minutes", type=FloatRange(0.01, 1000), default=10.0, metavar="N", help="(default: 10)")
    sizes = "numbers of games, the most important first (default: 65536,1048576,8192,262144)"
    parser.add_argument("--games", default=(2**16, 2**20, 2**13, 2**18), type=_counts, metavar="N[,N...]", help=sizes)
    parser.add_argument("--sample-seconds", type=FloatRange(0.001, 60), default=1.0, metavar="N", help="(default: 1)")
    parser.add_argument("--only", default="", metavar="WORDS", help="figures whose names begin so")
    args = parser.parse_args()
    began = time.monotonic()
    prefer_wide_vectors()
    import jax

    from rlworldkit.bench import timing

    timing.SECONDS_PER_SAMPLE = args.sample_seconds
    print(json_text({"jax": jax.__version__, "devices": [each.device_kind for each in jax.devices()]}), flush=True)
    for name, figure in figures(args.games):
        if not name.startswith(args.only):
            continue
        try:
            is_late = time.monotonic() - began > 60 * args.minutes
            found = {"missing": "no time was left"} if is_late else figure()
        except Exception as fault:  # any failure must leave the others to run
            found = {"missing": f"{type(fault).__name__}: {(str(fault).splitlines() or [''])[0]:.300}"}
        print(json_text({"name": name, **found, "at": round(time.monotonic() - began, 1)}), flush=True)


def _counts(text: str) -> tuple[int, ...]:
    return tuple(GAMES(count) for count in text.split(","))


if __name__ == "__main__":
    main()
