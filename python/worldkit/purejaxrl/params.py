"""Trained parameters, out of ``params_{step}.npz`` or ``checkpoint_{step}.pkl``, as numpy arrays and without JAX."""

import contextlib
import datetime
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parity.errors import ParityError, UsageError
from parity.reading import GIB, Unreadable, read_bytes, read_npz, shown
from worldkit.purejaxrl.checkpoint_file import (
    LIMIT,
    NETWORK,
    CheckpointError,
    WrongPart,
    part,
    runner_of,
    text_of,
    unpack,
)
from worldkit.purejaxrl.plain_pickle import NotPlain
from worldkit.purejaxrl.value_heads import FIRST_SCALE, HEADS, POPART, ValueHead, ValueScale, head_of, rescaled
from worldkit.runs.kept import kept_settings

Params = Any  # nested dicts of arrays, as flax makes them

BEGAN = "began"
"""The setting that tells when a run began."""
MLP = "mlp"
"""The network without an encoder."""
CRITIC = "critic"
"""The layer that reads what only the value may know."""
PARAMS_LIMIT = 2 * GIB
"""The largest file of parameters that is read, in bytes, unpacked."""
_NAME = re.compile(r"params_(\d+)\.npz|checkpoint_(\d+)\.pkl")
_LEAF = re.compile(re.escape(f"{NETWORK}.params") + r"((?:\['[^']+'\])+)")


@dataclass(frozen=True)
class Architecture:
    """What the shapes of parameters tell of their network. name: of its encoder, or ``mlp``."""

    name: str
    num_actions: int
    hidden_dim: int
    num_layers: int
    value_head: ValueHead
    num_privileges: int = 0


def architecture_of(params: Params, encoders: Collection[str]) -> Architecture:
    """The architecture of the network that ``params`` belong to, its encoder one of these names.

    Raises ParityError if they are the parameters of something else.
    """
    try:
        layers = params["params"]
        hidden_dim = layers["hidden_0"]["kernel"].shape[1]
        num_actions = layers["policy"]["kernel"].shape[1]
        num_privileges = layers[CRITIC]["kernel"].shape[0] - hidden_dim if CRITIC in layers else 0
    except (KeyError, TypeError, IndexError, AttributeError):
        raise ParityError("These parameters are not those of an ActorCritic; give a params_*.npz file.") from None
    num_layers = sum(name.startswith("hidden_") for name in layers)
    name = next((name for name in encoders if name in layers), MLP)
    return Architecture(name, num_actions, hidden_dim, num_layers, head_of(layers), num_privileges)


def misfit(path: Path) -> ParityError:
    """What to say of a file whose parameters do not take a world's observations."""
    return ParityError(
        f"{path} holds the parameters of a network for other observations than this world's, or only some of them; "
        "give another params_*.npz file."
    )


def other_actions(path: Path, num_actions: int) -> ParityError:
    """What to say of a file whose network does not choose among a world's actions."""
    return ParityError(f"{path} holds a network for another number of actions than the {num_actions} here.")


def params_path(folder: Path, updates: int) -> Path:
    """The parameters of a run after that many updates."""
    return folder / f"params_{updates}.npz"


def load_params(path: Path) -> Params:
    """Read what ``save_params`` wrote; ParityError with one sentence if the file is not such a file.

    Numbers that are kept in half precision are given in single precision, which networks compute in.
    """
    try:
        flat = read_npz(path, PARAMS_LIMIT)
    except FileNotFoundError:
        raise ParityError(f"{path} does not exist; give the path of a params_*.npz file.") from None
    except Unreadable as fault:
        raise ParityError(f"{path} cannot be read ({fault}); give the path of a params_*.npz file.") from None
    if wrong := _fault_of(flat):
        raise ParityError(f"{path} holds no parameters: {wrong}; give the path of a params_*.npz file.")
    return _nested({tuple(name.split("/")): _precise(array) for name, array in flat.items()})


def _precise(array: NDArray[Any]) -> NDArray[Any]:
    """Floats in single precision at least, their values unchanged."""
    return array.astype(np.promote_types(array.dtype, np.float32), copy=False)


