"""Engines in other processes: they play as local ones do, and whatever goes wrong over there is one sentence."""

import os
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import faulty_orchard
import numpy as np
import orchard
import psutil
import pytest
from command_line import ORCHARD, git, rlparity
from faulty_orchard import WORLD

from rlparity import BatchEngine, EngineError, EngineOptions, StateRefused, UsageError, World, load_world
from rlparity.core.guard import GuardedEngine
from rlparity.core.lockstep import Settings
from rlparity.core.lockstep import run as lockstep
from rlparity.engines.checkout import commit_of, output, status
from rlparity.engines.module_paths import checkout_of
from rlparity.engines.places import _cached, with_remote_engines
from rlparity.engines.remote import RemoteFactory, describe_world

TOYS, TEMPLATES = Path(faulty_orchard.__file__).parent, Path(orchard.__file__).parents[1]
ALL = np.arange(6)
RESTS = np.full(6, 5, np.int32)
Open = Callable[..., BatchEngine]


def factory(name: str, world: World = WORLD, spec: str = ORCHARD) -> RemoteFactory:
    """The factory of an engine of Orchard with a place."""
    found = with_remote_engines(world, spec, [name]).engines[name]
    assert isinstance(found, RemoteFactory)
    return found


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens six games of a remote engine of Orchard, which are closed with the test."""
    with ExitStack() as stack:

        def open_engine(name: str, **options: Any) -> BatchEngine:  # noqa: ANN401 - of EngineOptions
            engine = factory(name)(6, EngineOptions(**options))
            stack.callback(engine.close)
            engine.reset(ALL.astype(np.uint64), ALL)
            return engine

        yield open_engine


@pytest.fixture(scope="module")
def plain() -> Iterator[Any]:
    """Six games of a remote engine of Orchard, which its tests leave ready for the next call."""
    engine = factory("plain@cpu")(6)
    engine.reset(ALL.astype(np.uint64), ALL)
    yield engine
    engine.close()


def server_of(engine: Any) -> psutil.Process:  # noqa: ANN401 - a RemoteEngine
    return psutil.Process(engine._server._process.pid)


def test_a_remote_engine_passes_lockstep_and_the_contract() -> None:
    world = with_remote_engines(WORLD.with_prices({"sting": -0.3}), ORCHARD, ["planes@cpu"])
    settings = Settings("directed", steps=60, games=8, marks=True, auto_reset=True)
    outcome = lockstep(world, ("planes", "planes@cpu"), settings)
    assert (outcome.divergences, outcome.steps) == ([], 480)
    assert np.array_equal(*outcome.marks)


def test_what_differs_in_a_remote_engine_is_found_and_its_trace_is_replayed(tmp_path: Path) -> None:
    pair = "--engines", "plain,restless@cpu"
    ran = rlparity("run", *pair, "--steps", "100", "--games", "8", "--out", tmp_path, "--json")
    assert (ran.code, ran.json["divergences"][0]["fields"][0]) == (1, "observation[0: hp]")
    trace = tmp_path / "trace.json"
    assert rlparity("replay", trace, *pair).code == 1
    # what is started is for the command line to say, not for a file
    assert "name it with --engines to have it started" in rlparity("replay", trace).refusal()


def test_the_server_plays_from_begin_step_on(plain: BatchEngine) -> None:
    local = WORLD.engines["plain"](6)
    local.reset(ALL.astype(np.uint64), ALL)
    before = plain.mask()
    plain.begin_step(RESTS, restarting=True)
    assert plain.mask() is before
    with pytest.raises(EngineError, match="a step has begun"):
        plain.get_state(ALL)
    assert np.array_equal(plain.step_restarting(RESTS).observation, local.step_restarting(RESTS).observation)
    plain.begin_step(RESTS, restarting=True)
    with pytest.raises(EngineError, match="another step has begun"):
        plain.step(RESTS)


def test_phases_come_from_the_server_with_their_words(plain: BatchEngine) -> None:
    (state,) = plain.get_state(ALL[:1])
    phases = WORLD.engines["plain"](1).phases(state, RESTS[:1])
    assert phases is not None
    assert plain.phases(state, RESTS[:1]) == phases


def test_errors_of_the_engine_are_raised_here_as_what_they_are(plain: BatchEngine, opened: Open) -> None:
    states = plain.get_state(ALL)
    with pytest.raises(StateRefused, match=r"^hp 9 lies outside 0 … 3\.$"):
        plain.set_state([{**states[0], "hp": 9}], ALL[:1])
    with pytest.raises(TypeError, match="a value of type set"):
        plain.set_state([{**states[0], "apples": {1}}], ALL[:1])
    assert plain.get_state(ALL) == states
    dying = opened("dying@cpu")
    for _ in range(2):
        dying.step(RESTS)
    with pytest.raises(EngineError, match=r"^BrokenPipeError: the process has gone$"):
        dying.step(RESTS)


def test_a_server_that_hangs_or_dies_is_ended_and_named(opened: Open) -> None:
    engine: Any = opened("hanging@cpu", deadline=30)
    hanging, dead = server_of(engine), opened("planes@cpu")
    assert engine._server.timeout == 30
    engine._server.timeout = 0.3
    with pytest.raises(EngineError, match=r"its server gave no answer within 0.3 seconds; it said nothing"):
        engine.step(RESTS)
    assert not hanging.is_running()
    server_of(dead).kill()
    with pytest.raises(EngineError, match="its server ended with status -9; it said nothing"):
        dead.step(RESTS)
    with pytest.raises(EngineError, match="its server has ended: open a new one"):
        dead.mask()


def test_the_deadline_of_a_command_ends_a_hanging_server() -> None:
    engine = GuardedEngine(with_remote_engines(WORLD, ORCHARD, ["hanging@cpu"]), "hanging@cpu", 6)
    hanging, engine._timeout = server_of(engine.engine), 0.3
    with pytest.raises(
        EngineError, match=r"'hanging@cpu' gave no answer to step within 0.3 seconds \(it said nothing\)"
    ):
        engine.step(RESTS)
    assert not hanging.is_running()


CLIENT = """
import time, numpy as np
from rlparity.engines.places import with_remote_engines
from faulty_orchard import WORLD
names = ["planes@cpu", "hanging@cpu"]
world = with_remote_engines(WORLD, "faulty_orchard:WORLD", names)
waiting, hanging = (world.engines[name](1) for name in names)
hanging.begin_step(np.array([5], np.int32), restarting=False)
print(waiting._server._process.pid, hanging._server._process.pid, flush=True)
time.sleep(60)
"""


def is_playing(process: psutil.Process) -> bool:
    """A zombie only waits for somebody to ask what it ended with."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_no_server_outlives_a_client_that_is_killed() -> None:
    """Neither one that waits for a request nor one in a step that never ends."""
    environment = {**os.environ, "PYTHONPATH": f"{TEMPLATES}{os.pathsep}{TOYS}"}
    command = [sys.executable, "-c", CLIENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as client:
        assert client.stdout is not None
        servers = [psutil.Process(int(word)) for word in client.stdout.readline().split()]
        client.kill()
    limit = time.monotonic() + 10
    while playing := [each for each in servers if is_playing(each)]:
        assert time.monotonic() < limit, playing
        time.sleep(0.02)
    assert len(servers) == 2


def test_a_server_of_another_protocol_or_world_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EngineError, match="has the world 'orchard' instead of 'meadow'"):
        factory("plain@cpu", replace(WORLD, name="meadow")).describe()
    monkeypatch.setattr("rlparity.engines.remote.VERSION", 2)
    with pytest.raises(EngineError, match="speaks version 1 of the protocol instead of 2: name another revision"):
        factory("plain@cpu").describe()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("planes@moon", "has an unknown place: give rev:..., python:..., pip:..., cpu, cuda after the @"),
        ("planes@rev:", "has an unknown place"),
        ("planes@python:/no/such", "there is no interpreter /no/such"),
        ("planes@python:/bin/true", "its server ended with status 0; it said nothing"),
        ("swans@cpu", "its server ended with status 2; it said: rlparity: world 'orchard' has no engine 'swans'"),
    ],
)
def test_a_place_that_does_not_exist_is_one_sentence(name: str, sentence: str) -> None:
    ran = rlparity("run", "--engines", f"plain,{name}")
    assert sentence in ran.refusal(3 if "true" in name else 2)


