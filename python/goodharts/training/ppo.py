"""PPO (Schulman et al. 2017) in torch: advantages, losses, and the gradient steps of an update."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from goodharts.architecture import NetworkConfig
from goodharts.config import OFF, Config, Rates
from goodharts.devices import mixed_precision
from goodharts.models import load_weights
from goodharts.rules import ACTIONS, Mode
from goodharts.torch_networks import ActorCritic, Inputs
from goodharts.training.parallel import Processes
from goodharts.training.rollout import Rollout
from rlparity.io.safe_read import Unreadable
from rlworldkit.ppo.checkpoint_format import NETWORK
from rlworldkit.ppo.value_heads import FIRST_SCALE, ValueScale, moved

_ADAM_EPSILON = 1e-5
_WEIGHTS, _SHUFFLE, NOISE = range(3)
"""Streams of random numbers that a run draws from its seed."""
_WEIGHT, _MOMENT, _SCALE = (f"{NETWORK}.{part}." for part in ("params", "opt_state", "value_scale"))
_ORDER = ".shuffle"
"""Names or prefixes in a checkpoint: of weights, Adam's state, PopArt's scale, and the order of samples."""
_OF_STEPS = ("pg_loss", "value_loss", "entropy", "approx_kl", "clip_frac", "entropy_floor_penalty", "grad_norm")
_STATS = (*_OF_STEPS, "explained_variance", *(f"action_prob_{action}" for action in range(len(ACTIONS))))
"""The statistics of an update; ``value_loss`` is half the squared error."""


def stream(seed: int, *which: int) -> int:
    """The seed of one stream of random numbers of a run: 64 bits."""
    return int(np.random.SeedSequence((seed, *which)).generate_state(1, np.uint64)[0])


def advantages(rollout: Rollout, gamma: float, gae_lambda: float) -> Tensor:
    """Generalized advantage estimates (Schulman et al. 2016) of a rollout's steps, float32 (t, n)."""
    errors = rollout.rewards + gamma * rollout.next_values * ~rollout.terminated - rollout.values
    found = torch.empty_like(errors)
    later = torch.zeros_like(errors[0])
    for t in reversed(range(len(errors))):
        later = errors[t] + gamma * gae_lambda * ~rollout.ended[t] * later
        found[t] = later
    return found


class Batch(NamedTuple):
    """Steps to learn from, (n,) each. log_probs: of the actions, when they were taken. targets: scaled returns."""

    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    targets: Tensor


class Losses(NamedTuple):
    """Means over a batch, all scalars except ``action_probs`` (8,)."""

    policy_loss: Tensor
    value_loss: Tensor
    entropy: Tensor
    approx_kl: Tensor
    clip_fraction: Tensor
    action_probs: Tensor


def losses(logits: Tensor, values: Tensor, batch: Batch, clip_eps: float) -> Losses:
    """The losses of a network's logits (n, 8) and scaled values (n,) for a batch."""
    log_probs = torch.log_softmax(logits, dim=1)
    probs = log_probs.exp()
    log_ratio = log_probs.gather(1, batch.actions[:, None])[:, 0] - batch.log_probs
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - clip_eps, 1 + clip_eps)
    gain = torch.minimum(ratio * batch.advantages, clipped * batch.advantages)
    with torch.no_grad():
        approx_kl = (ratio - 1 - log_ratio).mean()
        clip_fraction = ((ratio - 1).abs() > clip_eps).float().mean()
    return Losses(
        policy_loss=-gain.mean(),
        value_loss=(values - batch.targets).square().mean(),
        entropy=-(probs * log_probs).sum(dim=1).mean(),
        approx_kl=approx_kl,
        clip_fraction=clip_fraction,
        action_probs=probs.detach().mean(dim=0),
    )


@torch.no_grad()
def rescale(head: nn.Linear, before: ValueScale, after: ValueScale) -> None:
    """Rescale a PopArt head so that its values in reward stay the same when its scale changes to ``after``."""
    weight, bias = moved(head.weight, head.bias, before, after)
    head.weight.copy_(weight)
    head.bias.copy_(bias)


