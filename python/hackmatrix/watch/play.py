"""What happens in the games of an agent, one moment after another: the same games that `evaluate` plays."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hackmatrix.evaluation import EVALUATION
from hackmatrix.render.model import BoardModel, board_model
from hackmatrix.rules import COMPONENTS, NUM_STAGES
from hackmatrix.watch.agents import Agent
from parity.engine import consecutive_seeds
from worldkit.envs.episodes import Episodes
from worldkit.evaluation import choice
from worldkit.evaluation.play import ending_of


@dataclass(frozen=True)
class Decision:
    """What an agent did and how sure it was: probabilities (28,) of the actions, 0 for invalid ones, and the value."""

    action: int
    probabilities: NDArray[np.float64]
    value: float


@dataclass(frozen=True)
class Moment:
    """A game as it stands, and the step that led there.

    seed: of the game. step: how many there were so far. board: as it is now.
    decision: what was decided before this step; None at the start.
    reward: (15,) what the step earned, component by component. earned: (15,) the same of the episode so far.
    ending: how the game ended, in the words of `evaluate`; None while it goes on.
    """

    seed: int
    step: int
    board: BoardModel
    decision: Decision | None
    reward: NDArray[np.float64]
    earned: NDArray[np.float64]
    ending: str | None = None

    @property
    def verdict(self) -> str:
        """The game so far in one line."""
        stage = min(self.board.stage, NUM_STAGES)
        end = f"{self.ending or 'left'} in stage {stage} after {self.step} step{'s' * (self.step != 1)}"
        return f"game {self.seed}: {end}, return {self.earned.sum():.3f}"


@dataclass(frozen=True)
class Watched:
    """Whose games are watched, and how: the likeliest actions, or drawn ones with the player's seed."""

    agent: Agent
    deterministic: bool = True
    player_seed: int = 0


def games(episodes: Episodes, watched: Watched, first_seed: int, count: int) -> Iterator[Iterator[Moment]]:
    """The games of seeds ``first_seed``, ``first_seed`` + 1, … (modulo 2⁶⁴) on the one game of ``episodes``.

    A game that is not played to its end is left when the next one is asked for.
    """
    for seed in consecutive_seeds(first_seed, count):
        yield _game(episodes, watched, seed)


def recorded(moments: Iterator[Moment], record: Callable[[Moment], None]) -> Iterator[Moment]:
    """The same moments, each told to somebody else first."""
    for moment in moments:
        record(moment)
        yield moment


def _game(episodes: Episodes, watched: Watched, seed: np.uint64) -> Iterator[Moment]:
    in_rewards = EVALUATION.env.in_rewards
    only = np.zeros(1, np.intp)
    nothing = np.zeros(len(COMPONENTS))
    episodes.start(only, np.array([seed]))
    yield Moment(int(seed), 0, _board(episodes), None, nothing, nothing)
    ended = False
    while not ended:
        decision = _decision(episodes, watched)
        episodes.begin_step(np.array([decision.action], np.int32))
        step = episodes.finish_step()
        ended = bool(step.terminated[0] | step.truncated[0])
        yield Moment(
            seed=int(seed),
            step=int(episodes.statistics.steps[0]),
            board=_board(episodes),
            decision=decision,
            reward=in_rewards(step.components[0]),
            earned=in_rewards(episodes.statistics.of(only).components[0]),
            ending=ending_of(EVALUATION, step, 0) if ended else None,
        )


def _board(episodes: Episodes) -> BoardModel:
    return board_model(episodes.get_states()[0])


def _decision(episodes: Episodes, watched: Watched) -> Decision:
    logits, values = watched.agent(episodes.observation)
    mask = episodes.mask
    if watched.deterministic:
        actions = choice.likeliest(logits, mask)
    else:
        actions = choice.drawn(logits, mask, episodes.seeds, episodes.statistics.steps, watched.player_seed)
    return Decision(int(actions[0]), choice.probabilities(logits, mask)[0], float(values[0]))
