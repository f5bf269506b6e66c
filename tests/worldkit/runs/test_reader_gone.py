"""A run whose output nobody reads any more, as after ``| head``, ends as on Ctrl-C: with everything saved."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys, time
from pathlib import Path
from parity.console import open_console
from worldkit.runs.run import Run

with Run(Path(sys.argv[1]), console=open_console()) as run:
    run.begin({}, 1_000_000)
    update = 0
    while not run.stop.requested:
        update += 1
        run.write({"update": update, "timesteps": update, "seconds": 1.0})
    run.close()
"""


def test_a_run_ends_with_everything_saved_when_its_reader_goes(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        assert running.stdout.readline().startswith("1 of 1,000,000 steps")
        running.stdout.close()
        assert running.wait(timeout=60) == 0
    rows = (tmp_path / "metrics.csv").read_text().splitlines()
    assert len(rows) > 2
    assert (tmp_path / "learning_curve.png").stat().st_size > 0
