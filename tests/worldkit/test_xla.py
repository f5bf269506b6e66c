"""The compiler settings of the console commands."""

import errno
import os
from pathlib import Path

import pytest

from worldkit.jax import xla
from worldkit.jax.xla import keep_compiled_programs, prefer_wide_vectors

_SAYING_WHAT_IS_CACHED = xla._ENABLED, xla._LEAST_SECONDS


def test_wide_vectors_are_asked_for_beside_the_users_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=here")
    prefer_wide_vectors()
    assert os.environ["XLA_FLAGS"].split() == ["--xla_dump_to=here", "--xla_cpu_prefer_vector_width=512"]


def test_a_width_that_the_user_chose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_prefer_vector_width=256")
    prefer_wide_vectors()
    assert os.environ["XLA_FLAGS"].split() == ["--xla_cpu_prefer_vector_width=256"]


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
    keep_compiled_programs("a-game")
    folder = Path(os.environ["JAX_COMPILATION_CACHE_DIR"])
    assert folder.name == "jax"
    assert "a-game" in folder.parts
    assert what_is_cached() == (None, None)


def test_a_cache_that_the_user_chose_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chosen = str(tmp_path / "chosen")
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", chosen)
    keep_compiled_programs("a-game")
    assert os.environ["JAX_COMPILATION_CACHE_DIR"] == chosen
    assert what_is_cached() == (None, None)


def test_a_cache_that_a_network_has_is_left_to_jax(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "gs://bucket/jax")
    keep_compiled_programs("a-game")
    assert os.environ["JAX_COMPILATION_CACHE_DIR"] == "gs://bucket/jax"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("is_there", "cached"), [(True, (None, "inf")), (False, ("false", None))])
def test_a_cache_that_cannot_be_written_is_only_read_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_there: bool, cached: tuple[str | None, ...]
) -> None:
    if not is_there:
        (tmp_path / "jax").touch()

    def refused(**_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("worldkit.jax.xla.tempfile.TemporaryFile", refused)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "jax"))
    keep_compiled_programs("a-game")
    assert what_is_cached() == cached


@pytest.mark.parametrize("answer", [RuntimeError("Could not determine home directory."), "~/.cache/a-game"])
def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch, answer: Exception | str) -> None:
    def user_cache_dir(_: str) -> str:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("worldkit.jax.xla.platformdirs.user_cache_dir", user_cache_dir)
    keep_compiled_programs("a-game")
    assert "JAX_COMPILATION_CACHE_DIR" not in os.environ
    assert what_is_cached() == (None, None)
