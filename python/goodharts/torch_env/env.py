"""Many games side by side: reset, step, restart (G4–G6)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from goodharts.rules import DEFAULT_NUMBERS, FOOD, MOVES, NUM_CELLS, POISON, SIZE, Mode, Numbers
from goodharts.torch_env import random
from goodharts.torch_env.marks import Marks
from goodharts.torch_env.observation import Eye
from goodharts.torch_env.placement import DRAWS, bytes_a_game, first_empty, new_episode
from goodharts.torch_env.rewards import Potentials, Rewards, shaping
from goodharts.torch_env.state import State
from goodharts.torch_env.tables import POTENTIALS, prices

_STARTED_AT_ONCE = 1 << 26
"""Bytes that drawing episodes may take: as many games as that allows start in one go."""
_WORDS_AHEAD = 1 << 15
"""Pairs of words drawn in one go for coming steps: few calls where games are few, and little memory where many."""
_MOST_STEPS_AHEAD = 64


@dataclass(frozen=True)
class Outcome:
    """What a step of ``n`` games gave.

    codes: int8 (n, 121), what the agents see after it, before anything is restarted. components: int64 (n, 5) and
    reward: float32 (n,), as G12 has them. eaten: int64 (n,), what was eaten: EMPTY, FOOD or POISON.
    terminated, truncated: bool (n,); both may be true.
    """

    codes: Tensor
    components: Tensor
    reward: Tensor
    eaten: Tensor
    terminated: Tensor
    truncated: Tensor


class Games:
    """``games`` games of a mode on a device. A game that ended waits for ``restart``, or ``respawn`` in an evaluation.

    A game's course depends on its key and its actions alone: not on the device, nor on how many games run beside it.

    Args:
        mode: what agents see and are rewarded for. games: how many. numbers: of the world.
        device: where everything is computed.
        evaluating: play by the rules of an evaluation: fixed counts, everybody is mortal, nothing truncates (G6).
        marks: counts rules that fire; None: nobody does.
    """

    def __init__(
        self,
        mode: Mode,
        games: int,
        *,
        numbers: Numbers = DEFAULT_NUMBERS,
        device: torch.device | str = "cpu",
        evaluating: bool = False,
        marks: Marks | None = None,
    ) -> None:
        self.mode, self.games, self.numbers, self.evaluating = mode, games, numbers, evaluating
        self.device = torch.device(device)
        self.state = State.empty(games, self.device)
        self._marks = marks
        self._is_mortal = mode.is_mortal or evaluating
        self._eye = Eye(games, self.device, marks)
        self._rewards = Rewards(prices(mode, numbers), numbers, self.device)
        self._potentials = Potentials(self.device) if mode.rewarded_for == "handhold" else None
        self._potential = torch.zeros(games, dtype=torch.int64, device=self.device)
        self._moves = torch.tensor(MOVES, device=self.device).T.contiguous()
        self._energies = torch.tensor([0, numbers.food_energy, numbers.poison_energy], device=self.device)
        self._base = torch.arange(0, games * NUM_CELLS, NUM_CELLS, device=self.device)
        self._at_once = max(_STARTED_AT_ONCE // bytes_a_game(numbers, evaluating), 1)
        self._ahead = torch.empty((0, games, 2), dtype=torch.int32, device=self.device)
        self._ahead_used = 0

    def start(self, keys: Tensor, rows: Tensor | None = None) -> Tensor:
        """New games with these keys, int32 (k, 2), in these rows, or in all; returns what they see, int8 (k, 121)."""
        rows = torch.arange(self.games, device=self.device) if rows is None else rows
        for some, some_keys in zip(self._in_parts(rows), self._in_parts(keys), strict=True):
            event = torch.zeros(len(some), dtype=torch.int64, device=self.device)
            self.state.put(some, self._new_episode(some_keys, event))
        return self._changed(rows)

    def step(self, actions: Tensor) -> Outcome:
        """One action (n,), int64, in every game, by G5."""
        state = self.state
        self._count_moves(actions)
        state.x = (state.x + self._moves[0, actions]) & (SIZE - 1)
        state.y = (state.y + self._moves[1, actions]) & (SIZE - 1)
        cells = state.y * SIZE + state.x
        places = self._base + cells
        flat = state.grid.view(-1)
        eaten = flat[places].long()
        words = self._reappearing_words()
        state.event = (state.event + 1) & random.WORD
        state.steps += 1
        if self._is_mortal:
            state.energy += self._energies[eaten] - self.numbers.step_energy
        flat[places] = 0
        self._reappear(eaten, cells, words)
        terminated = state.energy <= 0 if self._is_mortal else torch.zeros_like(eaten, dtype=torch.bool)
        truncated = torch.zeros_like(terminated) if self.evaluating else state.steps >= self.numbers.max_steps
        codes = self.look()
        components = self._rewards.components(eaten, terminated)
        if self._potentials:
            after = self._potentials.of(codes)
            components[:, 4] = shaping(self._potential, after, terminated)
            self._count_potentials(self._potential, terminated)
            self._potential = after
        self._count_step(eaten, terminated, truncated)
        return Outcome(codes, components, self._rewards.total(components), eaten, terminated, truncated)

    def restart(self, rows: Tensor) -> Tensor:
        """A new episode in each of these rows (k,), with the draws of their latest step; returns what they see (G6)."""
        state = self.state
        for some in self._in_parts(rows):
            state.put(some, self._new_episode(state.key[some], state.event[some]))
        if self._marks:
            self._marks.add("G6.restart", len(rows))
        return self._seen(rows)

    def respawn(self, rows: Tensor) -> Tensor:
        """The agents of these rows (k,), and they alone, live again somewhere else (G6); returns what they see."""
        state = self.state
        for some in self._in_parts(rows):
            address = random.address(random.RESPAWN, DRAWS // 2, self.device)
            words = random.words(state.key[some], state.event[some], address)
            cells = first_empty(state.grid[some], words, None, self._marks, "G6.respawn")
            state.x[some], state.y[some] = cells % SIZE, cells // SIZE
        state.energy[rows] = self.numbers.start_energy
        state.steps[rows] = 0
        return self._seen(rows)

    def take_back(self, rows: Tensor, event: Tensor) -> None:
        """Count no step after these events, (k,), for these rows (k,): they were none of these games'."""
        self.state.event[rows] = event
        self._draw_ahead_again(rows)

    def put(self, rows: Tensor, games: State) -> Tensor:
        """Put games into rows; returns what they see."""
        self.state.put(rows, games)
        return self._changed(rows)

    def look(self) -> Tensor:
        """What all agents see, int8 (n, 121)."""
        return self._eye.codes(self.state)

    def _in_parts(self, rows: Tensor) -> tuple[Tensor, ...]:
        return torch.split(rows, self._at_once)

    def _new_episode(self, keys: Tensor, event: Tensor) -> State:
        return new_episode(keys, event, self.numbers, self.evaluating, self._marks)

    def _changed(self, rows: Tensor) -> Tensor:
        """What these rows see, after their keys or events became others."""
        self._draw_ahead_again(rows)
        return self._seen(rows)

    def _draw_ahead_again(self, rows: Tensor) -> None:
        """Words drawn ahead for other keys or events are no longer those of these rows."""
        ahead = self._ahead[self._ahead_used :]
        if len(ahead):
            ahead[:, rows] = self._words_ahead(self.state.key[rows], self.state.event[rows], len(ahead))

    def _seen(self, rows: Tensor) -> Tensor:
        codes = self._eye.codes(self.state, rows)
        if self._potentials:
            self._potential[rows] = self._potentials.of(codes)
        return codes

    def _reappearing_words(self) -> Tensor:
        """The first two draws for what reappears after the coming step, int32 (n, 2)."""
        if self._ahead_used == len(self._ahead):
            steps = min(max(_WORDS_AHEAD // self.games, 1), _MOST_STEPS_AHEAD)
            self._ahead, self._ahead_used = self._words_ahead(self.state.key, self.state.event, steps), 0
        words = self._ahead[self._ahead_used]
        self._ahead_used += 1
        return words

    def _words_ahead(self, key: Tensor, event: Tensor, steps: int) -> Tensor:
        """Those words for several steps to come, int32 (steps, n, 2): one call costs little more than one step's."""
        events = event + torch.arange(1, steps + 1, device=self.device)[:, None]
        pair = random.address(random.REAPPEAR, 1, self.device)
        return random.words(key.repeat(steps, 1), events.flatten(), pair).view(steps, len(key), 2)

    def _reappear(self, eaten: Tensor, agents: Tensor, words: Tensor) -> None:
        """Another item of the kind, where one was eaten, in the first free cell of the draws (G5)."""
        rows = eaten.nonzero()[:, 0]
        if not len(rows):
            return
        grid, agents, kinds = self.state.grid, agents[rows], eaten[rows].to(torch.int8)
        drawn = random.cell(words[rows])
        is_free = (grid[rows[:, None], drawn] == 0) & (drawn != agents[:, None])
        cells = torch.where(is_free[:, 0], drawn[:, 0], drawn[:, 1])
        if self._marks:
            self._marks.add("G5.reappear_later_draw", ~is_free[:, 0] & is_free[:, 1])
        hard = (~is_free.any(dim=1)).nonzero()[:, 0]
        if len(hard):  # both draws hit something, which is rare
            some = rows[hard]
            address = random.address(random.REAPPEAR, DRAWS // 2, self.device)
            words = random.words(self.state.key[some], self.state.event[some], address)
            cells[hard] = first_empty(grid[some], words, agents[hard], self._marks, "G5.reappear")
        grid[rows, cells] = kinds

    def _count_moves(self, actions: Tensor) -> None:
        if marks := self._marks:
            x, y = self.state.x + self._moves[0, actions], self.state.y + self._moves[1, actions]
            marks.add("G4.move", len(actions))
            marks.add("G4.wrap_column", (x < 0) | (x == SIZE))
            marks.add("G4.wrap_row", (y < 0) | (y == SIZE))

    def _count_step(self, eaten: Tensor, terminated: Tensor, truncated: Tensor) -> None:
        if marks := self._marks:
            marks.add("G5.food", eaten == FOOD)
            marks.add("G5.poison", eaten == POISON)
            marks.add("G5.starved", terminated & (eaten != POISON))
            marks.add("G5.poisoned", terminated & (eaten == POISON))
            marks.add("G5.truncated", truncated & ~terminated)
            marks.add("G5.terminated_and_truncated", truncated & terminated)
            marks.add("G5.frozen", 0 if self._is_mortal else len(eaten))
            marks.add("G12.reward", len(eaten))

    def _count_potentials(self, before: Tensor, terminated: Tensor) -> None:
        if marks := self._marks:
            marks.add("G9.no_food_in_view", before == 0)
            for distance, potential in enumerate(POTENTIALS, start=1):
                marks.add(f"G9.food_at_{distance}", before == potential)
            marks.add("G9.none_on_termination", terminated)
