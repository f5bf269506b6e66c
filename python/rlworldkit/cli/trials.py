"""Trials of a sweep, side by side: each trains with what Optuna suggests, is reported to it, and may be given up."""

import math
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import TrialState

from parity.errors import ParityError, UsageError
from rlworldkit.cli.seeds import Group
from rlworldkit.game import Game
from rlworldkit.jax.xla import available_cores
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.params import params_path
from rlworldkit.runs.folder import make_folder
from rlworldkit.runs.lock import locked
from rlworldkit.runs.processes import TrainProcess, last_value, train_all
from rlworldkit.sweep.objective import figure_of
from rlworldkit.sweep.options import EVALUATE
from rlworldkit.sweep.report import write_toml
from rlworldkit.sweep.space import Sweep
from rlworldkit.sweep.study import CORE_SECONDS, FOLDER, OWNER, PARTS, STEPS, folder_of, postpone, spent_share, take_up

MOST_FAILURES = 5
"""So many trials in a row that fail end a sweep."""


class Trials:
    """The trials of a sweep on this machine, ``at_once`` side by side.

    should_stop: asked several times a second; then trials are put off to the next start. say: takes lines for the user.
    """

    def __init__(
        self,
        game: Game,
        sweep: Sweep,
        study: optuna.Study,
        folder: Path,
        at_once: int,
        should_stop: Callable[[], bool],
        say: Callable[[str], None],
    ) -> None:
        self._game, self._sweep, self._study, self._folder = game, sweep, study, folder
        self._at_once, self._should_stop, self._say = at_once, should_stop, say
        self._owner = f"{socket.gethostname()}:{folder.resolve()}"
        self._choosing, self._playing = threading.Lock(), threading.Lock()
        self._has_failed, self._failures = False, 0

    def run(self) -> None:
        """Run trials until the budget is spent; raises ParityError where that makes no sense."""
        for name in take_up(self._study, self._owner):
            self._say(f"Goes on with {name}, which had not ended.")
            for run in (self._folder / name).glob("seed-*"):
                self._wait_for_end(run)
        with ThreadPoolExecutor(self._at_once) as pool:
            for each in [pool.submit(self._work) for _ in range(self._at_once)]:
                each.result()

    def _is_ending(self) -> bool:
        return self._has_failed or self._should_stop()

    def _wait_for_end(self, run: Path) -> None:
        """Wait for a run whose parent was killed: it saves first."""
        while not self._is_ending():
            try:
                with locked(run):
                    return
            except UsageError:
                time.sleep(0.25)

    def _work(self) -> None:
        try:
            while (chosen := self._next()) is not None:
                self._run(*chosen)
        except BaseException:
            self._has_failed = True
            raise

    def _next(self) -> tuple[optuna.Trial, TrainConfig] | None:
        """The next trial, which is charged with all of its steps, and its configuration; None: it was the last."""
        with self._choosing:
            while not self._is_ending() and spent_share(self._study, self._sweep.options) < 1:
                trial = self._study.ask(self._sweep.space)
                try:
                    config = self._sweep.config_of(trial.params)
                except UsageError as fault:
                    self._end(trial, str(fault))
                    continue
                trial.set_user_attr(OWNER, self._owner)
                trial.set_user_attr(STEPS, config.num_updates * config.batch_size * self._sweep.options.seeds)
                return trial, config
        return None

    def _run(self, trial: optuna.Trial, config: TrainConfig) -> None:
        folder = self._folder / folder_of(trial)
        if folder.exists() and FOLDER not in trial.user_attrs:
            trial.set_user_attr(STEPS, 0)
            self._study.tell(trial, state=TrialState.FAIL)  # lest it goes on with another's runs
            raise UsageError(f"{folder} is of another study: name another --folder, or move it away.")
        attempt = _Attempt(self._sweep, trial, config, folder)
        began, cores = time.monotonic(), available_cores() / self._at_once

        def write(*_: Any) -> None:  # noqa: ANN401 - a row and the name of its run, which has it too
            trial.set_user_attr(CORE_SECONDS, cores * (time.monotonic() - began))
            attempt.report()

        train_all(
            self._game.module,
            attempt.unfinished(),
            self._sweep.options.seeds,
            {"WANDB_RUN_GROUP": self._study.study_name},
            should_stop=lambda: self._is_ending() or attempt.must_end(),
            write=write,
        )
        outcome = attempt.outcome()
        if isinstance(outcome, float) and self._sweep.options.objective.startswith(EVALUATE) and not self._is_ending():
            with self._playing:  # one at a time: the engine's programs use all cores of a share
                values = [figure_of(self._game, self._sweep.options, str(agent)) for agent in attempt.agents]
            outcome = sum(values) / len(values)
        write()
        trial.set_user_attr(STEPS, attempt.steps())
        if self._is_ending():
            postpone(self._study, trial)
        else:
            self._end(trial, outcome)

    def _end(self, trial: optuna.Trial, outcome: float | str | None) -> None:
        """Tell Optuna and the user: the objective, the fault, or None where the trial was given up."""
        if isinstance(outcome, str) or (outcome is not None and not math.isfinite(outcome)):
            fault = outcome if isinstance(outcome, str) else "no episode has ended"
            self._study.tell(trial, state=TrialState.FAIL)
            self._say(f"Trial {trial.number} failed: {fault}")
            self._failures += 1
            if self._failures == MOST_FAILURES:
                raise ParityError(f"{MOST_FAILURES} trials in a row have failed, the last: {fault}")
            return
        self._failures = 0
        self._study.tell(trial, outcome, TrialState.PRUNED if outcome is None else None)
        done = "given up" if outcome is None else f"{outcome:.6g}"
        params = ", ".join(
            f"{name} {value:.4g}" if type(value) is float else f"{name} {value}" for name, value in trial.params.items()
        )
        share = spent_share(self._study, self._sweep.options)
        self._say(f"Trial {trial.number}: {done} with {params}; {share:.0%} of the budget.")


