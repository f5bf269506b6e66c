"""Games that somebody watches, kept as a page."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from parity.viewer.page import Page
from parity.viewer.write import write_page
from worldkit.viewer.agent import how_it_plays
from worldkit.viewer.episodes import EpisodeSoFar
from worldkit.watch.frames import AgentPlayer, Frame
from worldkit.watch.spec import ViewSpec


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
