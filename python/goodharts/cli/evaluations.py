"""What ``evaluate`` and ``compare`` share: flags, evaluations with live progress, and their JSON."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from goodharts.config import Config, read_config, setting_of
from goodharts.evaluation import RANDOM
from worldkit.cli.outputs import write_output

if TYPE_CHECKING:
    from goodharts.evaluation.evaluate import Evaluation
    from goodharts.models import Model

_SETTINGS = (("evaluation", "games"), ("evaluation", "steps"), ("evaluation", "seed"), ("runtime", "device"))
PLAYING = (*(key for _, key in _SETTINGS), "deterministic")
"""The flags that say how is played, as the parser names their values."""
_PUBLISHED_SIZE = {"games": "; published are 8,192", "steps": "; published are 16,384"}


def add_settings(parser: argparse.ArgumentParser) -> None:
    """How many games are played for how long; what is not given is as the configuration says."""
    for section, key in _SETTINGS:
        each = setting_of(section, key)
        note = f"default {each.default_text}{_PUBLISHED_SIZE.get(key, '')}"
        assert each.values is not None
        parser.add_argument(each.flag, type=each.values, metavar=each.metavar, help=f"{each.help} ({note})")
    parser.add_argument(
        "--deterministic", action="store_true", help="take the likeliest actions instead of drawing them"
    )


def config_of(args: argparse.Namespace) -> Config:
    """The configuration with the settings that the command line gives; raises UsageError as ``read_config`` does."""
    layer: dict[str, dict[str, object]] = {}
    for section, key in _SETTINGS:
        if getattr(args, key) is not None:
            layer.setdefault(section, {})[key] = getattr(args, key)
    return read_config(layer)


def evaluations(
    models: Sequence[Model | None], config: Config, deterministic: bool, console: Console
) -> Iterator[Evaluation]:
    """An evaluation of each model, and of chance for None, one after the other, with live progress on a terminal."""
    from goodharts.devices import choose_device
    from goodharts.evaluation.evaluate import evaluate

    device, how = choose_device(config.runtime.device), config.evaluation
    total = how.games * how.steps
    with _progress(console) as progress:
        for model in models:
            name = model.mode if model else RANDOM
            if not console.is_terminal:
                console.print(f"{name}: playing {how.games:,} games of {how.steps:,} steps ...")
            task = progress.add_task(name, total=total)
            yield evaluate(model, config, device, deterministic=deterministic, advanced=partial(progress.advance, task))
            progress.remove_task(task)


def written(evaluations: Iterable[Evaluation], target: str | None) -> list[Evaluation]:
    """All evaluations, written as JSON to ``target`` if that is given.

    Those that there are by then are written where a later one is interrupted or fails.
    """
    from goodharts.evaluation.results import as_json

    found: list[Evaluation] = []
    try:
        for each in evaluations:
            found.append(each)  # what is there stays there, whatever the next one raises
    finally:
        if target and found:
            write_output(target, as_json(found))
    return found


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(show_speed=True),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
