"""Mutants: planted faults are caught, a harmless edit survives, and the copies are the only thing touched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from signal import SIGINT, pthread_kill
from subprocess import CompletedProcess, TimeoutExpired
from threading import Event, main_thread
from time import monotonic
from unittest.mock import Mock

import pytest
from command_line import ORCHARD, rlparity, run
from faulty_orchard import WORLD

from rlparity import EngineError, Mutant, MutationBench, UsageError, World
from rlparity.cli.main import main
from rlparity.core.compare import Difference
from rlparity.core.lockstep import Outcome, Settings
from rlparity.core.replay import Divergence
from rlparity.core.trace import Case
from rlparity.core.verdict import Reason, Verdict
from rlparity.tools.mutant_judges import LockstepJudge
from rlparity.tools.mutant_table import planted
from rlparity.tools.mutants import (
    CAUGHT,
    FAILED,
    HUNG,
    SURVIVED,
    UNBUILDABLE,
    UNSOUND,
    Judge,
    MutantVerdict,
    chosen_benches,
    run_mutants,
)
from tests.terminals import default_signals

(BENCH,) = WORLD.benches
PLAN = LockstepJudge(WORLD, ORCHARD, Settings(source="directed", steps=60, games=16), run_timeout=60)
FILE = "orchard/planes.py"


def mutant(name: str, old: str, new: str) -> Mutant:
    return Mutant(name, FILE, old, new, ("O-TEST",))


def test_faults_are_caught_and_a_harmless_edit_survives() -> None:
    sources = {path: path.read_bytes() for path in (BENCH.source / "orchard").glob("*.py")}
    ran = rlparity("mutants", "--steps", "60", "--games", "16", "--json", "--jobs", "2")
    answer = ran.json
    assert (ran.code, answer["survivors"]) == (1, ["no-op"])
    assert (answer["caught"], answer["judged"], answer["share"]) == (1, 2, 0.5)
    results = {entry["name"]: entry for entry in answer["mutants"]}
    assert results["sting-is-cheap"]["detail"].startswith("components[sting]")
    assert 0 < results["sting-is-cheap"]["steps"] < results["no-op"]["steps"] == 2 * 960
    assert {path: path.read_bytes() for path in sources} == sources


CASE = Case((5,))
DIVERGED = Outcome(
    7,
    divergences=[Divergence(CASE, (Difference("state.hp", 1, 2), Difference("reward", 0, 1)))],
    reasons=[Reason(Verdict.DIVERGENT, "difference", "game 0", "differs", "x")],
)
EMPTY = Outcome(9, reasons=[Reason(Verdict.INCONCLUSIVE, "field", "nothing", "varies", "x")])
SILENT = EngineError("engine 'planes' gave no answer")
UNSTARTED = EngineError("engine 'planes' failed in start: x")
UNKNOWN = UsageError("cannot be imported")
LATE = TimeoutExpired("planes", 60)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Outcome | Exception]:
    """How the runs end that a judge makes: the first is that of the unchanged copy, the second that of a mutant."""
    ends: list[Outcome | Exception] = []

    def run(world: World, engines: tuple[str, str], settings: Settings, progress: object) -> Outcome:
        if settings.auto_reset:  # the second run of those that survive the first
            return Outcome()
        end = ends.pop(0)
        if isinstance(end, Exception):
            raise end
        return end

    monkeypatch.setattr("rlparity.tools.mutant_judges.run", run)
    return ends


@pytest.mark.parametrize(
    ("end", "result", "detail"),
    [
        (Outcome(960), SURVIVED, ""),
        (Outcome(960, reasons=[Reason(Verdict.LIMITED, "end", "no game", "ends", "x")]), SURVIVED, ""),
        (DIVERGED, CAUGHT, "state.hp, reward"),
        (SILENT, FAILED, "engine 'planes' gave no answer"),
        (UNSTARTED, UNBUILDABLE, "engine 'planes' failed in start: x"),
        (UNKNOWN, UNBUILDABLE, "cannot be imported"),
        (LATE, HUNG, ""),
    ],
)
def test_failing_hanging_and_unbuildable_mutants_are_told_apart(
    end: Outcome | Exception, result: str, detail: str, runs: list[Outcome | Exception]
) -> None:
    runs += [Outcome(), end]
    (verdict,) = run_mutants(BENCH, BENCH.mutants[:1], PLAN, jobs=1)
    assert (verdict.result, verdict.detail) == (result, detail)
    assert verdict.noticed == (result in (CAUGHT, FAILED, HUNG))


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        (DIVERGED, "copy of engine 'planes' already ends as DIVERGENT: game 0 differs: x: correct that first"),
        (EMPTY, "already ends as INCONCLUSIVE: nothing varies: x: correct that first"),
        (UNKNOWN, r"already cannot be run \(cannot be imported\): correct that first"),
        (LATE, "the unchanged copy of engine 'planes' needs more than 60 seconds"),
    ],
)
def test_a_bench_whose_unchanged_copy_fails_proves_nothing(
    end: Outcome | Exception, sentence: str, runs: list[Outcome | Exception]
) -> None:
    runs.append(end)
    with pytest.raises(EngineError, match=sentence):
        run_mutants(BENCH, BENCH.mutants, PLAN, jobs=1)


def test_a_copy_has_the_named_parts_and_no_more(tmp_path: Path) -> None:
    """As it must where the source is a package among all that are installed."""

    class Lister(Judge):
        def check_unchanged(self, bench: MutationBench, copy: Path) -> None:
            raise EngineError(" ".join(sorted(str(path.relative_to(copy)) for path in copy.rglob("*.*"))))

        def verdict(self, bench: MutationBench, mutant: Mutant, copy: Path) -> MutantVerdict:
            raise NotImplementedError

    for path in ("mine/rules.py", "mine/deep/rules.py", "mine/test_it.py", "theirs/huge.py", "loose.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("one\n")
    bench = replace(BENCH, source=tmp_path, parts=("mine",), ignore=("test_*.py",))
    with pytest.raises(EngineError, match=r"^mine/deep/rules\.py mine/rules\.py$"):
        run_mutants(bench, [Mutant("two", "mine/rules.py", "one", "two")], Lister(), jobs=1)


def test_an_engine_whose_source_is_not_installed_is_refused() -> None:
    native = replace(BENCH, engine="native", source=Path("nowhere"), mutants=(mutant("far", "here", "there"),))
    world = replace(WORLD, benches=(BENCH, native))
    with pytest.raises(
        UsageError, match=r"^the source of engine 'native' is not installed, .* choose another --engine"
    ):
        chosen_benches(world, None, ())
    for engine, only in (("planes", ()), (None, ("sting-is-cheap",))):
        assert [bench.engine for bench, _ in chosen_benches(world, engine, only)] == ["planes"]


def test_an_interrupt_waits_for_no_run_and_leaves_no_copy() -> None:
    copies, over = SimpleQueue[Path](), Event()

    class EndlessJudge(Judge):
        def verdict(self, bench: MutationBench, mutant: Mutant, copy: Path) -> MutantVerdict:
            copies.put(copy)
            over.wait(0.5)  # until the main thread waits: Python loses a signal that arrives as a wait begins
            pthread_kill(main_thread().ident or 0, SIGINT)
            over.wait(20)
            return MutantVerdict(mutant.name, (), bench.engine, SURVIVED)

    start = monotonic()
    with default_signals(), pytest.raises(KeyboardInterrupt):
        run_mutants(BENCH, BENCH.mutants[:1], EndlessJudge(), jobs=1)
    assert monotonic() - start < 15
    assert not copies.get().exists()
    over.set()


def test_a_build_step_runs_on_every_copy_and_what_does_not_build_or_parse_is_not_judged(
    runs: list[Outcome | Exception],
) -> None:
    def build(copy: Path) -> None:
        if "forbidden" in (copy / FILE).read_text():
            raise EngineError("it does not compile.")

    runs += [Outcome(), Outcome()]
    mutants = [
        mutant("bad", "self.turn += valid", "self.turn += valid  # forbidden"),
        mutant("no python", "self.score += picked", "self.score +="),
        *BENCH.mutants[-1:],
    ]
    bad, unparsed, good = run_mutants(replace(BENCH, build=build), mutants, PLAN, jobs=1)
    assert (bad.result, bad.detail, good.result) == (UNBUILDABLE, "it does not compile.", SURVIVED)
    assert (unparsed.result, unparsed.noticed) == (UNBUILDABLE, False)


def test_an_edit_of_a_file_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(UsageError, match=r"edits orchard/none\.py, which is not in"):
        run_mutants(BENCH, [Mutant("lost", "orchard/none.py", "a", "b")], PLAN, jobs=1)


PROJECT = {
    "code_here.py": "LEAST = 3\n\n\ndef least() -> int:\n    return LEAST\n",
    "test_code.py": "import code_here\n\n\ndef test_least() -> None:\n    assert code_here.least() == 3\n",
    "test_fails.py": "def test_fails() -> None:\n    raise AssertionError\n",
    "table.toml": """
