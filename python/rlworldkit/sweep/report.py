"""What a sweep has found: the best settings as files that the trainer reads, and pictures."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib
import optuna
from optuna.trial import TrialState

from parity.atomic_write import write_whole
from rlworldkit.pictures import drawn
from rlworldkit.sweep.space import Sweep
from rlworldkit.sweep.study import folder_of


def write_toml(path: Path, values: Mapping[str, Any], heading: str = "") -> None:
    """Write texts, numbers and booleans by name, under a comment."""
    lines = [f"# {heading}"] if heading else []
    lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    write_whole(path, "".join(f"{line}\n" for line in lines).encode())


def write_report(sweep: Sweep, study: optuna.Study, folder: Path) -> tuple[dict[str, Path], list[str]]:
    """Write the best settings and the pictures into ``folder``; the study must have a trial that has finished.

    Returns the files of the best settings and prices by the flags of ``train`` that take them, and lines for the user.
    """
    best = study.best_trial
    seeds = f", the mean of {sweep.options.seeds} seeds" if sweep.options.seeds > 1 else ""
    lines = [f"Best: {folder_of(best)} of {study.study_name}, {sweep.options.objective} {best.value:.6g}{seeds}"]
    files = {"--config": folder / "best.toml"}
    write_toml(files["--config"], sweep.settings_of(best.params), lines[0])
    if prices := sweep.prices_of(best.params):
        files["--prices"] = folder / "best-prices.toml"
        write_toml(files["--prices"], prices, lines[0])
    pictures, objective = optuna.visualization.matplotlib, sweep.options.objective
    drawing = {"history.png": lambda: pictures.plot_optimization_history(study, target_name=objective)}
    if len({trial.value for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))}) > 1:
        found = optuna.importance.get_param_importances(study)
        lines.append(f"Importance: {', '.join(f'{name} {share:.0%}' for name, share in found.items())}")
        drawing["importances.png"] = lambda: pictures.plot_param_importances(study, target_name=objective)
    for name, draw in drawing.items():
        _draw(folder / name, draw)
    return files, [*lines, *(f"  {file}" for file in (*files.values(), *(folder / name for name in drawing)))]


def _draw(path: Path, plot: Callable[[], Any]) -> None:
    """Write a picture of Optuna's, which it draws with pyplot."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context():  # Optuna changes the style of all that is drawn afterwards
        axes = plot()
        if axes.containers:
            axes.get_legend().remove()  # it covers the shortest bar
        figure = axes.figure
        figure.set_layout_engine("constrained")
        write_whole(path, drawn(figure))
        pyplot.close(figure)
