"""Moments in a file: a video, an animated GIF, or the last of them as a picture."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Generator, Iterable
from pathlib import Path

import imageio_ffmpeg
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from goodharts.brain_view import KINDS
from goodharts.brain_view.moment import Moment
from goodharts.brain_view.picture import HEIGHT, WIDTH, Caption, draw_picture
from parity.errors import UsageError
from worldkit.runs.files import replacing

_VIDEO, _ANIMATION, _PICTURE = KINDS
_OWN_PALETTES = (
    "split[seen][counted];[counted]palettegen=stats_mode=single[palette];[seen][palette]paletteuse=new=1:dither=none"
)
"""Colours chosen for each frame, so that nothing has to wait for the last one; dithering would blur small text."""


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
    try:
        if path.suffix.lower() == _PICTURE:
            return _write_picture(path, moments, caption)
        return _write_film(path, moments, caption, fps)
    except OSError as error:
        reason = error.strerror or "the encoder failed"
        raise UsageError(f"{path} cannot be written: {reason}; name a file in another folder.") from error


def _write_picture(path: Path, moments: Iterable[Moment], caption: Caption) -> int:
    (last,) = deque(moments, maxlen=1)
    with replacing(path) as file:
        Image.fromarray(draw_picture(last, caption)).save(file, "PNG", optimize=True)
    return 1


def _write_film(path: Path, moments: Iterable[Moment], caption: Caption, fps: float) -> int:
    """Frame by frame, so that none is kept. The encoder does not say that a disk was full: its frames are counted."""
    with tempfile.TemporaryDirectory(prefix=".recording-", dir=path.parent) as folder:
        unfinished = Path(folder) / f"film{path.suffix.lower()}"
        writer = _encoder(unfinished, fps)
        written = 0
        for moment in moments:
            writer.send(draw_picture(moment, caption))
            written += 1
        writer.close()
        if not unfinished.exists() or _frames(unfinished) != written:
            raise OSError
        unfinished.replace(path)
    return written


def _encoder(path: Path, fps: float) -> Generator[None, NDArray[np.uint8] | None, None]:
    """An encoder that waits for its first frame."""
    if path.suffix == _VIDEO:
        how = {"codec": "libx264", "quality": 8}
    else:
        how = {"codec": "gif", "pix_fmt_out": "pal8", "output_params": ["-filter_complex", _OWN_PALETTES]}
    encoder: Generator[None, NDArray[np.uint8] | None, None] = imageio_ffmpeg.write_frames(
        path, (WIDTH, HEIGHT), fps=fps, ffmpeg_log_level="quiet", **how
    )
    try:
        encoder.send(None)
    except (OSError, RuntimeError):
        raise UsageError("No ffmpeg can be started: run `pip install imageio-ffmpeg`, or record a .png.") from None
    return encoder


def _frames(path: Path) -> int:
    try:
        frames: int = imageio_ffmpeg.count_frames_and_secs(path)[0]
    except RuntimeError:
        return 0
    return frames
