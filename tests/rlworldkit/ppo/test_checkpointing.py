"""Checkpoints: whole or not at all, checked, harmless to read, and exact to go on from."""

import contextlib
import dataclasses
import errno
import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console

from rlparity.errors import UsageError
from rlparity.io.atomic_write import replacing, write_whole
from rlworldkit.ppo.checkpoints import (
    Log,
    LoopState,
    check_fits,
    keeps_games,
    latest_checkpoint,
    named_leaves,
    read_checkpoint,
    restored,
    save_checkpoint,
)
from rlworldkit.ppo.loop import Saver, TrainJob, training_loop
from rlworldkit.ppo.params import checkpoint_path, params_of_checkpoint, params_path
from rlworldkit.ppo.program import CompiledTraining, TrainingLoop
from rlworldkit.ppo.state import RunnerState, init_runner
from rlworldkit.ppo.training import train
from rlworldkit.runs.folder import BEGAN
from rlworldkit.runs.run import Progress, Run

from .conftest import SMALL, run_training
from .orchards import PackedOrchard
from .sealing import payload_of, sealed

DONE = Progress(20, 20 * SMALL.batch_size, 1.5)
ENV = PackedOrchard()
SETTINGS = dataclasses.asdict(SMALL)
ROOT = Path(__file__).resolve().parents[3]
WRITING = """
import sys
from pathlib import Path
import numpy as np
from rlparity.io.atomic_write import replacing, write_whole
from tests.rlworldkit.ppo.sealing import sealed

folder, count = Path(sys.argv[1]), int(sys.argv[2])
while True:
    count += 1
    progress = {"updates": count, "timesteps": count, "seconds": 1.0}
    payload = {"runner": {"x": np.full(2_000_000, count)}, "progress": progress, "config": {}, "rules_version": "1"}
    payload |= {"logged": progress, "metrics": {}, "unlogged": []}
    write_whole(folder / f"checkpoint_{count % 2}.pkl", sealed(payload))
    print(count, flush=True)
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory, trainer: CompiledTraining) -> Path:
    """A checkpoint of a run after 20 updates."""
    (runner,), _ = trainer.train(trainer.runners, jnp.int32(20))
    path = checkpoint_path(tmp_path_factory.mktemp("saved"), 20)
    save_checkpoint(path, LoopState(runner, DONE, Log(DONE)), SETTINGS, ENV)
    return path


@pytest.fixture(scope="module")
def at_27(
    tmp_path_factory: pytest.TempPathFactory, trainer: CompiledTraining
) -> tuple[Path, LoopState, list[Mapping[str, float]]]:
    """A checkpoint between two rows, which are of 20 updates each, of a run to its end, and all rows of the run."""
    folder, rows = tmp_path_factory.mktemp("straight"), list[Mapping[str, float]]()
    uploaded: list[Path] = []
    saver, start = Saver(27), LoopState(trainer.runners[0], Progress(), Log())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "upload", lambda _, path: uploaded.append(path))
        saver.begin(Run(folder), ENV, SETTINGS)
        straight = run_training(trainer.train, start, SMALL, ENV, write=rows.append, saver=saver)
        saver.save(straight)
    assert uploaded == [path(folder, step) for step in (27, 54, 60) for path in (checkpoint_path, params_path)]
    assert sorted(uploaded) == sorted(folder.iterdir())
    return uploaded[0], straight, rows


def same(left: RunnerState, right: RunnerState) -> bool:
    """Equal bit for bit."""
    a, b = named_leaves(left), named_leaves(right)
    return a.keys() == b.keys() and all(
        a[name].dtype == b[name].dtype and a[name].tobytes() == b[name].tobytes() for name in a
    )


def test_reading_gives_back_what_was_written(saved: Path, trainer: CompiledTraining) -> None:
    (runner,), _ = trainer.train(trainer.runners, jnp.int32(20))
    checkpoint = read_checkpoint(saved, ENV)
    assert same(restored(checkpoint, trainer.runners[0]), runner)
    assert (checkpoint.progress, checkpoint.config) == (DONE, SETTINGS)
    params = params_of_checkpoint(saved, ENV.name, ENV.rules_version)
    jax.tree.map(np.testing.assert_array_equal, params, runner.train_state.params)


@pytest.mark.parametrize("change", [{"num_envs": 2 * SMALL.num_envs}, {"curriculum_share": 0.5}])
def test_other_games_begin_anew_from_the_seed_and_the_network_is_kept(
    saved: Path, change: dict[str, Any], trainer: CompiledTraining, orchard: PackedOrchard
) -> None:
    checkpoint = read_checkpoint(saved, ENV)
    older = {name: value for name, value in checkpoint.config.items() if not name.startswith("curriculum")}
    config = dataclasses.replace(SMALL, seed=77, **change)
    fresh = init_runner(config, orchard)
    for settings in (checkpoint.config, older):  # one from before there were curricula is of none
        was = dataclasses.replace(checkpoint, config=settings)
        assert not keeps_games(was, fresh, config)
        assert keeps_games(was, trainer.runners[0], SMALL)
    runner = restored(checkpoint, fresh, with_games=False)
    assert same(runner._replace(train_state=fresh.train_state), fresh)
    leaves = named_leaves(runner)
    network = [name for name in leaves if name.startswith(".train_state")]
    assert all((leaves[name] == checkpoint.runner[name]).all() for name in network)


def test_with_other_games_the_next_row_is_of_these_alone(
    at_27: tuple[Path, LoopState, Any], trainer: CompiledTraining, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, *_ = at_27
    config, console = dataclasses.replace(SMALL, curriculum_share=0.5, total_timesteps=28 * SMALL.batch_size), Console()
    written: list[Mapping[str, float]] = []
    starts: list[LoopState] = []

    def watched(job: TrainJob, first: LoopState, saver: Saver | None) -> TrainingLoop[LoopState]:
        starts.append(first)
        return training_loop(job, first, saver)

    monkeypatch.setattr("rlworldkit.ppo.training.compile_training", lambda *_: trainer)
    monkeypatch.setattr("rlworldkit.ppo.training.training_loop", watched)
    monkeypatch.setattr(Run, "write", lambda _, row: written.append(row))
    with console.capture() as said:
        train(config, ENV, Run(console=console), start=read_checkpoint(path, ENV))
    assert f"{path} holds other games than this run plays: network and optimizer are restored" in said.get()
    assert starts[0].log == Log(starts[0].progress), "updates of the other games are in it"
    assert len(written) == 1
    assert written[0]["reward/step"] == pytest.approx(-0.01), "it is of more steps than one update has"


@pytest.mark.parametrize("change", [{"num_envs": 8}, {"num_steps": 12}, {"num_minibatches": 2}, {"update_epochs": 1}])
def test_a_falling_learning_rate_is_not_counted_in_other_gradient_steps(saved: Path, change: dict[str, Any]) -> None:
    config = dataclasses.replace(SMALL, learning_rate_end=1e-4, **change)
    with pytest.raises(UsageError, match=f"{next(iter(change))} would change: resume"):
        train(config, ENV, start=read_checkpoint(saved, ENV))


def test_other_rules_are_refused(saved: Path, trainer: CompiledTraining, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PackedOrchard, "rules_version", "99")
    with pytest.raises(UsageError, match="under version 1 of the rules, and these are 99: start a new run"):
        check_fits(read_checkpoint(saved, ENV), trainer.runners[0], ENV)


def test_going_on_is_as_if_it_had_never_stopped(
    at_27: tuple[Path, LoopState, list[Mapping[str, float]]], trainer: CompiledTraining
) -> None:
    path, straight, rows = at_27
    checkpoint = read_checkpoint(path, ENV)
    assert (checkpoint.log.at.updates, checkpoint.log.metrics) == (20, rows[0])
    written: list[Mapping[str, float]] = []
    runner = restored(checkpoint, trainer.runners[0])
    start = LoopState(runner, checkpoint.progress, checkpoint.log)
    resumed = run_training(trainer.train, start, SMALL, ENV, write=written.append)
    assert resumed.progress[:2] == straight.progress[:2]
    assert same(resumed.runner, straight.runner)
    assert len(written) == 2
    timings = dict.fromkeys(("seconds", "steps_per_second"))
    for row, whole in zip(written, rows[1:], strict=True):
        assert {**row, **timings} == {**whole, **timings}


@pytest.fixture
def put(saved: Path, tmp_path: Path) -> Callable[..., Path]:
    """Makes a checkpoint of a run in a folder, younger than any before it or as old as is said."""

    def put(folder: str, updates: int, settings: Mapping[str, str] = {}, *, age: int = 0, name: str = "") -> Path:
        payload = payload_of(saved.read_bytes())
        payload["progress"]["updates"] = updates
        payload |= {"logged": payload["progress"], "unlogged": []}
        payload["config"] |= settings
        path = checkpoint_path(tmp_path / folder, updates)
        path = path.with_name(name or path.name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(sealed(payload))
        if settings:
            (path.parent / "config.json").write_text(json.dumps(settings))
        os.utime(path, (1e9 - age, 1e9 - age))
        return path

    return put


EARLIER, LATER = {BEGAN: "2026-01-01T00:00:00.000+00:00"}, {BEGAN: "2026-01-02T00:00"}
MINE = {"run_name": "mine", **EARLIER}


@pytest.mark.parametrize(
    ("folder", "updates", "settings", "others"),
    [
        ("run", 30, {}, [("run", 20), ("run", 9)]),  # the furthest, by what stands in it
        ("it", 10, LATER, [("one", 50, EARLIER)]),  # of the run that began last, however short it is
        ("mine", 10, LATER, [("nothing-says-when", 50)]),
        ("mine", 20, MINE, [("mine-copied", 20, MINE), ("mine-copied", 10, MINE)]),  # and not of its copy
    ],
)
def test_latest_is_the_furthest_of_the_run_that_began_last_however_old_the_file(
    folder: str, updates: int, settings: dict[str, str], others: list[Any], put: Callable[..., Path], tmp_path: Path
) -> None:
    wanted = put(folder, updates, settings, age=1000, name="checkpoint_1.pkl")
    for other in others:
        put(*other)
        checkpoint, faults = latest_checkpoint(tmp_path, ENV)
        assert (checkpoint.path, checkpoint.progress.updates, faults) == (wanted, updates, [])


def test_damaged_ones_and_what_is_no_file_are_passed_over(put: Callable[..., Path], tmp_path: Path) -> None:
    good = put("a", 30, age=1)
    put("b", 20, age=2)
    put("b", 40).write_bytes(b"damaged")
    (tmp_path / "b" / "checkpoint_50.pkl.part").write_bytes(b"half")
    put("c", 60, LATER).write_bytes(b"damaged")  # the run that began last has no good one
    (tmp_path / "a" / "checkpoint_70.pkl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "a" / "checkpoint_71.pkl")
    (tmp_path / "a" / "checkpoint_72.pkl").mkdir()
    found, faults = latest_checkpoint(tmp_path, ENV)
    assert found.path == good
    assert sorted(re.findall(r"checkpoint_\d+\.pkl", " ".join(map(str, faults)))) == [
        f"checkpoint_{updates}.pkl" for updates in (40, 60, 70, 71, 72)
    ]


def test_a_full_disk_leaves_the_old_file_and_no_rubbish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr("rlparity.io.atomic_write.os.fsync", Mock(side_effect=OSError("No space left")))
    with pytest.raises(OSError, match="No space left"), replacing(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("refusal", "is_fatal"), [(errno.EINVAL, False), (errno.ENOTSUP, False), (errno.EIO, True)])
def test_a_file_system_need_not_force_folders_to_the_disk_but_must_not_fail_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int, is_fatal: bool
) -> None:
    synced: list[bool] = []

    def fsync(number: int) -> None:
        synced.append(stat.S_ISDIR(os.fstat(number).st_mode))
        if synced[-1]:
            raise OSError(refusal, os.strerror(refusal))

    monkeypatch.setattr("rlparity.io.atomic_write.os.fsync", fsync)
    with pytest.raises(OSError, match="Input/output error") if is_fatal else contextlib.nullcontext():
        write_whole(tmp_path / "file", b"new")
    assert synced == [False, True]
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_process_killed_at_any_moment_leaves_a_good_checkpoint(tmp_path: Path) -> None:
    rng, last = random.Random(1), 0
    for _ in range(3):
        words = [sys.executable, "-c", WRITING, str(tmp_path), str(last)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert process.stdout is not None
        last = int(process.stdout.readline())
        time.sleep(0.1 * rng.random())
        process.send_signal(signal.SIGKILL)
        counted = [int(line) for line in process.communicate()[0].split()]
        checkpoint, faults = latest_checkpoint(tmp_path, ENV)
        assert not faults, "a file with a final name is whole"
        last = max([last, *counted])
        assert checkpoint.progress.updates >= last


def at(trainer: CompiledTraining, updates: int) -> LoopState:
    """A run after that many updates."""
    return LoopState(trainer.runners[0], Progress(updates), Log())


def test_by_time(tmp_path: Path, trainer: CompiledTraining, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("rlworldkit.ppo.loop.time.monotonic", lambda: now)
    saver = Saver(every_minutes=10)
    saver.begin(Run(tmp_path), ENV, SETTINGS)
    for minutes, updates, files in ((9, 1, 0), (10, 2, 2), (19, 3, 2), (20, 4, 4)):
        now = 1000.0 + 60 * minutes
        saver.after(at(trainer, updates))
        assert len(list(tmp_path.iterdir())) == files
