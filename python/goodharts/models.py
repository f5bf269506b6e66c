"""Trained models, ``models/ppo_{mode}.pth``: their files, of plain values and tensors only, and their agents."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from goodharts.architecture import NetworkConfig
from goodharts.config import Config, mode_of, model_path
from goodharts.numpy_networks import NUMPY_NETWORKS
from goodharts.render.board import around
from goodharts.rules import DEFAULT_MODE, MODES, REACH, Numbers
from goodharts.torch_networks import ActorCritic, Inputs
from goodharts.world import evaluation_world
from rlparity import State, UsageError, World
from rlparity.errors import quoted
from rlparity.io.atomic_write import replacing
from rlparity.io.console import typed_command
from rlparity.io.safe_read import MIB, Unreadable, is_object, read_bytes, read_zip, refused
from rlparity.spaces import is_count
from rlworldkit.agents.agent import Agent, Masks
from rlworldkit.agents.numpy_network import NumpyNetwork
from rlworldkit.runs.folder import PRICES

FORMAT = 1
LIMIT = 1024 * MIB
_WIDEST = 8192
_MIND = "name a file that `goodharts train` wrote"

Floats = NDArray[np.float32]
Trained = Mapping[str, Mapping[str, Any]]
"""The settings of a training by section and key."""


@dataclass(frozen=True)
class Model:
    """A trained network, which evaluates observations on its device, in float32.

    config: the settings that it was trained with. update, timesteps: how long it was trained. policy: the network,
    whose values are in units of reward. A privileged critic reads more than an observation, and so has values of
    complete states only.
    """

    mode: str
    config: Trained
    update: int
    timesteps: int
    policy: ActorCritic

    @torch.inference_mode()
    def __call__(self, observations: Floats, masks: Masks) -> tuple[Floats, Floats]:
        """Logits (n, 8), and values (n,) in units of reward or NaN, for observations (n, 2, 11, 11)."""
        seen = self._seen(observations)
        if self.policy.config.privileged:
            return self.policy.logits(seen).cpu().numpy(), np.full(len(seen), np.nan, np.float32)
        logits, values = self.policy(seen)
        return logits.cpu().numpy(), values.cpu().numpy()

    @torch.inference_mode()
    def layers(self, observations: Floats) -> list[tuple[str, Floats]]:
        """Return the policy's input and the activations of its hidden layers, by name."""
        layers = self.policy.layers(self._seen(observations))
        return [("seen", observations), *((name, layer.cpu().numpy()) for name, layer in layers)]

    @torch.inference_mode()
    def values_in(self, states: Sequence[State]) -> Floats:
        """Return the critic's values of complete states, on the CPU: (n,)."""
        codes = np.stack([around(state, REACH) for state in states]).reshape(len(states), -1)
        counts = torch.tensor([(state["foodCount"], state["poisonCount"]) for state in states])
        inputs = Inputs(MODES[self.mode], numbers_of(self.config), self.policy.config.privileged, torch.device("cpu"))
        return self.policy.cpu()(*inputs(torch.from_numpy(codes), counts))[1].numpy()

    def network(self) -> NumpyNetwork:
        """The network in NumPy, with parameters named as in rlworldkit's trainer."""
        from goodharts.networks import params_of  # JAX takes a while to import

        return NumpyNetwork(params_of(self.policy.config, self.policy.cpu().state_dict()), NUMPY_NETWORKS)

    def settings(self) -> Mapping[str, Any]:
        """The settings of the training, with its length, discount and changed prices."""
        config = Config().over(self.config, "The model")
        trained = {"config": self.config, "update": self.update, "timesteps": self.timesteps}
        return {**trained, "gamma": config.training.gamma, PRICES: config.changed_prices(self.mode)}

    def agent(self, path: Path = Path()) -> Agent:
        """The agent of this model; raises UsageError where the world in which it was trained is impossible."""
        numbers_of(self.config)
        values_in = self.values_in if self.policy.config.privileged else None
        return Agent(self, path, self.network, self.settings, values_in, self.layers)

    def _seen(self, observations: Floats) -> torch.Tensor:
        # a copy: engines may overwrite their arrays
        return torch.tensor(observations, device=self.policy.policy.weight.device)


