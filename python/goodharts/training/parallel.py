"""Collective operations of the processes that ``torchrun`` started to train one network, or of a single one."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from goodharts.training.torchrun import is_launched
from rlparity.errors import UsageError


@dataclass(frozen=True)
class Processes:
    """The processes of a run: each plays its share of the games, in order; the first one writes and prints."""

    rank: int = 0
    count: int = 1

    def share(self, games: int) -> range:
        """Return the games of this process; raises UsageError where they cannot be shared evenly."""
        if games % self.count:
            raise UsageError(f"{games} games cannot be shared by {self.count} processes: give --num-envs a multiple.")
        each = games // self.count
        return range(self.rank * each, (self.rank + 1) * each)

    def mean(self, value: Tensor) -> Tensor:
        """Return the mean over all processes."""
        if self.count == 1:
            return value
        total = value.detach().clone()
        dist.all_reduce(total)
        return total / self.count

    def moments(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and variance over the tensors of all processes, which have the same size."""
        mean = self.mean(values.mean())
        return mean, self.mean((values - mean).square().mean())

    def average_gradients(self, network: nn.Module) -> None:
        """Set the gradients of every process to the mean over all processes."""
        if self.count > 1:
            gradients = [each.grad for each in network.parameters() if each.grad is not None]
            together = self.mean(torch.nn.utils.parameters_to_vector(gradients))
            torch.nn.utils.vector_to_parameters(together, gradients)

    def gathered(self, value: Any) -> list[Any]:  # noqa: ANN401 - whatever can be pickled
        """Return every process's value, in order."""
        if self.count == 1:
            return [value]
        found: list[Any] = [None] * self.count
        dist.all_gather_object(found, value)
        return found

    def any(self, flag: bool) -> bool:
        """Return whether ``flag`` is true in any process."""
        return any(self.gathered(flag))


ALONE = Processes()


@contextlib.contextmanager
def joined(device: torch.device) -> Iterator[Processes]:
    """Join the processes that ``torchrun`` started, if it did."""
    if not is_launched():
        yield ALONE
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
