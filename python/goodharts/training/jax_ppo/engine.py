"""The JAX engine as runs open it: one process and one device for each mode."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from goodharts.config import AUTO, OFF, Config
from goodharts.training.engine import Engine, out_of_memory
from goodharts.training.launched import is_launched
from parity.errors import ParityError, UsageError, is_out_of_memory
from worldkit.jax.xla import keep_compiled_programs, prefer_wide_vectors, threads_of_a_share

if TYPE_CHECKING:
    import jax

    from goodharts.training.jax_ppo.trainer import JaxTrainer

_CPU, _CUDA = "cpu", "cuda"


class JaxEngine(Engine):
    """Opens trainers in JAX."""

    def check(self, config: Config) -> None:
        if is_launched():
            raise UsageError("torchrun is for --engine torch: start --engine jax without it, in one process.")
        if config.runtime.compile_mode != OFF:
            raise UsageError("--compile-mode is torch's: leave it out, --engine jax compiles in any case.")
        if config.runtime.device not in (AUTO, _CPU):
            _device(config.runtime.device)

    def share_cores(self, processes: int) -> None:
        os.environ.update(threads_of_a_share(processes))
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # several processes share a GPU's memory

    @contextlib.contextmanager
    def opened(self, mode: str, config: Config) -> Iterator[JaxTrainer]:
        self.check(config)
        prefer_wide_vectors()
        keep_compiled_programs("goodharts")
        import jax

        from goodharts.training.jax_ppo.trainer import JaxTrainer

        with jax.default_device(_device(config.runtime.device)):
            yield JaxTrainer(mode, config)

    def explained(self, error: Exception, mode: str) -> ParityError | None:
        return out_of_memory(mode, "the device") if is_out_of_memory(error) else None


def _device(name: str) -> jax.Device:
    """JAX's device of this name; raises UsageError that says what there is, where it is missing."""
    import jax

    if name == AUTO:
        return jax.devices()[0]
    kind, _, number = name.partition(":")
    try:
        return jax.devices(kind)[int(number or 0)]
    except (RuntimeError, IndexError):
        there = ", ".join(str(device) for device in jax.devices())
        raise UsageError(f"JAX has no device {name} here: there is {there}.") from None