class _Attempt:
    """The runs of a trial, one for each seed, and what they have reached. agents: the file of each at its end."""

    def __init__(self, sweep: Sweep, trial: optuna.Trial, config: TrainConfig, folder: Path) -> None:
        self._sweep, self._trial, self._updates = sweep, trial, config.num_updates
        self._reported, self._is_hopeless = 0, False
        make_folder(folder, "choose another --folder")
        write_toml(folder / "settings.toml", sweep.settings_of(trial.params))
        write_toml(folder / "prices.toml", sweep.prices_of(trial.params))
        flags = ["--config", str(folder / "settings.toml"), "--prices", str(folder / "prices.toml")]
        seeds = range(config.seed, config.seed + sweep.options.seeds)
        (self._runs,) = Group(folder, seeds, (), is_resumed=True).runs(flags).values()
        self.agents = [params_path(run.folder, self._updates) for run in self._runs]
        for run in self._runs:
            list(run.new_rows())  # those of a run that is finished are not read otherwise

    def unfinished(self) -> list[TrainProcess]:
        """The runs that have not had all of their steps."""
        return [run for run, agent in zip(self._runs, self.agents, strict=True) if not agent.exists()]

    def steps(self) -> int:
        """The steps of all runs so far."""
        return sum(int(run.rows[-1]["timesteps"]) for run in self._runs if run.rows)

    def must_end(self) -> bool:
        """Whether the rest of the runs is of no use."""
        return self._is_hopeless or any(run.has_failed for run in self._runs)

    def outcome(self) -> float | str | None:
        """The metric that is the objective, NaN where none is, a sentence why there is no value; None: given up."""
        if self._is_hopeless:
            return None
        for run in self.unfinished():
            return f"{run.name} {run.outcome}"
        return self._mean_until(self._updates)

    def _mean_until(self, update: float) -> float:
        """The mean over the runs of the metric that they are judged by, around an update; NaN where one has none."""
        rows = [[row for row in run.rows if row["update"] <= update] for run in self._runs]
        metric = self._sweep.metric
        return sum(last_value(of_run, metric) for of_run in rows) / len(rows) if metric else math.nan

    def report(self) -> None:
        """Tell Optuna the parts of the run that all seeds have reached, and ask whether the trial is hopeless."""
        reached = min(run.rows[-1]["update"] if run.rows else 0 for run in self._runs)
        while (part := self._reported + 1) <= PARTS * reached / self._updates:
            if math.isfinite(value := self._mean_until(part * self._updates / PARTS)):
                self._trial.report(value, part)
            self._reported = part
        self._is_hopeless = reached < self._updates and self._trial.should_prune()
