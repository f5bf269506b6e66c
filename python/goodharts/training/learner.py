"""Learning: a network, its optimizer, and what one update makes of a rollout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from goodharts.architecture import NetworkConfig
from goodharts.config import OFF, Config
from goodharts.models import load_weights
from goodharts.networks import ActorCritic
from goodharts.rules import Mode
from goodharts.training.inputs import Inputs
from goodharts.training.parallel import ALONE, Processes
from goodharts.training.popart import PopArt
from goodharts.training.ppo import Batch, advantages, losses
from goodharts.training.rates import Rates
from goodharts.training.rollout import Rollout
from parity.safe_read import Unreadable

_ADAM_EPSILON = 1e-5
_WEIGHTS, _SHUFFLE, NOISE = range(3)
"""What is drawn from a run's seed, each from a stream of its own."""


class LearnStats(NamedTuple):
    """Statistics of an update: means over its gradient steps, of all processes; ``action_probs`` has eight.

    ``value_loss`` is half the squared error.
    """

    pg_loss: float
    value_loss: float
    entropy: float
    approx_kl: float
    clip_frac: float
    entropy_floor_penalty: float
    grad_norm: float
    explained_variance: float
    action_probs: list[float]


def stream(seed: int, *which: int) -> int:
    """The seed of one stream of a run: 64 bits."""
    return int(np.random.SeedSequence((seed, *which)).generate_state(1, np.uint64)[0])


