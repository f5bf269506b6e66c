"""Several runs with one command: from several seeds, and with other prices of the reward."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from unittest.mock import Mock

import jax
import numpy as np
import pytest
from orchard import WORLD

from rlparity.errors import INTERRUPTED_EXIT_CODE
from rlworldkit.cli.app import main
from rlworldkit.cli.group_plan import Group
from rlworldkit.evaluation.comparison import ScoredRun, compared
from rlworldkit.ppo.params import load_params
from rlworldkit.program import Program
from rlworldkit.runs.live_page import LivePage
from rlworldkit.runs.pool import Parent, RunTask, train_many
from rlworldkit.runs.sinks import Metrics
from tests.rlworldkit.runs.conftest import SIZES, SMALL

ORCHARD = Path(__file__).resolve().parents[3] / "parity/rlparity/templates"
FLAGS = ["--no-wandb", *SIZES, f"--total-timesteps={2 * SMALL.batch_size}"]
TRAINER = """
import os, signal, sys
from rlworldkit.runs.pool import parent_process

parent, what = parent_process(), sys.argv[1]
print("a first line", flush=True)
if what == "fails":
    sys.exit("The loss is no longer a number.")
if what == "dies":
    os.kill(os.getpid(), signal.SIGKILL)
if what == "waits":
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    parent.report({"timesteps": 64})
    signal.pause()
