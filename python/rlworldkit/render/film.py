"""Films of pictures, in an ``.mp4`` or ``.gif`` file, or the last picture alone, in a ``.png``."""

import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rlparity.errors import UsageError
from rlparity.io.atomic_write import destination, replacing, telling_failures

FILMS = (".mp4", ".gif")
"""Suffixes of films: a video, or an animation."""
PICTURE = ".png"

_VIDEO, _ANIMATION = FILMS
_FAILED = "the encoder failed"
_OWN_PALETTES = (
    "split[seen][counted];[counted]palettegen=stats_mode=single[palette];[seen][palette]paletteuse=new=1:dither=none"
)
"""Filter that chooses colours per frame, so that encoding need not wait for the last; dithering blurs small text."""


@contextmanager
def film(path: Path, size: tuple[int, int], fps: float) -> Iterator[Callable[[NDArray[np.uint8]], None]]:
    """Context with a function that adds pictures to a film; none stays in memory, so a film may be long.

    The file, with a suffix of ``FILMS``, is replaced when the context ends without an error, and left as it was
    otherwise. size: width and height of every picture, uint8 (height, width, 3); even numbers, as videos need them.
    fps: pictures a second. Raises UsageError if the file cannot be written, or there is no encoder.
    """
    written = 0
    with ExitStack() as undo:
        with telling_failures(path):
            place = destination(path)
            folder = undo.enter_context(tempfile.TemporaryDirectory(prefix=".recording-", dir=place.parent))
        unfinished = Path(folder) / f"film{path.suffix.lower()}"
        encoder = _encoder(unfinished, size, fps)
        undo.callback(encoder.close)

        def add(picture: NDArray[np.uint8]) -> None:
            nonlocal written
            with telling_failures(path, _FAILED):
                encoder.send(picture)
            written += 1

        yield add
        with telling_failures(path, _FAILED):
            encoder.close()
            # the encoder does not report a full disk
            if not unfinished.exists() or _frames(unfinished) != written:
                raise OSError
            unfinished.replace(place)


@contextmanager
def last_picture(path: Path) -> Iterator[Callable[[NDArray[np.uint8]], None]]:
    """Context with a function that takes pictures, the last of which becomes a ``.png``; otherwise as ``film``."""
    from PIL import Image

    last: list[NDArray[np.uint8]] = []
    with telling_failures(path), replacing(path) as file:
        yield lambda picture: last.__setitem__(slice(1), [picture])
        Image.fromarray(last[0]).save(file, "PNG", optimize=True)


def _encoder(path: Path, size: tuple[int, int], fps: float) -> Generator[None, NDArray[np.uint8] | None, None]:
    if path.suffix == _VIDEO:
        how = {"codec": "libx264", "quality": 8}
    else:
        how = {"codec": "gif", "pix_fmt_out": "pal8", "output_params": ["-filter_complex", _OWN_PALETTES]}
    try:
        import imageio_ffmpeg

        encoder: Generator[None, NDArray[np.uint8] | None, None] = imageio_ffmpeg.write_frames(
            path, size, fps=fps, macro_block_size=2, ffmpeg_log_level="quiet", **how
        )
        encoder.send(None)  # it waits for its first frame
    except (ImportError, OSError, RuntimeError):
        raise UsageError("No ffmpeg can be started: run `pip install imageio-ffmpeg`.") from None
    return encoder


def _frames(path: Path) -> int:
    import imageio_ffmpeg

    try:
        frames: int = imageio_ffmpeg.count_frames_and_secs(path)[0]
    except RuntimeError:
        return 0
    return frames
