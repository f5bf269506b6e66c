"""Training in the terminal."""

import io
from typing import Any

from rich.console import Console

from goodharts.training.progress import Progress
from tests.terminals import LostTerminal

MODES = ("ground_truth", "proxy")


def row(mode: str, update: int, updates: int = 64, **numbers: Any) -> dict[str, Any]:  # noqa: ANN401 - of any metric
    return {"mode": mode, "update": update, "updates": updates, "seconds_left": 3723.4, "entropy": 2.079, **numbers}


def test_a_terminal_that_has_gone_ends_nothing() -> None:
    out = LostTerminal()
    with Progress(MODES, Console(file=out, force_terminal=True)) as progress:
        out.has_gone = True
        progress.write(row("proxy", 3))
        progress.say("a line for nobody")


def test_a_terminal_shows_a_line_for_each_mode_that_changes_in_place() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=160, color_system=None)
    with Progress(MODES, console) as progress:
        progress.write(row("proxy", 3, steps_per_second=12345.6, episode_reward=None))
        progress.say("a line for the user")
        shown = io.StringIO()
        Console(file=shown, width=160).print(progress._table())
    ground_truth, proxy = (line.split() for line in shown.getvalue().splitlines()[1:])
    assert ground_truth[:2] == ["ground_truth", "starting"]
    assert proxy[:2] == ["proxy", "3/64"]
    assert proxy[-8:] == ["–", "–", "2.079", "–", "–", "–", "12,346", "1:02:03"]
    assert "a line for the user\n" in out.getvalue()


def test_a_file_gets_about_thirty_plain_lines_of_each_mode() -> None:
    out = io.StringIO()
    with Progress(MODES, Console(file=out, width=300)) as progress:
        for update in range(1, 1001):
            progress.write(row("proxy", update, updates=1000))
    lines = out.getvalue().splitlines()
    assert 30 <= len(lines) <= 34
    assert lines[-1].startswith("proxy  update 1,000 of 1,000  reward –  length –  entropy 2.079  KL –")
    assert lines[-1].endswith("1:02:03 left")
