"""What happens in the games of an agent, one moment after another: the same games that `evaluate` plays."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hackmatrix.evaluation import EVALUATION
from hackmatrix.render.model import BoardModel, board_model
from hackmatrix.rules import COMPONENTS, NUM_STAGES
from hackmatrix.watch.agents import Agent
from parity import State
from parity.engine import Array, Slots, consecutive_seeds
from worldkit.envs.episodes import Episodes
from worldkit.evaluation import choice
from worldkit.evaluation.play import ending_of
from worldkit.evaluation.spec import Player
from worldkit.purejaxrl.plain_network import Floats


@dataclass(frozen=True)
class Decision:
    """What an agent did and how sure it was: probabilities (28,) of the actions, 0 for invalid ones, and the value."""

    action: int
    probabilities: NDArray[np.float64]
    value: float


@dataclass(frozen=True)
class Moment:
    """A game as it stands, and the step that led there.

    seed: of the game. step: how many there were so far. state: as it is now, complete.
    decision: what was decided before this step; None at the start.
    components: (15,) what the step earned, in thousandths. earned: (15,) rewards of the episode so far.
    ending: how the game ended, in the words of `evaluate`; None while it goes on.
    """

    seed: int
    step: int
    state: State
    decision: Decision | None
    components: Array
    earned: NDArray[np.float64]
    ending: str | None = None

    @cached_property
    def board(self) -> BoardModel:
        """The state as it is shown."""
        return board_model(self.state)

    @property
    def reward(self) -> NDArray[np.float64]:
        """(15,) what the step earned, component by component, in rewards."""
        return EVALUATION.env.in_rewards(self.components)

    @property
    def outcome(self) -> str:
        """What came of the game so far, in a few words."""
        stage = min(self.state["stage"], NUM_STAGES)
        end = f"{self.ending or 'left'} in stage {stage} after {self.step} step{'s' * (self.step != 1)}"
        return f"{end}, return {self.earned.sum():.3f}"

    @property
    def verdict(self) -> str:
        """The game so far in one line."""
        return f"game {self.seed}: {self.outcome}"


@dataclass(frozen=True)
class Watched:
    """Whose games are watched, and how: the likeliest actions, or drawn ones with the player's seed.

    searcher: who chooses instead, for all games of an engine together; the agent's own judgement is told all the same.
    """

    agent: Agent
    deterministic: bool = True
    player_seed: int = 0
    searcher: Player | None = None


def games(episodes: Episodes, watched: Watched, first_seed: int, count: int) -> Iterator[Iterator[Moment]]:
    """The games of seeds ``first_seed``, ``first_seed`` + 1, … (modulo 2⁶⁴) on the one game of ``episodes``.

    A game that is not played to its end is left when the next one is asked for.
    """
    for seed in consecutive_seeds(first_seed, count):
        yield moments(episodes, watched, int(seed), 1)


def moments(episodes: Episodes, watched: Watched, first_seed: int, count: int) -> Iterator[Moment]:
    """Every moment of the same games, as many side by side as ``episodes`` has.

    They begin in the order of their seeds; the moments of one game come in order, those of others in between.
    """
    seeds = consecutive_seeds(first_seed, count)
    playing = np.arange(min(episodes.num_games, count))
    begun = len(playing)
    yield from _begin(episodes, playing, seeds[:begun])
    while len(playing):
        played = _step(episodes, watched, playing)
        yield from played
        free = playing[[moment.ending is not None for moment in played]]
        fresh, idle = np.split(free, [min(len(free), count - begun)])
        playing = np.setdiff1d(playing, idle)
        if len(fresh):
            yield from _begin(episodes, fresh, seeds[begun : begun + len(fresh)])
            begun += len(fresh)


def recorded(moments: Iterator[Moment], record: Callable[[Moment], None]) -> Iterator[Moment]:
    """The same moments, each told to somebody else first."""
    for moment in moments:
        record(moment)
        yield moment


def _begin(episodes: Episodes, slots: Slots, seeds: NDArray[np.uint64]) -> list[Moment]:
    """The games of seeds (k,) at their start, in slots (k,)."""
    episodes.start(slots, seeds)
    nothing = np.zeros(len(COMPONENTS), np.int32)
    return [
        Moment(seed, 0, state, None, nothing, EVALUATION.env.in_rewards(nothing))
        for seed, state in zip(seeds.tolist(), episodes.get_states(slots), strict=True)
    ]


def _step(episodes: Episodes, watched: Watched, slots: Slots) -> list[Moment]:
    """The games in slots (k,) after one more step."""
    observation, mask = episodes.observation, episodes.mask
    seeds, so_far = episodes.seeds, episodes.statistics.steps
    if watched.searcher is None:
        decisions = decide(watched, observation[slots], mask[slots], seeds[slots], so_far[slots])
        actions = np.zeros(episodes.num_games, np.int32)
        actions[slots] = [decision.action for decision in decisions]
    else:
        actions = watched.searcher(observation, mask, seeds, so_far)  # it follows the games that have ended too
        decisions = _decisions(actions[slots], *watched.agent(observation[slots]), mask[slots])
    episodes.begin_step(actions)
    step = episodes.finish_step()
    is_over = step.terminated | step.truncated
    counts = episodes.statistics.of(slots)
    earned, steps = EVALUATION.env.in_rewards(counts.components), counts.steps.tolist()
    return [
        Moment(
            seed=int(episodes.seeds[slot]),
            step=steps[row],
            state=state,
            decision=decisions[row],
            components=step.components[slot],
            earned=earned[row],
            ending=ending_of(EVALUATION, step, slot) if is_over[slot] else None,
        )
        for row, (slot, state) in enumerate(zip(slots.tolist(), episodes.get_states(slots), strict=True))
    ]


def decide(
    watched: Watched, observation: Floats, mask: NDArray[np.bool_], seeds: NDArray[np.uint64], steps: NDArray[np.int64]
) -> list[Decision]:
    """What the agent does in each of n games.

    Observations are (n, 1545), masks (n, 28); seeds (n,) and steps so far (n,) are of the games.
    """
    logits, values = watched.agent(observation)
    if watched.deterministic:
        actions = choice.likeliest(logits, mask)
    else:
        actions = choice.drawn(logits, mask, seeds, steps, watched.player_seed)
    return _decisions(actions, logits, values, mask)


def _decisions(actions: NDArray[np.int32], logits: Floats, values: Floats, mask: NDArray[np.bool_]) -> list[Decision]:
    """The actions (n,) chosen in n games, and what the agent thinks of these games."""
    probabilities = choice.probabilities(logits, mask)
    return [
        Decision(action, probabilities[row], value)
        for row, (action, value) in enumerate(zip(actions.tolist(), values.tolist(), strict=True))
    ]
