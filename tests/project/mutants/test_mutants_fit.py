"""Every fault can be planted in the code as it is, and the tests that should notice it are there."""

import ast
import re
from pathlib import Path

import pytest

from goodharts.world import WORLDS
from hackmatrix.world import WORLD
from parity import MutationBench, World
from parity.mutant_judges import project_bench
from parity.mutants import mutated_text

ROOT = Path(__file__).parents[3]
LEAST = {"hackmatrix": 30, "goodharts": 15, "tests": 100}
"""How many faults each bench must hold."""


@pytest.fixture
def tests(monkeypatch: pytest.MonkeyPatch) -> MutationBench:
    monkeypatch.chdir(ROOT)
    return project_bench(Path("tests/project/mutants/mutants.toml"))


def check(bench: MutationBench, least: int) -> None:
    names = [mutant.name for mutant in bench.mutants]
    assert len(names) == len(set(names)) >= least
    for mutant in bench.mutants:
        planted, text = mutated_text(bench.source, mutant), (bench.source / mutant.file).read_text(encoding="utf-8")
        assert planted != text, mutant.name
        assert not mutant.file.endswith(".py") or ast.dump(ast.parse(planted)) != ast.dump(ast.parse(text)), mutant.name


@pytest.mark.parametrize("world", [WORLD, *WORLDS.values()], ids=lambda world: world.name)
def test_the_faults_of_the_engines_fit(world: World) -> None:
    assert len(world.benches) == 2
    for bench in world.benches:
        check(bench, LEAST[world.name.partition("-")[0]])


def test_the_faults_outside_the_engines_fit_and_their_tests_are_there(tests: MutationBench) -> None:
    check(tests, LEAST["tests"])
    assert len(tests.mutants) <= 120
    for test in {test for mutant in tests.mutants for test in mutant.tests}:
        path, *names = test.split("::")
        assert (ROOT / path).exists(), test
        code = (ROOT / path).read_text(encoding="utf-8") if names else ""
        assert all(re.search(rf"\b(def|class) {name}\b", code) for name in names), test