class Learner:
    """Learner of a mode's policy from rollouts; ``processes`` train the same network together.

    policy: the network. scale: of its value head. precision: of its matrix products; None is float32.
    """

    def __init__(
        self, mode: Mode, config: Config, network: NetworkConfig, device: torch.device, processes: Processes
    ) -> None:
        self._config, self._processes, self._device = config.training, processes, device
        self.precision = mixed_precision(device, config.runtime.amp)
        with torch.random.fork_rng(devices=[]):  # the same weights on every device
            torch.manual_seed(stream(config.training.seed, _WEIGHTS))
            self.policy = ActorCritic(network).to(device)
        self.scale = FIRST_SCALE
        self.optimizer = torch.optim.Adam(
            self.policy.parameters(), config.training.learning_rate, eps=_ADAM_EPSILON, fused=device.type != "mps"
        )
        self.shuffle = torch.Generator().manual_seed(stream(config.training.seed, _SHUFFLE))
        self._inputs = Inputs(mode, config.numbers(), network.privileged, device)
        compile_mode = config.runtime.compile_mode
        self._compiled: Callable[..., tuple[Tensor, Tensor]] = (
            self.policy if compile_mode == OFF else torch.compile(self.policy, mode=compile_mode)
        )
        self._width = len(processes.share(config.training.n_envs))

    @torch.no_grad()
    def judge(self, codes: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (n, 8) and values (n,) in units of reward, for codes int8 (n, 121) and counts (n, 2)."""
        # Compiled for the usual width only: the number of episodes that end differs between rollouts.
        logits, scaled = self._forward(self._compiled if len(codes) == self._width else self.policy, codes, counts)
        return logits, self.scale.values(scaled)

    def learn(self, rollout: Rollout, rates: Rates) -> dict[str, float]:
        """Take the gradient steps of one update, and return their means over all steps and processes by name."""
        config, processes = self._config, self._processes
        gained = advantages(rollout, config.gamma, config.gae_lambda)
        returns = gained + rollout.values
        mean, variance = processes.moments(returns)
        centre, spread = processes.moments(gained)
        self._follow(mean, variance)
        batch = Batch(
            actions=rollout.actions.flatten(),
            log_probs=rollout.log_probs.flatten(),
            advantages=((gained - centre) / (spread.sqrt() + 1e-8)).flatten(),
            targets=self.scale.scaled(returns).flatten(),
        )
        codes, counts = rollout.codes.flatten(0, 1), rollout.counts.flatten(0, 1)
        for group in self.optimizer.param_groups:
            group["lr"] = rates.learning_rate
        steps = [
            self._step(codes[part], counts[part], Batch(*(each[part] for each in batch)), rates)
            for part in self._parts(len(codes))
        ]
        means, explained = torch.stack(steps).mean(dim=0), 1 - spread / variance.clamp_min(1e-12)
        probs = len(_OF_STEPS)
        stats = processes.mean(torch.cat((means[:probs], explained[None], means[probs:])))
        return dict(zip(_STATS, stats.tolist(), strict=True))

    def tensors(self) -> dict[str, Tensor]:
        """Everything that is needed to resume learning, by name."""
        weights = {f"{_WEIGHT}{name}": each for name, each in self.policy.state_dict().items()}
        moments = self.optimizer.state_dict()["state"].items()
        adam = {f"{_MOMENT}{of}.{name}": each for of, kept in moments for name, each in kept.items()}
        scale = {f"{_SCALE}{name}": torch.tensor(value) for name, value in self.scale._asdict().items()}
        return {**weights, **adam, **scale, _ORDER: self.shuffle.get_state()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Resume from the result of ``tensors``, on the CPU; raises Unreadable, or KeyError, where it does not fit."""
        load_weights(
            self.policy,
            {name.removeprefix(_WEIGHT): each for name, each in tensors.items() if name.startswith(_WEIGHT)},
        )
        self.scale = ValueScale(*(tensors[f"{_SCALE}{name}"].numpy()[()] for name in ValueScale._fields))
        names = ("step", "exp_avg", "exp_avg_sq")
        weights = list(self.policy.parameters())
        state = {of: {name: tensors[f"{_MOMENT}{of}.{name}"] for name in names} for of in range(len(weights))}
        if any(state[of][name].shape != each.shape for of, each in enumerate(weights) for name in names[1:]):
            raise Unreadable("its optimizer is that of another network")
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})
        self.shuffle.set_state(tensors[_ORDER])

    def _follow(self, mean: Tensor, variance: Tensor) -> None:
        """Update PopArt's scale with the moments of a batch of returns, and rescale the value head."""
        before = self.scale
        after = before.following(mean.item(), variance.item(), self._config.popart_beta)
        self.scale = after._replace(
            mean=np.float32(after.mean), deviation=np.float32(after.deviation)
        )  # the precision in which it is saved
        rescale(self.policy.value, before, self.scale)

    def _forward(
        self, network: Callable[..., tuple[Tensor, Tensor]], codes: Tensor, counts: Tensor
    ) -> tuple[Tensor, Tensor]:
        with torch.autocast(self._device.type, self.precision, enabled=self.precision is not None):
            logits, scaled = network(*self._inputs(codes, counts))
        return logits.float(), scaled.float()

    def _parts(self, size: int) -> Iterator[Tensor | slice]:
        """Yield the samples of each gradient step: all samples, or minibatches in a new random order for each epoch."""
        for _ in range(self._config.k_epochs):
            if self._config.minibatches == 1:
                yield slice(None)
            else:
                order = torch.randperm(size, generator=self.shuffle).to(self._device)
                yield from order.chunk(self._config.minibatches)

    def _step(self, codes: Tensor, counts: Tensor, batch: Batch, rates: Rates) -> Tensor:
        """Take one gradient step; returns the numbers ``_OF_STEPS`` and the mean probabilities of the eight actions."""
        config = self._config
        logits, scaled = self._forward(self._compiled, codes, counts)
        found = losses(logits, scaled, batch, rates.clip_eps)
        shortfall = config.entropy_floor - self._processes.mean(found.entropy.detach())
        # The floor is for the mean entropy of all processes; each process adds the gradient of its own part.
        penalty = config.entropy_floor_coef * (config.entropy_floor - found.entropy) * (shortfall > 0)
        loss = found.policy_loss + config.value_coef * found.value_loss - rates.entropy_coef * found.entropy + penalty
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._processes.average_gradients(self.policy)
        norm = torch.nn.utils.clip_grad_norm_(self.policy.parameters(), config.max_grad_norm)
        self.optimizer.step()
        policy_loss, value_loss, *others, probs = found
        numbers = policy_loss, value_loss / 2, *others, config.entropy_floor_coef * shortfall.clamp_min(0), norm
        return torch.cat((torch.stack([number.detach() for number in numbers]), probs))
