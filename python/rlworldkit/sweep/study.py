"""Optuna study of a sweep: open it for all machines, check it, resume trials that were killed, and report the best."""

from __future__ import annotations

import json
import logging
import uuid
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import optuna
from optuna.distributions import distribution_to_json
from optuna.pruners import MedianPruner, NopPruner, SuccessiveHalvingPruner
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from rlparity.errors import UsageError, unknown
from rlparity.io.atomic_write import write_text, write_whole
from rlworldkit.agents.reader import RANDOM
from rlworldkit.api import evaluate
from rlworldkit.jax.engine_backend import jax_env_of
from rlworldkit.pictures import drawn
from rlworldkit.ppo.loop import metric_names
from rlworldkit.program import Program
from rlworldkit.sweep.options import EVALUATE, HALVING, MEDIAN, NONE, SweepOptions
from rlworldkit.sweep.space import Sweep

PARTS = 20
"""Number of equal parts of a run; after each part a trial is reported, and may be pruned."""
_FREE_PARTS = PARTS // 4
"""Number of parts before which no trial is pruned."""
_SWEEP, _OWNER = "sweep", "sweep.id"
_LENGTH = {"total_timesteps", "num_envs", "num_steps"}
"""Settings that determine how many steps a trial takes."""


class Attribute:
    """Names of a trial's user attributes: its cost, folder and owner, and the number of the trial that it continues."""

    STEPS, CORE_SECONDS, FOLDER, OWNER, CONTINUES = "steps", "core_seconds", "folder", "owner", "continues"


def open_study(program: Program, sweep: Sweep) -> optuna.Study:
    """Open the sweep's study in its storage, or in a SQLite file of its folder; create it if it does not exist.

    Raises UsageError if the storage cannot be used, or has a study of this name of another sweep.
    """
    logging.getLogger("alembic").setLevel(logging.WARNING)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    where = sweep.options.storage or f"sqlite:///{sweep.folder / 'study.db'}"
    shown, now = shown_storage(where), _identity(program, sweep)
    pruners = {
        MEDIAN: MedianPruner(n_warmup_steps=_FREE_PARTS),
        HALVING: SuccessiveHalvingPruner(min_resource=_FREE_PARTS),
        NONE: NopPruner(),
    }
    try:
        study = optuna.create_study(
            storage=open_storage(where),
            study_name=sweep.name,
            direction="maximize",
            sampler=optuna.samplers.TPESampler(constant_liar=True),  # so that parallel trials differ
            pruner=pruners[sweep.options.pruner if sweep.metric else NONE],
            load_if_exists=True,
        )
        has_trials = bool(study.get_trials(deepcopy=False))  # first, as another process may be opening it
        before = study.user_attrs.get(_SWEEP)
        if before is None and not has_trials:
            study.set_user_attr(_SWEEP, before := now)
    except Exception as error:  # storages and their versions raise exceptions of many kinds
        # the message of a server's driver may contain the password
        fault = (str(error).splitlines() or [""])[0] if where == shown else type(error).__name__
        refusal = f"{shown} cannot be used as Optuna's storage ({fault:.200}): name another --storage."
        raise UsageError(refusal) from error
    if before != now:
        other = ", ".join(key for key in now if not isinstance(before, dict) or before.get(key) != now[key])
        raise UsageError(
            f"The study {sweep.name} in {shown} differs in its {other}: give this sweep's file another name."
        )
    return study


def open_storage(where: str) -> BaseStorage:
    """Open a database by its URL, or a journal's file."""
    if "://" not in where:
        return JournalStorage(JournalFileBackend(where))
    is_sqlite = where.startswith("sqlite:")
    return RDBStorage(where, {"connect_args": {"timeout": 60}} if is_sqlite else None)  # seconds to wait for a lock


def shown_storage(where: str) -> str:
    """Name a storage in a message: of a database on a server only the scheme, since the rest may hold secrets."""
    scheme, colon, _ = where.partition("://")
    return where if scheme in ("sqlite", where) else f"{scheme}{colon}…"


def owner_of(folder: Path) -> str:
    """Id of the folder, which marks its trials on any machine and path; it is created once and kept in the folder."""
    path = folder / _OWNER
    if not path.exists():
        write_text(path, uuid.uuid4().hex)
    return path.read_text(errors="replace")


def _identity(program: Program, sweep: Sweep) -> dict[str, Any]:
    """Properties that must be equal for trials to be comparable, as JSON values."""
    return {
        "version": f"{program.name} {program.version}, rules {program.world.rules_version}",
        "objective": sweep.options.objective,
        "search space": {name: distribution_to_json(axis) for name, axis in sweep.space.items()},
        "number of seeds": sweep.options.seeds,
        "number of episodes": sweep.options.episodes if sweep.options.is_played else None,
        "settings": sweep.settings_of({}),
        "prices": sweep.prices_of({}),
    }


def check_objective(program: Program, sweep: Sweep) -> None:
    """Raise UsageError for an objective that no run has, and for a budget of fewer steps than a trial takes."""
    options, config = sweep.options, sweep.kind(**sweep.settings_of({}))
    if options.is_played:
        figure_of(program, options, RANDOM, max_steps=1)
    else:
        known = metric_names(replace(config, num_envs=8, num_steps=8, num_minibatches=1), jax_env_of(program.world))
        if options.objective not in known:
            listed = ", ".join(known)
            raise UsageError(
                f"No run has the objective {unknown(options.objective, known)}: take {listed} or {EVALUATE}return."
            )
    steps = config.num_updates * config.batch_size * options.seeds
    if options.steps and steps > options.steps and not sweep.space.keys() & _LENGTH:
        raise UsageError(
            f"A trial takes {steps:,} steps, more than the {options.steps:,} of the sweep: give more --steps, or fewer "
            "total_timesteps."
        )


