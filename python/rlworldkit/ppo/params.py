"""Trained parameters from ``params_{step}.npz`` or ``checkpoint_{step}.pkl``, as numpy arrays and without JAX."""

import io
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlparity.errors import ParityError, UsageError, quoted
from rlparity.io.atomic_write import write_whole
from rlparity.io.safe_read import GIB, Unreadable, read_npz, refused
from rlworldkit.ppo.checkpoint_format import (
    MISSING,
    NETWORK,
    read_payload,
    rules_version_of,
    runner_of,
)
from rlworldkit.ppo.config import Activation, TrainConfig
from rlworldkit.ppo.value_heads import FIRST_SCALE, HEADS, POPART, ValueHead, ValueScale, head_of, rescaled
from rlworldkit.runs.folder import began

if TYPE_CHECKING:
    from rlworldkit.jax.env import JaxEnv

Params = Any  # nested dicts of arrays, as flax makes them

MLP = "mlp"
"""Name of the network without an encoder."""
CRITIC = "critic"
"""Name of the layer that reads the privileged observations of the critic."""
PARAMS_LIMIT = 2 * GIB
"""Size of the largest file of parameters that is read, in bytes, unpacked."""
_OTHER = "give the path of a params_*.npz file"
_NAME = re.compile(r"params_(\d+)\.npz|checkpoint_(\d+)\.pkl")
_LEAF = re.compile(re.escape(f"{NETWORK}.params") + r"((?:\['[^']+'\])+)")


class Architecture(NamedTuple):
    """Architecture of a network, which its parameters' names and shapes define. name: of its encoder, or ``mlp``."""

    name: str
    num_actions: int
    hidden_dim: int
    num_layers: int
    value_head: ValueHead
    num_privileges: int = 0
    activation: Activation = "tanh"


def hidden_layer(activation: Activation, number: int) -> str:
    """Name of a hidden layer, which encodes the network's activation."""
    return f"hidden_{number}" if activation == "tanh" else f"hidden_{activation}_{number}"


def architecture_for(config: TrainConfig, env: "JaxEnv") -> Architecture:
    """The architecture of the network that a run with these settings trains."""
    num_privileges = env.num_privileges if config.privileged_critic else 0
    sizes = env.num_actions, config.hidden_dim, config.num_layers
    return Architecture(config.network, *sizes, config.value_head, num_privileges, config.activation)


def architecture_of(params: Params, encoders: Collection[str]) -> Architecture:
    """Infer the architecture of the network that ``params`` belong to; ``encoders`` are the possible names.

    Raises ParityError if they are not parameters of an ``ActorCritic``.
    """
    try:
        layers = params["params"]
        activation: Activation = "relu" if hidden_layer("relu", 0) in layers else "tanh"
        hidden_dim = layers[hidden_layer(activation, 0)]["kernel"].shape[1]
        num_actions = layers["policy"]["kernel"].shape[1]
        num_privileges = layers[CRITIC]["kernel"].shape[0] - hidden_dim if CRITIC in layers else 0
    except (KeyError, TypeError, IndexError, AttributeError):
        raise ParityError("These parameters are not those of an ActorCritic; give a params_*.npz file.") from None
    num_layers = sum(name.startswith("hidden_") for name in layers)
    name = next((name for name in encoders if name in layers), MLP)
    return Architecture(name, num_actions, hidden_dim, num_layers, head_of(layers), num_privileges, activation)


def misfit(path: Path | str) -> ParityError:
    """Error for a file, or another source, whose parameters do not fit a world's observations."""
    return ParityError(
        f"{path} holds the parameters of a network for other observations than this world's, or only some of them; "
        "give another params_*.npz file."
    )


def other_actions(path: Path | str, num_actions: int) -> ParityError:
    """Error for a file whose network has another number of actions than the world."""
    return ParityError(f"{path} holds a network for another number of actions than the {num_actions} here.")


def params_path(folder: Path, updates: int) -> Path:
    """Path of the parameters of a run after that many updates."""
    return folder / f"params_{updates}.npz"


def checkpoint_path(folder: Path, updates: int) -> Path:
    """Path of the checkpoint of a run after that many updates."""
    return folder / f"checkpoint_{updates}.pkl"


def save_params(path: Path, params: Params) -> None:
    """Write ``params`` (nested dicts of arrays) to ``path``, replacing it only once it is complete."""
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, **dict(flat_params(params)))
    write_whole(path, archive.getvalue())


