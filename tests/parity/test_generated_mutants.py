"""Machine-made mutants: which edits there are, that each fits its file, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command_line import ORCHARD, rlparity
from faulty_orchard import WORLD

from rlparity import UsageError
from rlparity.core.lockstep import Settings
from rlparity.engines.remote import RemoteEngine, RemoteFactory
from rlparity.tools.generated import edits, generated_mutants
from rlparity.tools.mutant_judges import LockstepJudge
from rlparity.tools.mutants import SAME, SURVIVED, mutated_text, require_fit, run_mutants

(BENCH,) = WORLD.benches

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


def test_the_command_makes_and_judges_them() -> None:
    ran = rlparity("mutants", "--generate", "4", "--steps", "60", "--games", "8", "--seed", "3", "--json")
    answer = ran.json
    results = [entry["result"] for entry in answer["mutants"]]
    assert (len(results), answer["judged"], ran.code) == (4, 4 - len(answer["unbuildable"]), int(SURVIVED in results))
    assert answer["caught"] > 0
    refused = rlparity("mutants", "--generate", "4", "--tests", "mutants.toml", world="").refusal()
    assert "--generate" in refused


def test_a_mutant_that_is_the_same_program_is_not_judged() -> None:
    bench = replace(
        BENCH, program=lambda copy: (copy / "orchard/planes.py").read_bytes().replace(b"splitmix64's", b"the")
    )
    judge = LockstepJudge(WORLD, ORCHARD, Settings(steps=5, games=2), run_timeout=60)
    mutants = {mutant.name: mutant for mutant in BENCH.mutants}
    (same,) = run_mutants(bench, [mutants["no-op"]], judge, jobs=1)
    assert (same.result, same.is_judged) == (SAME, False)


def test_the_reference_plays_on_against_the_next_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    init = RemoteEngine.__init__

    def start(engine: RemoteEngine, factory: RemoteFactory, *given: object) -> None:
        started.append(factory.engine)
        init(engine, factory, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(RemoteEngine, "__init__", start)
    judge = LockstepJudge(replace(WORLD, marks={}), ORCHARD, Settings(steps=5, games=2), run_timeout=60)
    run_mutants(BENCH, generated_mutants(WORLD, BENCH, 3, 3), judge, jobs=1)
    assert (started.count("plain"), started.count("planes") >= 2 + 3) == (1, True)