[[tests]]
file = "code_here.py"
tests = ["test_code.py"]
mutants = [
    { name = "larger", old = "LEAST = 3", new = "LEAST = 4" },
    { name = "the same", old = "LEAST = 3", new = "LEAST = 1 + 2" },
    { name = "no python", old = "LEAST = 3", new = "LEAST =" },
    { name = "fails anyway", old = "return LEAST", new = "return 4", tests = ["test_fails.py"] },
]
""",
}


def test_the_tests_of_a_project_judge_the_mutants_of_a_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, content in PROJECT.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # loading them takes longer than the tests here
    ran = run(main, "mutants", "--tests", "table.toml", "--json", "--jobs", "2")
    assert (ran.code, ran.json["caught"], ran.json["judged"], ran.json["survivors"]) == (1, 1, 2, ["the same"])
    assert {entry["name"]: entry["result"] for entry in ran.json["mutants"]} == {
        "larger": CAUGHT,
        "the same": SURVIVED,
        "no python": UNBUILDABLE,
        "fails anyway": UNSOUND,
    }
    assert ran.json["mutants"][0]["detail"].startswith("test_code.py::test_least")
    assert (tmp_path / "code_here.py").read_text() == PROJECT["code_here.py"]
    failed = CompletedProcess([], 1, "FAILED test_code.py::test_least - 4")
    monkeypatch.setattr("subprocess.run", Mock(side_effect=[failed, CompletedProcess([], 0, "")]))
    assert run(main, "mutants", "--tests", "table.toml", "--only", "larger").code == 0
    assert run(main, "mutants", "--tests", "none.toml").code == 2
    assert run(main, "mutants", "--tests", "table.toml", "--engine", "planes").code == 2


TEXT = "def f():\n    return call(\n        one,\n        two,\n    )\n\n\ndef g(two):\n    return call(one, 2)\n"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("call(one, two)", "0", TEXT.replace("call(\n        one,\n        two,\n    )", "0")),
        ("g( two )", "g(on)", TEXT.replace("g(two)", "g(on)")),
    ],
)
def test_a_mutant_finds_its_place_by_words(old: str, new: str, text: str) -> None:
    assert planted(Mutant("one", "a.py", old, new), TEXT) == text


@pytest.mark.parametrize("old", ["two", "three", "cal"])
def test_a_mutant_whose_place_is_not_there_once_is_refused(old: str) -> None:
    with pytest.raises(UsageError, match=r"times in a\.py"):
        planted(Mutant("one", "a.py", old, ""), TEXT)


def test_what_shows_in_marks_alone_is_caught_by_the_second_run() -> None:
    (verdict,) = run_mutants(BENCH, [mutant("uncounted", '("wasp", valid)', '("wasp", moving)')], PLAN, jobs=1)
    assert (verdict.result, verdict.detail) == (CAUGHT, "marks[wasp]")
    assert verdict.steps > PLAN.settings.steps * PLAN.settings.games
