"""A run as its user meets it: files, flags, stops, resumes, and what happens when something goes wrong."""

import errno
import json
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import psutil
import pytest
import torch
from command_line import run
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from goodharts.config import Config
from goodharts.models import read_model
from goodharts.training.jobs import Job, read_checkpoint, write_checkpoint
from goodharts.training.ppo import Losses, losses
from goodharts.training.runs import reserved, train_job
from goodharts.training.torch_ppo import TorchTrainer, UpdateResult
from goodharts.training.train_ppo import main
from rlparity.errors import INTERRUPTED_EXIT_CODE
from rlworldkit.runs.live_page import LivePage
from rlworldkit.runs.sinks import read_csv
from rlworldkit.runs.stop import StopRequest
from tests.rlworldkit.runs.test_stop import NATIVE, call

from .small_runs import small_config, small_trainer, write_small_config

FULL = "needs more memory than there is: give fewer --num-envs."
MODEL, CHECKPOINT = Path("models/ppo_ground_truth.pth"), Path("models/ppo_ground_truth.checkpoint.pth")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory of its own, with a configuration that trains small and no time for learning curves."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rlworldkit.runs.curve.draw_curve", lambda *_: None)
    write_small_config(tmp_path)
    return tmp_path


def only(pattern: str) -> Path:
    (path,) = Path().glob(pattern)
    return path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """What opens the dashboard: a page that records its calls, and whose ``write`` a test may act on."""
    opened = Mock()
    opened.return_value.url = "http://127.0.0.1/secret/"
    opened.return_value.opened = partial(LivePage.opened, opened.return_value)
    monkeypatch.setattr("goodharts.training.train_ppo.LivePage", opened)
    return opened


def request_stop(opened: Mock) -> None:
    """Press the dashboard's button."""
    _, _, stop = opened.call_args.args
    stop.requested = True


def test_a_run_leaves_the_documented_files() -> None:
    ran = run(main, "--mode", "ground_truth", "--updates", "3")
    assert "256 of 384 steps  steps/s " in ran.out
    assert "ground_truth: trained after update 3, 384 steps (" in ran.out
    model = read_model(MODEL)
    assert (model.mode, model.update, model.timesteps, model.policy.config.hidden) == ("ground_truth", 3, 384, 16)
    updates = read_csv(only("logs/ground_truth_*_updates.csv"))
    assert [row["update"] for row in updates] == [1, 2, 3]
    episodes = read_csv(only("logs/ground_truth_*_episodes.csv"))
    assert len(episodes) == sum(row["train/num_episodes"] for row in updates) > 0
    assert set(episodes[0]) == {"update", "timesteps", "game", "length", "reward", "food", "poison", "terminated"}
    summary = json.loads(only("logs/ground_truth_*_summary.json").read_text(encoding="utf-8"))
    assert (summary["outcome"], summary["update"], summary["timesteps"]) == ("finished", 3, 384)
    assert summary["hyperparameters"] == model.config == small_config(updates=3).plain()
    assert summary["last_update"]["update"] == 3
    board = EventAccumulator(str(only("runs/ground_truth_*/tensorboard")))
    board.Reload()
    entropies = [(event.step, event.value) for event in board.Scalars("train/entropy")]
    assert entropies == [(row["update"], pytest.approx(row["train/entropy"])) for row in updates]


def test_a_resumed_run_is_the_run_without_a_break_bit_for_bit() -> None:
    mode, config = "ground_truth_handhold", small_config(seed=7, minibatches=4)
    whole = TorchTrainer(mode, config)
    wanted = [whole.step() for _ in range(4)]

    done: list[int] = []
    stop = StopRequest()

    def report(row: Mapping[str, Any]) -> None:
        done.append(row["update"])
        stop.requested = len(done) == 2

    with reserved([mode]):
        how = train_job(Job(mode, config, "halves"), report=report, stop=stop)
    assert (how and how.outcome, done) == ("stopped", [1, 2])
    assert main(["--mode", mode, "--resume"]) == 0

    again = TorchTrainer(mode, config)
    again.restore(read_checkpoint(Path(f"models/ppo_{mode}.checkpoint.pth")))
    assert again.progress[:2] == (4, 512)
    found, arrays = again.arrays(), whole.arrays()
    assert set(found) == set(arrays)
    assert all(np.array_equal(found[name], array) for name, array in arrays.items())
    updates, episodes = read_csv(Path("logs/halves_updates.csv")), read_csv(Path("logs/halves_episodes.csv"))
    assert [row["train/pg_loss"] for row in updates] == [each.metrics["train/pg_loss"] for each in wanted]
    assert [row["reward"] for row in episodes] == [row[3] for each in wanted for row in each.episodes]


