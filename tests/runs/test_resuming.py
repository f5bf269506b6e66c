"""What a resumed run does to the metrics of the session before it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from worldkit.runs.run import Run
from worldkit.runs.sinks import CsvLog, JsonLinesLog, read_csv

KILLING = """
import json, os, random, signal, sys, time
from pathlib import Path
from worldkit.runs.run import Run

folder, after, rng = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
for session in range(60):
    child = os.fork()
    if not child:
        with Run(folder) as run:
            run.begin({}, 1000, after=after, is_resumed=True)
            for update in range(after + 1, 1000):
                run.write({"update": update, "timesteps": update, "seconds": 1.0, "session": session})
    time.sleep(0.15 * rng.random())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    texts = [(folder / name).read_bytes().decode() for name in ("metrics.csv", "metrics.jsonl")]
    print(json.dumps(texts), flush=True)
"""


def row(update: int, session: int = 0) -> dict[str, float]:
    """The metrics of an interval."""
    return {"update": update, "timesteps": update, "seconds": 1.0, "session": session}


def write_session(
    folder: Path, updates: range, after: int = 0, session: int = 0, failing: Exception | None = None
) -> None:
    """A session of a run, to its end or to its failure."""
    with Run(folder) as run:
        run.begin({}, 100, after=after, is_resumed=after > 0)
        for update in updates:
            run.write(row(update, session))
        if failing:
            raise failing


def kept(folder: Path) -> list[tuple[int, int]]:
    """Update and session of every row, which both files agree about."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    in_csv = [(int(each["update"]), int(each["session"])) for each in read_csv(folder / "metrics.csv")]
    assert [(line["update"], line["session"]) for line in lines] == in_csv
    return in_csv


def test_no_row_is_missing_whenever_a_resuming_run_is_killed(tmp_path: Path) -> None:
    write_session(tmp_path, range(1, 61), session=-1)
    words = [sys.executable, "-c", KILLING, str(tmp_path), "50", "7"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(told) == 60
    has_written = 0
    for session, line in enumerate(told):
        for number, text in enumerate(json.loads(line)):
            path = tmp_path / f"{session}-{number}"
            path.write_bytes(text.encode())
            if number == 0:
                rows = [(int(each["update"]), int(each["session"])) for each in read_csv(path)]
            else:
                whole = text[: text.rfind("\n") + 1].splitlines()
                rows = [(each["update"], each["session"]) for each in map(json.loads, whole)]
            updates = [update for update, _ in rows]
            assert updates == list(range(1, len(updates) + 1))
            assert len(updates) >= 60, "rows that had not come again are gone"
            assert all(by == -1 for update, by in rows if update <= 50)
            has_written += (51, session) in rows
    assert has_written > 10, "the kills came before anything was written"


def test_rows_stay_until_they_come_again(tmp_path: Path) -> None:
    write_session(tmp_path, range(1, 7))
    with Run(tmp_path) as run:
        run.begin({}, 100, after=3, is_resumed=True)
        old = [(update, 0) for update in range(1, 7)]
        assert kept(tmp_path) == old
        run.write(row(4, 1))
        assert kept(tmp_path) == [*old[:3], (4, 1), *old[4:]]
        run.write(row(6, 1))
        assert kept(tmp_path) == [*old[:3], (4, 1), (6, 1)]


def test_a_run_that_ends_before_the_rows_of_the_session_before_drops_them(tmp_path: Path) -> None:
    write_session(tmp_path, range(1, 7))
    write_session(tmp_path, range(4, 6), after=3, session=1)
    assert kept(tmp_path) == [(1, 0), (2, 0), (3, 0), (4, 1), (5, 1)]


def test_a_run_that_is_stopped_before_its_first_row_drops_nothing(tmp_path: Path) -> None:
    write_session(tmp_path, range(1, 7))
    write_session(tmp_path, range(0), after=3)
    assert kept(tmp_path) == [(update, 0) for update in range(1, 7)]


def test_a_run_that_fails_leaves_the_rows_that_have_not_come_again(tmp_path: Path) -> None:
    write_session(tmp_path, range(1, 7))
    with pytest.raises(RuntimeError, match="in the middle"):
        write_session(tmp_path, range(4, 5), after=3, session=1, failing=RuntimeError("in the middle"))
    assert kept(tmp_path) == [(1, 0), (2, 0), (3, 0), (4, 1), (5, 0), (6, 0)]


@pytest.mark.parametrize("kind", [CsvLog, JsonLinesLog])
@pytest.mark.parametrize("rubbish", ["3,0", '{"update": 3', "\0\0\n", "3,x,y,z,1\n", "[3]\n", '{"a": 3}\n'])
def test_a_damaged_line_is_passed_over(kind: type[CsvLog | JsonLinesLog], rubbish: str, tmp_path: Path) -> None:
    path = tmp_path / "metrics"
    log = kind(path)
    for update in (1, 2):
        log.write(row(update))
    whole = path.read_bytes()
    path.write_bytes(whole + rubbish.encode("latin-1"))
    resumed = kind(path, after=2)
    resumed.write(row(3))
    resumed.end()
    straight = kind(tmp_path / "straight")
    for update in (1, 2, 3):
        straight.write(row(update))
    assert path.read_bytes() == (tmp_path / "straight").read_bytes()
