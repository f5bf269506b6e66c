"""Check JAX and torch on this machine's accelerator, within minutes: results go into a JSON file and an HTML page.

    python studies/accelerator_check.py [--output DIR] [--minutes N] [--games N,N] [--only WORDS]

The engines of both worlds on the device are compared with those on the CPU, with the Swift engine where it is built,
and with its tape. Steps per second and memory are measured for every network and dtype. Each part runs in its own
process, so that a failure or a timeout affects no other part. Parts compile and compare in parallel, and are measured
one after another: first those of JAX, then, with their memory free again, those of the torch trainer. On a TPU, which
only one process can open, all parts run in sequence. The exit code is 1 where engines differ or a part fails.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import platform
import queue
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import IO, Any

from shared.accelerator_page import DIFFERS, FAILED, NOT_RUN, page

from rlparity.io.arguments import GAMES, STEPS, FloatRange, IntRange, Parser
from rlparity.io.atomic_write import telling_failures, write_whole
from rlparity.io.strict_json import json_text

ROOT = Path(__file__).resolve().parents[1]
HACKMATRIX, GOODHARTS = "hackmatrix.world:WORLD", "goodharts.world:GROUND_TRUTH"
Row = dict[str, Any]
Rows = Generator[Row | None, float, None]
"""Result rows of a part. It yields None when it is ready to be measured, and is sent the time at which to end."""
_BATCH, _MINIBATCH, _COMPARED, _TORCH_GAMES = 2**20, 2**15, 2048, 4096
"""Maximum steps of an update and of a minibatch of Goodharts, and maximum games of a comparison and in torch."""
_COMPILING = 0.6
"""Share of the time for compiling and comparing."""
_LEAST_SECONDS, _GRACE_SECONDS = 20.0, 15.0
"""Minimum seconds to measure a part, and seconds past its time limit before it is killed."""
_LEAST_UPDATES = 2
"""Minimum number of measured updates of the torch trainer."""
_LINE = "@"
"""Prefix of the lines in which a part's process reports to the main process."""


@dataclass(frozen=True)
class Plan:
    """Sizes of a check. compile_until: when to stop compiling and comparing, in seconds since the epoch."""

    games: tuple[int, ...]
    steps: int
    sample_seconds: float
    compile_until: float


def describe(_: Plan) -> Rows:
    """Report the machine and the versions of its libraries."""
    import jax
    import torch

    from goodharts.devices import choose_device
    from goodharts.devices import describe as describe_torch

    devices, versions = jax.devices(), {"python": platform.python_version(), "jax": jax.__version__}
    yield {
        "platform": devices[0].platform,
        "devices": [each.device_kind for each in devices],
        "torch_device": describe_torch(choose_device()),
        "cores": os.cpu_count(),
        "versions": {**versions, "torch": torch.__version__},
    }


