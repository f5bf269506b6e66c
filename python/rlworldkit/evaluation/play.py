"""Playing of complete episodes, with a record of each."""

from collections.abc import Callable
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from rlparity import World
from rlparity.engine import consecutive_seeds
from rlworldkit.agents.agent import Player
from rlworldkit.envs.episodes import Episodes
from rlworldkit.envs.infos import summary_of_one
from rlworldkit.score import Episode, score_of

TRUNCATED, TERMINATED = "truncated", "terminated"


def play_episodes(
    world: World,
    player: Player,
    first_seed: int,
    num_episodes: int,
    *,
    num_envs: int,
    engine: str | None = None,
    max_steps: int | None = None,
    advance: Callable[[int], None] = lambda games: None,
) -> list[Episode]:
    """Play the episodes of seeds ``first_seed``, ``first_seed`` + 1, … (modulo 2⁶⁴), ``num_envs`` at a time.

    Returned in the order of seeds, they are the same for every engine and every ``num_envs``. advance: called with the
    number of episodes that have just ended. Raises EngineError if the engine cannot start, or fails.
    """
    games, seeds = min(num_envs, num_episodes), consecutive_seeds(first_seed, num_episodes)
    found: dict[int, Episode] = {}
    with closing(Episodes(world, games, engine=engine, max_episode_steps=max_steps)) as episodes:
        numbers = np.arange(games)
        episodes.start(numbers.copy(), seeds[numbers])
        begun = games
        openings = _ActionCounts(*episodes.mask.shape)
        is_playing = np.ones(games, np.bool_)
        while is_playing.any():
            actions = player(episodes.observation, episodes.mask, episodes.seeds, episodes.statistics.steps)
            openings.add(episodes.mask, actions)
            episodes.begin_step(actions)
            step = episodes.finish_step()
            ended = np.flatnonzero((step.terminated | step.truncated) & is_playing)
            if not len(ended):
                continue
            advance(len(ended))
            states = episodes.get_states(ended)
            uses = episodes.statistics.of(ended).actions.tolist()
            for game, used, state in zip(ended.tolist(), uses, states, strict=True):
                ending = ending_of(world, step.events[game], terminated=step.terminated[game])
                number = int(numbers[game])
                found[number] = Episode(
                    seed=int(seeds[number]),
                    ending=ending,
                    stats=summary_of_one(episodes, game),
                    uses=tuple(used),
                    openings=tuple(openings.count[game].tolist()),
                    at_once=tuple(openings.at_once[game].tolist()),
                    notes=episodes.score.notes(ending, state),
                )
            fresh = ended[: num_episodes - begun].tolist()
            is_playing[ended] = False
            if fresh:
                numbers[fresh] = begun + np.arange(len(fresh))
                begun += len(fresh)
                is_playing[fresh] = True
                episodes.start(np.array(fresh), seeds[numbers[fresh]])
                openings.start(fresh)
    return [found[number] for number in sorted(found)]


def ending_of(world: World, events: int, *, terminated: bool) -> str:
    """Return the world's name of a game's ending, by the events of its last step."""
    happened = int(events)
    for event, ending in score_of(world).endings.items():
        if happened >> world.events.index(event) & 1:
            return ending
    return TERMINATED if terminated else TRUNCATED


class _ActionCounts:
    """Counts of actions that became valid, and of those taken at once, each (n, actions)."""

    def __init__(self, num_games: int, num_actions: int) -> None:
        self.count = np.zeros((num_games, num_actions), np.int64)
        self.at_once = np.zeros((num_games, num_actions), np.int64)
        self._before = np.zeros((num_games, num_actions), np.bool_)
        self._games = np.arange(num_games)

    def start(self, games: list[int]) -> None:
        self.count[games], self.at_once[games], self._before[games] = 0, 0, False

    def add(self, masks: NDArray[np.bool_], actions: NDArray[np.int32]) -> None:
        opened = masks & ~self._before
        self.count += opened
        self.at_once[self._games, actions] += opened[self._games, actions]
        self._before = masks
