"""Options of a sweep, at the top of its file or as flags."""

from dataclasses import dataclass
from pathlib import Path

from rlparity.io.arguments import ALL_STEPS, FloatRange, IntRange, OneOf
from rlworldkit.settings import setting

EVALUATE = "evaluate/"
"""Prefix of objectives that are figures of `evaluate`."""
RETURN = "train/mean_episode_return"
MEDIAN, HALVING, NONE = "median", "halving", "none"
_BUDGET, _SEARCH, _TRIALS = "budget, at least one of", "search", "trials"
_HOURS, _RUNS, _GAMES = FloatRange(0, 1e9, above=True), IntRange(1, 100), IntRange(1, 10**6)


@dataclass(frozen=True)
class SweepOptions:
    """Objective and budget of a sweep, and how its trials are chosen, run and stored."""

    steps: int | None = setting(None, "environment steps, over all trials", group=_BUDGET, values=ALL_STEPS)
    core_hours: float | None = setting(None, "hours times cores, over all trials", group=_BUDGET, values=_HOURS)
    objective: str = setting(
        RETURN,
        "figure to maximize: a training metric, or one of `evaluate --json`, as `evaluate/return`",
        group=_SEARCH,
    )
    pruner: str = setting(MEDIAN, "rule that stops bad trials", group=_SEARCH, values=OneOf((MEDIAN, HALVING, NONE)))
    preset: str | None = setting(None, "named group of settings; the file overrides it", group=_TRIALS)
    seeds: int = setting(1, "runs per trial, in parallel; their mean counts", group=_TRIALS, values=_RUNS)
    episodes: int = setting(
        200, "evaluation games per run, for an objective `evaluate/…`", group=_TRIALS, flag="--games", values=_GAMES
    )
    at_once: int | None = setting(
        None, "trials in parallel; one for every `--seeds` cores if not given", group=_TRIALS, values=_RUNS
    )
    folder: Path | None = setting(
        None, "folder of runs and results (default: `sweeps/` and the file's name)", group=_TRIALS
    )
    storage: str | None = setting(
        None,
        "Optuna storage: a database URL, which machines share, or a journal file (default: `study.db` in the folder)",
        group=_TRIALS,
        metavar="URL",
    )

    @property
    def is_played(self) -> bool:
        """Whether the objective is a figure of games that the trained agents play."""
        return self.objective.startswith(EVALUATE)
