"""Many games side by side: reset, step, restart (G4–G6)."""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from goodharts.rules import DEFAULT_NUMBERS, EMPTY, FOOD, MOVES, NUM_CELLS, POISON, SIZE, Mode, Numbers
from goodharts.torch_env import random
from goodharts.torch_env.marks import Marks
from goodharts.torch_env.observation import ViewReader
from goodharts.torch_env.placement import DRAWS, bytes_a_game, first_empty, new_episode
from goodharts.torch_env.rewards import Potentials, Rewards, shaping
from goodharts.torch_env.state import State
from goodharts.torch_env.tables import POTENTIALS, PRICES, Prices

_STARTED_AT_ONCE = 1 << 26
"""Memory budget in bytes for drawing episodes, which limits how many games start in one go."""
_WORDS_AHEAD = 1 << 15
"""Pairs of places drawn in one go for coming steps: few calls with few games, and little memory with many."""
_MOST_STEPS_AHEAD = 64


@dataclass(frozen=True)
class Outcome:
    """Outcome of a step of ``n`` games.

    codes: int8 (n, 121), the views of the agents after the step, before any restart. components: int64 (n, 5) and
    reward: float32 (n,), as G12 defines them. eaten: int64 (n,), what was eaten: EMPTY, FOOD or POISON.
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

    A game depends on its key and its actions alone, not on the device or on the number of games beside it.

    Args:
        mode: the view and the reward of agents. games: how many. numbers: of the world.
        device: of all tensors.
        evaluating: play by the rules of an evaluation: fixed counts, all agents are mortal, no truncation (G6).
        marks: counts rules that fire; None: no counting.
        prices: of a step, food, poison and a death, in hundred-thousandths (G12); None: the game's own.
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
        prices: tuple[int, ...] | None = None,
    ) -> None:
        self.mode, self.games, self.numbers, self.evaluating = mode, games, numbers, evaluating
        self.device = torch.device(device)
        self.state = State.empty(games, self.device)
        self._marks = marks
        self._is_mortal = mode.is_mortal or evaluating
        self._reader = ViewReader(games, self.device, marks)
        own = PRICES[mode.rewarded_for]
        self._rewards = Rewards(Prices(*prices) if prices else own, numbers.reward_clip, self.device)
        self._potentials = Potentials(self.device) if mode.rewarded_for == "handhold" else None
        self._potential = torch.zeros(games, dtype=torch.int64, device=self.device)
        self._columns, self._lines = torch.tensor(MOVES, device=self.device).T.contiguous()
        energies = torch.tensor([0, numbers.food_energy, numbers.poison_energy], device=self.device)
        self._gains = energies - numbers.step_energy
        self._base = torch.arange(0, games * NUM_CELLS, NUM_CELLS, device=self.device)
        self._new_episode = partial(new_episode, numbers=numbers, evaluating=evaluating, marks=marks)
        self._at_once = max(_STARTED_AT_ONCE // bytes_a_game(numbers, evaluating), 1)
        self._rows = torch.arange(games, device=self.device)
        self._ahead = torch.empty((0, games, 2), dtype=torch.int64, device=self.device)
        self._ahead_used = 0

    def start(self, keys: Tensor, rows: Tensor | None = None) -> Tensor:
        """Start games with these keys, int32 (k, 2), in these rows, or in all; returns their views, int8 (k, 121)."""
        rows = self._rows if rows is None else rows
        for some, some_keys in zip(self._in_parts(rows), self._in_parts(keys), strict=True):
            event = torch.zeros(len(some), dtype=torch.int64, device=self.device)
            self.state.put(some, self._new_episode(some_keys, event))
        return self._changed(rows)

    def step(self, actions: Tensor, *, restarting: bool = False) -> Outcome:
        """One action (n,), int64, in every game, by G5.

        restarting: games that end are restarted at once, so that the marks do not count their last views.
        """
        state = self.state
        self._count_moves(actions)
        # In place, and with index_select instead of indexing: with few games, launching operations takes most time.
        state.x.add_(self._columns.index_select(0, actions)).bitwise_and_(SIZE - 1)
        state.y.add_(self._lines.index_select(0, actions)).bitwise_and_(SIZE - 1)
        places = torch.add(self._base + state.x, state.y, alpha=SIZE)
        eaten = state.grid.view(-1).index_select(0, places).long()
        reappearing = self._reappearing()
        state.event.add_(1).bitwise_and_(random.WORD)
        state.steps.add_(1)
        if self._is_mortal:
            state.energy.add_(self._gains.index_select(0, eaten))
        self._eat(eaten, places, reappearing)
        terminated = state.energy <= 0 if self._is_mortal else torch.zeros_like(eaten, dtype=torch.bool)
        truncated = torch.zeros_like(terminated) if self.evaluating else state.steps >= self.numbers.max_steps
        codes = self._reader.codes(state, counted=~(terminated | truncated) if restarting else None)
        components, reward = self._rewards.of(eaten, terminated)
        if self._potentials:
            after = self._potentials.of(codes)
            components[:, 4] = shaping(self._potential, after, terminated)
            reward = self._rewards.total(components)
            self._count_potentials(self._potential, terminated)
            self._potential = after
        self._count_step(eaten, terminated, truncated)
        return Outcome(codes, components, reward, eaten, terminated, truncated)

    def restart(self, rows: Tensor) -> Tensor:
        """Start an episode in each of these rows (k,), with the draws of their last step; returns their views (G6)."""
        state = self.state
        for some in self._in_parts(rows):
            state.put(some, self._new_episode(state.key[some], state.event[some]))
        if self._marks:
            self._marks.add("G6.restart", len(rows))
        return self._seen(rows)

    def respawn(self, rows: Tensor) -> Tensor:
        """Respawn the agents of these rows (k,) somewhere else on their grids (G6); returns their views."""
        state = self.state
        for some in self._in_parts(rows):
            address = random.address(random.RESPAWN, DRAWS // 2, self.device)
            words = random.words(state.key[some], state.event[some], address)
            cells = first_empty(state.grid[some], words, self._marks, "G6.respawn")
            state.x[some], state.y[some] = cells % SIZE, cells // SIZE
        state.energy[rows] = self.numbers.start_energy
        state.steps[rows] = 0
        return self._seen(rows)

    def take_back(self, rows: Tensor, event: Tensor) -> None:
        """Reset the event counts of these rows (k,) to ``event``, (k,), to undo steps that their games did not take."""
        self.state.event[rows] = event
        self._draw_ahead_again(rows)

    def put(self, rows: Tensor, games: State) -> Tensor:
        """Put games into rows; returns their views."""
        self.state.put(rows, games)
        return self._changed(rows)

    def look(self) -> Tensor:
        """Observe all games: codes int8 (n, 121)."""
        return self._reader.codes(self.state)

    def _in_parts(self, rows: Tensor) -> tuple[Tensor, ...]:
        return (rows,) if len(rows) <= self._at_once else torch.split(rows, self._at_once)

    def _changed(self, rows: Tensor) -> Tensor:
        """Observe these rows, after their keys or events have changed."""
        self._draw_ahead_again(rows)
        return self._seen(rows)

    def _draw_ahead_again(self, rows: Tensor) -> None:
        """Draw the places ahead again for these rows, whose keys or events have changed."""
        ahead = self._ahead[self._ahead_used :]
        if len(ahead):
            ahead[:, rows] = self._places_ahead(rows, len(ahead))

    def _seen(self, rows: Tensor) -> Tensor:
        codes = self._reader.codes(self.state, rows)
        if self._potentials:
            self._potential[rows] = self._potentials.of(codes)
        return codes

    def _reappearing(self) -> Tensor:
        """The places of the first two draws for an item that reappears after the coming step: int64 (n, 2)."""
        if self._ahead_used == len(self._ahead):
            steps = min(max(_WORDS_AHEAD // self.games, 1), _MOST_STEPS_AHEAD)
            self._ahead, self._ahead_used = self._places_ahead(self._rows, steps), 0
        places = self._ahead[self._ahead_used]
        self._ahead_used += 1
        return places

    def _places_ahead(self, rows: Tensor, steps: int) -> Tensor:
        """Results of ``_reappearing`` for several coming steps, int64 (steps, k, 2); costs little more than for one."""
        key, event = self.state.key[rows], self.state.event[rows]
        events = event + torch.arange(1, steps + 1, device=self.device)[:, None]
        pair = random.address(random.REAPPEAR, 1, self.device)
        words = random.words(key.repeat(steps, 1), events.flatten(), pair).view(steps, len(rows), 2)
        return self._base[rows][:, None] + random.cell(words)

    def _eat(self, eaten: Tensor, places: Tensor, reappearing: Tensor) -> None:
        """Move eaten items to the first free place of the draws (G5)."""
        rows = eaten.nonzero()[:, 0]
        if not len(rows):
            return
        grid = self.state.grid.view(-1)
        emptied, drawn = places.index_select(0, rows), reappearing.index_select(0, rows)
        kinds = grid.index_select(0, emptied)
        # The agent's cell is not free: the eaten item is still there.
        is_free = (grid.index_select(0, drawn.view(-1)) == EMPTY).view(-1, 2)
        chosen = torch.where(is_free[:, 0], drawn[:, 0], drawn[:, 1])
        if self._marks:
            self._marks.add("G5.reappear_later_draw", ~is_free[:, 0] & is_free[:, 1])
        hard = (~is_free.any(dim=1)).nonzero()[:, 0]
        if len(hard):  # both draws hit an item, which is rare
            some = rows[hard]
            address = random.address(random.REAPPEAR, DRAWS // 2, self.device)
            words = random.words(self.state.key[some], self.state.event[some], address)
            cells = first_empty(self.state.grid[some], words, self._marks, "G5.reappear")
            chosen[hard] = self._base[some] + cells
        grid.index_fill_(0, emptied, EMPTY).index_copy_(0, chosen, kinds)

    def _count_moves(self, actions: Tensor) -> None:
        if marks := self._marks:
            x, y = self.state.x + self._columns[actions], self.state.y + self._lines[actions]
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