def test_another_interpreter_plays_with_its_own_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(TEMPLATES)  # where rlparity finds the world; it is installed
    described = factory(f"planes@python:{sys.executable}", orchard.WORLD, "orchard:WORLD").describe()
    assert described == {**describe_world(orchard.WORLD), "home": str(TEMPLATES / "orchard")}
    venv.create(tmp_path / "bare", symlinks=True)
    with pytest.raises(EngineError, match=r"status 1; it said: .*/bare/bin/python: No module named rlparity"):
        factory(f"planes@python:{tmp_path}/bare/bin/python").describe()


MEADOW = """
import os
from dataclasses import replace
from pathlib import Path

from bonus import BONUS
from rlparity import EngineError, MutationBench
from faulty_orchard import WORLD as ORCHARD
from orchard.planes import PlanesEngine

HERE = Path(__file__).parent


class Meadow(PlanesEngine):
    def step(self, actions):
        os.write(1, b"what libraries print")
        step = super().step(actions)
        return replace(step, reward=step.reward + float(os.environ.get("BUILT", BONUS)))


def build(copy):
    if not environment(copy)["BUILT"]:
        raise EngineError("there is no grass.")
    with open(HERE / "builds", "a") as builds:
        builds.write("x")


def environment(copy):
    return {"BUILT": (copy / "grass").read_text()}


BENCH = MutationBench("built", "loud", HERE / "lawn", (), environment, build)
WORLD = replace(ORCHARD, name="meadow", engines={"loud": Meadow, "built": Meadow}, benches=(BENCH,))
"""


