"""Mark counts of the torch engine."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Marks:
    """Counts by name, on the engine's device; names that the mode does not have are ignored."""

    def __init__(self, names: tuple[str, ...], device: torch.device) -> None:
        self._columns = {name: column for column, name in enumerate(names)}
        self._counts = torch.zeros(len(names), dtype=torch.int64, device=device)

    def add(self, name: str, happened: Tensor | int) -> None:
        """Count a mark as often as ``happened`` is true, or ``happened`` times if that is a number."""
        column = self._columns.get(name)
        if column is not None:
            self._counts[column] += happened.sum() if isinstance(happened, Tensor) else happened

    def counts(self) -> NDArray[np.int64]:
        """The counts in the order of the names, (marks,)."""
        return self._counts.cpu().numpy().copy()
