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

    steps: int | None = setting(None, "steps of the environment, of all trials", group=_BUDGET, values=ALL_STEPS)
    core_hours: float | None = setting(None, "hours times cores, of all trials", group=_BUDGET, values=_HOURS)
    objective: str = setting(
        RETURN,
        "to be as high as possible: a metric of training, or a figure of `evaluate --json` such as `evaluate/return`",
        group=_SEARCH,
    )
    pruner: str = setting(MEDIAN, "which trials are given up", group=_SEARCH, values=OneOf((MEDIAN, HALVING, NONE)))
    preset: str | None = setting(None, "settings by name, under those of the file", group=_TRIALS)
    seeds: int = setting(1, "runs of a trial, side by side, whose mean counts", group=_TRIALS, values=_RUNS)
    episodes: int = setting(
        200, "games of each run's agent for `evaluate/…`", group=_TRIALS, flag="--games", values=_GAMES
    )
    at_once: int | None = setting(
        None, "trials side by side; without it one for every `--seeds` cores", group=_TRIALS, values=_RUNS
    )
    folder: Path | None = setting(
        None, "where runs and results go; without it `sweeps` and the name of the file", group=_TRIALS
    )
    storage: str | None = setting(
        None,
        "Optuna's storage: the URL of a database that machines share, or a journal's file; without it `study.db` in "
        "the folder",
        group=_TRIALS,
        metavar="URL",
    )

    @property
    def is_played(self) -> bool:
        """Whether the objective is a figure of games that the trained agents play."""
        return self.objective.startswith(EVALUATE)
