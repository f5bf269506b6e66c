"""Trained models as the agents that rlworldkit watches, evaluates and asks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from goodharts.config import Config
from goodharts.models import Model, config_of, progress_of, read_model
from goodharts.numpy_networks import NUMPY_NETWORKS
from goodharts.render.board import around
from goodharts.rules import MODES, REACH, Numbers
from goodharts.torch_networks import Inputs
from goodharts.world import evaluation_world
from rlparity import State, UsageError, World
from rlparity.io.safe_read import Unreadable
from rlworldkit.agents.agent import Agent
from rlworldkit.agents.choice import Masks
from rlworldkit.agents.numpy_network import NumpyNetwork
from rlworldkit.runs.saved_config import PRICES

Floats = NDArray[np.float32]
Trained = Mapping[str, Mapping[str, Any]]
"""The settings of a training by section and key."""


class Judge:
    """The judgement of a model, computed on a device in float32.

    A critic that knows more than an observation tells has values in complete states alone.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.to(torch.device("cpu"))

    def to(self, device: torch.device) -> None:
        """Compute on this device from here on."""
        model = self._model
        self.policy, self._device = model.policy.to(device).eval(), device
        self._inputs = Inputs(MODES[model.mode], numbers_of(model.config), model.policy.config.privileged, self._device)

    @torch.inference_mode()
    def __call__(self, observations: Floats, masks: Masks) -> tuple[Floats, Floats]:
        """Logits (n, 8), and values (n,) in units of reward or NaN, for observations (n, 2, 11, 11)."""
        if self._model.policy.config.privileged:
            return self.logits(observations), np.full(len(observations), np.nan, np.float32)
        logits, values = self.policy(self._seen(observations))
        return logits.cpu().numpy(), values.cpu().numpy()

    @torch.inference_mode()
    def logits(self, observations: Floats) -> Floats:
        """The policy alone."""
        return self.policy.logits(self._seen(observations)).cpu().numpy()

    @torch.inference_mode()
    def layers(self, observations: Floats) -> list[tuple[str, Floats]]:
        """Return what the policy sees, and the activations of its hidden layers, by name."""
        layers = self.policy.layers(self._seen(observations))
        return [("seen", observations), *((name, layer.cpu().numpy()) for name, layer in layers)]

    @torch.inference_mode()
    def values_in(self, states: Sequence[State]) -> Floats:
        """Return the critic's values of complete states: (n,)."""
        codes = np.stack([around(state, REACH) for state in states]).reshape(len(states), -1)
        counts = torch.tensor([(state["foodCount"], state["poisonCount"]) for state in states], device=self._device)
        return self.policy(*self._inputs(torch.from_numpy(codes).to(self._device), counts))[1].cpu().numpy()

    def network(self) -> NumpyNetwork:
        """The network in numpy, with parameters as rlworldkit's trainer has them."""
        from goodharts.networks import params_of  # JAX takes a while to import

        return NumpyNetwork(params_of(self.policy.config, self.policy.cpu().state_dict()), NUMPY_NETWORKS)

    def settings(self) -> Mapping[str, Any]:
        """The settings of the training."""
        model = self._model
        config = Config().over(model.config, "The model")
        trained = {"config": model.config, "update": model.update, "timesteps": model.timesteps}
        return {**trained, "gamma": config.training.gamma, PRICES: config.changed_prices(model.mode)}

    def _seen(self, observations: Floats) -> torch.Tensor:
        return torch.tensor(observations, device=self._device)  # a copy: engines may lend theirs


def agent_of(model: Model, path: Path = Path()) -> Agent:
    """The agent of a model, on the CPU; raises UsageError where the world that it was trained in is impossible."""
    judge = Judge(model)
    values_in = judge.values_in if model.policy.config.privileged else None
    return Agent(judge, path, judge.network, judge.settings, values_in, judge.layers)


def training_of(agent: Agent) -> tuple[Trained, dict[str, int]]:
    """The settings that an agent was trained with, and its ``update`` and ``timesteps``; nothing where none are known.

    Raises UsageError where its file says something else there.
    """
    told = {"config": {}, "update": 0, "timesteps": 0, **agent.settings()}
    try:
        return config_of(told), dict(zip(("update", "timesteps"), progress_of(told), strict=True))
    except Unreadable as fault:
        raise UsageError(f"{agent.path} cannot be read: {fault}; give a file that `train` or `export` wrote.") from None


def numbers_of(trained: Trained, config: Config | None = None, source: str = "The model") -> Numbers:
    """The world of a training; with a configuration that of an evaluation by it, else as the training says.

    Raises UsageError, which names the ``source`` of the model, where that world is impossible.
    """
    left_out = () if config is None else ("evaluation", "runtime")
    kept = {name: values for name, values in trained.items() if name not in left_out}
    return (config or Config()).over(kept, source).validated().numbers()


def read_agent(world: World, path: Path) -> Agent:
    """The agent in a model's file; raises UsageError where the file cannot be read, or is of another mode's world."""
    model = read_model(path)
    if world.name != f"goodharts-{model.mode}":
        raise UsageError(f"{path} was trained in mode {model.mode}: give a model of {world.name}, or take its world.")
    return agent_of(model, path)


def in_evaluation(world: World, agent: Agent) -> World:
    """The world in which the agent was trained, by the rules of an evaluation (G6), from game 0 of a seed on."""
    trained, _ = training_of(agent)
    numbers, mode = numbers_of(trained, source=str(agent.path)), MODES[world.name.removeprefix("goodharts-")]
    return replace(evaluation_world(mode, numbers), game_seeds=world.game_seeds)
