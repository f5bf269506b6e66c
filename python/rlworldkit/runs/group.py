"""The file in which a group of runs says what it is, written before any of them begins."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rlparity.io.arguments import SEED, SEEDS
from rlparity.io.atomic_write import write_text
from rlparity.io.safe_read import MIB, Unreadable, is_object, read_json, refused
from rlparity.io.strict_json import json_text

GROUP = "group.json"


class Group(NamedTuple):
    """Runs from ``seeds`` seeds, of which ``seed`` is the first, of each variant.

    variants: values of ``--variant``. words: those of ``train`` that all runs share.
    """

    seed: int
    seeds: int
    variants: Sequence[str]
    words: Sequence[str]

    def write(self, path: Path) -> None:
        """Write the file at once; raises UsageError where it cannot be written."""
        others = {"variants": [*self.variants], "words": [*self.words]}
        write_text(path, json_text({"seed": self.seed, "seeds": self.seeds, "others": others}, indent=2) + "\n")


def read_group(path: Path) -> Group:
    """The group that a file describes; raises UsageError where it cannot be read."""
    with refused(
        path, "group of runs", "give --checkpoint-dir the folder of one", "restore it, or start another group"
    ):
        found = read_json(path, MIB)
        others = found.get("others") if is_object(found) else None
        if not (is_object(others) and all(_is_list_of_texts(others.get(name)) for name in ("variants", "words"))):
            raise Unreadable("it describes no group of `train`")
        for name, values in (("seed", SEED), ("seeds", SEEDS)):
            if fault := values.fault(found.get(name)):
                raise Unreadable(f"its {name} {fault}")
        return Group(found["seed"], found["seeds"], others["variants"], others["words"])


def _is_list_of_texts(value: Any) -> bool:  # noqa: ANN401 - of JSON
    return isinstance(value, list) and all(type(each) is str for each in value)
