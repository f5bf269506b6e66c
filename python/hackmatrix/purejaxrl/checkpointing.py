"""Network parameters on disk: one ``.npz`` with an array per parameter, named by its path in the tree."""

import zipfile
from pathlib import Path

import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict

from hackmatrix.errors import HackMatrixError
from hackmatrix.purejaxrl.masked_ppo import ActorCritic, Params


def save_params(path: Path, params: Params) -> None:
    """Write ``params`` (nested dicts of arrays) to ``path``, replacing it only once it is complete."""
    arrays = {name: np.asarray(array) for name, array in flatten_dict(params, sep="/").items()}
    unfinished = path.with_name(path.name + ".part")
    with unfinished.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    unfinished.replace(path)


def load_params(path: Path) -> Params:
    """Read what ``save_params`` wrote; HackMatrixError with one sentence if the file is not such a file."""
    try:
        # A plain .npy loads as well, and then has no names.
        loaded = np.load(path, allow_pickle=False)
        flat = {name: loaded[name] for name in loaded.files}
    except FileNotFoundError:
        raise HackMatrixError(f"{path} does not exist; give the path of a params_*.npz file.") from None
    except (OSError, ValueError, AttributeError, EOFError, zipfile.BadZipFile):
        raise HackMatrixError(f"{path} cannot be read as parameters; give the path of a params_*.npz file.") from None
    return unflatten_dict(flat, sep="/")


def network_of(params: Params) -> ActorCritic:
    """The network that ``params`` belong to, its architecture read from their shapes.

    Raises HackMatrixError if they are the parameters of something else.
    """
    try:
        layers = params["params"]
        hidden_dim = layers["hidden_0"]["kernel"].shape[1]
        num_actions = layers["policy"]["kernel"].shape[1]
    except (KeyError, TypeError, IndexError, AttributeError):
        raise HackMatrixError("These parameters are not those of an ActorCritic; give a params_*.npz file.") from None
    num_layers = sum(name.startswith("hidden_") for name in layers)
    return ActorCritic(num_actions=num_actions, hidden_dim=hidden_dim, num_layers=num_layers)
