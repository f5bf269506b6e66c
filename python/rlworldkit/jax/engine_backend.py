"""Choice of the backend that plays a world in JAX; JAX is imported only when an environment is made."""

from __future__ import annotations

import argparse
import os
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rlparity import World
from rlparity.errors import UsageError
from rlparity.io.arguments import OneOf

if TYPE_CHECKING:
    from rlworldkit.jax.env import JaxEnv

VARIABLE = "RLWORLDKIT_ENGINE_BACKEND"
"""Environment variable with the backend, for programs without the flag and for child processes."""
AUTO, XLA, NATIVE = "auto", "xla", "native"
BACKENDS = OneOf((AUTO, XLA, NATIVE))
HELP = (
    "compiler of the JAX engine; results are the same: `xla` is JAX's own, `native` a C or CUDA compiler, `auto` a C "
    f"compiler on a CPU that has one if a game's state fits in 1 KiB, else `xla` (default: {VARIABLE} or `auto`)"
)


def add_backend_flag(parser: argparse._ActionsContainer) -> None:
    """Add ``--engine-backend``, which takes effect while arguments are parsed."""
    parser.add_argument("--engine-backend", choices=BACKENDS.words, action=_Choose, help=HELP)


class _Choose(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        choose_backend(values)


def choose_backend(name: str | None) -> None:
    """Use this backend in this process and its child processes; None keeps the environment variable as it is."""
    if name is not None:
        os.environ[VARIABLE] = name


def jax_env_of(world: World) -> JaxEnv:
    """Return the world's JAX environment at the world's prices, on the chosen backend.

    Raises UsageError if the world has no JAX engine, or if the backend does not work here.
    """
    if world.jax is None:
        raise UsageError(f"{world.name} has no engine in JAX, which this needs: take a world that has one.")
    env = on_backend(world.jax())
    return env if world.price_values is None else env.with_prices(np.array(world.price_values, np.int32))


def on_backend(env: JaxEnv) -> JaxEnv:
    """Return the environment on the chosen backend; raises UsageError if the backend does not work here.

    The same environment gives the same object, so that engines share their programs.
    """
    name = os.environ.get(VARIABLE) or AUTO
    if fault := BACKENDS.fault(name):
        raise UsageError(f"{VARIABLE} {fault}.")
    return env if name == XLA else _on_backend(env, name)


@cache
def _on_backend(env: JaxEnv, name: str) -> JaxEnv:
    import jax

    from rlworldkit.jax.native import cpu, cuda
    from rlworldkit.jax.native.env import is_native, native_env

    device = jax.default_backend()
    if is_native(env) or (name == AUTO and device != "cpu"):
        return env
    fault = cpu.fault() if device == "cpu" else None
    if device != "cpu" and cuda.find_library() is None:
        fault = (
            f"there is no compiler of translated programs for a {device}: install rlworldkit[cuda] for an NVIDIA GPU"
        )
    if fault and name == NATIVE:
        raise UsageError(f"{fault}, or choose --engine-backend xla.")
    return env if fault else native_env(env, auto=name == AUTO)
