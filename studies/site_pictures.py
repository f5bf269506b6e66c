"""Make the pictures of the front page: a film of the agent that ships, and the page of a divergence.

python studies/site_pictures.py

The divergence is that of a port whose viruses move once instead of twice (E4). It takes about two minutes.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import imageio_ffmpeg
from playwright.sync_api import expect
from shared.pictures import IMAGES, browser

from hackmatrix.world import WORLD
from rlparity.errors import ParityError
from rlparity.tools.mutant_table import planted
from rlworldkit.cli.outputs import fail

FAULT = "viruses-move-once"
SMALLER = ("-c:v", "libx264", "-preset", "veryslow", "-tune", "animation", "-crf", "28", "-pix_fmt", "yuv420p")
"""Options of ffmpeg that reduce the film to a quarter of its size."""


def draw_film(folder: Path) -> None:
    """Film a game with ``watch``, and compress the film further."""
    film = folder / "best.mp4"
    flags = ["--engine", "swift", "--seed", "0", "--speed", "6", "--render", "ansi", "--record", str(film)]
    watch = [sys.executable, "-m", "hackmatrix.cli.main", "watch", "best", *flags]
    subprocess.run(watch, check=True, stdout=subprocess.DEVNULL)
    ffmpeg = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", "-i", str(film)]
    subprocess.run([*ffmpeg, *SMALLER, "-movflags", "+faststart", str(IMAGES / "best.mp4")], check=True)


def draw_divergence(folder: Path) -> None:
    """Plant the fault in a copy of the JAX engine, compare the copy with the Swift engine, and draw the page."""
    (bench,) = (bench for bench in WORLD.benches if bench.engine == "jax")
    (mutant,) = (mutant for mutant in bench.mutants if mutant.name == FAULT)
    for part in bench.parts:
        shutil.copytree(bench.source / part, folder / part)
    file = folder / mutant.file
    file.write_text(planted(mutant, file.read_text(encoding="utf-8")), encoding="utf-8")
    flags = ["--world", "hackmatrix", "--engines", "swift,jax", "--source", "directed", "--games", "64"]
    compare = [sys.executable, "-m", "rlparity", "run", *flags]
    subprocess.run(compare, cwd=folder, env={**os.environ, **bench.environment(folder)}, check=False)
    with browser() as opened:
        page = opened.new_page(viewport={"width": 1280, "height": 850}, color_scheme="light")
        page.goto((folder / "rlparity-report" / "trace.html").as_uri())
        expect(page.locator("#sides .board")).to_have_count(2)
        page.screenshot(path=IMAGES / "divergence.png")


if __name__ == "__main__":
    try:
        with TemporaryDirectory() as name:
            draw_film(Path(name))
            draw_divergence(Path(name))
    except ParityError as error:
        fail(error)