def params_of_checkpoint(path: Path, world: str, rules_version: str) -> Params:
    """The parameters in a checkpoint of a world, trained under this version of its rules.

    Raises CheckpointError with one sentence for anything else.
    """
    try:
        kept = unpack(read_bytes(path, LIMIT), world)
        trained_under = text_of(part(kept, "rules_version"), "rules_version")
        runner = runner_of(part(kept, "runner"))
    except FileNotFoundError:
        raise CheckpointError(f"{path} does not exist; give the path of a checkpoint_*.pkl file.") from None
    except Unreadable as fault:
        raise CheckpointError(f"{path} cannot be read ({fault}); give another checkpoint_*.pkl file.") from None
    except (NotPlain, WrongPart) as fault:
        raise CheckpointError(f"{path} is no good checkpoint: {fault}; give another one.") from None
    if trained_under != rules_version:
        raise CheckpointError(
            f"{path} was trained under version {trained_under} of the rules, and these are {rules_version}: "
            "give another one."
        )
    found = {name: _LEAF.fullmatch(name) for name in runner}
    flat = {tuple(re.findall(r"\['([^']+)'\]", at[1])): runner[name] for name, at in found.items() if at}
    if wrong := _fault_of({"/".join(place): array for place, array in flat.items()}):
        raise CheckpointError(f"{path} is no good checkpoint: {wrong}; give another one.")
    params = _nested(flat)
    scale = [runner.get(f"{NETWORK}.value_scale.{name}") for name in ValueScale._fields]
    if any(part is None for part in scale) or HEADS[POPART].layer not in params.get("params", {}):
        return params
    return rescaled(params, ValueScale(*scale), FIRST_SCALE)


def trained_files(folder: Path) -> list[Path]:
    """The files of parameters and checkpoints in a folder and its subfolders, the one to prefer first.

    First come those of the run that began last, the furthest one first; of the same update the parameters, which are
    smaller. When a run began says ``began``.
    """
    found = [path for path in folder.rglob("*") if _NAME.fullmatch(path.name)]
    return sorted(found, key=lambda path: (began(path.parent), *_rank(path), path), reverse=True)


def later_files(folder: Path, updates: int) -> list[Path]:
    """The files of parameters and checkpoints that lie in a folder itself and tell of more updates."""
    return [path for path in folder.iterdir() if _NAME.fullmatch(path.name) and _rank(path)[0] > updates]


def _rank(path: Path) -> tuple[int, bool]:
    match = _NAME.fullmatch(path.name)
    assert match is not None
    return int(match[1] or match[2]), match[1] is not None


def began(folder: Path) -> str:
    """When the run of a folder began, as ``now`` tells it; empty where nothing says so.

    It stands in the run's settings, or else in the date of its name. The times of files mean nothing: copying changes
    them.
    """
    with contextlib.suppress(UsageError):  # settings that cannot be read tell nothing
        kept = kept_settings(folder).get(BEGAN)
        if isinstance(kept, str):
            return kept
    found = re.search(r"\d{8}-\d{6}", folder.name)
    try:
        return _written(datetime.datetime.strptime(found[0], "%Y%m%d-%H%M%S")) if found else ""
    except ValueError:
        return ""


def now() -> str:
    """The time as a run's settings tell when it began: text whose order is that of time."""
    return _written(datetime.datetime.now(datetime.UTC))


def _written(time: datetime.datetime) -> str:
    """A time, which is local unless it names its zone, in UTC."""
    return time.astimezone(datetime.UTC).isoformat(timespec="milliseconds")


def _nested(flat: dict[tuple[str, ...], NDArray[Any]]) -> Params:
    """Arrays by their paths as nested dicts."""
    tree: dict[str, Any] = {}
    for path, array in flat.items():
        folder = tree
        for name in path[:-1]:
            folder = folder.setdefault(name, {})
        folder[path[-1]] = array
    return tree


def _fault_of(flat: dict[str, NDArray[Any]]) -> str | None:
    """Why arrays by their paths are no parameters of a network; None where they are."""
    folders = {name[:place] for name in flat for place, letter in enumerate(name) if letter == "/"}
    if folders & flat.keys():
        return f"{shown(min(folders & flat.keys()))} is an array and holds others"
    for name, array in flat.items():
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            return f"{shown(name)} is not made of numbers"
    return None
