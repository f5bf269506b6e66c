"""Options and setup of a training run, for the commands of both trainers."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from rlparity.io.arguments import FileName
from rlparity.io.console import open_console
from rlworldkit.program import Program
from rlworldkit.runs.console import print_nothing_to_save
from rlworldkit.runs.run import Run
from rlworldkit.runs.stop import StopRequest
from rlworldkit.runs.wandb_run import Tracking
from rlworldkit.score import score_of
from rlworldkit.settings import setting

if TYPE_CHECKING:
    from rlworldkit.runs.live_page import LivePage

LOGGING, RUN = "logging and checkpoints", "run"


@dataclass(frozen=True)
class RunOptions:
    """Options of a run, which the commands of all trainers share."""

    no_wandb: bool = setting(False, "do not report to W&B", group=LOGGING)
    project: str | None = setting(None, "W&B project (default: the world's name)", group=LOGGING)
    entity: str | None = setting(None, "W&B entity (default: the account's own)", group=LOGGING)
    run_name: str | None = setting(
        None, "name of the run and its folder (default: made from time and seed)", group=LOGGING, values=FileName()
    )
    config: Path | None = setting(
        None, "TOML file of settings, such as `gamma = 0.99`; explicit flags override it", group=RUN, metavar="FILE"
    )


def run_of(
    program: Program,
    options: RunOptions,
    folder: Path | None,
    trainer: str,
    *,
    stopping: str = "",
    upload: bool = False,
    rewind: bool = False,
    console: Console | None = None,
    stop: StopRequest | None = None,
    **outputs: Any,  # noqa: ANN401 - further arguments of ``Run``
) -> Run:
    """Create the run that the options describe, silent without a folder; enter ``run.stop`` before the run.

    trainer: shown in the title. stopping: what ends before training stops, for a message. upload, rewind: as in
    ``Tracking``. console, stop: by default those of a run that has the terminal to itself.
    """
    own = console or open_console(quiet=folder is None)
    run = Run(
        folder,
        title=f"{program.world.title}, {trainer}",
        console=own,
        tracking=Tracking(options.project or program.name, options.entity, not options.no_wandb, upload, rewind),
        milestone=score_of(program.world).milestone,
        stop=stop
        or StopRequest(
            lambda: run.print_line(f"Stopping after {stopping}; a second Ctrl-C ends it at once."),
            lambda: print_nothing_to_save(own),
        ),
        **outputs,
    )
    return run


def page_of(
    program: Program, totals: Mapping[str, int], stop: StopRequest, print_line: Callable[[str], None]
) -> "AbstractContextManager[LivePage]":
    """Serve a page, as a context, that shows the runs in ``totals``, which gives their steps by name."""
    from rlworldkit.runs.live_page import LivePage

    return LivePage(f"{program.world.title} training", totals, stop).opened(print_line)


def say_written(program: Program, run: Run, files: Iterable[Path], agent: Path) -> None:
    """Print which of the files exist, and the command to watch the agent."""
    for path in files:
        if path.exists():
            run.print_line(f"  {path}")
    run.print_line(f"Watch it play: {program.typed('watch', agent)}")
