"""A sweep as a study of Optuna: opened once for all machines, checked, and continued where a process was killed."""

from __future__ import annotations

import logging
import re
import warnings
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import distribution_to_json
from optuna.pruners import BasePruner, MedianPruner, NopPruner, SuccessiveHalvingPruner
from optuna.samplers import TPESampler
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from parity.errors import UsageError
from rlworldkit.game import Game
from rlworldkit.sweep import options
from rlworldkit.sweep.space import Sweep

PARTS = 20
"""A trial is reported, and may be given up, after each of so many parts of its run."""
STEPS, CORE_SECONDS, FOLDER, OWNER = "steps", "core_seconds", "folder", "owner"
"""What a trial costs, the name of its folder, and who runs it."""
_CONTINUES = "continues"
"""The number of the trial whose runs a trial goes on with."""
_SWEEP = "sweep"
_FREE_PARTS = PARTS // 4
"""Before so many parts nothing is given up."""


def open_study(game: Game, sweep: Sweep, name: str, default: Path) -> optuna.Study:
    """Open the study ``name`` in the sweep's storage, or in the SQLite file ``default``; or make it.

    Raises UsageError where the storage cannot be used, or has a study of this name that is not of this sweep.
    """
    logging.getLogger("alembic").setLevel(logging.WARNING)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    where = sweep.options.storage or f"sqlite:///{default}"
    shown, now = re.sub(r"(?<=:)[^:/@]+(?=@)", "…", where), _identity(game, sweep)  # without a password
    try:
        study = optuna.create_study(
            storage=_storage(where),
            study_name=name,
            direction="maximize",
            sampler=TPESampler(constant_liar=True),  # trials side by side differ
            pruner=_pruner(sweep),
            load_if_exists=True,
        )
        has_trials = bool(study.get_trials(deepcopy=False))  # first: another process may be opening it, too
        before = study.user_attrs.get(_SWEEP)
        if before is None and not has_trials:
            study.set_user_attr(_SWEEP, before := now)
    except Exception as error:  # each kind of storage fails in its own ways, another version's too
        fault = (str(error) or type(error).__name__).splitlines()[0]
        raise UsageError(
            f"{shown} cannot be used as Optuna's storage ({fault:.200}): name another --storage."
        ) from error
    if before != now:
        other = ", ".join(key for key in now if not isinstance(before, dict) or before.get(key) != now[key])
        raise UsageError(f"The study {name} in {shown} differs in its {other}: give this sweep's file another name.")
    return study


def _identity(game: Game, sweep: Sweep) -> dict[str, Any]:
    """What must be the same for trials to be comparable, as values of JSON."""
    chosen = sweep.options
    return {
        "version": f"{game.name} {game.version}, rules {game.rules_version}",
        "objective": chosen.objective,
        "search space": {name: distribution_to_json(axis) for name, axis in sweep.space.items()},
        "number of seeds": chosen.seeds,
        "number of episodes": chosen.episodes if chosen.objective.startswith(options.EVALUATE) else None,
        "settings": sweep.settings,
        "prices": sweep.prices,
    }


def _storage(where: str) -> BaseStorage:
    if "://" not in where:
        return JournalStorage(JournalFileBackend(where))
    is_sqlite = where.startswith("sqlite:")
    return RDBStorage(where, {"connect_args": {"timeout": 60}} if is_sqlite else None)  # seconds for another's writing


def _pruner(sweep: Sweep) -> BasePruner:
    if sweep.options.pruner == options.NONE or sweep.metric is None:
        return NopPruner()
    is_median = sweep.options.pruner == options.MEDIAN
    return MedianPruner(n_warmup_steps=_FREE_PARTS) if is_median else SuccessiveHalvingPruner(min_resource=_FREE_PARTS)


def take_up(study: optuna.Study, owner: str) -> list[str]:
    """Queue the trials again that a killed process of ``owner`` has left unfinished; returns their folders' names."""
    running = study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
    return [postpone(study, trial) for trial in running if trial.user_attrs.get(OWNER) == owner]


def postpone(study: optuna.Study, trial: FrozenTrial | optuna.Trial) -> str:
    """Queue a trial again, to go on with its runs; returns its folder's name."""
    folder = folder_of(trial)
    study.tell(trial.number, state=TrialState.FAIL)
    study.enqueue_trial(trial.params, user_attrs={FOLDER: folder, _CONTINUES: trial.number})
    return folder


def folder_of(trial: FrozenTrial | optuna.Trial) -> str:
    """The name of a trial's folder, which is that of the trial whose runs it goes on with."""
    return str(trial.user_attrs.get(FOLDER, f"trial-{trial.number}"))


def have_finished(study: optuna.Study) -> bool:
    """Whether there is a trial, of whatever machine, that has an objective."""
    return bool(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)))


def spent_share(study: optuna.Study, budget: options.SweepOptions) -> float:
    """The share of a sweep's budget that all trials, of all machines, have spent, and running ones will in steps."""
    trials = study.get_trials(deepcopy=False)
    continued = {trial.user_attrs.get(_CONTINUES) for trial in trials}
    steps = sum(trial.user_attrs.get(STEPS, 0) for trial in trials if trial.number not in continued)
    hours = sum(trial.user_attrs.get(CORE_SECONDS, 0.0) for trial in trials) / 3600
    return max(part / whole for part, whole in ((steps, budget.steps), (hours, budget.core_hours)) if whole)