def write_model(path: Path, model: Model) -> None:
    """Write a model, atomically; raises OSError as writing does."""
    content = {
        "format": FORMAT,
        "mode": model.mode,
        "config": {section: dict(values) for section, values in model.config.items()},
        "update": model.update,
        "timesteps": model.timesteps,
        "weights": model.policy.state_dict(),
    }
    memory = io.BytesIO()  # torch's own file writer hides the error of a full disk behind others
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
        return Model(mode_of(content), *_training_in(content), policy_of(_network_of(weights), weights))


def _read_torch(path: Path) -> dict[str, Any]:
    """Read the plain values and tensors in a file; raises FileNotFoundError, or Unreadable for all else."""
    content = read_bytes(path, LIMIT)
    read_zip(content, LIMIT)  # raises for a damaged archive, or for one that is too large when unpacked
    try:
        found = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # damaged files can raise any exception
        fault = "it holds more than plain values and tensors, or is damaged"
        raise Unreadable(f"{fault} ({type(error).__name__})") from None
    if not is_object(found) or "format" not in found:
        raise Unreadable("goodharts did not write it")
    if found["format"] != FORMAT:
        raise Unreadable(f"it is of format {quoted(found['format'])}, not {FORMAT}")
    return found


def _training_in(content: Mapping[str, Any]) -> tuple[Trained, int, int]:
    """The settings by section and key, the updates and the timesteps in a file; raises Unreadable."""
    config = content.get("config")
    if not is_object(config) or not all(is_object(section) for section in config.values()):
        raise Unreadable("it does not say which settings it was trained with")
    for name in ("update", "timesteps"):
        if not is_count(content.get(name)):
            raise Unreadable(f"its {name} is {quoted(content.get(name))}, not a count")
    return config, content["update"], content["timesteps"]


def _network_of(weights: object) -> NetworkConfig:
    """The network to which these weights belong, by names and width; raises Unreadable where there is none."""
    shape: Sequence[int] = getattr(weights.get("policy.weight"), "shape", ()) if is_object(weights) else ()
    if not is_object(weights) or len(shape) != 2 or not 0 < shape[1] <= _WIDEST:
        raise Unreadable("its weights are those of another network")
    return NetworkConfig("cnn" if "body.conv1.weight" in weights else "mlp", shape[1], "joined.0.weight" in weights)


def load_weights(module: nn.Module, weights: object) -> None:
    """Put tensors by name into a module; raises Unreadable where they are not exactly the module's, and finite."""
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
    with torch.device("meta"):  # takes no memory for sizes that a file only claims
        policy = ActorCritic(network)
    load_weights(policy, weights)
    return policy.eval()


def training_of(agent: Agent) -> tuple[Trained, dict[str, int]]:
    """The settings that an agent was trained with, and its ``update`` and ``timesteps``; empty or 0 where unknown.

    Raises UsageError where its file has values of another kind there.
    """
    try:
        config, update, timesteps = _training_in({"config": {}, "update": 0, "timesteps": 0, **agent.settings()})
    except Unreadable as fault:
        raise UsageError(f"{agent.path} cannot be read: {fault}; give a file that `train` or `export` wrote.") from None
    return config, {"update": update, "timesteps": timesteps}


def numbers_of(trained: Trained, config: Config | None = None, source: str = "The model") -> Numbers:
    """The world in which an agent was trained; with ``config``, that world with the evaluation settings of ``config``.

    Raises UsageError, which names the ``source`` of the model, where the world is impossible.
    """
    left_out = () if config is None else ("evaluation", "runtime")
    kept = {name: values for name, values in trained.items() if name not in left_out}
    return (config or Config()).over(kept, source).validated().numbers()


def read_agent(world: World, path: Path) -> Agent:
    """The agent in a model's file; raises UsageError where the file cannot be read, or is of another mode's world."""
    model = read_model(path)
    if world.name != f"goodharts-{model.mode}":
        raise UsageError(f"{path} was trained in mode {model.mode}: give a model of {world.name}, or take its world.")
    return model.agent(path)


def in_evaluation(world: World, agent: Agent) -> World:
    """The world in which the agent was trained, by the rules of an evaluation (G6), from game 0 of a seed on."""
    trained, _ = training_of(agent)
    numbers, mode = numbers_of(trained, source=str(agent.path)), MODES[world.name.removeprefix("goodharts-")]
    return replace(evaluation_world(mode, numbers), game_seeds=world.game_seeds)
