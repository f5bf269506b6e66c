"""Several processes that train one network together, started by ``torchrun``; one process is the case of every day."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from goodharts.training.torchrun import is_launched
from parity.errors import UsageError


@dataclass(frozen=True)
class Processes:
    """This process's number among all of them. Each plays its share of the games, in order."""

    rank: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this is the one that writes and speaks."""
        return self.rank == 0

    def share(self, games: int) -> range:
        """The games of this process; raises UsageError where they cannot be shared evenly."""
        if games % self.count:
            raise UsageError(f"{games} games cannot be shared by {self.count} processes: give --n-envs a multiple.")
        each = games // self.count
        return range(self.rank * each, (self.rank + 1) * each)

    def mean(self, value: Tensor) -> Tensor:
        """The mean over all processes."""
        if self.count == 1:
            return value
        total = value.detach().clone()
        dist.all_reduce(total)
        return total / self.count

    def moments(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance over what all processes hold, of tensors of one size."""
        mean = self.mean(values.mean())
        return mean, self.mean((values - mean).square().mean())

    def average_gradients(self, network: nn.Module) -> None:
        """Give every process the mean of all gradients."""
        if self.count > 1:
            gradients = [each.grad for each in network.parameters() if each.grad is not None]
            together = self.mean(torch.nn.utils.parameters_to_vector(gradients))
            torch.nn.utils.vector_to_parameters(together, gradients)

    def gathered(self, value: Any) -> list[Any]:  # noqa: ANN401 - whatever can be pickled
        """What every process holds, in order."""
        if self.count == 1:
            return [value]
        found: list[Any] = [None] * self.count
        dist.all_gather_object(found, value)
        return found

    def any(self, flag: bool) -> bool:
        """Whether it is true anywhere."""
        return any(self.gathered(flag))


ALONE = Processes()


@contextlib.contextmanager
def joined(device: torch.device) -> Iterator[Processes]:
    """All processes that ``torchrun`` started, or this one alone."""
    if not is_launched():
        yield ALONE
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