parent.report({"timesteps": 64})
parent.report({"timesteps": 128})
parent.print_line("a last line")
parent.finish(parent.job)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [str(ORCHARD), str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    (tmp_path / "trainer.py").write_text(TRAINER)


def trained(*what: str, at_once: int = 2, stop_after: int = 10**9) -> tuple[list[object], list[tuple[str, object]]]:
    """The results of runs of ``trainer.py``, and what was shown; they are asked to stop after so many rows."""
    shown: list[tuple[str, object]] = []
    results = train_many(
        [RunTask(each, Path(each), ["trainer", each], job=f"the job of {each}") for each in what],
        at_once,
        report=lambda row, name: shown.append((name, row["timesteps"])),
        print_line=lambda line: shown.append(("", line)),
        should_stop=lambda: len(shown) >= stop_after,
    )
    return results, shown


@pytest.mark.usefixtures("shadowing_files")
def test_a_run_that_fails_or_dies_leaves_the_others_alone() -> None:
    (failed, died, result), shown = trained("fails", "dies", "ends")
    assert shown == [("ends", 64), ("ends", 128), ("", "ends: a last line")]
    assert (str(failed), str(died)) == ("The loss is no longer a number.", "ended by signal 9")
    assert result == "the job of ends"
    assert Path("fails/train.log").read_text() == "a first line\nThe loss is no longer a number.\n"


def test_stopping_ends_the_runs_that_have_begun_and_begins_no_other() -> None:
    assert trained("waits", "ends", at_once=1, stop_after=1) == ([None, None], [("waits", 64)])
    assert not Path("ends").exists()


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked up in /proc")
def test_runs_end_when_the_process_that_started_them_is_killed() -> None:
    Path("parent.py").write_text(
        "from pathlib import Path\nfrom rlworldkit.runs.pool import RunTask, train_many\n"
        "run = RunTask('waits', Path('waits'), ['trainer', 'waits'])\n"
        "train_many([run], 1, report=lambda row, name: print(flush=True))\n"
    )
    with subprocess.Popen([sys.executable, "parent.py"], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()  # the run has begun
        (child,) = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        parent.send_signal(signal.SIGKILL)
    until = time.monotonic() + 60
    while Path("/proc", child).exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not Path("/proc", child).exists()


def train_here(
    tasks: Sequence[RunTask], at_once: int, *, report: Callable[[Metrics, str], None], **options: object
) -> list[object]:
    """Train like ``train_many``, but in this process, where the program is compiled."""
    results = []
    for name, _, (_, *words), _ in tasks:
        parent = Mock(Parent, report=lambda row, name=name: report(row, name))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rlworldkit.cli.train.parent_process", lambda parent=parent: parent)
            assert main(WORLD, words) == 0
        results.append(parent.finish.call_args.args[0])
    return results


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two variants, trained from one seed."""
    folder = tmp_path_factory.mktemp("runs")
    variants = ["--seed=3", "--seeds=1", "--variant", "cheap=step=-0.5", "--variant", "own"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rlworldkit.cli.seeds.train_many", train_here)
        assert main(WORLD, ["train", *FLAGS, *variants, "--run-name=group", f"--checkpoint-dir={folder}"]) == 0
    return folder / "group"


def test_each_run_has_its_folder_and_the_group_a_picture(group: Path) -> None:
    folders = {str(path.parent.relative_to(group)) for path in group.rglob("params_2.npz")}
    assert folders == {"cheap/seed-3", "own/seed-3"}
    assert (group / "learning_curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_a_run_is_bit_for_bit_that_of_its_seed_alone() -> None:
    """In processes of their own: in this one JAX may have begun with other settings of its compiler."""
    train = [sys.executable, "-m", "orchard", "train", *FLAGS, "--seed=3"]
    subprocess.run([*train, "--price=step=-0.5", "--run-name=alone"], check=True)
    subprocess.run([*train, "--seeds=1", "--variant=cheap=step=-0.5", "--run-name=group"], check=True)
    alone, beside = (load_params(Path("checkpoints", name, "params_2.npz")) for name in ("alone", "group/cheap/seed-3"))
    jax.tree.map(np.testing.assert_array_equal, alone, beside)


def test_runs_that_are_there_are_not_overwritten(group: Path, refused: Callable[..., str]) -> None:
    again = ["--seed=3", "--seeds=1", "--variant=own", "--run-name=group", f"--checkpoint-dir={group.parent}"]
    assert f"{group} already holds runs" in refused("train", *FLAGS, *again)


def test_runs_of_a_group_go_on_where_there_is_an_agent_and_begin_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "seed-3").mkdir()
    (tmp_path / "seed-3" / "checkpoint_2.pkl").touch()
    begun, new = Group(3, 2, [], ["--lr=1e-3"]).tasks("m", tmp_path, is_resumed=True)[""]
    there = f"--checkpoint-dir {tmp_path}"
    assert " ".join(begun.words) == f"m train --lr=1e-3 --resume latest {there}/seed-3"
    assert " ".join(new.words) == f"m train --lr=1e-3 --seed 4 --run-name seed-4 {there}"


def test_a_group_with_a_failed_run_says_how_it_goes_on(group: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metrics = Path("checkpoints/group/seed-0/metrics.csv")
    metrics.parent.mkdir(parents=True)
    metrics.write_text("update,timesteps,train/mean_episode_return\n1,64,0.5\n")
    words = [f"--init-from={group / 'own' / 'seed-3' / 'params_2.npz'}", "--seeds=1", "--run-name=group"]
    assert main(Program((WORLD,), module="nowhere"), ["train", *FLAGS, *words]) == 1
    shown = capsys.readouterr().out
    assert "No module named nowhere" in shown
    assert "--resume latest --checkpoint-dir=checkpoints/group" in shown
    assert "Compare" not in shown, "there is no agent"
    resume = shown.rpartition("Resume: ")[2].partition(" train ")[2]
    assert main(Program((WORLD,), module="nowhere"), ["train", *shlex.split(resume)]) == 1
    assert "No module named nowhere" in capsys.readouterr().out


def resumed_words(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[list[str]]:
    """The words of the runs that ``train`` starts to go on with a group, in which nothing else happens."""
    started: list[list[str]] = []

    def only_listed(tasks: list[RunTask], *_: object, **__: object) -> list[None]:
        started.extend([*task.words] for task in tasks)
        return [None] * len(tasks)

    monkeypatch.setattr("rlworldkit.cli.seeds.train_many", only_listed)
    assert main(WORLD, ["train", *words]) == INTERRUPTED_EXIT_CODE
    return started


@pytest.mark.parametrize("variants", [[], ["--variant=cheap=step:-0.5", "--variant=own"]])
def test_a_group_that_was_killed_before_a_run_had_begun_goes_on_with_all_of_them(
    variants: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = resumed_words(monkeypatch, *FLAGS, *variants, "--seed=3", "--seeds=3", "--run-name=g", "--lr=1e-3")
    for seed in (4, 5):  # the first was killed while it compiled
        folder = Path(f"checkpoints/g/{'own/' if variants else ''}seed-{seed}")
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({"seed": seed}))
    assert [words[words.index("--seed") + 1] for words in begun] == ["3", "4", "5"] * (len(variants) or 1)
    there = "--resume=latest", "--checkpoint-dir=checkpoints/g"
    assert resumed_words(monkeypatch, *there, "--seeds=3") == begun
    more = resumed_words(monkeypatch, *there, "--seeds=4", "--gamma=0.9", *variants)
    assert len(more) == 4 * (len(variants) or 1)
    assert all("--lr=1e-3" in words and "--gamma=0.9" in words for words in more)
    assert resumed_words(monkeypatch, *there, "--seeds=4") == more


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--seeds=1"], "are from 2 seeds, not 1: leave --seeds out"),
        (["--seeds=2", "--seed=0"], "are from seed 3, not 0: leave --seed out"),
        (["--variant=own"], "are of no variant: leave --variant out"),
    ],
)
def test_a_group_is_not_resumed_as_another(words: list[str], fault: str, refused: Callable[..., str]) -> None:
    Group(3, 2, [], FLAGS).write(Path("group.json"))
    assert fault in refused("train", "--resume=latest", "--checkpoint-dir=.", *words)


@pytest.mark.long
def test_a_group_is_resumed_run_by_run(group: Path, tmp_path: Path) -> None:
    shutil.copytree(group, tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "cheap")  # it had not begun
    resumed = ["--seed=3", "--seeds=1", "--variant=cheap=step=-0.5", "--resume=latest"]
    assert main(WORLD, ["train", *FLAGS, *resumed, f"--checkpoint-dir={tmp_path / 'copy'}"]) == 0
    one, other = (
        load_params(each / "cheap" / "seed-3" / "params_2.npz")["params"] for each in (group, tmp_path / "copy")
    )
    assert all(np.array_equal(one[layer]["kernel"], other[layer]["kernel"]) for layer in one)


def test_groups_are_compared_also_run_by_run_of_one_seed(group: Path, capsys: pytest.CaptureFixture[str]) -> None:
    groups = [f"--group=cheap={group / 'cheap'}", f"--group=own={group / 'own'}"]
    files = ["--json=c.json", "--picture=c.png", "--markdown=-"]
    assert main(WORLD, ["compare", *groups, *files, "--episodes=20", "--max-steps=30", "--num-envs=20"]) == 0
    shown = capsys.readouterr().out
    assert "| cheap over own |" in shown
    assert "[–, –" in shown.replace("\\", ""), "one run has no interval"
    assert not any(word in shown for word in ("inf", "nan"))
    found = json.loads(Path("c.json").read_text())
    assert [run["seed"] for run in found["groups"]["own"]["runs"]] == [3]
    assert found["pairs"][0]["paired_seeds"] == [3]
    difference = found["groups"]["cheap"]["iqm"]["mean"] - found["groups"]["own"]["iqm"]["mean"]
    assert found["pairs"][0]["paired_difference"]["mean"] == pytest.approx(difference)
    assert Path("c.png").read_bytes().startswith(b"\x89PNG")


def test_several_runs_of_one_seed_are_paired_by_their_mean() -> None:
    one, other = [ScoredRun("a", 0, 1.0), ScoredRun("b", 0, 3.0)], [ScoredRun("c", 0, 0.5), ScoredRun("d", None, 9.0)]
    (pair,) = compared({"one": one, "other": other})["pairs"]
    assert pair["paired_seeds"] == [0]
    assert pair["paired_difference"]["mean"] == 1.5


def test_two_outputs_do_not_mix(refused: Callable[..., str]) -> None:
    assert "name a file for one" in refused("compare", "--group=a=random", "--json=-", "--markdown=-")


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--variant", "a=nope:1"], "no price 'nope'"),
        (["--variant", "a="], "NAME=PRICE=VALUE"),
        (["--variant", ".."], "NAME=PRICE=VALUE"),
        (["--variant", "own", "--variant", "own"], "each variant"),
        (["--seeds", "0"], "from 1 to 10,000"),
        (["--seeds", "2", "--resume", "a.pkl"], "--resume latest"),
        (["--seeds", "2", "--run-suffix", "a"], "--run-suffix does not go with --seeds"),
        (["--seeds", "2", "--seed", str(2**64 - 1)], "the last seed"),
        (
            ["--seeds", "2", "--resume", "latest"],
            "there is no group of runs checkpoints/group.json",
        ),
        (["--seeds", "2", "--checkpoint-dir", "trainer.py"], "choose another --checkpoint-dir"),
        (["--seeds", "2", "--init-from", "nothing.npz"], "there is no file of parameters nothing.npz"),
        (["--seeds-mode", "vmap"], "--seeds-mode goes with --seeds or --variant"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_sentence(
    words: list[str], fault: str, refused: Callable[..., str]
) -> None:
    assert fault in refused("train", *FLAGS, *words)
    assert not Path("checkpoints").exists()


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        ([], {"masked PPO"}),
        pytest.param(["--seeds", "2", "--seeds-mode", "vmap"], {"seed-3", "seed-4"}, marks=pytest.mark.long),
    ],
)
def test_the_dashboard_shows_every_run_and_stops_it(
    flags: list[str], names: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = list[tuple[str, float]]()

    def write(page: LivePage, metrics: Mapping[str, float], run: str) -> None:
        shown.append((run, metrics["update"]))
        page.stop()

    monkeypatch.setattr(LivePage, "write", write)
    assert main(WORLD, ["train", *FLAGS, *flags, "--seed", "3", "--dashboard"]) == 0
    assert {run for run, _ in shown} == names
    assert max(update for _, update in shown) == 1  # of two
    assert "Dashboard: http://127.0.0.1:" in capsys.readouterr().out
