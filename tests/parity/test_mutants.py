"""Mutants, of a table and machine-made: faults are caught, harmless edits survive, and only the copies are touched."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from signal import SIGINT, pthread_kill
from subprocess import CompletedProcess, TimeoutExpired
from threading import Event, main_thread
from time import monotonic
from typing import Any
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
from rlparity.engines.remote import RemoteEngine, RemoteFactory
from rlparity.tools.generated import edits, generated_mutants
from rlparity.tools.mutant_judges import LockstepJudge
from rlparity.tools.mutant_table import planted
from rlparity.tools.mutants import (
    CAUGHT,
    FAILED,
    HUNG,
    SAME,
    SURVIVED,
    UNBUILDABLE,
    UNSOUND,
    Judge,
    MutantVerdict,
    chosen_benches,
    mutated_text,
    require_fit,
    run_mutants,
)
from tests.terminals import default_signals

(BENCH,) = WORLD.benches
PLAN = LockstepJudge(WORLD, ORCHARD, Settings(source="directed", steps=60, games=16), run_timeout=60)
FILE = "orchard/planes.py"


def mutant(name: str, old: str, new: str) -> Mutant:
    return Mutant(name, FILE, old, new, ("O-TEST",))


def test_faults_are_caught_a_harmless_edit_survives_and_the_reference_plays_on(monkeypatch: pytest.MonkeyPatch) -> None:
    started, start = Counter[str](), RemoteEngine.__init__

    def counted(engine: RemoteEngine, factory: RemoteFactory, *given: Any) -> None:  # noqa: ANN401 - games and options
        started[factory.engine] += 1
        start(engine, factory, *given)

    monkeypatch.setattr(RemoteEngine, "__init__", counted)
    sources = {path: path.read_bytes() for path in (BENCH.source / "orchard").glob("*.py")}
    ran = rlparity("mutants", "--steps", "60", "--games", "16", "--json", "--jobs", "1")
    answer = ran.json
    assert (ran.code, answer["survivors"]) == (1, ["no-op"])
    assert (answer["caught"], answer["judged"], answer["share"]) == (1, 2, 0.5)
    results = {entry["name"]: entry for entry in answer["mutants"]}
    assert results["sting-is-cheap"]["detail"].startswith("components[sting]")
    assert 0 < results["sting-is-cheap"]["steps"] < results["no-op"]["steps"] == 2 * 960
    assert {path: path.read_bytes() for path in sources} == sources
    # the first runs share a reference; the second ones, of the unchanged copy and the survivor, count marks
    assert started == {"plain": 1 + 2, "planes": 2 + 1 + 2}


CASE = Case((5,))
DIVERGED = Outcome(
    7,
    divergences=[Divergence(CASE, (Difference("state.hp", 1, 2), Difference("reward", 0, 1)))],
    reasons=[Reason(Verdict.DIVERGENT, "difference", "game 0", "differs", "x")],
)
SOUND = Outcome()
EMPTY = Outcome(9, reasons=[Reason(Verdict.INCONCLUSIVE, "field", "nothing", "varies", "x")])
SILENT = EngineError("engine 'planes' gave no answer")
UNSTARTED = EngineError("engine 'planes' failed in start: x")
UNKNOWN = UsageError("cannot be imported")
LATE = TimeoutExpired("planes", 60)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Outcome | Exception]:
    """How the runs end that a judge makes: those of the unchanged copy, then those of mutants."""
    ends: list[Outcome | Exception] = []

    def run(world: World, engines: tuple[str, str], settings: Settings, progress: object) -> Outcome:
        assert settings.marks == settings.auto_reset, "the second run of those that survive the first has both"
        end = ends.pop(0)
        if isinstance(end, Exception):
            raise end
        return end

    monkeypatch.setattr("rlparity.tools.mutant_judges.run", run)
    return ends


@pytest.mark.parametrize(
    ("ends", "result", "steps", "detail"),
    [
        ([Outcome(960), Outcome(960)], SURVIVED, 1920, ""),
        ([Outcome(960, reasons=[Reason(Verdict.LIMITED, "end", "no game", "ends", "x")]), SOUND], SURVIVED, 960, ""),
        ([DIVERGED], CAUGHT, 7, "state.hp, reward"),
        ([Outcome(960), DIVERGED], CAUGHT, 967, "state.hp, reward"),
        ([SILENT], FAILED, 0, "engine 'planes' gave no answer"),
        ([UNSTARTED], UNBUILDABLE, 0, "engine 'planes' failed in start: x"),
        ([UNKNOWN], UNBUILDABLE, 0, "cannot be imported"),
        ([LATE], HUNG, 0, ""),
    ],
)
def test_failing_hanging_and_unbuildable_mutants_are_told_apart(
    ends: list[Outcome | Exception], result: str, steps: int, detail: str, runs: list[Outcome | Exception]
) -> None:
    runs += [SOUND, SOUND, *ends]
    (verdict,) = run_mutants(BENCH, BENCH.mutants[:1], PLAN, jobs=1)
    assert (verdict.result, verdict.steps, verdict.detail, runs) == (result, steps, detail, [])
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

    runs += [SOUND] * 4
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


PYTHON = '''"""A module < of a kind."""

import b, a

class Engine:
    def step(a: int | None, b: int = 3) -> int:
        """Takes 1 < 2."""  # and + or -
        if a < b:
            self.total += f(a, x[b])
        mark("sting", a == b)
        return jnp.where(a & b, ~a, "1 + 1")
'''
SWIFT = """/// Takes 1 < 2.
mutating func step(a: Int = 3) {
    guard let cell, a != 3 else { return }
    if !isOpen && a < 4 { fire(.`S1`) }
    total &+= f(a, b)
}
"""


def changed_lines(text: str, suffix: str, marks: tuple[str, ...] = ()) -> set[str]:
    """The lines of a source that its edits make."""
    lines = set()
    for start, end, new in edits(text, suffix, marks):
        mutated = text[:start] + new + text[end:]
        lines |= {*mutated.splitlines()} - {*text.splitlines()}
    return {line.strip() for line in lines}


def test_the_edits_of_python() -> None:
    assert changed_lines(PYTHON, ".py", ("sting",)) == {
        *("if a <= b:", "if False:"),
        *("self.total -= f(a, x[b])", "self.total += f(x[b], a)", "pass"),
        *('return jnp.where(a | b, ~a, "1 + 1")', 'return jnp.where(a & b, a, "1 + 1")'),
    }


def test_the_edits_of_swift() -> None:
    assert changed_lines(SWIFT, ".swift", ("S1",)) == {
        *("guard let cell, a == 3 else { return }", "guard let cell, a != 4 else { return }"),
        *("guard let cell, a != 2 else { return }", "total &-= f(a, b)", "total &+= f(b, a)", ""),
    }


def test_every_mutant_of_a_source_fits_its_file_and_names_its_rules() -> None:
    mutants = generated_mutants(WORLD, BENCH, 10_000, 0)
    require_fit(BENCH, mutants)
    path = WORLD.sources["planes"]
    text = path.read_text()
    expected = [text[:start] + new + text[end:] for start, end, new in edits(text, ".py", WORLD.marks)]
    assert [mutated_text(BENCH.source, mutant) for mutant in mutants] == expected
    assert len({*expected}) == len(expected) > 100
    assert sum(bool(mutant.rules) for mutant in mutants) > len(mutants) / 2
    assert {rule for mutant in mutants for rule in mutant.rules} <= {*WORLD.rule_ids()}


def test_a_sample_is_drawn_from_the_seed() -> None:
    names = [[mutant.name for mutant in generated_mutants(WORLD, BENCH, 5, seed)] for seed in (1, 1, 2)]
    assert names[0] == names[1] != names[2]
    assert [len(each) for each in names] == [5, 5, 5]


@pytest.mark.parametrize("sources", [{}, {"planes": Path(__file__)}])
def test_a_source_outside_the_bench_is_refused(sources: dict[str, Path]) -> None:
    with pytest.raises(UsageError, match="names no source of engine 'planes' within its bench"):
        generated_mutants(replace(WORLD, sources=sources), BENCH, 1, 0)


def test_the_command_makes_and_judges_them(monkeypatch: pytest.MonkeyPatch) -> None:
    results = [CAUGHT, UNBUILDABLE, SAME, FAILED]

    def judged(bench: MutationBench, mutants: Sequence[Mutant], *_: object) -> list[MutantVerdict]:
        made = zip(mutants, results, strict=True)
        return [MutantVerdict(mutant.name, (), bench.engine, result) for mutant, result in made]

    monkeypatch.setattr("rlparity.cli.mutants_command.run_mutants", judged)
    words = "mutants", "--generate", "4", "--seed", "3"
    ran = rlparity(*words, "--json")
    names = [mutant.name for mutant in generated_mutants(WORLD, BENCH, 4, 3)]
    assert [entry["name"] for entry in ran.json["mutants"]] == names
    assert (ran.code, ran.json["caught"], ran.json["judged"], ran.json["share"]) == (0, 2, 2, 1.0)
    assert (ran.json["unbuildable"], ran.json["same_program"]) == ([names[1]], [names[2]])
    results[3] = SURVIVED
    assert rlparity(*words).code == 1
    refused = rlparity("mutants", "--generate", "4", "--tests", "mutants.toml", world="").refusal()
    assert "--generate" in refused


def test_a_mutant_that_is_the_same_program_is_not_judged() -> None:
    class LenientJudge(Judge):
        def verdict(self, bench: MutationBench, mutant: Mutant, copy: Path) -> MutantVerdict:
            return MutantVerdict(mutant.name, (), bench.engine, SURVIVED)

    bench = replace(BENCH, program=lambda copy: (copy / FILE).read_bytes().replace(b"splitmix64's", b"the"))
    same, other = run_mutants(bench, sorted(BENCH.mutants, key=lambda mutant: mutant.name), LenientJudge(), jobs=1)
    assert (same.name, same.result, same.is_judged) == ("no-op", SAME, False)
    assert (other.result, other.is_judged) == (SURVIVED, True)
