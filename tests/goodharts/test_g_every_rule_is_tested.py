"""That every rule id has a test named after it."""

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RULEBOOK = (HERE.parents[1] / "docs" / "reference" / "goodharts.md").read_text()
RULES = re.findall(r"^- \*\*(G\d+)\*\*", RULEBOOK, re.MULTILINE)
NO_RULES_OF_THE_WORLD = {"G8": "what the critic of the trainer sees", "G11": "what the evaluation counts"}


def names_of_tests() -> set[str]:
    """The names of all tests of this folder and those in it."""
    trees = [ast.parse(path.read_text()) for path in HERE.rglob("test_*.py")]
    return {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_rulebook_has_rules_of_these_ids() -> None:
    assert [f"G{number}" for number in range(1, 14)] == RULES


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_a_test_named_after_it(rule: str) -> None:
    pattern = re.compile(rf"^test_(\w+_)?{rule}(_|$)")
    found = any(pattern.match(name) for name in names_of_tests())
    if not found and rule in NO_RULES_OF_THE_WORLD:
        pytest.skip(f"{rule} is {NO_RULES_OF_THE_WORLD[rule]}: no test is named after it yet")
    assert found
