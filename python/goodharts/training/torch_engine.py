"""The torch engine as runs open it: alone, or as one of the processes that ``torchrun`` started."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from goodharts.config import Config
from goodharts.devices import choose_device, prepare, share_threads
from goodharts.training.engine import Engine, out_of_memory
from goodharts.training.launched import local_rank
from goodharts.training.parallel import joined
from goodharts.training.torch_trainer import TorchTrainer
from parity.errors import ParityError, UsageError, is_out_of_memory

_COMPILERS = ("torch._dynamo", "torch._inductor")
"""The modules whose errors are those of ``torch.compile``."""


class TorchEngine(Engine):
    """Opens trainers in torch."""

    def __init__(self) -> None:
        self._device = torch.device("cpu")

    def check(self, config: Config) -> None:
        choose_device(config.runtime.device, local_rank())

    def share_cores(self, processes: int) -> None:
        share_threads(processes)

    @contextlib.contextmanager
    def opened(self, mode: str, config: Config) -> Iterator[TorchTrainer]:
        self._device = choose_device(config.runtime.device, local_rank())
        prepare(self._device)
        with joined(self._device) as processes:
            yield TorchTrainer(mode, config, self._device, processes)

    def explained(self, error: Exception, mode: str) -> ParityError | None:
        if is_out_of_memory(error):
            return out_of_memory(mode, str(self._device))
        if type(error).__module__.startswith(_COMPILERS):
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            return UsageError(f"torch.compile failed ({reason:.200}): leave --compile-mode out.")
        return None
