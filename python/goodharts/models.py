"""Trained models as files: ``models/ppo_{mode}.pth``, plain values and tensors that ``torch.load`` reads safely."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodharts.architecture import NetworkConfig
from goodharts.rules import DEFAULT_MODE, MODES
from rlparity.errors import quoted
from rlparity.io.atomic_write import replacing
from rlparity.io.console import typed_command
from rlparity.io.safe_read import MIB, Unreadable, is_object, read_bytes, read_zip, refused
from rlparity.spaces import is_count

if TYPE_CHECKING:  # torch takes a while to import, which a trainer that does without it need not wait for
    from torch import nn

    from goodharts.torch_networks import ActorCritic

MODEL = ".pth"
FORMAT = 1
LIMIT = 1024 * MIB
_WIDEST = 8192
_MIND = "name a file that `goodharts train` wrote"


@dataclass(frozen=True)
class Model:
    """A trained agent.

    config: the settings that it was trained with, by section and key. update, timesteps: how long it was trained.
    policy: the network, whose values are in units of reward.
    """

    mode: str
    config: Mapping[str, Mapping[str, Any]]
    update: int
    timesteps: int
    policy: ActorCritic


def model_path(mode: str, folder: Path = Path("models")) -> Path:
    """Return the path of a mode's model."""
    return folder / f"ppo_{mode}{MODEL}"


def write_model(path: Path, model: Model) -> None:
    """Write a model, atomically; raises OSError as writing does."""
    import torch

    content = {
        "format": FORMAT,
        "mode": model.mode,
        "config": {section: dict(values) for section, values in model.config.items()},
        "update": model.update,
        "timesteps": model.timesteps,
        "weights": model.policy.state_dict(),
    }
    memory = io.BytesIO()  # torch's own writer turns a full disk into errors of its own
    torch.save(content, memory)
    with replacing(path) as file:
        file.write(memory.getbuffer())


def read_model(path: Path) -> Model:
    """Read a model, on the CPU; raises UsageError with one sentence about whatever is wrong with the file."""
    mode = next((mode for mode in MODES if path.name == model_path(mode).name), DEFAULT_MODE)
    train = typed_command("goodharts", "goodharts.cli.main", "train", "--mode", mode)
    with refused(path, "model", f"train one with `{train}`, or {_MIND}", _MIND):
        content = _read_torch(path)
        weights = content.get("weights")
        about = config_of(content), *progress_of(content), policy_of(_network_of(weights), weights)
        return Model(mode_of(content), *about)


def _read_torch(path: Path) -> dict[str, Any]:
    """Read the plain values and tensors in a file; raises FileNotFoundError, or Unreadable for all else."""
    import torch

    content = read_bytes(path, LIMIT)
    read_zip(content, LIMIT)  # whole, and no larger than it seems
    try:
        found = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # damaged files fail in every way there is
        fault = "it holds more than plain values and tensors, or is damaged"
        raise Unreadable(f"{fault} ({type(error).__name__})") from None
    if not is_object(found) or "format" not in found:
        raise Unreadable("it is none of our files")
    if found["format"] != FORMAT:
        raise Unreadable(f"it is of format {quoted(found['format'])}, not {FORMAT}")
    return found


def progress_of(content: Mapping[str, Any]) -> tuple[int, int]:
    """Return the updates and timesteps that a file names; raises Unreadable."""
    for name in ("update", "timesteps"):
        if not is_count(content.get(name)):
            raise Unreadable(f"its {name} is {quoted(content.get(name))}, not a count")
    return content["update"], content["timesteps"]


def mode_of(content: Mapping[str, Any]) -> str:
    """Return the mode that a file names; raises Unreadable."""
    mode = content.get("mode")
    if not isinstance(mode, str) or mode not in MODES:
        raise Unreadable(f"its mode is {quoted(mode)}, none of {', '.join(MODES)}")
    return mode


def _network_of(weights: object) -> NetworkConfig:
    """The network that has weights of these names and of this width; raises Unreadable where there is none."""
    shape: Sequence[int] = getattr(weights.get("policy.weight"), "shape", ()) if is_object(weights) else ()
    if not is_object(weights) or len(shape) != 2 or not 0 < shape[1] <= _WIDEST:
        raise Unreadable("its weights are those of another network")
    return NetworkConfig("cnn" if "body.conv1.weight" in weights else "mlp", shape[1], "joined.0.weight" in weights)


def config_of(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the settings by section and key that a file holds; raises Unreadable."""
    config = content.get("config")
    if not is_object(config) or not all(is_object(section) for section in config.values()):
        raise Unreadable("it does not say which settings it was trained with")
    return config


def load_weights(module: nn.Module, weights: object) -> None:
    """Put tensors by name into a module; raises Unreadable where they are not exactly the module's, and finite."""
    import torch

    wanted = module.state_dict()
    is_claimed = any(tensor.is_meta for tensor in wanted.values())
    if not is_object(weights) or set(weights) != set(wanted):
        raise Unreadable("its weights are those of another network")
    for key, tensor in weights.items():
        if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided or tensor.dtype != wanted[key].dtype:
            raise Unreadable(f"its {key} is no tensor of {wanted[key].dtype}")
        if tensor.shape != wanted[key].shape:
            raise Unreadable(f"its {key} is of shape {tuple(tensor.shape)}, not {tuple(wanted[key].shape)}")
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            raise Unreadable(f"its {key} contains NaN or infinity")
    module.load_state_dict(weights, assign=is_claimed)


def policy_of(network: NetworkConfig, weights: object) -> ActorCritic:
    """Return a network with these weights; raises Unreadable as ``load_weights``."""
    import torch

    from goodharts.torch_networks import ActorCritic

    with torch.device("meta"):  # no memory is taken for what a file merely claims
        policy = ActorCritic(network)
    load_weights(policy, weights)
    return policy.eval()