def load_params(path: Path) -> Params:
    """Read a file that ``save_params`` wrote; raises UsageError for any other file.

    Arrays in half precision are converted to single precision, in which networks compute.
    """
    with refused(path, "file of parameters", _OTHER, _OTHER):
        arrays = read_npz(path, PARAMS_LIMIT)
        half = [name for name, array in arrays.items() if array.dtype == np.float16]
        return _nested(arrays | {name: arrays[name].astype(np.float32) for name in half})


def params_of_checkpoint(path: Path, world: str, rules_version: str) -> Params:
    """Read the parameters in a checkpoint of a world under this version of its rules; raises UsageError for others."""
    with refused(path, "checkpoint", MISSING, "give another one"):
        payload = read_payload(path, world)
        trained_under, runner = rules_version_of(payload), runner_of(payload)
        places = {name: found[1] for name in runner if (found := _LEAF.fullmatch(name))}
        params = _nested({"/".join(re.findall(r"\['([^']+)'\]", at)): runner[name] for name, at in places.items()})
    if trained_under != rules_version:
        raise UsageError(
            f"{path} was trained under version {trained_under} of the rules, and these are {rules_version}: "
            "give another one."
        )
    scale = [runner.get(f"{NETWORK}.value_scale.{name}") for name in ValueScale._fields]
    if any(part is None for part in scale) or HEADS[POPART].layer not in params.get("params", {}):
        return params
    return rescaled(params, ValueScale(*scale), FIRST_SCALE)


def trained_files(folder: Path) -> list[Path]:
    """List the files of parameters and checkpoints in a folder and its subfolders, the preferred one first.

    Files of the newest run come first, and within a run those of the most updates; of the same update the parameters
    come first, since they are smaller.
    """
    found = [path for path in folder.rglob("*") if _NAME.fullmatch(path.name)]
    return sorted(found, key=lambda path: (began(path.parent), *_rank(path), path), reverse=True)


def later_files(folder: Path, updates: int) -> list[Path]:
    """List the files of parameters and checkpoints directly in a folder that are of more than ``updates`` updates."""
    return [path for path in folder.iterdir() if _NAME.fullmatch(path.name) and _rank(path)[0] > updates]


def _rank(path: Path) -> tuple[int, bool]:
    (params, checkpoint), *_ = _NAME.findall(path.name)
    return int(params or checkpoint), bool(params)


def flat_params(params: Mapping[str, Any], *folders: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """Flatten nested dicts of arrays into pairs of a path, such as ``params/policy/kernel``, and an array."""
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from flat_params(value, *folders, name)
        else:
            yield "/".join((*folders, name)), np.asarray(value)


def _nested(flat: Mapping[str, NDArray[Any]]) -> Params:
    """Invert ``flat_params``; raises Unreadable for an array that is not of finite floats, or with others below it."""
    tree: dict[str, Any] = {}
    for path, array in flat.items():
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            raise Unreadable(f"{quoted(path)} is not made of numbers")
        *folders, name = path.split("/")
        place = tree
        for depth, folder in enumerate(folders, 1):
            place = place.setdefault(folder, {})
            if not isinstance(place, dict):
                raise Unreadable(f"{quoted('/'.join(folders[:depth]))} is an array and holds others")
        if name in place:
            raise Unreadable(f"{quoted(path)} is an array and holds others")
        place[name] = array
    return tree


class InitialParams(NamedTuple):
    """Parameters that a run begins with, and the file that holds them."""

    path: Path
    params: Params


def load_initial_params(path: Path, config: TrainConfig, env: "JaxEnv") -> InitialParams:
    """Read a ``params_*.npz`` file whose parameters a run with these settings is to begin with.

    Raises UsageError if it is no such file or of another network, and ParityError for another number of actions.
    """
    params = load_params(path)
    found = architecture_of(params, [name for name, encoder in env.networks().items() if encoder])
    if found.num_actions != env.num_actions:
        raise other_actions(path, env.num_actions)
    if found != architecture_for(config, env):
        raise UsageError(
            f"{path} is of another network: add --network {found.name} --hidden-dim {found.hidden_dim} "
            f"--num-layers {found.num_layers} --value-head {found.value_head} "
            f"--activation {found.activation}{' --privileged-critic' if found.num_privileges else ''}."
        )
    return InitialParams(path, params)