def test_a_run_that_goes_back_repeats_later_updates_once_and_keeps_the_agent_and_the_logs_that_it_had() -> None:
    main(["--updates", "2"])
    log, first = only("logs/*_updates.csv"), CHECKPOINT.read_bytes()
    begin = log.read_text().splitlines()
    main(["--resume", "--updates", "4"])
    logged, agent = log.read_bytes(), MODEL.read_bytes()
    assert not list(Path("models").glob("abandoned-*"))
    CHECKPOINT.write_bytes(first)  # as if killed before the second one
    ran = run(main, "--resume", "--updates", "3")
    assert "later updates than 2 are in models/abandoned-1." in ran.out
    assert (Path("models/abandoned-1") / log.name).read_bytes() == logged
    assert Path("models/abandoned-1/ppo_ground_truth.pth").read_bytes() == agent
    assert [row["update"] for row in read_csv(log)] == [1, 2, 3]
    assert log.read_text().splitlines()[:3] == begin


def test_updates_and_timesteps_are_never_more_than_asked_for() -> None:
    assert main(["--timesteps", "255"]) == 0  # an update has 128
    assert read_model(MODEL).timesteps == 128
    error = run(main, "--timesteps", "127").refusal()
    assert error == "--total-timesteps must cover at least one update of 8 x 16 = 128 steps, got 127.\n"
    error = f"{CHECKPOINT} is complete with 1 updates: raise --updates.\n"
    assert run(main, "--resume").err == error
    assert main(["--resume", "--timesteps", "300"]) == 0
    assert read_model(MODEL).update == 2
    assert run(main, "--resume", "--timesteps", "383").code == 2


