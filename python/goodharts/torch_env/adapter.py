"""Adapter of the torch engine to the harness: ``rlparity.BatchEngine``."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from goodharts.rules import ACTIONS, DEFAULT_NUMBERS, EVENTS, FOOD, POISON, Mode, Numbers, marks_of
from goodharts.torch_env import state_dict
from goodharts.torch_env.env import Games
from goodharts.torch_env.marks import Marks
from goodharts.torch_env.observation import observation_of
from goodharts.torch_env.random import keys_of, unsigned
from goodharts.torch_env.tables import channels
from rlparity import BatchEngine, BatchStep, EngineOptions, State
from rlparity.engine import Array, Slots
from rlparity.threefry import seeds_of

_NEVER = -1
_BITS = 1 << np.arange(len(EVENTS), dtype=np.uint32)


class TorchEngine(BatchEngine):
    """``games`` games of a mode. A game's seed is its key, lower word first.

    evaluating: use the rules of an evaluation, where the next game of one that ended is its agent's next life (G6).
    """

    def __init__(
        self,
        mode: Mode,
        games: int,
        options: EngineOptions,
        device: torch.device | str = "cpu",
        numbers: Numbers = DEFAULT_NUMBERS,
        evaluating: bool = False,
    ) -> None:
        self.games = games
        self._names = tuple(marks_of(mode, evaluating=evaluating))
        self._marks = Marks(self._names, torch.device(device)) if options.marks else None
        self._env = Games(
            mode,
            games,
            numbers=numbers,
            device=device,
            evaluating=evaluating,
            marks=self._marks,
            prices=options.prices,
        )
        self._following = self._env.respawn if evaluating else self._env.restart
        self._channels = torch.tensor(channels(mode, self._env.numbers), device=self._env.device)
        self._mask = np.ones((games, len(ACTIONS)), np.bool_)
        self._rested_at = torch.full((games,), _NEVER, device=self._env.device)

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> Array:
        keys, rows = keys_of(seeds), self._rows(slots)
        self._rested_at[rows] = _NEVER
        return self._observed(self._env.start(keys.to(self._env.device), rows))

    def restart(self, slots: Slots) -> Array:
        rows = self._rows(slots)
        rested = rows[self._rested_at[rows] != _NEVER]
        if len(rested):
            self._env.take_back(rested, self._rested_at[rested])
            self._rested_at[rested] = _NEVER
        return self._observed(self._following(rows))

    def rest(self, slots: Slots) -> None:
        rows = self._rows(slots)
        self._rested_at[rows] = self._env.state.event[rows]

    def seeds(self) -> NDArray[np.uint64]:
        return seeds_of(self._env.state.key.cpu().numpy())

    def mask(self) -> NDArray[np.bool_]:
        return self._mask

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._stepped(actions, restarting=False)

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._stepped(actions, restarting=True)

    def _stepped(self, actions: NDArray[np.int32], *, restarting: bool) -> BatchStep:
        taken = torch.from_numpy(actions.astype(np.int64)).to(self._env.device)
        outcome = self._env.step(taken, restarting=restarting)
        facts = self.facts()
        if restarting:
            ended = (outcome.terminated | outcome.truncated).nonzero()[:, 0]
            if len(ended):
                outcome.codes[ended] = self._following(ended)
        eaten, terminated = outcome.eaten.cpu().numpy(), outcome.terminated.cpu().numpy()
        happened = np.stack((eaten == FOOD, eaten == POISON, terminated), axis=1)
        return BatchStep(
            observation=self._observed(outcome.codes),
            components=outcome.components.to(torch.int32).cpu().numpy(),
            reward=outcome.reward.cpu().numpy(),
            terminated=terminated,
            truncated=outcome.truncated.cpu().numpy(),
            facts=facts,
            events=happened @ _BITS,
        )

    def get_state(self, slots: Slots) -> list[State]:
        return state_dict.to_dicts(self._env.state.rows(self._rows(slots)))

    def set_state(self, states: Sequence[State], slots: Slots) -> Array:
        rows, games = self._rows(slots), state_dict.from_dicts(states, self._env.device)
        self._rested_at[rows] = _NEVER
        return self._observed(self._env.put(rows, games))

    def facts(self) -> Array:
        state = self._env.state
        return torch.stack((state.energy, state.steps), dim=1).cpu().numpy()

    def state_arrays(self) -> Mapping[str, Array]:
        state = self._env.state
        columns = ("grid", "x", "y", "energy", "steps", "event", "food_count", "poison_count")
        arrays = {name: getattr(state, name).cpu().numpy() for name in columns}
        return {**arrays, "key": unsigned(state.key).cpu().numpy()}

    def marks(self) -> NDArray[np.int64] | None:
        return self._marks.counts() if self._marks else None

    def _rows(self, slots: Slots) -> torch.Tensor:
        return torch.from_numpy(slots.astype(np.int64)).to(self._env.device)

    def _observed(self, codes: torch.Tensor) -> Array:
        return observation_of(codes, self._channels).cpu().numpy()
