"""Sweeps: what is searched and found, what goes on after a stop, and what is refused.

A stand-in trains in this process, but in the long test.
"""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState
from orchard import WORLD

from rlparity.core.prices import changed_prices, read_prices
from rlparity.errors import INTERRUPTED_EXIT_CODE
from rlworldkit.cli.app import main
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.program import Program
from rlworldkit.runs.folder import METRICS
from rlworldkit.runs.pool import RunTask
from rlworldkit.runs.sinks import CsvLog, Metrics
from rlworldkit.settings import from_file
from rlworldkit.sweep.space import Sweep
from rlworldkit.sweep.study import write_report

ORCHARD = Path(__file__).resolve().parents[2] / "parity/rlparity/templates"
HELD = "num_envs = 8\nnum_steps = 8\ntotal_timesteps = 640\nent_coef = 0.1\n"
SEARCHED = "lr = { low = 1e-4, high = 1e-2, log = true }\n"
RETURN = "train/mean_episode_return"


def train_here(
    tasks: Sequence[RunTask],
    at_once: int,
    *,
    report: Callable[[Metrics, str], None],
    ended: Callable[[str, object], None],
    should_stop: Callable[[], bool],
    environment: Mapping[str, str],
) -> None:
    """Train like ``train_many``; where there is a file "wait", runs seem bad, and wait half-way to be stopped."""
    for name, folder, (module, command, *words), _ in tasks:
        flags = dict(zip(words[::2], words[1::2], strict=True))
        settings = from_file(TrainConfig, Path(flags["--config"]))
        WORLD.with_prices(read_prices([], Path(flags["--prices"])))
        assert (module, command) == ("orchard", "train")
        is_resumed, is_waiting, updates = "--resume" in flags, Path("wait").exists(), settings["total_timesteps"] // 64
        with Path("calls.txt").open("a") as calls:
            calls.write(f"{folder} {'resumed' if is_resumed else 'new'}\n")
        assert is_resumed or not folder.exists(), "the folder already holds a run"
        folder.mkdir(parents=True, exist_ok=True)
        value = int(folder.name.removeprefix("seed-")) - abs(math.log10(settings["learning_rate"]) + 3) - 9 * is_waiting
        done = range(1, 1 + (updates // 2 if is_waiting else updates))
        rows = [{"update": n, "timesteps": 64 * n, RETURN: value} for n in done]
        CsvLog(folder / METRICS).write_all(rows)
        (folder / f"params_{len(rows)}.npz").touch()
        for row in rows:
            report(row, name)
        while is_waiting and not should_stop():
            time.sleep(0.002)
        ended(name, None)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rlworldkit.cli.trials.train_many", train_here)
    # which would be those of this process from here on
    monkeypatch.setattr("rlworldkit.cli.sweep.threads_of_a_share", lambda parts: {})
    monkeypatch.setattr("rlworldkit.sweep.study.metric_names", lambda config, env: [RETURN])

    def without_pictures(sweep: Sweep, study: optuna.Study) -> tuple[dict[str, Path], list[str]]:
        return ({"--config": Path("best.toml")} if any(value is not None for value in values(study)) else {}), []

    monkeypatch.setattr("rlworldkit.sweep.study.write_report", without_pictures)


def write(options: str, settings: str = HELD + SEARCHED, prices: str = "") -> None:
    Path("s.toml").write_text(f"{options}\n[settings]\n{settings}\n[prices]\n{prices}\n")


def sweep(*flags: str) -> optuna.Study:
    """The study that ``sweep s.toml`` leaves behind."""
    main(WORLD, ["sweep", "s.toml", *flags])
    return optuna.load_study(study_name="s", storage="sqlite:///sweeps/s/study.db")


def values(study: optuna.Study) -> list[float | None]:
    return [trial.value for trial in study.trials]


@pytest.fixture
def reported(here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports are written, whose pictures take longer than all else."""
    monkeypatch.setattr("rlworldkit.sweep.study.write_report", write_report)


def test_the_best_trial_is_a_file_of_settings_that_the_trainer_takes(
    reported: None, capsys: pytest.CaptureFixture[str]
) -> None:
    write("steps = 3840\nseeds = 2")  # three trials
    study = sweep()
    best = max(study.trials, key=lambda trial: trial.value or -9.0)
    rate = best.params["learning_rate"]
    settings = from_file(TrainConfig, Path("sweeps/s/best.toml"))
    assert settings == {"num_envs": 8, "num_steps": 8, "total_timesteps": 640, "ent_coef": 0.1, "learning_rate": rate}
    assert len(study.trials) == 3
    assert all(0 <= 0.5 - (value or 9) <= 1 for value in values(study))  # the mean of seeds 0 and 1
    output = capsys.readouterr().out
    assert f"Best: trial-{best.number} of s, {RETURN} {best.value:.6g}, the mean of 2 seeds" in output
    assert "Importance: learning_rate 100%" in output
    assert "train --config sweeps/s/best.toml" in output
    for name in ("history.png", "importances.png"):
        assert Path("sweeps/s", name).read_bytes().startswith(b"\x89PNG")


def test_a_sweep_goes_on_with_all_of_its_trials_and_ends_with_its_budget() -> None:
    write("steps = 1280\nat_once = 1")
    first = values(sweep())
    assert len(first) == 2
    assert values(sweep()) == first
    assert values(sweep("--steps", "1281"))[:2] == first
    assert len(values(sweep("--core-hours", "1e-9"))) == 3


def interrupted() -> None:
    """Begin ``sweep s.toml`` and stop it once its first run has saved."""

    def stop() -> None:
        while not list(Path().rglob("params_5.npz")):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    Path("wait").touch()
    thread = threading.Thread(target=stop)
    thread.start()
    assert main(WORLD, ["sweep", "s.toml"]) == INTERRUPTED_EXIT_CODE
    thread.join()
    Path("wait").unlink()


@pytest.mark.parametrize(
    "end",
    ["stopped", "killed before it saved"]
    + [pytest.param(end, marks=pytest.mark.long) for end in ("killed", "killed, then moved")],
)
def test_a_trial_that_has_not_ended_goes_on_with_its_runs(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("steps = 640")
    with monkeypatch.context() as patch:
        if end != "stopped":
            patch.setattr("rlworldkit.cli.trials.postpone", lambda *_: None)  # nothing is told to Optuna
        interrupted()
    folder = Path("sweeps/s/trial-0/seed-0")
    if end == "killed before it saved":
        (folder / "params_5.npz").unlink()
    if end == "killed, then moved":  # to another container
        monkeypatch.setattr("socket.gethostname", lambda: "another")
        (tmp_path / "mounted").mkdir()
        for name in ("sweeps", "s.toml", "calls.txt"):
            Path(name).rename(tmp_path / "mounted" / name)
        monkeypatch.chdir(tmp_path / "mounted")
    stopped, ended = sweep().trials
    assert (stopped.state, ended.state, ended.params) == (TrialState.FAIL, TrialState.COMPLETE, stopped.params)
    again = "new" if end == "killed before it saved" else "resumed"
    assert Path("calls.txt").read_text().splitlines() == [f"{folder} new", f"{folder} {again}"]


def test_a_hopeless_trial_is_given_up_and_its_run_stopped() -> None:
    write("steps = 3200\nat_once = 1")
    sweep()
    Path("wait").touch()
    *before, last = sweep("--steps", "3201").trials
    assert [trial.state for trial in before] == 5 * [TrialState.COMPLETE]
    assert (last.state, last.user_attrs["steps"]) == (TrialState.PRUNED, 320)
    assert sorted(last.intermediate_values) == list(range(2, 11))  # twentieths of a run of ten updates


def test_prices_are_searched_in_whole_units_and_judged_in_those_of_the_game(
    reported: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlworldkit.cli.trials.figure_of", lambda game, options, agent: float("trial-1" in agent))
    monkeypatch.setattr("rlworldkit.sweep.study.figure_of", lambda *_, **__: 0.0)
    write(
        "steps = 1920\nobjective = 'evaluate/return'", HELD + "learning_rate = 1e-3", "step = { low = -0.5, high = 0 }"
    )
    study = sweep()
    assert values(study) == [0.0, 1.0, 0.0]
    assert not any(trial.intermediate_values for trial in study.trials)
    prices = changed_prices(WORLD.with_prices(read_prices([], Path("sweeps/s/best-prices.toml"))))
    assert prices == {"step": pytest.approx(study.trials[1].params["prices.step"])}


@pytest.mark.parametrize("storage", ["sqlite:///shared.db", pytest.param("journal.log", marks=pytest.mark.long)])
def test_machines_that_share_a_storage_share_trials_and_budget(storage: str) -> None:
    write(f"steps = 1280\nat_once = 1\nstorage = '{storage}'")
    for folder, steps in (("here", 1280), ("there", 1920)):
        assert main(WORLD, ["sweep", "s.toml", "--folder", folder, "--steps", str(steps)]) == 0
    assert sorted(path.name for path in Path("here").glob("trial-*")) == ["trial-0", "trial-1"]
    assert [path.name for path in Path("there").glob("trial-*")] == ["trial-2"]


def test_machines_that_open_a_storage_together_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    write("steps = 640\nstorage = 'sqlite:///shared.db'")
    attributes = vars(optuna.Study)["user_attrs"].fget

    def and_another(study: optuna.Study) -> object:
        found = attributes(study)
        monkeypatch.setattr(optuna.Study, "user_attrs", property(attributes))
        assert main(WORLD, ["sweep", "s.toml", "--folder", "there"]) == 0
        return found

    monkeypatch.setattr(optuna.Study, "user_attrs", property(and_another))
    assert main(WORLD, ["sweep", "s.toml", "--folder", "here"]) == 0
    assert [path.name for path in Path("there").glob("trial-*")] == ["trial-0"]


@pytest.mark.parametrize(
    ("options", "settings", "prices", "fault"),
    [
        ("steps = 640", "learning_rat = [1e-3]", "", "unknown key 'learning_rat' (did you mean 'learning_rate'?)"),
        ("steps = 640", "learning_rate = { low = 0.1, high = 7 }", "", "learning_rate must be a number above 0 to 1"),
        ("steps = 640", "learning_rate = { low = 0.1 }", "", "learning_rate cannot be searched (it must have low"),
        ("steps = 640", "num_envs = { low = 8, high = 9, log = 'yes' }", "", "log must be true or false"),
        ("steps = 640", "num_envs = { low = 8, high = 16, step = 0.5 }", "", "step must be a whole number"),
        ("steps = 640", "num_envs = { low = 8, high = 16, step = 0 }", "", "num_envs cannot be searched"),
        ("steps = 640", "num_envs = { low = 8, high = 15, step = 4 }", "", "step must divide the range"),
        ("steps = 640", "gamma = { low = 0.8, high = 1.0, step = 0.15 }", "", "step must divide the range"),
        ("steps = 640", "", "step = { low = -0.5, high = 0, step = 0.00025 }", "step must be a multiple of 0.001"),
        ("steps = 640", "", "step = { low = 0.5, high = 1.0, log = true }", "prices are whole steps"),
        ("steps = 640\nfolder = 3", HELD + SEARCHED, "", "folder must be a text"),
        ("steps = 640\nfolder = 's.toml'", HELD + SEARCHED, "", "The output folder s.toml cannot be written"),
        ("steps = 640", "network = { low = 1, high = 2 }", "", "network must be a text"),
        ("steps = 640", "", "stp = [1.0, 2.0]", "no price 'stp' (did you mean 'step'?)"),
        ("steps = 640", "gamma = 0.9", "", "searches nothing"),
        ("seeds = 2", SEARCHED, "", "has no budget: give it steps or core_hours"),
        ("steps = 1279\nseeds = 2", HELD + SEARCHED, "", "A trial takes 1,280 steps, more than the 1,279 of the sweep"),
        ("step = 640", SEARCHED, "", "unknown key 'step' (did you mean 'steps'?)"),
        ("steps = 640\npreset = 'quick'", SEARCHED, "", "--preset must be left out"),
        ("steps = 640", "", "step = [-0.5, 0.0]", "uses the prices of each trial: take evaluate/return"),
        ("steps = 640\nobjective = 'stats/best_scor'", SEARCHED, "", "No run has the objective 'stats/best_scor'"),
        ("steps = 640\nstorage = 'sqlite:///s.toml'", HELD + SEARCHED, "", "cannot be used as Optuna's storage"),
        ("steps = 640\nstorage = 's.toml'", HELD + SEARCHED, "", "cannot be used as Optuna's storage"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_one_sentence(
    options: str, settings: str, prices: str, fault: str, refused: Callable[..., str]
) -> None:
    write(options, settings, prices)
    assert fault in refused("sweep", "s.toml")


def test_a_message_shows_no_password_of_a_storage(refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no host 'secret@host' or %73ecret")

    monkeypatch.setattr("rlworldkit.sweep.study.open_storage", fail)
    write("steps = 640\nstorage = 'other://me:a@%73ecret@host/x'")
    assert "other://… cannot be used as Optuna's storage (ValueError): " in refused("sweep", "s.toml")


def test_a_study_of_another_sweep_is_left_alone(
    refused: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    write("steps = 640")
    before, text = values(sweep()), Path("s.toml").read_text()
    capsys.readouterr()
    for changed, program, fault in (
        (text.replace("1e-2", "2e-2"), WORLD, "differs in its search space"),
        (text.replace("0.1", "0.2"), WORLD, "differs in its settings"),
        (text, Program((WORLD,), version="2.0"), "differs in its version"),
    ):
        Path("s.toml").write_text(changed)
        assert fault in refused("sweep", "s.toml", program=program)
    Path("s.toml").write_text(text)
    assert values(sweep()) == before


@pytest.mark.long  # about a minute: a dozen processes that import JAX
def test_no_finished_trial_is_lost_to_kill_9(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ORCHARD))
    sizes = "hidden_dim = 8\nnum_layers = 1\nlog_interval = 1\nnum_minibatches = 2\n"
    held = HELD.replace("num_steps = 8", "num_steps = 80")  # so long that episodes end
    write("steps = 2560\nat_once = 1\npruner = 'none'", held + SEARCHED + sizes)
    command = [sys.executable, "-m", "orchard", "sweep", "s.toml"]
    killed = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert killed.stdout is not None
    assert next(line for line in killed.stdout if line.startswith("Trial 0: "))
    while not Path("sweeps/s/trial-1/seed-0").exists():
        time.sleep(0.05)
    killed.kill()
    killed.communicate()
    before = optuna.load_study(study_name="s", storage="sqlite:///sweeps/s/study.db").trials
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    after = optuna.load_study(study_name="s", storage="sqlite:///sweeps/s/study.db").trials
    assert "Goes on with trial-1, which had not ended." in output
    assert after[0] == before[0]
    assert [trial.value is None for trial in after] == [False, True, False, False, False]
    assert after[2].params == before[1].params
