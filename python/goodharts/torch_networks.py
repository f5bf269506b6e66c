"""Networks of policies and values (G8) in torch."""

from collections import OrderedDict
from itertools import pairwise
from typing import assert_never

import torch
from torch import Tensor, nn

from goodharts.architecture import CELLS, CHANNELS, PRIVILEGES, SEEN, NetworkConfig
from goodharts.rules import ACTIONS, FOOD, OBSERVATION_SHAPE, POISON, Mode, Numbers
from goodharts.torch_env.observation import observation_of
from goodharts.torch_env.tables import channels


class ActorCritic(nn.Module):
    """Policy and value heads on one body. Only the value head also reads the privileges, joined after the body."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.body = _body(config)
        self.policy = nn.Linear(config.hidden, len(ACTIONS))
        if config.privileged:
            self.joined = nn.Sequential(nn.Linear(config.hidden + PRIVILEGES, config.hidden), nn.ReLU())
        self.value = nn.Linear(config.hidden, 1)
        # orthogonal, as PPO's implementations have them: small for the policy, so that it begins undecided
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                nn.init.orthogonal_(module.weight, 2**0.5)
                nn.init.constant_(module.get_parameter("bias"), 0.0)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        nn.init.orthogonal_(self.value.weight, 1.0)

    def forward(self, observation: Tensor, privileges: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Logits (n, 8), and values (n,) as the value head scales them.

        observation: float32 (n, 2, 11, 11). privileges: float32 (n, PRIVILEGES), for a privileged critic.
        """
        seen = known = self.body(observation)
        if self.config.privileged:
            assert privileges is not None
            known = self.joined(torch.cat((seen, privileges), dim=1))
        return self.policy(seen), self.value(known)[:, 0]

    def logits(self, observation: Tensor) -> Tensor:
        """Logits (n, 8) alone, for an agent that plays."""
        return self.policy(self.body(observation))

    def layers(self, observation: Tensor) -> list[tuple[str, Tensor]]:
        """Return the policy's hidden layers by name with their activations, float32 (n, …)."""
        found, out = [], observation
        for name, module in self.body.named_children():
            out = module(out)
            if isinstance(module, nn.ReLU):
                found.append((name.removesuffix("_relu"), out))
        return found


class Inputs:
    """Converter from compact observations to the inputs of a policy (G7) and the extra inputs of its critic (G8)."""

    def __init__(self, mode: Mode, numbers: Numbers, privileged: bool, device: torch.device) -> None:
        self._mode, self._privileged = mode, privileged
        self._channels = torch.tensor(channels(mode, numbers), device=device)
        self._least = torch.tensor([numbers.min_food, numbers.min_poison], device=device)
        self._span = torch.tensor([numbers.max_food, numbers.max_poison], device=device) - self._least

    def __call__(self, codes: Tensor, counts: Tensor) -> tuple[Tensor, Tensor | None]:
        """Observations, float32 (n, 2, 11, 11), and privileges, float32 (n, PRIVILEGES), for a privileged critic.

        codes: int8 (n, 121). counts: the episodes' food and poison (n, 2); privileges have them scaled from their range
        in training to [-1, 1], and as 0 where the range has only one value.
        """
        if not self._privileged:
            return observation_of(codes, self._channels), None
        truth = torch.stack((codes == FOOD, codes == POISON), dim=1).float()
        sees = truth.view(-1, *OBSERVATION_SHAPE) if self._mode.sees_truth else observation_of(codes, self._channels)
        share = (counts - self._least) / self._span.clamp_min(1)
        scaled = torch.where(self._span > 0, 2 * share - 1, 0.0)
        return sees, torch.cat((scaled, truth.flatten(1)), dim=1)


def _body(config: NetworkConfig) -> nn.Sequential:
    layers: dict[str, nn.Module] = {}
    match config.kind:
        case "cnn":
            depths = (OBSERVATION_SHAPE[0], *CHANNELS)
            for number, (depth_in, depth_out) in enumerate(pairwise(depths), start=1):
                layers[f"conv{number}"] = nn.Conv2d(depth_in, depth_out, 3, padding=1)
                layers[f"conv{number}_relu"] = nn.ReLU()
            layers |= {"flat": nn.Flatten(), "dense": nn.Linear(depths[-1] * CELLS, config.hidden)}
        case "mlp":
            layers |= {"flat": nn.Flatten(), "dense1": nn.Linear(SEEN, config.hidden), "dense1_relu": nn.ReLU()}
            layers["dense"] = nn.Linear(config.hidden, config.hidden)
        case unknown:
            assert_never(unknown)
    return nn.Sequential(OrderedDict(layers, dense_relu=nn.ReLU()))
