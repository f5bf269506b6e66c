"""Trained models as the agents that rlworldkit watches, evaluates and asks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from goodharts.config import Config
from goodharts.models import Model, read_model
from goodharts.numpy_networks import NUMPY_NETWORKS
from goodharts.onnx_model import OnnxModel
from goodharts.render.surroundings import around
from goodharts.rules import MODES, REACH, Numbers
from goodharts.torch_networks import Inputs
from rlparity import State, UsageError, World
from rlworldkit.agents.agent import Agent
from rlworldkit.agents.choice import Masks
from rlworldkit.agents.numpy_network import NumpyNetwork
from rlworldkit.runs.saved_config import PRICES

Floats = NDArray[np.float32]


class Judge:
    """The judgement of a model, computed on a device in float32.

    A critic that knows more than an observation tells has values in complete states alone.
    """

    def __init__(self, model: Model, device: torch.device | str = "cpu") -> None:
        self.policy = model.policy.to(device).eval()
        self._model, self._device = model, torch.device(device)
        self._inputs = Inputs(MODES[model.mode], numbers_of(model), model.network.privileged, self._device)

    @torch.inference_mode()
    def __call__(self, observations: Floats, masks: Masks) -> tuple[Floats, Floats]:
        """Logits (n, 8), and values (n,) in units of reward or NaN, for observations (n, 2, 11, 11)."""
        if self._model.network.privileged:
            return self.logits(observations), np.full(len(observations), np.nan, np.float32)
        logits, values = self.policy(self._seen(observations))
        return logits.cpu().numpy(), values.cpu().numpy()

    @torch.inference_mode()
    def logits(self, observations: Floats) -> Floats:
        """The policy alone."""
        return self.policy.logits(self._seen(observations)).cpu().numpy()

    @torch.inference_mode()
    def layers(self, observations: Floats) -> list[tuple[str, Floats]]:
        """Return the activations of the policy's layers by name, the last being the logits."""
        return [(name, layer.cpu().numpy()) for name, layer in self.policy.layers(self._seen(observations))]

    @torch.inference_mode()
    def values_in(self, states: Sequence[State]) -> Floats:
        """Return the critic's values of complete states: (n,)."""
        codes = np.stack([around(state, REACH) for state in states]).reshape(len(states), -1)
        counts = torch.tensor([(state["foodCount"], state["poisonCount"]) for state in states], device=self._device)
        return self.policy(*self._inputs(torch.from_numpy(codes).to(self._device), counts))[1].cpu().numpy()

    def network(self) -> NumpyNetwork:
        """The network in numpy, with parameters as rlworldkit's trainer has them."""
        from goodharts.networks import network_and_params  # JAX takes a while to import

        _, params = network_and_params(self._model.network, self.policy.cpu().state_dict())
        return NumpyNetwork(params, NUMPY_NETWORKS)

    def settings(self) -> Mapping[str, Any]:
        """The settings of the training."""
        model = self._model
        config = Config().over(model.config, "The model")
        trained = {"config": model.config, "update": model.update, "timesteps": model.timesteps}
        return {**trained, PRICES: config.changed_prices(model.mode)}

    def _seen(self, observations: Floats) -> torch.Tensor:
        return torch.tensor(observations, device=self._device)  # a copy: engines may lend theirs


def agent_of(model: Model | OnnxModel, device: torch.device | str = "cpu", path: Path = Path()) -> Agent:
    """The agent of a model, on a device; raises UsageError where the world that it was trained in is impossible."""
    if isinstance(model, OnnxModel):
        return model.agent
    judge = Judge(model, device)
    return Agent(judge, path, judge.network, judge.settings, judge.values_in if model.network.privileged else None)


def numbers_of(model: Model | OnnxModel | None, config: Config | None = None, source: str = "The model") -> Numbers:
    """The world that a model was trained in; with a configuration that of an evaluation by it, else as the file says.

    Raises UsageError, which names the ``source`` of the model, where that world is impossible.
    """
    trained_in = {} if model is None else dict(model.config)
    if config is not None:
        trained_in = {name: values for name, values in trained_in.items() if name not in ("evaluation", "runtime")}
    return (config or Config()).over(trained_in, source).validated().numbers()


def read_agent(world: World, path: Path) -> Agent:
    """The agent in a model's file; raises UsageError where the file cannot be read, or is of another mode's world."""
    model = read_model(path)
    if world.name != f"goodharts-{model.mode}":
        raise UsageError(f"{path} was trained in mode {model.mode}: give a model of {world.name}, or take its world.")
    return agent_of(model, path=path)
