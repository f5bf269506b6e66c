"""Write the files of a run, and retry those that fail, so that a full disk does not end the run."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from rlparity.io.atomic_write import write_whole


class RetryingWriter:
    """Writes the files of a run, and retries those that cannot be written now.

    print_line: takes one line for each kind of file that fails, however often it fails.
    """

    def __init__(self, print_line: Callable[[str], None]) -> None:
        self._print_line = print_line
        self._told: set[str] = set()
        self._waiting: dict[Path, bytes] = {}
        self._failing: dict[str, str] = {}

    def attempt(self, path: Path, write: Callable[[], object], kind: str | None = None) -> bool:
        """Call ``write``, which writes to ``path``, and catch its OSError; return whether it succeeded.

        Failures of one ``kind`` are reported once; by default each path is a kind of its own.
        """
        kind = kind or str(path)
        try:
            write()
        except OSError as error:
            self._failing[kind] = f"{path} ({reason(error)})"
            if kind not in self._told:
                self._told.add(kind)
                self._print_line(f"{path} could not be written ({reason(error)}). Training goes on.")
            return False
        self._failing.pop(kind, None)
        return True

    def write(self, path: Path, content: bytes) -> None:
        """Write a whole file now or, if that fails, when ``retry`` is called."""
        self._waiting[path] = content
        self._write(path)

    def retry(self) -> None:
        """Write the whole files that could not be written yet."""
        for path in list(self._waiting):
            self._write(path)

    @property
    def failing(self) -> list[str]:
        """Files that could not be written when last tried, each with the reason."""
        return list(self._failing.values())

    def _write(self, path: Path) -> None:
        if self.attempt(path, partial(write_whole, path, self._waiting[path])):
            del self._waiting[path]


def reason(error: OSError) -> str:
    """Reason why a file cannot be written, in the words of the operating system."""
    return error.strerror or str(error)
