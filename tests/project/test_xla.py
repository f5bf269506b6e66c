"""The compiler settings of the console commands."""

import os

import pytest

from worldkit import cores
from worldkit.jax.xla import of_parts, prefer_wide_vectors


def test_wide_vectors_are_asked_for_beside_the_users_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=here")
    prefer_wide_vectors()
    assert _flags() == ["--xla_dump_to=here", "--xla_cpu_prefer_vector_width=512"]


def test_a_width_that_the_user_chose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_prefer_vector_width=256")
    prefer_wide_vectors()
    assert _flags() == ["--xla_cpu_prefer_vector_width=256"]


def test_each_part_of_the_processor_is_a_device_with_its_share_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=here")
    monkeypatch.delenv("PJRT_NPROC", raising=False)
    monkeypatch.setattr(cores, "available_cores", lambda: 8)
    assert of_parts(4) == {
        "XLA_FLAGS": "--xla_dump_to=here --xla_force_host_platform_device_count=4",
        "PJRT_NPROC": "2",
    }


def test_threads_that_the_user_chose_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PJRT_NPROC", "3")
    assert of_parts(2)["PJRT_NPROC"] == "3"


def _flags() -> list[str]:
    return os.environ["XLA_FLAGS"].split()
