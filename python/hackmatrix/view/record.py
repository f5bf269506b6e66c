"""Games that somebody watches, kept as a page."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hackmatrix.view.agent import how_it_plays
from hackmatrix.view.episodes import EpisodeSoFar
from hackmatrix.watch.play import Moment, Watched
from hackmatrix.world import WORLD
from parity.viewer.page import Page
from parity.viewer.write import write_page


@contextmanager
def page_of_moments(path: Path, caption: str, watched: Watched, engine: str) -> Iterator[Callable[[Moment], None]]:
    """A function that takes the moments of one game after another, for a page of them.

    The file is there once the context ends well; until then, and otherwise, what was there before stays. Raises
    UsageError where it cannot be written.
    """
    told: list[EpisodeSoFar] = []

    def add(moment: Moment) -> None:
        if moment.decision is None:
            told.append(EpisodeSoFar())
        told[-1].add(moment)

    yield add
    page = Page(
        headline=f"Watched: {caption}",
        sides=(engine,),
        episodes=(game.episode() for game in told),
        about=(how_it_plays(watched),),
    )
    write_page(page, WORLD, path)