class Learner:
    """A policy that learns.

    Args:
        mode: what it is shown. config: the settings. network: what it is made of.
        device: where it computes. precision: of its matrix products; None is float32.
        processes: those that learn the same network.
    """

    def __init__(
        self,
        mode: Mode,
        config: Config,
        network: NetworkConfig,
        device: torch.device,
        precision: torch.dtype | None = None,
        processes: Processes = ALONE,
    ) -> None:
        self._config, self._processes = config.training, processes
        self._device, self._precision = device, precision
        with torch.random.fork_rng(devices=[]):  # the same weights on every device
            torch.manual_seed(stream(config.training.seed, _WEIGHTS))
            self.policy = ActorCritic(network).to(device)
        self.popart = PopArt(self.policy.value, config.training.popart_beta)
        self.optimizer = torch.optim.Adam(
            self.policy.parameters(), config.training.learning_rate, eps=_ADAM_EPSILON, fused=device.type != "mps"
        )
        self.shuffle = torch.Generator().manual_seed(stream(config.training.seed, _SHUFFLE))
        self._inputs = Inputs(mode, config.numbers(), network.privileged, device)
        self._compiled = _compiled(self.policy, config.runtime.compile_mode)
        self._width = len(processes.share(config.training.n_envs))

    @property
    def parameters(self) -> int:
        """How many weights there are."""
        return sum(each.numel() for each in self.policy.parameters())

    @torch.no_grad()
    def judge(self, codes: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (n, 8) and values (n,) in units of reward, for codes int8 (n, 121) and counts (n, 2)."""
        # Only the usual width is compiled for: how many episodes end differs from one rollout to the next.
        logits, scaled = self._forward(self._compiled if len(codes) == self._width else self.policy, codes, counts)
        return logits, self.popart.values(scaled)

    def learn(self, rollout: Rollout, rates: Rates) -> LearnStats:
        """Take the gradient steps of one update."""
        config, processes = self._config, self._processes
        gained = advantages(
            rollout.rewards,
            rollout.values,
            rollout.next_values,
            rollout.terminated,
            rollout.ended,
            config.gamma,
            config.gae_lambda,
        )
        returns = gained + rollout.values
        mean, variance = processes.moments(returns)
        _, unexplained = processes.moments(gained)
        self.popart.follow(mean, variance)
        centre, spread = processes.moments(gained)
        batch = Batch(
            actions=rollout.actions.flatten(),
            log_probs=rollout.log_probs.flatten(),
            advantages=((gained - centre) / (spread.sqrt() + 1e-8)).flatten(),
            targets=self.popart.scaled(returns).flatten(),
        )
        codes, counts = rollout.codes.flatten(0, 1), rollout.counts.flatten(0, 1)
        for group in self.optimizer.param_groups:
            group["lr"] = rates.learning_rate
        said = [
            self._step(codes[part], counts[part], Batch(*(each[part] for each in batch)), rates)
            for part in self._parts(len(codes))
        ]
        *means, explained = processes.mean(
            torch.cat((torch.stack(said).mean(dim=0), (1 - unexplained / variance.clamp_min(1e-12))[None]))
        ).tolist()
        return LearnStats._make([*means[:7], explained, means[7:]])

    def state(self) -> dict[str, Any]:
        """Everything that learning goes on from: plain values and tensors."""
        return {
            "weights": self.policy.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "shuffle": self.shuffle.get_state(),
            "popart": {"mean": self.popart.mean, "deviation": self.popart.deviation, "batches": self.popart.batches},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a ``state``; raises Unreadable where it does not fit."""
        load_weights(self.policy, state["weights"])
        scale = state["popart"]
        if not all(is_scalar(scale[name]) for name in ("mean", "deviation")) or not scale["deviation"] > 0:
            raise Unreadable("its PopArt statistics are no numbers")
        self.popart.mean = scale["mean"].to(self._device)
        self.popart.deviation = scale["deviation"].to(self._device)
        self.popart.batches = int(scale["batches"])
        self.optimizer.load_state_dict(state["optimizer"])
        for weights, kept in self.optimizer.state.items():
            if not all(is_finite_like(weights, kept[name]) for name in ("exp_avg", "exp_avg_sq")):
                raise Unreadable("its optimizer is that of another network")
        if len(self.optimizer.state) != len(list(self.policy.parameters())):
            raise Unreadable("its optimizer is that of another network")
        self.shuffle.set_state(state["shuffle"])

    def _forward(
        self, network: Callable[..., tuple[Tensor, Tensor]], codes: Tensor, counts: Tensor
    ) -> tuple[Tensor, Tensor]:
        with torch.autocast(self._device.type, self._precision, enabled=self._precision is not None):
            logits, scaled = network(*self._inputs(codes, counts))
        return logits.float(), scaled.float()

    def _parts(self, size: int) -> Iterator[Tensor | slice]:
        """The steps of each gradient step: all of them, or in an order of their own for each epoch."""
        for _ in range(self._config.k_epochs):
            if self._config.minibatches == 1:
                yield slice(None)
            else:
                order = torch.randperm(size, generator=self.shuffle).to(self._device)
                yield from order.chunk(self._config.minibatches)

    def _step(self, codes: Tensor, counts: Tensor, batch: Batch, rates: Rates) -> Tensor:
        """One gradient step; the first seven numbers of ``LearnStats``, and eight probabilities."""
        config = self._config
        logits, scaled = self._forward(self._compiled, codes, counts)
        found = losses(logits, scaled, batch, rates.clip_eps)
        shortfall = config.entropy_floor - self._processes.mean(found.entropy.detach())
        # What is short is the entropy of the whole batch; each process adds the gradient of its own part.
        penalty = config.entropy_floor_coef * (config.entropy_floor - found.entropy) * (shortfall > 0)
        loss = found.policy_loss + config.value_coef * found.value_loss - rates.entropy_coef * found.entropy + penalty
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._processes.average_gradients(self.policy)
        norm = torch.nn.utils.clip_grad_norm_(self.policy.parameters(), config.max_grad_norm)
        self.optimizer.step()
        numbers = (
            found.policy_loss,
            found.value_loss / 2,
            found.entropy,
            found.approx_kl,
            found.clip_fraction,
            config.entropy_floor_coef * shortfall.clamp_min(0),
            norm,
        )
        return torch.cat((torch.stack([number.detach() for number in numbers]), found.action_probs))


def is_scalar(value: object) -> bool:
    """Whether a value from a file is one finite float32 in a tensor."""
    return isinstance(value, Tensor) and is_finite_like(torch.zeros(()), value)


def is_finite_like(wanted: Tensor, found: Tensor) -> bool:
    """Whether a tensor from a file is finite, and of the shape and type that is wanted."""
    return found.shape == wanted.shape and found.dtype == wanted.dtype and bool(found.isfinite().all())


def _compiled(policy: ActorCritic, mode: str) -> Callable[..., tuple[Tensor, Tensor]]:
    if mode == OFF:
        return policy
    compiled: Callable[..., tuple[Tensor, Tensor]] = torch.compile(policy, mode=mode)
    return compiled
