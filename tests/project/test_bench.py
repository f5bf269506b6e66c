"""The benchmarks: the form of their records, and that they measure what they say."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from jax.experimental.compilation_cache import compilation_cache

from hackmatrix import bench as swift_bench
from hackmatrix.cli.main import PROGRAM, main
from hackmatrix.training_config import MaskablePPOConfig
from hackmatrix.world import WORLD
from rlparity.errors import INTERRUPTED_EXIT_CODE
from rlworldkit.bench import gym, sb3, timing
from rlworldkit.bench.records import Record, plain_record
from rlworldkit.cli import bench
from rlworldkit.program import Benchmark

KEYS = ["name", "value", "unit", "num_envs", "spread", "compile_seconds", "trace_seconds", "peak_bytes"]
CACHE_AGE = "jax_persistent_cache_min_compile_time_secs"
CACHE_SIZE = "jax_persistent_cache_min_entry_size_bytes"
BENCHMARKS = bench.all_benchmarks(PROGRAM, PROGRAM.world)


def the_only_benchmarks(monkeypatch: pytest.MonkeyPatch, **benchmarks: Benchmark) -> None:
    monkeypatch.setattr(bench, "kit_benchmarks", lambda program, world: benchmarks)
    monkeypatch.setattr("hackmatrix.cli.main.PROGRAM", dataclasses.replace(PROGRAM, benchmarks=lambda world: {}))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every benchmark's ``measure`` answers at once with the games it was asked for."""

    def measure(num_envs: int, repetitions: int) -> list[Record]:
        return [plain_record("env_steps_per_second", num_envs, [900.0 * repetitions, 1000.0 * repetitions, 1e9])]

    the_only_benchmarks(
        monkeypatch, **{name: dataclasses.replace(each, measure=measure) for name, each in BENCHMARKS.items()}
    )


@pytest.mark.usefixtures("quick")
def test_json_on_standard_output_is_nothing_but_the_records(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "env", "train", "--num-envs", "3,5", "--repetitions", "2", "--json", "-"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert [record["num_envs"] for record in records] == [3, 5, 3, 5]
    assert [list(record) for record in records] == [KEYS] * 4  # as documented
    assert (records[0]["value"], records[0]["spread"]) == (2000.0, (1e9 - 1800) / 2000)


@pytest.mark.parametrize("is_link", [False, True])
def test_a_record_is_shown_and_in_the_file_before_the_next_is_measured_and_kept_after_ctrl_c(
    is_link: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, file = tmp_path / "bench.json", tmp_path / "file"
    file.touch()
    if is_link:  # as /dev/stdout is one, to a file where a shell says ``> file``
        target.symlink_to(file)
    shown: list[list[str]] = []

    def measure(num_envs: int, repetitions: int) -> Iterator[Record]:
        for count in range(2):
            yield plain_record("env_steps_per_second", num_envs, [7.0] * repetitions)
            assert is_link or len(json.loads(target.read_text())) == count + 1
            shown.append(capsys.readouterr().out.splitlines())
        raise KeyboardInterrupt

    the_only_benchmarks(monkeypatch, env=Benchmark("looks", measure, plays=False))
    assert main(["bench", "--num-envs", "3", "--json", str(target)]) == INTERRUPTED_EXIT_CODE
    (heading, first), (second,) = shown
    assert heading.split() == ["measured", "games", "median", "spread", "trace", "compile", "peak"]
    assert first == second  # and so under the same heading
    assert (target.is_symlink(), len(json.loads(target.read_text()))) == (is_link, 2)
    assert capsys.readouterr().err.splitlines()[-1] == "hackmatrix: interrupted."


def test_tracing_and_compiling_are_timed_without_any_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: jax.config.values[name] for name in ("jax_compilation_cache_dir", CACHE_AGE, CACHE_SIZE)}
    traced, carry = [], jnp.ones((64, 64))

    @jax.jit
    def function(x: jax.Array) -> jax.Array:
        traced.append(x)
        return jnp.tanh(x @ x)

    try:
        for name, value in {"jax_compilation_cache_dir": str(tmp_path), CACHE_AGE: 0.0, CACHE_SIZE: -1}.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()
        jax.eval_shape(function, carry)
        program = timing.compile_program(function, carry)
        assert (len(traced), list(tmp_path.iterdir())) == (2, [])
        function(carry).block_until_ready()
        assert list(tmp_path.iterdir()) != []
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()
    assert min(program.compile_seconds, program.trace_seconds) > 0
    assert program.peak_bytes >= 2 * carry.nbytes


def test_benchmarks_of_environments_measure_both_ways(swift_built: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in (
        (gym, "SECONDS_ALONE", 0.01),
        (gym, "STEPS_PER_GAME", 5),
        (swift_bench, "STEPS_ALONE", 1000),
        (swift_bench, "STEPS_PER_GAME", 2),
    ):
        monkeypatch.setattr(module, name, value)
    records = [
        *gym.measure(WORLD, 3, 2),
        *swift_bench.measure(WORLD, 4, 2),
        *sb3.measure(WORLD, MaskablePPOConfig(n_steps=32, n_epochs=1), 2, 3),
    ]
    assert [(record.name, record.num_envs, record.unit) for record in records] == [
        ("gym_steps_per_second", 1, "steps/s"),
        ("gym_vector_steps_per_second", 3, "steps/s"),
        ("swift_steps_per_second", 1, "steps/s"),
        ("swift_protocol_steps_per_second", 4, "steps/s"),
        ("sb3_steps_per_second", 2, "steps/s"),
    ]
    assert all(record.value > 0 for record in records)


@pytest.mark.long
@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_measures_the_real_thing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", name, "--num-envs", "8", "--repetitions", "1", "--json", "-"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert all(record["value"] > 0 and record["num_envs"] in (1, 8) for record in records)
