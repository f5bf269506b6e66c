"""Every rule id has a test named after it."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
RULES = re.findall(r"^- \*\*(G\d+)\*\*", (HERE.parents[1] / "docs/reference/goodharts.md").read_text(), re.MULTILINE)


def test_every_rule_of_the_rulebook_has_a_test_named_after_it() -> None:
    assert [f"G{number}" for number in range(1, 14)] == RULES
    trees = [ast.parse(path.read_text()) for path in HERE.rglob("test_*.py")]
    names = [node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    named = {rule for name in names if name.startswith("test_") for rule in re.findall(r"(?<=_)G\d+(?=_|$)", name)}
    assert set(RULES) <= named
