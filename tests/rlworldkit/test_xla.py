"""The compiler settings of the console commands, and what JAX is prepared for."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlworldkit.jax import xla
from rlworldkit.jax.xla import PTX_CALL, compiler_options, enable_compilation_cache, of_parts, prefer_wide_vectors

_SAYING_WHAT_IS_CACHED = xla._ENABLED, xla._LEAST_SECONDS


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("--xla_dump_to=here", ["--xla_dump_to=here", "--xla_cpu_prefer_vector_width=512"]),
        ("--xla_cpu_prefer_vector_width=256", ["--xla_cpu_prefer_vector_width=256"]),
    ],
)
def test_wide_vectors_are_asked_for_beside_the_users_flags_but_for_a_width_of_theirs(
    given: str, kept: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLA_FLAGS", given)
    prefer_wide_vectors()
    assert os.environ["XLA_FLAGS"].split() == kept


@pytest.mark.parametrize(
    ("platform", "text", "flags", "options"),
    [
        ("gpu", "", "", {"xla_gpu_enable_command_buffer", "xla_gpu_graph_min_graph_size"}),
        ("gpu", "", "--xla_gpu_enable_command_buffer=", {"xla_gpu_graph_min_graph_size"}),
        ("gpu", f"custom_call @{PTX_CALL}", "", set()),
        ("cpu", "", "", set()),
    ],
)
def test_games_that_xla_plays_on_a_gpu_become_graphs_unless_the_user_says_otherwise(
    platform: str, text: str, flags: str, options: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLA_FLAGS", flags)
    assert compiler_options(platform, lambda: text).keys() == options


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables that say what is cached, which these tests set, are as before afterwards."""
    for name in (*_SAYING_WHAT_IS_CACHED, xla.CACHE_VARIABLE):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def what_is_cached() -> tuple[str | None, ...]:
    return tuple(map(os.environ.get, _SAYING_WHAT_IS_CACHED))


def test_compiled_programs_are_kept_in_the_users_cache_of_the_application(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    enable_compilation_cache("a-game")
    folder = Path(os.environ["JAX_COMPILATION_CACHE_DIR"])
    assert folder.name == "jax"
    assert "a-game" in folder.parts
    assert what_is_cached() == (None, None)


@pytest.mark.parametrize(("is_there", "cached"), [(True, (None, "inf")), (False, ("false", None))])
def test_a_cache_that_cannot_be_written_is_only_read_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_there: bool, cached: tuple[str | None, ...]
) -> None:
    if not is_there:
        (tmp_path / "jax").touch()

    def refused(**_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("rlworldkit.jax.xla.tempfile.TemporaryFile", refused)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "jax"))
    enable_compilation_cache("a-game")
    assert what_is_cached() == cached


FIRST_PROGRAM = """
import sys
import jax
from rlworldkit.jax.trace_cache import compile_in_background

with compile_in_background() as executor:
    before = set(sys.modules)
    executor.submit(lambda: jax.nn.initializers.orthogonal()(jax.random.key(0), (4, 4)).block_until_ready()).result()
    print(sorted({name.partition(".")[0] for name in set(sys.modules) - before} & {"scipy", "distrax", "numpy"}))
"""


def test_compiling_imports_nothing_that_tracing_may_be_importing() -> None:
    """Two threads that import modules of one package can wait for each other until Python gives up."""
    done = subprocess.run([sys.executable, "-c", FIRST_PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_each_part_of_the_processor_is_a_device_with_its_share_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=here")
    monkeypatch.delenv("PJRT_NPROC", raising=False)
    monkeypatch.setattr(xla, "available_cores", lambda: 8)
    flags = "--xla_dump_to=here --xla_force_host_platform_device_count=4"
    assert of_parts(4) == {"XLA_FLAGS": flags, "PJRT_NPROC": "2"}
    monkeypatch.setenv("PJRT_NPROC", "3")  # threads that the user chose
    assert of_parts(2)["PJRT_NPROC"] == "3"
