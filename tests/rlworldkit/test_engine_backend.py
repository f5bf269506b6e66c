"""Which engine of JAX plays: what is said where the one that is asked for cannot."""

from collections.abc import Callable

import pytest
from orchard.env import OrchardJaxEnv

from rlworldkit.jax.engine_backend import AUTO, NATIVE, VARIABLE, on_backend
from rlworldkit.jax.native import compiler


def test_without_a_compiler_nothing_changes_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.setattr(compiler, "fault", lambda: "no C compiler is found: install one, name it in CC")
    monkeypatch.setenv(VARIABLE, AUTO)
    env = OrchardJaxEnv()
    assert on_backend(env) is env
    said = refused("train", "--no-wandb", "--engine-backend", NATIVE)
    assert "no C compiler is found" in said
    assert "choose --engine-backend xla" in said
    monkeypatch.setenv(VARIABLE, "fast")
    assert VARIABLE in refused("train", "--no-wandb")
