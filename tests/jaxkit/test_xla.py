"""The compiler settings of the console commands."""

import os
from pathlib import Path

import pytest

from worldkit.jaxkit.xla import keep_compiled_programs, prefer_wide_vectors


def test_wide_vectors_are_asked_for_beside_the_users_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=here")
    prefer_wide_vectors()
    assert os.environ["XLA_FLAGS"].split() == ["--xla_dump_to=here", "--xla_cpu_prefer_vector_width=512"]


def test_a_width_that_the_user_chose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_prefer_vector_width=256")
    prefer_wide_vectors()
    assert os.environ["XLA_FLAGS"].split() == ["--xla_cpu_prefer_vector_width=256"]


def test_compiled_programs_are_kept_in_the_users_cache_of_the_application(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR")
    keep_compiled_programs("a-game")
    folder = Path(os.environ["JAX_COMPILATION_CACHE_DIR"])
    assert folder.name == "jax"
    assert "a-game" in folder.parts


def test_a_cache_that_the_user_chose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "/chosen")
    keep_compiled_programs("a-game")
    assert os.environ["JAX_COMPILATION_CACHE_DIR"] == "/chosen"