def figure_of(program: Program, options: SweepOptions, agent: str, max_steps: int = 5000) -> float:
    """Compute the objective, a figure of ``evaluate --json`` or its mean, of an agent at the world's own prices.

    Raises UsageError if there is no such number.
    """
    figures = evaluate(program.world, agent, games=options.episodes, max_steps=max_steps)
    found: Any = figures
    for key in options.objective.removeprefix(EVALUATE).split("/"):
        found = found.get(key) if isinstance(found, dict) else None
    found = found.get("mean") if isinstance(found, dict) else found
    if not isinstance(found, (int, float)):
        known = ", ".join(EVALUATE + key for key, each in figures.items() if isinstance(each, dict) and "mean" in each)
        raise UsageError(f"No agent has the objective {unknown(options.objective, [])}: take one of {known}.")
    return float(found)


def take_up(study: optuna.Study, owner: str) -> list[str]:
    """Queue trials again that a killed process of ``owner`` left unfinished; return the names of their folders."""
    return [postpone(study, trial) for trial in running_trials(study) if trial.user_attrs.get(Attribute.OWNER) == owner]


def running_trials(study: optuna.Study) -> list[FrozenTrial]:
    """Trials that have neither ended nor been queued again."""
    return study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))


def postpone(study: optuna.Study, trial: FrozenTrial | optuna.Trial) -> str:
    """Queue a trial again, to continue its runs; return the name of its folder."""
    folder = folder_of(trial)
    if not any(each.user_attrs.get(Attribute.CONTINUES) == trial.number for each in study.get_trials(deepcopy=False)):
        # enqueued before the trial ends, so that a kill between the two calls loses nothing
        study.enqueue_trial(trial.params, user_attrs={Attribute.CONTINUES: trial.number, Attribute.FOLDER: folder})
    study.tell(trial.number, state=TrialState.FAIL, skip_if_finished=True)
    return folder


def folder_of(trial: FrozenTrial | optuna.Trial) -> str:
    """Name of a trial's folder, which is that of the trial that it continues, if any."""
    return str(trial.user_attrs.get(Attribute.FOLDER, f"trial-{trial.number}"))


def spent_share(study: optuna.Study, budget: SweepOptions) -> float:
    """Share of the budget that the trials of all machines have spent; running trials count with all their steps."""
    trials = study.get_trials(deepcopy=False)
    continued = {trial.user_attrs.get(Attribute.CONTINUES) for trial in trials}
    steps = sum(trial.user_attrs.get(Attribute.STEPS, 0) for trial in trials if trial.number not in continued)
    hours = sum(trial.user_attrs.get(Attribute.CORE_SECONDS, 0.0) for trial in trials) / 3600
    return max(part / whole for part, whole in ((steps, budget.steps), (hours, budget.core_hours)) if whole)


def write_toml(path: Path, values: Mapping[str, Any], heading: str = "") -> None:
    """Write texts, numbers and booleans, by name, below a comment."""
    lines = [f"# {heading}"] if heading else []
    lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    write_whole(path, "".join(f"{line}\n" for line in lines).encode())


def write_report(sweep: Sweep, study: optuna.Study) -> tuple[dict[str, Path], list[str]]:
    """Write the best settings and pictures; return the files by the flags of ``train``, and lines for the user.

    Both are empty if no trial of any machine has finished.
    """
    finished = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    if not finished:
        return {}, []
    best, objective = study.best_trial, sweep.options.objective
    seeds = f", the mean of {sweep.options.seeds} seeds" if sweep.options.seeds > 1 else ""
    lines = [f"Best: {folder_of(best)} of {study.study_name}, {objective} {best.value:.6g}{seeds}"]
    files = {"--config": sweep.folder / "best.toml"}
    write_toml(files["--config"], sweep.settings_of(best.params), lines[0])
    if prices := sweep.prices_of(best.params):
        files["--prices"] = sweep.folder / "best-prices.toml"
        write_toml(files["--prices"], prices, lines[0])
    plots: dict[str, Callable[..., Any]] = {"history.png": optuna.visualization.matplotlib.plot_optimization_history}
    if len({trial.value for trial in finished}) > 1:
        found = optuna.importance.get_param_importances(study)
        lines.append(f"Importance: {', '.join(f'{name} {share:.0%}' for name, share in found.items())}")
        plots["importances.png"] = optuna.visualization.matplotlib.plot_param_importances
    matplotlib.use("Agg")  # Optuna draws with pyplot
    from matplotlib import pyplot

    for name, plot in plots.items():
        with pyplot.rc_context():  # Optuna changes the style of all later figures
            axes = plot(study, target_name=objective)
            if axes.containers:
                axes.get_legend().remove()  # it covers the shortest bar
            axes.figure.set_layout_engine("constrained")
            write_whole(sweep.folder / name, drawn(axes.figure))
            pyplot.close(axes.figure)
    return files, [*lines, *(f"  {path}" for path in (*files.values(), *(sweep.folder / name for name in plots)))]
