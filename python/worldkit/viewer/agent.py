"""The games of an agent as a page: played for it, or those that somebody watches."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from parity.viewer.page import Episode, Page
from parity.viewer.write import write_page
from worldkit.envs.episodes import Episodes
from worldkit.viewer.episodes import EpisodeSoFar, episodes
from worldkit.watch.frames import AgentPlayer, Frame, frames
from worldkit.watch.spec import ViewSpec

SIDE_BY_SIDE = 128
"""Games at once: more of them share the work of a step, but more boards wait for their turn."""


@dataclass(frozen=True)
class Games:
    """Which games are played: ``count`` of them from ``first_seed`` on, and where, cut off after ``max_steps``."""

    first_seed: int
    count: int
    engine: str
    max_steps: int

    def __str__(self) -> str:
        if self.count == 1:
            return f"game {self.first_seed}"
        return f"games {self.first_seed} to {(self.first_seed + self.count - 1) % 2**64}"


def agent_page(view: ViewSpec, name: str, player: AgentPlayer, games: Games, command: str) -> Page:
    """The page of an agent that people call ``name``. Its games are played while its episodes are taken.

    Taking them raises EngineError where the engine cannot start, or fails.
    """
    return Page(
        headline=f"{name}: {games}",
        sides=(games.engine,),
        episodes=played(view, player, games),
        about=(how_it_plays(player),),
        command=command,
    )


def how_it_plays(player: AgentPlayer) -> str:
    """A sentence on how the actions are chosen."""
    if player.searcher:
        return (
            f"Before every step a search, with seed {player.player_seed}, looked for something better than the "
            "agent's likeliest action; probabilities and values are those of the agent without it."
        )
    if player.deterministic:
        return "The agent takes its likeliest actions."
    return f"The agent's actions are drawn by their probabilities, with player seed {player.player_seed}."


def played(view: ViewSpec, player: AgentPlayer, games: Games) -> Iterator[Episode]:
    """The episodes in the order of their seeds; raises EngineError where the engine cannot start, or fails."""
    side_by_side = min(games.count, SIDE_BY_SIDE)
    with closing(Episodes(view.world, side_by_side, games.engine, max_episode_steps=games.max_steps)) as opened:
        yield from episodes(frames(view, opened, player, games.first_seed, games.count))


@contextmanager
def page_of_frames(
    path: Path, caption: str, view: ViewSpec, player: AgentPlayer, engine: str
) -> Iterator[Callable[[Frame], None]]:
    """A function that takes the frames of one game after another, for a page of them.

    The file is there once the context ends well; until then, and otherwise, what was there before stays. Raises
    UsageError where it cannot be written.
    """
    told: list[EpisodeSoFar] = []

    def add(frame: Frame) -> None:
        if frame.decision is None:
            told.append(EpisodeSoFar())
        told[-1].add(frame)

    yield add
    page = Page(
        headline=f"Watched: {caption}",
        sides=(engine,),
        episodes=(game.episode() for game in told),
        about=(how_it_plays(player),),
    )
    write_page(page, view.world, path)
