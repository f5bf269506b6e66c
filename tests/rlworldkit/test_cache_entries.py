"""An entry of JAX's compilation cache that is damaged is told in a sentence, and replaced in the same run."""

from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import numpy as np
import pytest
from jax.experimental.compilation_cache.compilation_cache import reset_cache

from rlworldkit.jax.cache_entries import damaged_entries, replace_damaged_entries


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def make_folder(path: Path) -> None:
    """As root reads files whatever their permissions, this one stands for what can be neither read nor replaced."""
    path.unlink()
    path.mkdir()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    before = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    reset_cache()
    replace_damaged_entries()
    yield tmp_path
    jax.config.update("jax_compilation_cache_dir", before)
    reset_cache()


def entry_of(cache: Path) -> Path:
    """Compile a program as a new process does; its entry."""

    def twice_of_it(x: jax.Array) -> jax.Array:
        return x * 2

    jax.clear_caches()
    jax.jit(twice_of_it)(np.ones(3, np.float32)).block_until_ready()
    (path,) = cache.glob("jit_twice_of_it-*-cache")
    return path


@pytest.mark.parametrize(
    "damage", [halve, lambda path: path.write_bytes(b""), lambda path: path.write_bytes(b"x" * 99)]
)
def test_a_damaged_entry_is_replaced_and_said_once(
    damage: Callable[[Path], None], cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = entry_of(cache)
    size = path.stat().st_size
    damage(path)
    assert [*damaged_entries(cache)] == [path]
    assert entry_of(cache) == path
    assert capsys.readouterr().err == f"Compiling jit_twice_of_it again, because {path} was damaged.\n"
    assert path.stat().st_size == pytest.approx(size, rel=0.1)
    assert [*damaged_entries(cache)] == []
    entry_of(cache)
    assert capsys.readouterr().err == ""


def test_an_entry_that_cannot_be_replaced_is_named_with_what_to_do(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = entry_of(cache)
    make_folder(path)
    entry_of(cache)
    said = capsys.readouterr().err
    assert said.startswith(f"{path} is damaged and cannot be replaced (")
    assert said.endswith("): remove it, or each run compiles it again.\n")
    assert said.count("\n") == 1
