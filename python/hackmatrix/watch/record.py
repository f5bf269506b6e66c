"""Moments as a film: one picture each, in an ``.mp4`` or ``.gif`` file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hackmatrix.render.picture import HEIGHT
from hackmatrix.watch.picture import WIDTH, draw_moment
from hackmatrix.watch.play import Moment
from worldkit.render.film import film
from worldkit.render.pen import pixels


@contextmanager
def film_of_moments(path: Path, caption: str, speed: float) -> Iterator[Callable[[Moment], None]]:
    """A function that adds moments to a film of ``speed`` pictures a second, as ``worldkit.render.film`` makes it."""
    with film(path, (WIDTH, HEIGHT), speed) as add:
        yield lambda moment: add(pixels(draw_moment(moment, caption)))
