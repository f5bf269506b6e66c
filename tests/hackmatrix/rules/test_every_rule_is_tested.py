"""That every rule id has a test named after it."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from .tables import PROGRAM_TABLE, REWARD_NAMES, RULEBOOK

RULES = re.findall(r"^- \*\*([A-Z]\d+)\*\*", RULEBOOK, re.MULTILINE)
PROGRAMS = ["P_" + name.upper().replace("+", "_PLUS").replace("-", "_") for name, *_ in PROGRAM_TABLE]
REWARDS = [f"W_{name}" for name in REWARD_NAMES]


@cache
def names_of_tests() -> set[str]:
    """The names of all tests of this folder, and those of the rows of their tables."""
    nodes = [node for path in Path(__file__).parent.glob("test_*.py") for node in ast.walk(ast.parse(path.read_text()))]
    functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return functions | {f"test_{text}" for text in texts}


@pytest.mark.parametrize("rule", [*RULES, *PROGRAMS, *REWARDS])
def test_every_rule_has_a_test_named_after_it(rule: str) -> None:
    pattern = re.compile(rf"^test_(\w+_)?{rule}(_|:|$)")
    assert any(pattern.match(name) for name in names_of_tests())
