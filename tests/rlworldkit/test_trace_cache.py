"""The on-disk cache of exported traces."""

import importlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from rlparity.errors import UsageError
from rlworldkit.jax import program_cache, trace_cache
from rlworldkit.jax.trace_cache import TracedProgram, load_or_trace


class Pair(NamedTuple):
    """Some results."""

    key: Array
    values: dict[str, Array]


class Tracer:
    """A function that knows how often it was traced."""

    def __init__(self) -> None:
        self.traces = 0

    def __call__(self, key: Array, shift: Array) -> Pair:
        self.traces += 1
        following, drawn = jax.random.split(key)
        return Pair(following, {"shifted": jax.random.normal(drawn, (3,)) + shift})

    def program(self, about: str = "a program", package: str = "rlparity", args: tuple[Any, ...] = ()) -> TracedProgram:
        """The function as a new process would get it."""
        traced = jax.jit(lambda key, shift: self(key, shift))
        return load_or_trace(traced, *(args or ARGS), about=[about], packages=[package])


class Bomb:
    """Runs when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return pytest.fail, ("it was executed",)


ARGS = jax.random.key(5), jnp.float32(2.0)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(program_cache, "cache_folder", lambda: tmp_path)
    return tmp_path / program_cache.FOLDER


@pytest.fixture
def tracer() -> Tracer:
    return Tracer()


def result(program: TracedProgram) -> bytes:
    out: Pair = program.compile()(*ARGS)
    return np.asarray(jax.random.key_data(out.key)).tobytes() + np.asarray(out.values["shifted"]).tobytes()


def test_the_second_time_nothing_is_traced_and_the_results_are_the_same_bits(folder: Path, tracer: Tracer) -> None:
    first = result(tracer.program())
    assert tracer.traces == 1
    assert result(tracer.program()) == first
    assert tracer.traces == 1
    assert first == result(load_or_trace(jax.jit(tracer), *ARGS, about=[], packages=[]))

    results: Pair = tracer.program().results  # known before anything is compiled
    assert (results.values["shifted"].shape, results.values["shifted"].dtype) == ((3,), jnp.float32)
    assert jnp.issubdtype(results.key.dtype, jax.dtypes.prng_key)


def of_another_setting(tracer: Tracer) -> None:
    with jax.default_matmul_precision("highest"):  # which changes results
        tracer.program()


def of_another_version(tracer: Tracer) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace_cache, "_versions", lambda: ("jax 99.0",))
        tracer.program()


@pytest.mark.parametrize(
    "another",
    [
        lambda tracer: tracer.program("another"),
        lambda tracer: tracer.program(args=(ARGS[0], jnp.ones(3))),
        of_another_setting,
        of_another_version,
    ],
    ids=["program", "shape", "setting of JAX", "version of a library"],
)
def test_what_differs_has_a_trace_of_its_own(another: Callable[[Tracer], object], folder: Path, tracer: Tracer) -> None:
    for _ in range(2):
        tracer.program()
        another(tracer)
    assert tracer.traces == len(list(folder.iterdir())) == 2


def test_what_is_spread_over_devices_has_a_trace_of_its_own_and_stays_spread(folder: Path, tracer: Tracer) -> None:
    spread = NamedSharding(Mesh(np.array(jax.devices()[:1]), ("parts",)), PartitionSpec())
    shapes = tuple(jax.ShapeDtypeStruct(arg.shape, arg.dtype, sharding=spread) for arg in ARGS)
    tracer.program()
    for _ in range(2):
        program = tracer.program(args=shapes)
    assert tracer.traces == 2
    out: Pair = program.compile()(*(jax.device_put(arg, spread) for arg in ARGS))
    assert out.values["shifted"].sharding == spread
    assert result(program) == result(tracer.program())


@pytest.mark.parametrize("source", ["changing/deep/rule.py", "changing/linked/rule.py", "changing.py"])
def test_changed_sources_ask_for_another_trace(
    source: str, folder: Path, tracer: Tracer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    if source != "changing.py":
        (tmp_path / "changing" / "deep").mkdir(parents=True)
        (tmp_path / "changing" / "__init__.py").touch()
        (tmp_path / "changing" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / source).write_text("PRICE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    trace_cache._source_digest.cache_clear()  # what a new process starts with
    tracer.program(package="changing")
    trace_cache._source_digest.cache_clear()
    tracer.program(package="changing")
    assert tracer.traces == 1
    (tmp_path / source).write_text("PRICE = 2\n")
    trace_cache._source_digest.cache_clear()
    tracer.program(package="changing")
    assert tracer.traces == 2


def test_sources_that_are_nowhere_are_named(folder: Path, tracer: Tracer) -> None:
    with pytest.raises(UsageError, match=r"there is no package .nowhere\.at_all., which JaxEnv\.packages names"):
        tracer.program(package="nowhere.at_all")


def test_a_good_trace_of_something_else_is_refused(folder: Path, tracer: Tracer) -> None:
    tracer.program("one")
    (one,) = folder.iterdir()
    tracer.program("another")
    (another,) = set(folder.iterdir()) - {one}
    one.write_bytes(another.read_bytes())
    tracer.program("one")
    assert tracer.traces == 3


def test_a_file_that_cannot_be_used_is_replaced_and_nothing_in_it_is_executed(folder: Path, tracer: Tracer) -> None:
    first = result(tracer.program())
    (path,) = folder.iterdir()
    good = path.read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    for number, content in enumerate([b"", b"no trace", pickle.dumps(Bomb()), good[:-100], bytes(flipped)], start=1):
        path.write_bytes(content)
        tracer.program()
        assert result(tracer.program()) == first
        assert tracer.traces == 1 + number


@pytest.mark.parametrize("name", ["builtins:exec", "builtins:str", "collections:OrderedDict", "not_imported:Pair"])
def test_a_file_can_name_named_tuples_that_are_there_and_nothing_else(name: str) -> None:
    with pytest.raises((TypeError, KeyError)):
        trace_cache._named_tuple(name)


def test_results_of_a_type_that_has_no_name_are_traced_every_time(folder: Path) -> None:
    class Local(NamedTuple):
        value: Array

    for _ in range(2):
        program = load_or_trace(jax.jit(Local), jnp.float32(2.0), about=[], packages=["rlparity"])
        assert program.compile()(jnp.float32(2.0)) == Local(jnp.float32(2.0))
    assert not folder.exists()


def test_of_too_many_the_one_not_used_for_longest_goes(
    folder: Path, tracer: Tracer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_cache, "MAX_FILES", 2)
    tracer.program("one")
    (one,) = folder.iterdir()
    tracer.program("two")
    (two,) = set(folder.iterdir()) - {one}
    os.utime(one, (1, 1))
    os.utime(two, (2, 2))
    tracer.program("one")  # used again
    tracer.program("three")
    assert one.exists()
    assert not two.exists()
    assert tracer.traces == 3


@pytest.mark.parametrize("is_off", [True, False])
def test_a_folder_that_cannot_be_made_or_is_not_wanted_costs_only_the_trace(
    is_off: bool, folder: Path, tracer: Tracer, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_off:
        monkeypatch.setattr(program_cache, "cache_folder", lambda: None)
    else:
        folder.write_text("a file in its place")
    first = result(tracer.program())
    assert result(tracer.program()) == first
    assert tracer.traces == 2


def test_the_kit_is_among_the_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_cache, "_source_digest", " and ".join)
    assert "rlworldkit and rlparity.threefry and rlparity" in trace_cache._cache_key(("rlparity",), [])