def lockstep(spec: str, engines: tuple[str, str], plan: Plan) -> Rows:
    """Compare an engine on the device with a reference for ``plan.steps`` random steps, and some directed ones."""
    from goodharts.devices import choose_device
    from goodharts.rules import DEFAULT_MODE, MODES
    from goodharts.world import open_torch
    from rlparity.core.lockstep import Settings, run
    from rlparity.engines.registry import load_pair, load_world
    from rlparity.engines.tape import TAPE
    from rlparity.errors import EngineError

    world = load_world(spec)
    if "torch" in world.engines:
        on_device = partial(open_torch, MODES[DEFAULT_MODE], device=choose_device())
        world = dataclasses.replace(world, engines={**world.engines, "torch-device": on_device})
    world, _, pair = load_pair(world, engines, spec=spec)
    try:
        world.engines[pair[0]](1).close()
    except EngineError as error:
        yield {"status": NOT_RUN, "why": str(error)}
        return
    games = min(max(plan.games), _COMPARED)
    each = -(-plan.steps // games)
    rounds = [("uniform", games, each // 2, False), ("uniform", games, each - each // 2, True)]
    if engines[0].startswith(TAPE):
        rounds = [("tape", games, each, False)]
    else:
        rounds.append(("directed", max(1, games // 8), max(1, each // 8), True))
    for seed, (source, games, steps, auto_reset) in enumerate(rounds):
        budget = float("inf") if source == "tape" else max(1.0, plan.compile_until - time.time())
        settings = Settings(source, steps, games, seed * 10**6, auto_reset=auto_reset, budget_seconds=budget)
        outcome = run(world, pair, settings)
        row = {name: getattr(outcome, name) for name in ("steps", "episodes", "seconds")}
        row |= {"what": source + (", auto-reset" if auto_reset else ""), "asked": games * steps}
        if outcome.divergences:
            found = outcome.divergences[0]
            fields = ", ".join(difference.field for difference in found.differences)
            row |= {"status": DIFFERS, "why": f"game {found.game}, step {found.step}: {fields}"}
        yield row


def native(world: str, plan: Plan) -> Rows:
    """Compare native kernels with XLA, bit for bit: states, results of steps, masks and observations."""
    import jax
    import numpy as np

    from rlworldkit.bench.env import random_valid_actions
    from rlworldkit.jax.native.env import native_env

    def step(env: Any, state: Any, key: Any) -> Any:  # noqa: ANN401 - a JaxEnv, states and arrays
        mask = jax.vmap(env.mask)(state)
        out = jax.vmap(env.step_autoreset)(state, random_valid_actions(key, mask))
        return out, mask, jax.vmap(env.compact)(out.state)

    env, games = _env(world), min(max(plan.games), _COMPARED)
    worlds, seeds, key = (env, native_env(env)), env.initial_seeds(0, games), jax.random.key(0)
    states = [jax.jit(jax.vmap(each.reset))(seeds) for each in worlds]
    plays, steps = [jax.jit(partial(step, each)) for each in worlds], 0
    row: Row = {"what": "auto-reset", "asked": plan.steps, "episodes": 0}
    began = time.monotonic()
    while steps < plan.steps and "status" not in row and (steps == 0 or time.time() < plan.compile_until):
        key, drawn = jax.random.split(key)
        found = [play(state, drawn) for play, state in zip(plays, states, strict=True)]
        for (path, one), other in zip(jax.tree.leaves_with_path(found[0]), jax.tree.leaves(found[1]), strict=True):
            if np.asarray(one).tobytes() != np.asarray(other).tobytes():
                row |= {"status": DIFFERS, "why": f"step {steps // games}: {jax.tree_util.keystr(path)}"}
        row["episodes"] += int((found[0][0].terminated | found[0][0].truncated).sum())
        states, steps = [each[0].state for each in found], steps + games
    yield {**row, "steps": steps, "seconds": time.monotonic() - began}


def operations(_: Plan) -> Rows:
    """Count the gather and scatter operations of a step."""
    from rlworldkit.bench.env import step_operations

    for world in (HACKMATRIX, GOODHARTS):
        yield {"what": world.partition(".")[0], **step_operations(_env(world))}


def _env(world: str) -> Any:  # noqa: ANN401 - a JaxEnv, whose module is heavy to import
    from goodharts.env import env_of
    from goodharts.rules import DEFAULT_MODE, MODES
    from hackmatrix.env import ENV

    return ENV if world == HACKMATRIX else env_of(MODES[DEFAULT_MODE])


def _prepared_and_measured(plan: Plan, make: Callable[[int], Any], measure: Callable[[Any], Row]) -> Rows:
    """Yield a row for each number of games: make (compile) all, then measure each; failures do not stop others."""

    def guarded(games: int, function: Callable[..., Any], given: Any, until: float) -> tuple[Any, Row | None]:  # noqa: ANN401
        if time.time() > until:
            return None, {"games": games, "status": NOT_RUN, "why": "no time was left"}
        try:
            return function(given), None
        except Exception as error:  # any failure must leave the others to run
            reason = (str(error).splitlines() or [""])[0]
            return None, {"games": games, "status": FAILED, "why": f"{type(error).__name__}: {reason:.300}"}

    made = deque[tuple[int, Any]]()
    for games in plan.games:
        thing, fault = guarded(games, make, games, plan.compile_until)
        if fault:
            yield fault
        else:
            made.append((games, thing))
    until = yield None
    while made:
        games, thing = made.popleft()
        row, fault = guarded(games, measure, thing, until)
        yield fault or {"games": games, **row}
        del thing  # free its memory


def env_speed(world: str, compact: bool, plan: Plan) -> Rows:
    """Measure random play as ``bench env`` does."""
    from rlworldkit.bench.env import STEPS_PER_CALL, compiled

    def make(games: int) -> tuple[Any, int]:
        return compiled(_env(world), games, compact=compact), STEPS_PER_CALL * games

    return _prepared_and_measured(plan, make, partial(_measure_program, plan))


def train_speed(world: str, network: str, dtype: str, plan: Plan) -> Rows:
    """Measure whole updates, as ``bench train`` does, of at most ``_BATCH`` steps."""
    from goodharts.architecture import network_config
    from goodharts.training.jax_ppo import train_config
    from hackmatrix.train_config import TrainConfig
    from rlworldkit.bench.train import compiled, one_update

    def make(games: int) -> tuple[Any, int]:
        if world == HACKMATRIX:
            steps = _steps(games)
            config: Any = one_update(TrainConfig(num_envs=games, num_steps=steps, network=network, dtype=dtype))
        else:
            training = _training(games, network)
            config = train_config(training, network_config(training, on_cpu=False), dtype)
        return compiled(_env(world), config), config.batch_size

    return _prepared_and_measured(plan, make, partial(_measure_program, plan))


def _steps(games: int) -> int:
    return max(1, min(128, _BATCH // games))


def _training(games: int, network: str) -> Any:  # noqa: ANN401 - goodharts.config.Training
    from goodharts.config import Config

    steps = _steps(games)
    changes: dict[str, Any] = {"network": network, "n_envs": games, "steps_per_env": steps}
    changes["minibatches"] = max(1, games * steps // _MINIBATCH)
    return dataclasses.replace(Config().training, **changes)


def _measure_program(plan: Plan, made: tuple[Any, int]) -> Row:
    import jax

    from rlworldkit.bench import timing
    from rlworldkit.bench.env import count_operations

    program, steps = made
    timing.SECONDS_PER_SAMPLE = plan.sample_seconds
    record = timing.alone("", 0, program, steps, repetitions=2)
    measured = {name: value for name, value in asdict(record).items() if name not in ("name", "num_envs")}
    used = (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use")
    return {**measured, "process_peak_bytes": used, **count_operations(program.call.as_text())}


def torch_speed(network: str, amp: bool, compile_mode: str, plan: Plan) -> Rows:
    """Measure whole updates of Goodharts' torch trainer, after two unmeasured ones in which torch compiles."""
    import torch

    from goodharts.config import Config, Runtime
    from goodharts.devices import choose_device, prepare
    from goodharts.rules import DEFAULT_MODE
    from goodharts.training.torch_ppo import TorchTrainer

    device = choose_device()
    prepare(device)

    def make(games: int) -> tuple[TorchTrainer, float]:
        began, runtime = time.perf_counter(), Runtime(amp=amp, compile_mode=compile_mode)
        trainer = TorchTrainer(DEFAULT_MODE, Config(training=_training(games, network), runtime=runtime), device)
        for _ in range(2):
            trainer.step()
        if device.type == "cuda":
            torch.cuda.empty_cache()  # leave memory to the parts that still prepare
        return trainer, time.perf_counter() - began

    def measure(made: tuple[TorchTrainer, float]) -> Row:
        trainer, seconds = made
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        speeds, until = list[float](), time.perf_counter() + plan.sample_seconds
        while len(speeds) < _LEAST_UPDATES or time.perf_counter() < until:
            speeds.append(trainer.step().metrics["steps_per_second"])
        peak = torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None
        median = statistics.median(speeds)
        spread = (max(speeds) - min(speeds)) / median
        return {"value": median, "unit": "steps/s", "spread": spread, "compile_seconds": seconds, "peak_bytes": peak}

    small = tuple(dict.fromkeys(min(games, _TORCH_GAMES) for games in plan.games))
    return _prepared_and_measured(dataclasses.replace(plan, games=small), make, measure)


TAPE_FOLDER = ROOT / "python" / "hackmatrix" / "tape"
PARTS: dict[str, Callable[[Plan], Rows]] = {
    "lockstep hackmatrix swift": partial(lockstep, HACKMATRIX, ("swift", "jax")),
    "lockstep hackmatrix tape": partial(lockstep, HACKMATRIX, (f"tape:{TAPE_FOLDER}", "jax")),
    "lockstep hackmatrix jax@cpu": partial(lockstep, HACKMATRIX, ("jax@cpu", "jax")),
    "lockstep goodharts torch": partial(lockstep, GOODHARTS, ("torch", "jax")),
    "lockstep goodharts jax@cpu": partial(lockstep, GOODHARTS, ("jax@cpu", "jax")),
    "lockstep goodharts torch-device": partial(lockstep, GOODHARTS, ("torch", "torch-device")),
    "lockstep hackmatrix native": partial(native, HACKMATRIX),
    "lockstep goodharts native": partial(native, GOODHARTS),
    "operations": operations,
    **{
        f"env {world.partition('.')[0]}{' compact' if compact else ''}": partial(env_speed, world, compact)
        for world, compact in product((HACKMATRIX, GOODHARTS), (False, True))
    },
    **{
        f"train {world.partition('.')[0]} {network} {dtype}": partial(train_speed, world, network, dtype)
        for dtype in ("float32", "bfloat16")
        for world, networks in ((HACKMATRIX, ("centred", "conv", "mlp")), (GOODHARTS, ("cnn", "mlp")))
        for network in networks
    },
    **{
        f"torch goodharts {network} {'amp' if amp else 'float32'} {mode}": partial(torch_speed, network, amp, mode)
        for network in ("cnn", "mlp")
        for amp, mode in ((False, "off"), (True, "off"), (True, "reduce-overhead"), (True, "max-autotune"))
    },
}
DESCRIBE = "describe"


def run_part(name: str, plan: Plan) -> int:
    """Run a part in this process and write its rows; return the exit code."""
    output, rows, sent = os.fdopen(os.dup(1), "w"), (describe if name == DESCRIBE else PARTS[name])(plan), None
    os.dup2(2, 1)  # keep the output of libraries apart from the rows
    with contextlib.suppress(StopIteration):
        while True:
            row = rows.send(sent)  # type: ignore[arg-type]  # None: go on
            print(_LINE + json_text(row), file=output, flush=True)
            sent = None if row is not None else float(sys.stdin.readline())
    return 0


class Process:
    """Subprocess of one part; puts its rows into the queue ``events``, and None when it has ended."""

    def __init__(self, name: str, plan: Plan, folder: Path, events: queue.Queue[tuple[Process, Any]]) -> None:
        self.name, self.is_busy, self.end_at = name, True, float("inf")
        self._log = folder / f"{len(list(folder.iterdir()))}.log"
        settings = {
            # several processes share the device and the cores
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
            "TORCHINDUCTOR_COMPILE_THREADS": "4",
            "JAX_COMPILATION_CACHE_DIR": os.environ.get("JAX_COMPILATION_CACHE_DIR") or str(folder / "cache"),
        }
        words = [sys.executable, __file__, "--part", name, "--plan", json_text(asdict(plan))]
        pipe = subprocess.PIPE
        with self._log.open("w") as log:
            environment = {**os.environ, **settings}
            self._process = subprocess.Popen(
                words, env=environment, stdin=pipe, stdout=pipe, stderr=log, text=True, start_new_session=True
            )
        assert self._process.stdout is not None
        threading.Thread(target=self._read, args=(self._process.stdout, events), daemon=True).start()

    def _read(self, output: IO[str], events: queue.Queue[tuple[Process, Any]]) -> None:
        for line in output:
            if line.startswith(_LINE):
                events.put((self, (json.loads(line.removeprefix(_LINE)),)))
        events.put((self, None))

    def measure(self, until: float) -> None:
        """Let the part measure what it has prepared, until this time."""
        assert self._process.stdin is not None
        self.end_at = until + _GRACE_SECONDS
        with contextlib.suppress(OSError):  # the process has ended; its last event is on its way
            print(until, file=self._process.stdin, flush=True)

    def kill(self) -> None:
        """Kill the process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def fault(self) -> str | None:
        """Wait for the process to end; return why it failed, or None."""
        if self._process.wait() == 0:
            return None
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return f"exit code {self._process.returncode}: {(lines or [''])[-1]:.300}"


def run_parts(names: Sequence[str], plan: Plan, ends: float, jobs: int, add: Callable[[str, Row], None]) -> None:
    """Run parts, ``jobs`` at a time, and pass rows to ``add``; parts that do not fit before ``ends`` get one, too."""
    waiting, alive, events = deque(names), list[Process](), queue.Queue[tuple[Process, Any]]()
    measuring: Process | None = None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            while waiting or alive:
                now = time.time()
                while waiting and now > (ends if jobs == 1 else plan.compile_until):
                    add(waiting.popleft(), {"status": NOT_RUN, "why": "no time was left"})
                while waiting and (not alive if jobs == 1 else sum(each.is_busy for each in alive) < jobs):
                    share = (ends - now) / len(waiting)
                    own = dataclasses.replace(plan, compile_until=now + _COMPILING * share) if jobs == 1 else plan
                    alive.append(Process(waiting.popleft(), own, Path(folder), events))
                    alive[-1].end_at = now + 2 * share if jobs == 1 else ends
                ready = [each for each in alive if not each.is_busy and each is not measuring]
                is_quiet = jobs == 1 or now > plan.compile_until or (not waiting and len(ready) == len(alive))
                if ready and measuring is None and is_quiet:
                    measuring = ready[0]
                    share = (ends - now) / (len(alive) + len(waiting))
                    measuring.measure(min(ends, now + max(_LEAST_SECONDS, share)))
                for late in [each for each in alive if now > min(each.end_at, ends)]:
                    late.kill()
                    alive.remove(late)
                    measuring = None if measuring is late else measuring
                    add(late.name, {"status": NOT_RUN, "why": "it took longer than the time that was left"})
                try:
                    source, event = events.get(timeout=0.2)
                except queue.Empty:
                    continue
                if source not in alive:
                    continue
                if event is None:
                    alive.remove(source)
                    measuring = None if measuring is source else measuring
                    if fault := source.fault():
                        add(source.name, {"status": FAILED, "why": fault})
                elif event[0] is None:
                    source.is_busy = False
                else:
                    add(source.name, event[0])
        finally:
            for each in alive:
                each.kill()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the check, and write ``accelerator.json`` and ``accelerator.html`` after every row; return the exit code."""
    parser = Parser(prog="accelerator_check", description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--output", type=Path, default=Path("accelerator-check"), metavar="DIR")
    parser.add_argument("--minutes", type=FloatRange(0.01, 1000), default=7.5, metavar="N", help="(default: 7.5)")
    sizes = "numbers of games, the most important first (default: 256,65536,4096,16384)"
    parser.add_argument("--games", default=(256, 65536, 4096, 16384), type=_counts, metavar="N[,N...]", help=sizes)
    compared = "random steps of each comparison of engines (default: 1,000,000)"
    parser.add_argument("--steps", type=STEPS, default=1_000_000, metavar="N", help=compared)
    parser.add_argument("--sample-seconds", type=FloatRange(0.001, 60), default=0.5, metavar="N", help="(default: 0.5)")
    parser.add_argument("--only", default="", metavar="WORDS", help="parts whose names begin so, separated by commas")
    parser.add_argument(
        "--jobs", type=IntRange(1, 256), metavar="N", help="parts at a time (default: one a core; 1 on a TPU)"
    )
    parser.add_argument("--part", choices=(*PARTS, DESCRIBE), help="run one part here (what the processes do)")
    parser.add_argument("--plan", type=json.loads, help="of --part")
    args = parser.parse_args(argv)
    if args.part:
        return run_part(args.part, Plan(**args.plan))
    names = [name for name in PARTS if name.startswith(tuple(args.only.split(",")))]
    if not names:
        parser.error(f"no part begins with {args.only}; there are {', '.join(PARTS)}")
    began = time.time()
    ends = began + 60 * args.minutes
    plan = Plan(args.games, args.steps, args.sample_seconds, ends)
    found: dict[str, Any] = {"machine": {}, "minutes": args.minutes, "rows": []}

    def add(name: str, row: Row) -> None:
        if name == DESCRIBE and "platform" in row:
            found["machine"] = row
        else:
            found["rows"].append({"part": name, **row})
        print(f"{time.time() - began:6.1f} s  {name}: {json_text(row)}", flush=True)
        found["seconds"] = time.time() - began
        with telling_failures(args.output):
            args.output.mkdir(parents=True, exist_ok=True)
            write_whole(args.output / "accelerator.json", (json_text(found, indent=1) + "\n").encode())
            write_whole(args.output / "accelerator.html", page(found).encode())

    run_parts([DESCRIBE], plan, ends, 1, add)
    jobs = args.jobs or (1 if found["machine"].get("platform") == "tpu" else os.cpu_count() or 1)
    torch_names = [name for name in names if name.startswith("torch")]
    left = len(names)
    for group in ([name for name in names if name not in torch_names], torch_names):
        now = time.time()
        share = max(0.0, ends - now) * len(group) / max(1, left)
        run_parts(group, dataclasses.replace(plan, compile_until=now + _COMPILING * share), now + share, jobs, add)
        left -= len(group)
    print(f"Wrote {args.output / 'accelerator.json'} and {args.output / 'accelerator.html'}.")
    return int(any(row.get("status") in (FAILED, DIFFERS) for row in found["rows"]))


def _counts(text: str) -> tuple[int, ...]:
    return tuple(GAMES(count) for count in text.split(","))


if __name__ == "__main__":
    sys.exit(main())
