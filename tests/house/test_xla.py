"""The compiler settings of the console commands."""

import os

import pytest

from worldkit.jaxkit.xla import prefer_wide_vectors


def test_wide_vectors_are_asked_for_beside_the_users_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=here")
    prefer_wide_vectors()
    assert _flags() == ["--xla_dump_to=here", "--xla_cpu_prefer_vector_width=512"]


def test_a_width_that_the_user_chose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_prefer_vector_width=256")
    prefer_wide_vectors()
    assert _flags() == ["--xla_cpu_prefer_vector_width=256"]


def _flags() -> list[str]:
    return os.environ["XLA_FLAGS"].split()