@pytest.fixture(scope="module")
def meadow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A git repository with a world: commits "first", "third" and "bare", which differ in what steps pay extra."""
    folder = tmp_path_factory.mktemp("repository")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        git(folder, "init", "--quiet")
        (folder / "meadow.py").write_text(MEADOW)
        (folder / "lawn").mkdir()
        for tag, bonus, grass in (("first", 0, "4"), ("third", 3, "4"), ("bare", 0, "")):
            (folder / "bonus.py").write_text(f"BONUS = {bonus}\n")
            (folder / "lawn" / "grass").write_text(grass)
            for words in (["add", "."], ["commit", "--quiet", "-m", tag], ["tag", tag]):
                git(folder, *words)
        yield folder


def paid(name: str) -> float:
    """What the first rest of the first game pays in an engine of the meadow, which without its extra is -0.01."""
    engine = GuardedEngine(with_remote_engines(load_world("meadow:WORLD"), "meadow:WORLD", [name]), name, 1)
    engine.reset(np.zeros(1, np.uint64), ALL[:1])
    reward = float(engine.step(RESTS[:1]).reward[0])
    engine.close()
    return round(reward, 2)


def test_a_revision_plays_as_it_was_whatever_the_working_tree_has(meadow: Path, tmp_path: Path) -> None:
    (meadow / "bonus.py").write_text("BONUS = 7\n")
    assert (paid("loud@rev:first"), paid("loud@rev:third")) == (-0.01, 2.99)
    with pytest.raises(UsageError, match="there is no revision 'no-such' in"):
        paid("loud@rev:no-such")
    checkout = checkout_of("meadow:WORLD")
    assert checkout == meadow.resolve()
    assert status(checkout) == (commit_of(checkout, "bare"), True)
    commits = {path.name.partition("-")[0] for path in cached("checkouts")}
    assert commits == {commit_of(checkout, tag) for tag in ("first", "third")}
    assert not (meadow / ".git" / "worktrees").exists()


def cached(kind: str) -> list[Path]:
    return [path for path in Path(os.environ["XDG_CACHE_HOME"], "rlparity", kind).iterdir() if path.name != "lock"]


def test_a_revision_is_built_once_for_each_state_of_its_source(meadow: Path) -> None:
    assert (paid("built@rev:first"), paid("built@rev:third")) == (3.99, 3.99)
    assert (meadow / "builds").read_text() == "x"
    with pytest.raises(EngineError, match="there is no grass"):
        paid("built@rev:bare")
    assert len(cached("builds")) == 1


def test_a_revision_of_an_installed_world_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever revision was named, the installed engine would play."""
    monkeypatch.setattr(sys, "prefix", str(TOYS))  # where Orchard lies
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=f"^{tmp_path} is in no git checkout: .* or give pip:REQUIREMENT"):
        factory("plain@rev:HEAD")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "first")
    with pytest.raises(UsageError, match=f"is installed, and no revision of {tmp_path} changes that"):
        factory("plain@rev:HEAD")


WHEEL = {
    "bonus.py": "BONUS = 5\n",
    "bonus-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: bonus\nVersion: 1.0\n",
    "bonus-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "bonus-1.0.dist-info/RECORD": "bonus.py,,\n",
}


@pytest.mark.long
def test_a_requirement_goes_over_what_is_here_and_is_installed_once(meadow: Path, tmp_path: Path) -> None:
    file = tmp_path / "bonus-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in WHEEL.items():
            archive.writestr(name, content)
    assert paid(f"loud@pip:{file}") == 4.99
    file.unlink()
    assert paid(f"loud@pip:{file}") == 4.99
    with pytest.raises(UsageError, match=r"^none\.whl cannot be installed: (?!ERROR)\w.*[^.]\.$"):
        paid("loud@pip:none.whl")  # what follows the colon is pip's, and changes
    assert len(cached("environments")) == 1


def test_what_a_command_says_last_is_its_error_and_no_hint() -> None:
    code = "import sys; sys.exit('error: no such wheel\\n\\nnote: this is no problem of pip\\nhint: see above.\\n')"
    with pytest.raises(UsageError, match=r"^it fails: error: no such wheel\.$"):
        output("it fails", sys.executable, "-c", code)


def test_a_copy_that_was_left_half_made_is_made_anew(meadow: Path) -> None:
    """A command that is killed leaves no lock and no folder that the next one would take for whole."""
    code = (
        "import os; from rlparity.engines import places; "
        "places._cached('halves', 'a', lambda _: os.kill(os.getpid(), 9))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    parent = Path(os.environ["XDG_CACHE_HOME"], "rlparity", "halves")
    assert not (parent / "a").exists()
    assert list(_cached("halves", "a", lambda folder: (folder / "whole").touch()).iterdir()) == [parent / "a" / "whole"]
    assert {path.name for path in parent.iterdir()} == {"a", "lock"}