def test_of_several_modes_those_that_are_done_are_left_alone() -> None:
    main(["--mode", "proxy", "--updates", "2"])
    main(["--mode", "ground_truth", "--updates", "1"])
    ran = run(main, "--mode", "proxy,ground_truth", "--resume", "--updates", "2")
    assert "models/ppo_proxy.checkpoint.pth is complete with 2 updates: raise --updates." in ran.out
    assert "ground_truth: trained after update 2" in ran.out
    assert "proxy: trained" not in ran.out


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--mode", "greed"], "argument -m/--mode: it must be all, or one or more of ground_truth,"),
        (["--mode", ""], "argument -m/--mode: it must be all, or"),
        (["-u", "1", "-t", "1"], "argument -t/--total-timesteps/--timesteps: not allowed with argument -u/--updates"),
        (["-e", "0"], "argument -e/--num-envs/--n-envs: it must be a whole number from 1 to"),
        (["--compile-mode", "fast"], "argument --compile-mode: it must be reduce-overhead or max-autotune"),
        (["--device", "cuda:99"], "There is no device cuda:99 here: choose one of cpu"),
        (["--resume"], "there is no checkpoint models/ppo_ground_truth.checkpoint.pth: leave --resume out"),
        (["--resume", "-e", "4"], "--num-envs does not go with --resume: a run keeps its settings."),
        (["--resume", "-b"], "--benchmark does not go with --resume"),
        (["--seeds", "2", "-b"], "--seeds does not go with --benchmark, --dashboard and torchrun"),
        (["--resume", "--price", "food=2"], "--price and --prices do not go with --resume: a run keeps its prices."),
        (["--price", "fruit=2"], "world 'goodharts-ground_truth' has no price 'fruit': its prices are step, food,"),
        (["--engine", "jax", "--device", "cuda"], "JAX has no device cuda here: there is "),
        (["--engine", "jax", "--compile-mode", "reduce-overhead"], "--compile-mode is torch's: leave it out"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(flags: list[str], sentence: str, folder: Path) -> None:
    assert sentence in run(main, *flags).refusal()
    assert "--resume" in flags or [path.name for path in folder.iterdir()] == ["config.toml"]


def test_a_damaged_checkpoint_is_one_sentence() -> None:
    main(["--updates", "1"])
    whole = read_checkpoint(CHECKPOINT)

    def refused(**changes: Any) -> str:  # noqa: ANN401 - arrays by name
        names = {name.replace("__", "."): array for name, array in changes.items()}
        write_checkpoint(replace(whole, arrays={**whole.arrays, **names}))
        return run(main, "--resume", "--updates", "2").refusal()

    games = {name.replace(".", "__"): array for name, array in whole.arrays.items() if name.startswith(".games")}
    assert "it holds 4 games, not 8" in refused(**{name: array[:4] for name, array in games.items()})
    assert "is damaged (StateRefused)" in refused(__games__x=whole.arrays[".games.x"] + 128)
    assert "is damaged (RuntimeError)" in refused(__noise__cpu=np.zeros(3, np.uint8))
    assert "the scale of its values is not above 0" in refused(__train_state__value_scale__deviation=np.zeros(()))
    assert "is of shape (9,), not (8,)" in refused(__train_state__params__policy__bias=np.zeros(9, np.float32))
    assert "its optimizer is that of another network" in refused(__train_state__opt_state__0__exp_avg=np.zeros(1))
    write_checkpoint(replace(whole, arrays={".games.x": whole.arrays[".games.x"]}))
    assert "cannot be used: its weights are those of another network" in run(main, "--resume", "-u", "2").refusal()
    write_checkpoint(replace(whole, name="../../etc/passwd"))
    assert "which no log can have" in run(main, "--resume").refusal()


def test_two_trainers_of_one_mode_are_refused() -> None:
    with reserved(["ground_truth"]):
        error = "Another process is training models/ppo_ground_truth.pth: let it end first, or train in another folder."
        assert run(main, "--updates", "1").refusal() == f"{error}\n"
        assert main(["--mode", "proxy", "--updates", "1"]) == 0


def test_a_full_disk_is_told_once_and_training_goes_on(opened: Mock, monkeypatch: pytest.MonkeyPatch) -> None:
    is_full = True

    def failing(start: Job) -> None:
        if is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_checkpoint(start)

    def make_room(row: Mapping[str, Any], run: str) -> None:
        nonlocal is_full
        is_full = row["update"] < until

    monkeypatch.setattr("goodharts.training.torch_ppo.write_checkpoint", failing)
    monkeypatch.setattr("goodharts.training.torch_ppo._RETRY_SECONDS", 0.0)
    monkeypatch.setenv("GOODHARTS_RUNTIME_CHECKPOINT_MINUTES", "0.000001")
    opened.return_value.write.side_effect = make_room
    until = 3
    ran = run(main, "--updates", "4", "--dashboard")
    notice = "models/ppo_ground_truth.checkpoint.pth could not be written (No space left on device). Training goes on."
    assert (ran.code, ran.out.count(notice)) == (0, 1)
    assert read_checkpoint(CHECKPOINT).progress.updates == 4
    until = 10
    ran = run(main, "--updates", "4", "--dashboard")
    assert (ran.code, ran.out.count(notice)) == (1, 1)
    assert "Not complete, because they could not be written: models/ppo_ground_truth.checkpoint.pth (" in ran.out


ONE_OF_SEVERAL = """
from multiprocessing import Pipe
from goodharts.config import Config
from goodharts.training.jobs import Job

ours, theirs = Pipe()
ours.send(Job("proxy", Config(), "one"))
os.environ["RLWORLDKIT_RUN_PIPE"] = str(theirs.fileno())
"""
MAKING = """
setattr(import_module("goodharts.training.torch_ppo"), "TorchTrainer", native)
import_module("goodharts.cli.main").main(["train"])
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("started", "said"),
    [("", ["Stopped before the first update was complete; there is nothing to keep."]), (ONE_OF_SEVERAL, [])],
    ids=["alone", "one of several"],
)
def test_a_trainer_that_is_still_being_made_ends_at_once(started: str, said: list[str], tmp_path: Path) -> None:
    out, code = call(NATIVE.format(number=signal.SIGTERM.value) + started + MAKING, folder=tmp_path)
    assert (out[-1:], code) == (said, INTERRUPTED_EXIT_CODE)


def test_a_signal_saves_and_says_how_to_go_on(opened: Mock) -> None:
    opened.return_value.write.side_effect = lambda row, run: os.kill(os.getpid(), signal.SIGINT)
    ran = run(main, "--updates", "1000", "--dashboard")
    assert "Stopping after this update; a second Ctrl-C ends it at once." in ran.out
    assert "ground_truth: stopped after update 1, 128 steps (" in ran.out
    assert "\nResume: goodharts train --mode ground_truth --resume\n" in ran.out
    assert read_checkpoint(CHECKPOINT).progress.updates == 1
    assert json.loads(only("logs/*_summary.json").read_text(encoding="utf-8"))["outcome"] == "stopped"


def test_a_stop_ends_several_modes_at_once_that_have_nothing_to_keep(opened: Mock) -> None:
    opened.return_value.start.side_effect = lambda: request_stop(opened)
    ran = run(main, "--mode", "ground_truth,proxy", "--updates", "1000", "--dashboard")
    assert ran.code == INTERRUPTED_EXIT_CODE
    for mode in ("ground_truth", "proxy"):
        assert f"{mode}: stopped before the first update was complete; nothing to keep." in ran.out
        assert not Path(f"models/ppo_{mode}.pth").exists()


@pytest.mark.long
@pytest.mark.usefixtures("shadowing_files")
def test_several_seeds_are_trained_and_resumed_as_each_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seeds = ("--mode", "proxy", "--seed", "7", "--seeds", "2")
    assert run(main, *seeds, "--updates", "1").code == 0
    assert (tmp_path / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    ran = run(main, *seeds, "--updates", "2", "--resume")
    assert ran.code == 0
    models = "seed-7/models/ppo_proxy.pth,seed-8/models/ppo_proxy.pth"
    assert f"Compare: goodharts compare --group=proxy={models}" in ran.out
    for seed in ("7", "8"):
        (tmp_path / f"alone-{seed}").mkdir()
        monkeypatch.chdir(tmp_path / f"alone-{seed}")
        write_small_config(Path())
        assert run(main, "--mode", "proxy", "--seed", seed, "--updates", "2").code == 0
        alone, beside = (
            read_model(folder / "models" / "ppo_proxy.pth") for folder in (Path(), tmp_path / f"seed-{seed}")
        )
        torch.testing.assert_close(beside.policy.state_dict(), alone.policy.state_dict(), rtol=0, atol=0)
        assert (alone.update, beside.update) == (2, 2)


def test_runs_of_seeds_are_resumed_where_they_are() -> None:
    seeds = ("--mode", "proxy", "--seed", "7", "--seeds")
    assert "there is no checkpoint seed-7" in run(main, *seeds, "2", "--resume").err
    assert run(main, *seeds, "1", "--updates", "1", "--n-envs", "3").code == 0
    assert "there is no checkpoint seed-8" in run(main, *seeds, "2", "--resume", "--updates", "2").refusal()
    ran = run(main, *seeds, "1", "--resume", "--updates", "2")
    assert (ran.code, "proxy seed-7: trained after update 2" in ran.out) == (0, True)
    settings = read_model(Path("seed-7/models/ppo_proxy.pth")).config["training"]
    assert (settings["seed"], settings["n_envs"], settings["updates"]) == (7, 3, 2)


def test_a_mode_that_had_not_begun_gets_the_settings_of_those_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "goodharts.training.train_ppo.train_many", lambda jobs, *_, **__: [None] * len(jobs)
    )  # all are killed
    modes = ("--mode", "proxy,ground_truth")
    run(main, *modes, "--updates", "1", "--n-envs", "3", "--seed", "7")
    assert run(main, "--mode", "proxy", "--resume").code == 0
    config = read_model(Path("models/ppo_proxy.pth")).config["training"]
    assert (config["seed"], config["n_envs"], config["updates"]) == (7, 3, 1)


def test_the_dashboard_is_told_everything_and_its_stop_saves(opened: Mock) -> None:
    page = opened.return_value
    page.write.side_effect = lambda row, run: request_stop(opened) if row["update"] == 2 else None
    ran = run(main, "--updates", "1000", "--dashboard")
    assert opened.call_args.args[1] == {"ground_truth": 128_000}
    assert [call[0] for call in page.method_calls] == ["start", "write", "write", "close"]
    assert [call.args[0]["update"] for call in page.write.call_args_list] == [1, 2]
    assert "ground_truth: stopped after update 2" in ran.out
    assert "Dashboard: http://127.0.0.1/secret/" in ran.out
    assert read_model(MODEL).update == 2


@pytest.mark.long
def test_of_several_modes_one_that_dies_leaves_the_others_alone_and_a_stop_saves_them(opened: Mock) -> None:
    page, died = opened.return_value, "ground_truth: ended by signal 9"

    def kill_one_and_stop_the_other(row: Mapping[str, Any], run: str) -> None:
        if run == "ground_truth":
            workers = [each for each in psutil.Process().children() if "goodharts.cli.main" in each.cmdline()]
            if len(workers) == 2:
                workers[0].kill()
        elif page.finish.called:
            request_stop(opened)

    page.write.side_effect = kill_one_and_stop_the_other
    ran = run(main, "--mode", "ground_truth,proxy", "--updates", "100000", "--dashboard")
    assert ran.code == 1
    first, second = (call.args for call in page.finish.call_args_list)
    assert (first, second[:2]) == (("ground_truth", "failed", died), ("proxy", "stopped"))
    assert died in ran.out
    assert "proxy: stopped after " in ran.out
    row, name = page.write.call_args.args
    assert (name, read_model(Path("models/ppo_proxy.pth")).update) == ("proxy", row["update"])
    assert not MODEL.exists()


def test_a_benchmark_measures_all_its_updates_once_it_is_warm_and_saves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    speeds = iter([1.0, 20.0, 64.0, 64.0, 64.0])
    step = TorchTrainer.step

    def timed(trainer: TorchTrainer) -> UpdateResult:
        updated = step(trainer)
        return updated._replace(metrics={**updated.metrics, "steps_per_second": next(speeds)})

    monkeypatch.setattr(TorchTrainer, "step", timed)
    assert "64 steps/s with the mlp on cpu over 3 updates." in run(main, "--benchmark", "--updates", "3").out
    assert sorted(path.name for path in Path().iterdir()) == ["config.toml"]


def test_a_run_that_diverges_is_one_sentence_and_keeps_its_last_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> Losses:  # noqa: ANN401 - those of `losses`
        found = losses(*arguments)
        return found._replace(policy_loss=found.policy_loss * torch.nan)

    main(["--updates", "1"])
    monkeypatch.setattr("goodharts.training.ppo.losses", broken)
    error = "Training ground_truth diverged in update 2: the loss is no longer a number; start again with a lower "
    assert run(main, "--updates", "4", "--resume").refusal(1) == f"{error}learning_rate.\n"
    assert read_checkpoint(CHECKPOINT).progress.updates == 1


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (lambda: import_module("torch._dynamo.exc").TorchDynamoException("no g++"), "torch.compile failed ("),
        (lambda: torch.OutOfMemoryError("CUDA out of memory."), f"goodharts train {FULL}"),
        (MemoryError, f"goodharts train {FULL}"),
    ],
    ids=["no compiler", "a GPU's memory", "the memory"],
)
def test_what_the_machine_cannot_do_is_one_sentence(
    error: Callable[[], Exception], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error()

    monkeypatch.setattr("torch.compile", lambda policy, mode: fail)
    assert run(main, "--updates", "1", "--compile-mode", "max-autotune").refusal().startswith(sentence)


def test_settings_and_prices_of_the_beginning_stay_when_a_run_goes_on(folder: Path) -> None:
    (folder / "prices.toml").write_text("step = -0.125\npoison = 7", encoding="utf-8")
    assert run(main, "-m", "proxy", "-u", "1", "--prices", "prices.toml", "--price", "poison=0").code == 0
    (folder / "config.toml").write_text("[training]\ngamma = 0.5\n[runtime]\namp = false", encoding="utf-8")
    assert run(main, "-m", "proxy", "-u", "2", "--resume").code == 0
    episodes = read_csv(only("logs/proxy_*_episodes.csv"))
    assert episodes
    for row in episodes:
        assert row["reward"] == row["food"] - 0.125 * row["length"]
    prices = {"step": -0.125, "poison": 0.0}
    kept = read_model(Path("models/ppo_proxy.pth")).config
    assert (kept["training"], kept["prices"]) == (small_config(updates=2).plain()["training"], prices)
    assert kept["runtime"] == {**Config().plain()["runtime"], "amp": False}
    assert json.loads(only("runs/proxy_*/config.json").read_text(encoding="utf-8"))["prices"] == prices


def test_a_checkpoint_goes_on_with_another_stream_on_another_device() -> None:
    trainer = small_trainer()
    trainer.step()
    arrays = trainer.arrays()
    arrays[".noise.cuda"] = arrays.pop(".noise.cpu")[:16]
    again = small_trainer()
    again.restore(Job("ground_truth", trainer.config, "a", progress=trainer.progress, arrays=arrays))
    assert again.step().metrics["update"] == 2
