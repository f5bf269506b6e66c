"""Playing whole episodes, and the record of each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hackmatrix.evaluation.players import Player
from hackmatrix.games.episodes import Episodes, Step
from hackmatrix.games.rows import Flag
from hackmatrix.rules import ACTIONS

NUM_ACTIONS = len(ACTIONS)
_ENDINGS = {Flag.VICTORY: "won", Flag.DEATH: "died", Flag.INVALID_ACTION: "invalid"}
_NEIGHBOURS = ((1, 0), (-1, 0), (0, -1), (0, 1))


@dataclass(frozen=True)
class Episode:
    """One episode, in units of the reward.

    ``openings`` counts for each action how often it became valid after it was not (or at the start), ``at_once``
    how often it was taken in that very step.
    """

    seed: int
    ending: str
    """won, died, invalid or truncated."""
    killers: tuple[str, ...]
    """The types of the enemies beside a player who died, sorted, each once."""
    died_beside_siphon_enemy: bool
    stats: dict[str, Any]
    """As ``info["episode_stats"]``: return, reward_breakdown, actions, programs_used, highest_stage, steps."""
    openings: tuple[int, ...]
    at_once: tuple[int, ...]


def play_episodes(
    player: Player, first_seed: int, num_episodes: int, *, engine: str, num_envs: int, max_steps: int | None = None
) -> list[Episode]:
    """The episodes of seeds ``first_seed``, ``first_seed`` + 1, …, in this order, ``num_envs`` side by side.

    They are the same for every engine and every ``num_envs``. Raises SwiftEngineError where the engine is not
    built, or fails.
    """
    games = min(num_envs, num_episodes)
    episodes = Episodes(games, engine, max_episode_steps=max_steps)
    try:
        return _play(episodes, player, first_seed, num_episodes)
    finally:
        episodes.close()


def _play(episodes: Episodes, player: Player, first_seed: int, num_episodes: int) -> list[Episode]:
    everyone = np.arange(episodes.num_games)
    seeds = first_seed + everyone
    episodes.start(everyone, seeds.astype(np.uint64))
    next_seed = first_seed + episodes.num_games
    found: dict[int, Episode] = {}
    uses = _Uses(episodes.num_games)
    is_playing = np.ones(episodes.num_games, np.bool_)
    while is_playing.any():
        actions = player(episodes.observation, episodes.mask, episodes.seeds, episodes.statistics.steps)
        uses.add(episodes.mask, actions)
        episodes.begin_step(actions)
        step = episodes.finish_step()
        ended = np.flatnonzero((step.terminated | step.truncated) & is_playing)
        if not len(ended):
            continue
        for game, state in zip(ended.tolist(), episodes.get_states(ended), strict=True):
            found[int(seeds[game])] = _record(episodes, step, game, int(seeds[game]), state, uses)
        fresh = [game for game, _ in zip(ended.tolist(), range(next_seed, first_seed + num_episodes), strict=False)]
        is_playing[ended] = False
        if fresh:
            seeds[fresh] = next_seed + np.arange(len(fresh))
            next_seed += len(fresh)
            is_playing[fresh] = True
            episodes.start(np.array(fresh), seeds[fresh].astype(np.uint64))
            uses.start(fresh)
    return [found[seed] for seed in sorted(found)]


def _record(episodes: Episodes, step: Step, game: int, seed: int, state: dict[str, Any], uses: "_Uses") -> Episode:
    flags = int(step.flags[game])
    ending = next(
        (
            name
            for flag, name in ((Flag.VICTORY, "won"), (Flag.DEATH, "died"), (Flag.INVALID_ACTION, "invalid"))
            if flags & flag
        ),
        "truncated",
    )
    beside = _enemies_beside_player(state) if ending == "died" else []
    return Episode(
        seed=seed,
        ending=ending,
        killers=tuple(sorted({enemy["type"] for enemy in beside})),
        died_beside_siphon_enemy=any(enemy["spawnedFromSiphon"] for enemy in beside),
        stats=episodes.statistics.of(game),
        openings=tuple(uses.openings[game].tolist()),
        at_once=tuple(uses.at_once[game].tolist()),
    )


def _enemies_beside_player(state: dict[str, Any]) -> list[dict[str, Any]]:
    row, column = state["player"]["row"], state["player"]["col"]
    cells = {(row + down, column + right) for down, right in _NEIGHBOURS}
    return [enemy for enemy in state["enemies"] if (enemy["row"], enemy["col"]) in cells]


class _Uses:
    """How often actions became valid, and were taken at once."""

    def __init__(self, num_games: int) -> None:
        self.openings = np.zeros((num_games, NUM_ACTIONS), np.int64)
        self.at_once = np.zeros((num_games, NUM_ACTIONS), np.int64)
        self._before = np.zeros((num_games, NUM_ACTIONS), np.bool_)
        self._games = np.arange(num_games)

    def start(self, games: list[int]) -> None:
        """New episodes."""
        self.openings[games], self.at_once[games], self._before[games] = 0, 0, False

    def add(self, masks: NDArray[np.bool_], actions: NDArray[np.int32]) -> None:
        """What was valid, and what was taken."""
        opened = masks & ~self._before
        self.openings += opened
        self.at_once[self._games, actions] += opened[self._games, actions]
        self._before = masks
