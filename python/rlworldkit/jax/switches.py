"""JAX's own switches, such as JAX_ENABLE_X64: those that this package fixes, and those that checkpoints record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import jax

from rlparity.errors import UsageError, quoted
from rlworldkit.jax.xla import is_remote

FIXED = {"jax_enable_x64": False, "jax_numpy_dtype_promotion": "standard", "jax_numpy_rank_promotion": "allow"}
"""Values that worlds and the trainer are written for."""
_FIXED_RANDOM = {"jax_default_prng_impl": "threefry2x32", "jax_threefry_partitionable": True}
"""Values that decide which random numbers a seed gives."""
_REQUIRED = {
    **dict.fromkeys(("jax_disable_jit", "jax_check_tracer_leaks", "jax_no_tracing", "jax_no_execution"), False),
    **{f"jax_error_checking_behavior_{fault}": "ignore" for fault in ("nan", "oob", "divide")},
}
"""Values without which an update cannot be compiled."""
RECORDED = (
    *_FIXED_RANDOM,
    "jax_allow_f16_reductions",
    "jax_default_matmul_precision",
    "jax_disable_most_optimizations",
    "jax_high_dynamic_range_gumbel",
    "jax_random_seed_offset",
    "jax_scan3",
    "jax_softmax_custom_jvp",
    "jax_use_direct_linearize",
)
"""Switches that change the parameters that a seed is trained to."""
_ABSENT = object()
_GUARDS = tuple(f"jax_transfer_guard{way}" for way in ("", "_host_to_device", "_device_to_host", "_device_to_device"))


@contextmanager
def holding(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    """Context in which a context variable has this value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def fixed_switches(*, random: bool = True) -> Iterator[None]:
    """Context that fixes 32-bit types, promotion of dtypes and ranks, and host-device copies in this thread.

    The user's own switches hold outside it. random: also fix JAX's default random numbers.
    """
    fixed = FIXED | _FIXED_RANDOM if random else FIXED
    with ExitStack() as stack:
        for name, value in fixed.items():
            if switch(name) != value:
                stack.enter_context(getattr(jax, name.removeprefix("jax_"))(value))
        if any(switch(name) not in (None, "allow") for name in _GUARDS):
            stack.enter_context(jax.transfer_guard("allow"))
        yield


@contextmanager
def training_switches() -> Iterator[None]:
    """Context of ``fixed_switches`` with the user's random numbers; raises UsageError if training cannot compile."""
    for name, value in _REQUIRED.items():
        if switch(name) not in (None, value):
            raise UsageError(f"{name.upper()} is set, with which training cannot be compiled: unset it.")
    with fixed_switches(random=False):
        yield


def recorded_switches() -> dict[str, Any]:
    """Return the version of JAX and the values of the switches ``RECORDED``, as plain values."""
    return {"version": jax.__version__, **{name: switch(name) for name in RECORDED}}


def check_recorded(before: Mapping[str, Any], path: Path) -> None:
    """Raise UsageError if the run of a checkpoint began with other ``recorded_switches``."""
    changed = [name for name in RECORDED if before.get(name, switch(name)) != switch(name)]
    if changed:
        were = (f"{name.upper()} {'unset' if before[name] is None else quoted(before[name])}" for name in changed)
        raise UsageError(f"{path} was trained with {', '.join(were)}: set the same again, or start a new run.")


def cache_folder() -> Path | None:
    """Return the folder of JAX's compilation cache; None if it is unset, disabled or remote."""
    folder = switch("jax_compilation_cache_dir")
    is_used = folder and switch("jax_enable_compilation_cache") and not is_remote(folder)
    return Path(folder) if is_used else None


def switch(name: str) -> Any:
    """Return a switch's value in this thread; None for a switch that this version of JAX lacks."""
    found = getattr(jax.config, name, _ABSENT)
    # switches without a context manager are only in values, which is slow to build
    return jax.config.values.get(name) if found is _ABSENT else found
