"""``bench growth`` and ``bench boards``: what speed depends on."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from toy_world.adapter import OrchardJaxEnv
from toy_world.in_jax import Orchard

from worldkit.bench import boards, growth, timing
from worldkit.bench.boards import Turns
from worldkit.bench.env import Play, one_step
from worldkit.bench.timing import Program

TOYS = Path(__file__).resolve().parents[1] / "parity"
CHILD = """
import json, os, sys
games, answer = int(sys.argv[sys.argv.index("--num-envs") + 1]), sys.argv[sys.argv.index("--json") + 1]
with open(os.environ["SEEN"], "a") as seen:
    print(json.dumps([sys.argv[1:3], games, os.environ["JAX_PLATFORMS"], os.environ["XLA_FLAGS"]]), file=seen)
record = {"name": "env_steps_per_second", "value": 5.0, "unit": "steps/s", "num_envs": games, "spread": 0.0}
with open(answer, "w") as file:
    json.dump([record | {"compile_seconds": 1.0, "trace_seconds": 2.0, "peak_bytes": 3}], file)
"""


def test_every_point_of_growth_is_measured_in_a_process_with_so_many_games_and_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    monkeypatch.setenv("XLA_FLAGS", "--a_flag=1")
    monkeypatch.setattr(growth, "GAMES", (1, 64))
    monkeypatch.setattr(growth, "DEVICES", (1, 2))
    records = list(growth.measure("child", 64, 1))
    assert [(record.name.removeprefix("env_steps_per_second_"), record.num_envs) for record in records] == [
        ("devices_1", 1),
        ("devices_1", 64),
        ("devices_2", 64),
    ]
    assert all((record.peak_bytes or 0) > 2**20 for record in records)  # of a process, not XLA's plan
    flag = "--a_flag=1 --xla_force_host_platform_device_count"
    assert [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()] == [
        [["bench", "env"], games, "cpu", f"{flag}={devices}"] for games, devices in ((1, 1), (64, 1), (64, 2))
    ]


def games_of(turn: int) -> Orchard:
    """Three games of one world in this turn."""
    world = OrchardJaxEnv()
    states: Orchard = jax.jit(jax.vmap(world.reset))(world.initial_seeds(0, 3))
    return states._replace(turn=jnp.full(3, turn, jnp.int32))


def test_boards_of_one_size_share_a_program_and_every_step_starts_from_them(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Turns] = []
    turns: list[int] = []

    def compile_program(function: Callable[[Turns], Turns], carry: Turns) -> Program[Turns]:
        compiled.append(carry)
        return Program(jax.jit(function), carry, trace_seconds=1.0, compile_seconds=2.0, peak_bytes=3)

    def noted(world: OrchardJaxEnv) -> Callable[[Play], Play]:
        step = one_step(world)

        def note(play: Play) -> Play:
            jax.debug.callback(lambda turn: turns.append(int(turn)), play.states.turn[0])
            return step(play)

        return note

    monkeypatch.setattr(timing, "SECONDS_PER_SAMPLE", 0.01)
    monkeypatch.setattr(boards, "STEPS_PER_CALL", 4)
    monkeypatch.setattr(boards, "compile_program", compile_program)
    monkeypatch.setattr(boards, "one_step", noted)
    first, second = boards.measure(OrchardJaxEnv(), [("early", games_of(0)), ("late", games_of(9))], 1)
    jax.effects_barrier()
    assert [first.name, second.name] == ["env_steps_per_cpu_second_early", "env_steps_per_cpu_second_late"]
    assert (first.num_envs, first.compile_seconds, len(compiled)) == (3, 2.0, 1)
    assert set(turns) == {0, 9}
    assert min(turns.count(0), turns.count(9)) >= 3 * 4  # two calls before the first sample


def test_the_benchmark_of_a_world_splits_its_games_over_the_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TOYS), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(growth, "GAMES", ())
    monkeypatch.setattr(growth, "DEVICES", (2,))
    assert [(record.name, record.num_envs) for record in growth.measure("toy_world", 4, 1)] == [
        ("env_steps_per_second_devices_2", 4),
        ("env_compact_steps_per_second_devices_2", 4),
    ]
