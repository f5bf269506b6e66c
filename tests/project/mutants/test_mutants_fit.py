"""Every fault can be planted in the code as it is, and the tests that should notice it are there."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from goodharts.world import WORLDS
from hackmatrix.world import WORLD
from rlparity import MutationBench, World
from rlparity.mutant import Mutant
from rlparity.tools.mutant_judges import project_bench
from rlparity.tools.mutants import mutated_text, require_fit

ROOT = Path(__file__).parents[3]


@cache
def statements(text: str) -> list[str]:
    """The statements of a module, without comments and layout."""
    return [ast.dump(statement) for statement in ast.parse(text).body]


def check(mutants: set[tuple[Path, Mutant]], folder: Path) -> None:
    """Hold mutants to their sources, and let a linter look for undefined names in copies in ``folder``."""
    for number, (source, mutant) in enumerate(mutants):
        planted, text = mutated_text(source, mutant), (source / mutant.file).read_text(encoding="utf-8")
        assert planted != text, mutant.name
        if mutant.file.endswith(".py"):
            changed = zip(ast.parse(planted).body, statements(text), strict=True)
            assert any(ast.dump(statement) != before for statement, before in changed), mutant.name
            (folder / f"{mutant.name}-{number}.py").write_text(planted, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "--output-format", "concise"]
    done = subprocess.run([*ruff, folder], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def named(bench: MutationBench, least: int) -> set[tuple[Path, Mutant]]:
    """The mutants of a bench and its source; there are so many, each with a name of its own."""
    assert len(bench.mutants) == len({mutant.name for mutant in bench.mutants}) >= least
    return {(bench.source, mutant) for mutant in bench.mutants}


@pytest.mark.parametrize(("worlds", "least"), [([WORLD], 10), (WORLDS.values(), 15)], ids=["hackmatrix", "goodharts"])
def test_the_faults_of_the_engines_fit(worlds: list[World], least: int, tmp_path: Path) -> None:
    assert {len(world.benches) for world in worlds} == {2}
    for bench in (bench for world in worlds for bench in world.benches):
        require_fit(bench, bench.mutants)
    check(set().union(*(named(bench, least) for world in worlds for bench in world.benches)), tmp_path)


def test_the_faults_outside_the_engines_fit_and_their_tests_are_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    bench = project_bench(Path("tests/project/mutants/mutants.toml"))
    check(named(bench, least=100), tmp_path)
    assert len(bench.mutants) <= 120
    for test in {test for mutant in bench.mutants for test in mutant.tests}:
        path, *names = test.split("::")
        code = (ROOT / path).read_text(encoding="utf-8") if names else ""
        assert (ROOT / path).exists(), test
        assert all(re.search(rf"\b(def|class) {name}\b", code) for name in names), test
