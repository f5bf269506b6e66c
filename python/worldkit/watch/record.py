"""Frames as a film: one picture each, in an ``.mp4`` or ``.gif`` file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from parity import State
from worldkit.render.film import film
from worldkit.render.pen import pixels
from worldkit.watch.frames import Frame
from worldkit.watch.picture import draw_frame, size_of
from worldkit.watch.spec import ViewSpec


@contextmanager
def film_of_frames(
    path: Path, caption: str, speed: float, view: ViewSpec, state: State
) -> Iterator[Callable[[Frame], None]]:
    """A function that adds frames to a film of ``speed`` pictures a second, as ``worldkit.render.film`` makes it.

    state: any of the world, as large as all are drawn.
    """
    with film(path, size_of(view.picture(state)), speed) as add:
        yield lambda frame: add(pixels(draw_frame(frame, caption)))
