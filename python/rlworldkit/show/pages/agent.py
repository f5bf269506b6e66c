"""Page of an agent's games: played for the page, or recorded while somebody watches."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rlparity import World
from rlparity.viewer.page import Page, PageDecision, PageEpisode, PageStep
from rlparity.viewer.write import write_page
from rlworldkit.agents.agent import LIKELIEST, AgentPlayer
from rlworldkit.envs.episodes import Episodes
from rlworldkit.render.show import show_of
from rlworldkit.show.watch.frames import Frame, frames

START = "start"
SIDE_BY_SIDE = 128
"""Games at once: more games make a step cheaper, but more boards wait in memory for their turn."""


@dataclass(frozen=True)
class GameRange:
    """Games to play on an engine: ``count`` of them from ``first_seed`` on, truncated after ``max_steps``."""

    first_seed: int
    count: int
    engine: str
    max_steps: int

    def __str__(self) -> str:
        if self.count == 1:
            return f"game {self.first_seed}"
        return f"games {self.first_seed} to {(self.first_seed + self.count - 1) % 2**64}"


def agent_page(world: World, name: str, player: AgentPlayer, games: GameRange, command: str) -> Page:
    """Make the page of an agent called ``name``. Its games are played while its episodes are iterated.

    The iteration raises EngineError if the engine cannot start, or fails.
    """
    return Page(
        headline=f"{name}: {games}",
        sides=(games.engine,),
        episodes=played(world, player, games),
        about=(how_it_plays(player),),
        command=command,
    )


def how_it_plays(player: AgentPlayer) -> str:
    """Describe in a sentence how the actions are chosen."""
    if player.searcher:
        return (
            f"Before every step a search, with seed {player.choice.player_seed}, looked for something better than the "
            "agent's likeliest action; probabilities and values are those of the agent without it."
        )
    if player.choice.how == LIKELIEST:
        return "The agent takes its likeliest actions."
    return f"The agent's actions are drawn by their probabilities, with player seed {player.choice.player_seed}."


def played(world: World, player: AgentPlayer, games: GameRange) -> Iterator[PageEpisode]:
    """Play episodes, in the order of their seeds; raises EngineError if the engine cannot start, or fails."""
    side_by_side = min(games.count, SIDE_BY_SIDE)
    with closing(Episodes(world, side_by_side, engine=games.engine, max_episode_steps=games.max_steps)) as opened:
        yield from episodes(frames(opened, player, games.first_seed, games.count))


@contextmanager
def page_of_frames(
    path: Path, caption: str, world: World, player: AgentPlayer, engine: str
) -> Iterator[Callable[[Frame], None]]:
    """Context with a function that takes the frames of one game after another, for a page of the games.

    The file is written when the context ends without an error, and left as it was otherwise. Raises UsageError if it
    cannot be written.
    """
    in_progress: list[EpisodeInProgress] = []

    def add(frame: Frame) -> None:
        if frame.decision is None:
            in_progress.append(EpisodeInProgress())
        in_progress[-1].add(frame)

    yield add
    page = Page(
        headline=f"Watched: {caption}",
        sides=(engine,),
        episodes=(game.episode() for game in in_progress),
        about=(how_it_plays(player),),
    )
    write_page(page, world, path)


def episodes(frames: Iterable[Frame]) -> Iterator[PageEpisode]:
    """Yield the episodes of frames in the order in which their games start, each when it and all earlier ones are over.

    The frames of one game come in order, and those of others may come in between. A game that has not ended is yielded
    after the last frame, as far as it came.
    """
    in_progress: dict[int, EpisodeInProgress] = {}
    for frame in frames:
        if frame.decision is None:
            in_progress[frame.seed] = EpisodeInProgress()
        in_progress[frame.seed].add(frame)
        while in_progress and (first := next(iter(in_progress.values()))).is_over:
            del in_progress[next(iter(in_progress))]
            yield first.episode()
    for rest in in_progress.values():
        yield rest.episode()


class EpisodeInProgress:
    """A game in progress; only its last two states are stored, because they are far larger than boards."""

    def __init__(self) -> None:
        self._steps: list[PageStep] = []
        self._newest: tuple[Frame, ...] = ()

    def add(self, frame: Frame) -> None:
        """Add the next frame of the game."""
        self._newest = (*self._newest[-1:], frame)
        self._steps.append(_step(frame))

    @property
    def is_over(self) -> bool:
        """Whether the last frame added ends the game."""
        return self._newest[-1].ending is not None

    def episode(self) -> PageEpisode:
        """Make the episode so far; at least one frame must have been added."""
        *before, last = self._newest
        end, addition = None, ""
        if before and last.decision is not None:
            end, addition = show_of(last.world).end(before[0].state, last.state, last.decision.action, last.ending)
        return PageEpisode(f"seed {last.seed}", last.outcome + addition, tuple(self._steps), end)


def _step(frame: Frame) -> PageStep:
    world = frame.world
    boards = (world.draw(frame.state),)
    if frame.decision is None:
        return PageStep(START, boards)
    decision = frame.decision
    named = zip(world.actions, decision.probabilities.tolist(), strict=True)
    likely = {name: probability for name, probability in named if probability > 0}
    return PageStep(
        action=world.actions[decision.action],
        boards=boards,
        components=(tuple(frame.components.tolist()),),
        decision=PageDecision(likely, decision.value),
    )
