"""Reader of the agent of a MaskablePPO model, and its network in numpy."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from torch import nn

from rlparity import World
from rlparity.errors import UsageError
from rlworldkit.agents.agent import Agent, Masks
from rlworldkit.agents.numpy_network import Floats, NumpyNetwork
from rlworldkit.envs.spaces import action_space, observation_space
from rlworldkit.ppo.config import Activation
from rlworldkit.ppo.params import hidden_layer
from rlworldkit.runs.folder import read_saved_config
from rlworldkit.sb3.models import load_model

_ACTIVATIONS: dict[type[nn.Module], Activation] = {nn.Tanh: "tanh", nn.ReLU: "relu"}


def read_masked_ppo(world: World, path: Path, trust: bool) -> Agent:
    """Read the agent of a model of this world; raises UsageError for another file. trust: see ``load_model``."""
    model = load_model(path, world, "cpu", trust=trust)
    if (model.observation_space, model.action_space) != (observation_space(world), action_space(world)):
        raise UsageError(f"{path} is a model of another game: name one that plays {world.title}.")
    policy: Any = model.policy
    policy.set_training_mode(False)

    @torch.no_grad()
    def judge(observations: Floats, masks: Masks) -> tuple[Floats, Floats]:
        seen = policy.obs_to_tensor(world.split(observations))[0]
        logits = policy.get_distribution(seen).distribution.logits
        return logits.numpy(), policy.predict_values(seen)[:, 0].numpy()

    return Agent(judge, path, lambda: network_of(model, world), settings=lambda: read_saved_config(path.parent))


@torch.no_grad()
def network_of(model: MaskablePPO, world: World) -> NumpyNetwork:
    """Combine a model's policy and value networks into one, whose layers hold both side by side.

    Raises UsageError for a model with other layers than MaskablePPO's default ones.
    """
    policy: Any = model.policy
    shape = world.observation_shape
    single = np.eye(math.prod(shape), dtype=np.float32).reshape(-1, *shape)  # one-hot observations
    seen = np.random.default_rng(0).integers(2, size=(8, *shape)).astype(np.float32)
    try:
        order, features = (
            policy.extract_features(policy.obs_to_tensor(world.split(each))[0]) for each in (single, seen)
        )
        nets = policy.mlp_extractor.policy_net, policy.mlp_extractor.value_net
        pairs = [*zip(nets[0][::2], nets[1][::2], strict=True), (policy.action_net, policy.value_net)]
        kernels = [torch.block_diag(*(each.weight for each in pair)).T.numpy() for pair in pairs]  # type: ignore[no-untyped-call]
        biases = [torch.cat([each.bias for each in pair]).numpy() for pair in pairs]
        first, second = np.split(kernels[0], 2)
        kernels[0] = order.numpy() @ (first + second)  # both read the same features
        num_actions = len(biases[-1]) - 1
        cuts = slice(num_actions), slice(num_actions, None)
        kernels[-1:], biases[-1:] = [kernels[-1][:, cut] for cut in cuts], [biases[-1][cut] for cut in cuts]
        hidden = (hidden_layer(_ACTIVATIONS[type(nets[0][1])], number) for number in range(len(nets[0]) // 2))
        named = zip((*hidden, "policy", "value"), kernels, biases, strict=True)
        network = NumpyNetwork({"params": {name: {"kernel": kernel, "bias": bias} for name, kernel, bias in named}}, {})
        expected = policy.action_net(nets[0](features)), policy.value_net(nets[1](features))[:, 0]
        is_same = all(map(np.allclose, network(seen), expected, (1e-4,) * 2, (1e-4,) * 2))
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError):
        is_same = False
    if not is_same:
        raise UsageError("A model of MaskablePPO with layers of another kind than its own cannot be exported.")
    return network
