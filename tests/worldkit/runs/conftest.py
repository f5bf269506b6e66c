"""A disk so small that it is soon full, and toy worlds to train on."""

import mmap
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


class SmallDisk:
    """A file system of its own, which can be filled to the last byte and emptied again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filling = folder / "filling"

    def fill(self) -> None:
        with self._filling.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(512))
            except OSError:
                pass

    def leave(self, pages: int) -> None:
        """Of a full disk, make so many pages free."""
        with self._filling.open("r+b") as file:
            file.truncate(self._filling.stat().st_size - pages * mmap.PAGESIZE)

    def free(self) -> None:
        self._filling.unlink()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Four megabytes; skipped, aloud, where this process may not mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("there is no mount command, which these tests make a small disk with")
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here ({mounted.stderr.strip()}); run the tests as root")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
