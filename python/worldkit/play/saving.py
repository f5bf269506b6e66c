"""Where games are saved, as traces of the parity harness."""

from pathlib import Path

from parity.errors import UsageError
from parity.trace import write_trace
from worldkit.play.game import PlayedGame


def default_path(world: str, seed: int) -> Path:
    """A name in the working directory that no file has yet."""
    return unused(Path(f"{world}-{seed}.json"))


def unused(path: Path) -> Path:
    """The path, or where there is such a file the first of NAME-2, NAME-3, … that is none."""
    number, free = 2, path
    while free.exists():
        number, free = number + 1, path.with_stem(f"{path.stem}-{number}")
    return free


def save(game: PlayedGame, path: Path) -> None:
    """Write the game to a file, whole or not at all; raises UsageError where that cannot be done."""
    try:
        write_trace(game.trace, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}): make room or name another file.") from error
