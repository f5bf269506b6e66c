"""Mutants: planted faults are caught, a harmless edit survives, and the copies are the only thing touched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command_line import orchard, parity, run
from toy_world import WORLD

from parity import EngineError, Mutant, UsageError
from parity.cli import main
from parity.lockstep import Settings
from parity.mutant_judges import LockstepJudge
from parity.mutant_table import planted
from parity.mutants import CAUGHT, FAILED, HUNG, SURVIVED, UNBUILDABLE, UNSOUND, run_mutants

(BENCH,) = WORLD.benches
PLAN = LockstepJudge("toy_world:WORLD", Settings(source="directed", steps=60, games=16), run_timeout=60)
FILE = "toy_world/planes.py"


def mutant(name: str, old: str, new: str) -> Mutant:
    return Mutant(name, FILE, old, new, ("O-TEST",))


def test_faults_are_caught_and_a_harmless_edit_survives() -> None:
    sources = {path: path.read_bytes() for path in (BENCH.source / "toy_world").glob("*.py")}
    ran = parity("mutants", "--steps", "60", "--games", "16", "--json")
    answer = ran.json
    assert (ran.code, answer["survivors"]) == (1, ["no-op"])
    assert (answer["caught"], answer["judged"], answer["share"]) == (3, 4, 0.75)
    results = {entry["name"]: entry for entry in answer["mutants"]}
    assert results["sting-is-cheap"]["detail"].startswith("components[sting]")
    assert all(0 < entry["steps"] < 960 for name, entry in results.items() if name != "no-op")
    assert results["no-op"]["steps"] == 960
    assert {path: path.read_bytes() for path in sources} == sources


def test_failing_hanging_and_unbuildable_mutants_are_told_apart() -> None:
    edits = {
        "raises": ("self.score += picked", "self.score += [][0]", FAILED),
        # A deadline inside the run ends an endless loop, so it shows as a failing engine.
        "hangs": ("self.score += picked", "while True: pass", FAILED),
        "no python": ("self.score += picked", "self.score +=", UNBUILDABLE),
        "not imported": ("CELLS = np.arange(16)", "CELLS = np.arange(sixteen)", UNBUILDABLE),
        "not started": ("self.games = games", "self.games = many", UNBUILDABLE),
        "again": ("self.score += picked", "self.score += 2 * picked", CAUGHT),
    }
    mutants = [mutant(name, old, new) for name, (old, new, _) in edits.items()]
    plan = replace(PLAN, settings=replace(PLAN.settings, timeout=3.0))
    verdicts = run_mutants(BENCH, mutants, plan, jobs=2)
    assert [verdict.result for verdict in verdicts] == [result for _, _, result in edits.values()]
    assert [verdict.noticed for verdict in verdicts] == [result != UNBUILDABLE for _, _, result in edits.values()]
    assert "no answer to step within 3 seconds" in verdicts[1].detail


def test_a_run_that_takes_too_long_counts_as_hung() -> None:
    slow = [mutant("slow", "self.score += picked", "self.score += picked; __import__('time').sleep(0.5)")]
    plan = replace(PLAN, settings=replace(PLAN.settings, steps=20), run_timeout=5.0)
    (verdict,) = run_mutants(BENCH, slow, plan, jobs=1)
    assert verdict.result == HUNG


def test_a_build_step_runs_on_every_copy_and_its_failure_is_told() -> None:
    def build(copy: Path) -> None:
        if "forbidden" in (copy / FILE).read_text():
            raise EngineError("it does not compile.")

    mutants = [mutant("bad", "self.turn += valid", "self.turn += valid  # forbidden"), *BENCH.mutants[-1:]]
    verdicts = run_mutants(replace(BENCH, build=build), mutants, PLAN, jobs=1)
    assert [(verdict.result, verdict.detail) for verdict in verdicts] == [
        (UNBUILDABLE, "it does not compile."),
        (SURVIVED, ""),
    ]


def test_a_bench_whose_unchanged_copy_diverges_proves_nothing() -> None:
    with pytest.raises(EngineError, match="the unchanged copy of engine 'restless' already diverges"):
        run_mutants(replace(BENCH, engine="restless"), BENCH.mutants, PLAN, jobs=1)


@pytest.mark.parametrize(
    ("planted", "sentence"),
    [
        (mutant("gone", "no such text", ""), "its old text is 0 times in"),
        (mutant("vague", "self", ""), r"its old text is \d+ times in"),
        (Mutant("lost", "toy_world/none.py", "a", "b", ()), "edits toy_world/none.py, which is not in"),
    ],
)
def test_an_edit_that_no_longer_fits_is_one_sentence(planted: Mutant, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        run_mutants(BENCH, [planted], PLAN, jobs=1)


def test_a_world_without_mutants_says_what_it_lacks() -> None:
    for benches, sentence in (
        ((), "world 'orchard' has no benches and so no mutants: give it a MutationBench with some."),
        ((replace(BENCH, mutants=()),), "the benches of world 'orchard' ('planes') hold no mutants: give them some."),
    ):
        ran = parity("mutants", world=orchard(benches=benches))
        assert ran == (2, "", f"parity: {sentence}\n")


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
    { name = "no test", in = "least", old = "LEAST", new = "4", tests = ["test_none.py"] },
    { name = "fails anyway", in = "least", old = "LEAST", new = "4", tests = ["test_fails.py"] },
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
        "no test": UNBUILDABLE,
        "fails anyway": UNSOUND,
    }
    assert ran.json["mutants"][0]["detail"].startswith("test_code.py::test_least")
    assert (tmp_path / "code_here.py").read_text() == PROJECT["code_here.py"]
    assert run(main, "mutants", "--tests", "table.toml", "--only", "larger").code == 0
    assert run(main, "mutants", "--tests", "none.toml").code == 2
    assert run(main, "mutants", "--tests", "table.toml", "--engine", "planes").code == 2


CALL = "call(\n            one,\n            two,\n        )"
PYTHON = f"""class A:
    def f(self):
        return {CALL}


class B:
    def f(self):
        return call(one, two)
"""
SWIFT = "struct S {\n    func a() { if x { y(1) } }\n    func b() { y(1) }\n}\n"


@pytest.mark.parametrize(
    ("file", "function", "old", "new", "text"),
    [
        ("a.py", "A.f", "call(one, two)", "0", PYTHON.replace(CALL, "0")),
        ("a.py", "B.f", "two", "2", PYTHON[:-5] + "2)\n"),
        ("a.swift", "func b(", "y(1)", "z()", SWIFT.replace("b() { y(1)", "b() { z()")),
        ("a.swift", "func a(", "y( 1 )", "z()", SWIFT.replace("x { y(1)", "x { z()")),
    ],
)
def test_a_mutant_finds_its_place_by_function_and_words(
    file: str, function: str, old: str, new: str, text: str
) -> None:
    before = PYTHON if file.endswith(".py") else SWIFT
    assert planted(Mutant("one", file, old, new, function=function), before) == text
    assert planted(Mutant("one", file, old, new, function=function), "\n\n" + before) == "\n\n" + text


@pytest.mark.parametrize(("function", "old"), [("f", "two"), ("A.g", "two"), ("A.f", "on")])
def test_a_mutant_whose_place_is_not_there_once_is_refused(function: str, old: str) -> None:
    with pytest.raises(UsageError, match="times in"):
        planted(Mutant("one", "a.py", old, "", function=function), PYTHON)
