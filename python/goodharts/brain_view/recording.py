"""Moments in a file: a video, an animated GIF, or the last of them as a picture."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import Path

from PIL import Image

from goodharts.brain_view import PICTURE
from goodharts.brain_view.moment import Moment
from goodharts.brain_view.picture import HEIGHT, WIDTH, Caption, draw_picture
from parity.files import replacing
from worldkit.render.film import film, telling_failures


def record(path: Path, moments: Iterable[Moment], caption: Caption, fps: float) -> int:
    """Write moments into a file, whole or not at all; returns how many pictures are in it.

    Args:
        path: a file whose name ends as one of ``KINDS``; of a ``.png`` it is the last moment.
        moments: one or more.
        caption: what stands above them.
        fps: moments a second.

    Raises:
        UsageError: the file cannot be written.
    """
    if path.suffix.lower() == PICTURE:
        return _write_picture(path, moments, caption)
    written = 0
    with film(path, (WIDTH, HEIGHT), fps) as add:
        for written, moment in enumerate(moments, start=1):  # noqa: B007 - it is returned
            add(draw_picture(moment, caption))
    return written


def _write_picture(path: Path, moments: Iterable[Moment], caption: Caption) -> int:
    (last,) = deque(moments, maxlen=1)
    with telling_failures(path), replacing(path) as file:
        Image.fromarray(draw_picture(last, caption)).save(file, "PNG", optimize=True)
    return 1
