"""The file in which a group of runs says what it is, written before any of them begins."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from rlparity.errors import UsageError
from rlparity.io.arguments import SEED, SEEDS
from rlparity.io.atomic_write import write_text
from rlparity.io.safe_read import MIB, Unreadable, is_object, read_json
from rlparity.io.strict_json import json_text

GROUP = "group.json"


class Group(NamedTuple):
    """Runs from ``seeds`` seeds, of which ``seed`` is the first. others: what else they have in common, as JSON."""

    seed: int
    seeds: int
    others: Mapping[str, Any]

    def write(self, path: Path) -> None:
        """Write the file at once; raises UsageError where it cannot be written."""
        write_text(path, json_text({**self._asdict()}, indent=2) + "\n")

    def extended(self, path: Path, seed: int | None, seeds: int | None) -> Self:
        """The group in the file ``path``, with as many seeds as a command asks for; raises UsageError for fewer."""
        if seed not in (None, self.seed):
            raise UsageError(f"The runs of {path} are from seed {self.seed}, not {seed}: leave --seed out.")
        if (seeds or self.seeds) < self.seeds:
            raise UsageError(f"The runs of {path} are from {self.seeds} seeds, not {seeds}: leave --seeds out.")
        return self._replace(seeds=seeds or self.seeds)


def read_group(path: Path) -> Group:
    """The group that a file describes; raises UsageError where it cannot be read."""
    try:
        found = read_json(path, MIB)
        if not (is_object(found) and found.keys() == set(Group._fields) and is_object(found["others"])):
            raise Unreadable("it describes no group")
        for name, values in (("seed", SEED), ("seeds", SEEDS)):
            if fault := values.fault(found[name]):
                raise Unreadable(f"its {name} {fault}")
    except FileNotFoundError:
        raise UsageError(f"There is no {path}: give --checkpoint-dir the folder of a group.") from None
    except Unreadable as fault:
        raise UsageError(f"{path} cannot be read: {fault}; restore it, or start another group.") from fault
    return Group(**found)
