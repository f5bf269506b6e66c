"""The reference implementations of ``tests`` are written from the rules alone: they import nothing that they judge."""

import ast
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ALLOWED = {*sys.stdlib_module_names, "numpy", "parity"}
"""``parity`` is the harness, through which a reference implementation plays beside engines."""


def imported(path: Path) -> set[str]:
    """What a module imports from outside of its folder: top-level names, and a dot for a relative import upwards."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level != 1:
            found.add("." if node.level else str(node.module).partition(".")[0])
    return found


@pytest.mark.parametrize("folder", ["hackmatrix/rules/reference", "goodharts/reading"])
def test_a_reference_implementation_imports_nothing_of_the_world_that_it_judges(folder: str) -> None:
    files = list((TESTS / folder).rglob("*.py"))
    assert len(files) > 3
    assert {path.name: imported(path) - ALLOWED for path in files if imported(path) - ALLOWED} == {}
