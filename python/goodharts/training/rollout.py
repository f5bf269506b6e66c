"""Rollouts: a number of steps of every game, played with a policy and recorded compactly."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from goodharts.rules import ACTIONS, FOOD, POISON
from goodharts.torch_env.env import Games
from goodharts.training.runs import EPISODE

Judge = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""Policy and critic: from codes int8 (n, 121) and counts (n, 2) to logits (n, 8) and values (n,), in reward."""


class Rollout(NamedTuple):
    """Record of ``t`` steps of ``n`` games, 137 bytes and a few numbers per step.

    codes: int8 (t, n, 121); counts: int16 (t, n, 2), the episodes' food and poison; actions: int64 (t, n).
    ended: terminated or truncated; bool (t, n), as is terminated. next_values: of the episode's own next observation,
    even where it ended; float32 (t, n), as are log_probs, values and rewards.
    episodes: float32 (k, 7), the episodes that ended, with the columns ``EPISODE``.
    """

    codes: Tensor
    counts: Tensor
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    rewards: Tensor
    terminated: Tensor
    ended: Tensor
    next_values: Tensor
    episodes: Tensor


class Player:
    """Player of the games of one process, which are started already, with a policy, episode after episode.

    noise: draws for the actions of the games of all processes, the same in each process, so that an agent's actions do
    not depend on the number of processes or on which one plays it. share: the numbers of these games, out of ``of``.
    """

    def __init__(self, games: Games, noise: torch.Generator, share: range, of: int) -> None:
        self.games, self.noise = games, noise
        self.share, self.of = share, of
        self.codes = games.look()
        self.totals = torch.zeros((games.games, 3), device=games.device)  # reward, food and poison of this episode

    def play(self, steps: int, judge: Judge) -> Rollout:
        """Play ``steps`` steps of every game; episodes that ended are followed by new ones (G6)."""
        games, played = self.games, list[tuple[Tensor, ...]]()
        last: list[tuple[Tensor, Tensor, Tensor]] = []  # indices, last codes and counts of the episodes that ended
        episodes = [torch.empty((0, len(EPISODE)), device=games.device)]
        for t in range(steps):
            seen, counts = self.codes, self._counts()
            logits, values = judge(seen, counts)
            log_probs = torch.log_softmax(logits, dim=1)
            actions = (log_probs - self._exponential().log()).argmax(dim=1)  # samples the policy (Gumbel-max)
            outcome = games.step(actions)
            ended = outcome.terminated | outcome.truncated
            taken = log_probs.gather(1, actions[:, None])[:, 0]
            played.append((seen, counts, actions, taken, values, outcome.reward, outcome.terminated, ended))
            self.codes = outcome.codes
            self.totals += torch.stack((outcome.reward, outcome.eaten == FOOD, outcome.eaten == POISON), dim=1)
            rows = ended.nonzero()[:, 0]
            if len(rows):
                episodes.append(self._finished(t, rows, outcome.terminated))
                last.append((t * games.games + rows, outcome.codes[rows], counts[rows]))
                self.codes = outcome.codes.index_copy(0, rows, games.restart(rows))
        steps_of = [torch.stack(column) for column in zip(*played, strict=True)]
        following = self._values_after(steps_of[4], judge, last)
        return Rollout._make([*steps_of, following, torch.cat(episodes)])

    def _values_after(self, values: Tensor, judge: Judge, last: list[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
        """Compute ``next_values``: of the next step's observation, or of the last one of an episode that ended."""
        codes = torch.cat([self.codes, *(codes for _, codes, _ in last)])
        counts = torch.cat([self._counts(), *(counts for _, _, counts in last)])
        _, later = judge(codes, counts)
        following = torch.cat((values[1:], later[None, : self.games.games]))
        if last:
            following.view(-1)[torch.cat([places for places, _, _ in last])] = later[self.games.games :]
        return following

    def _counts(self) -> Tensor:
        state = self.games.state
        return torch.stack((state.food_count, state.poison_count), dim=1).to(torch.int16)

    def _exponential(self) -> Tensor:
        """Exponential draws for the actions of these games, float32 (n, 8)."""
        drawn = torch.empty((self.of, len(ACTIONS)), device=self.games.device).exponential_(generator=self.noise)
        return drawn[self.share.start : self.share.stop]

    def _finished(self, t: int, rows: Tensor, terminated: Tensor) -> Tensor:
        """The episodes that ended in these rows, float32 (k, 7); resets their totals."""
        steps = torch.full_like(rows, t)
        lengths = self.games.state.steps[rows]
        columns = (steps, rows + self.share.start, lengths, *self.totals[rows].T, terminated[rows])
        self.totals[rows] = 0
        return torch.stack([column.float() for column in columns], dim=1)
