"""Fail where a package, a module, a function or the documentation is longer than ``[tool.size]`` allows."""

import ast
import sys
import tomllib
from pathlib import Path

LIMITS = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["size"]
LONGER = LIMITS.get("longer", {})
SOURCES = (".css", ".html", ".js", ".py")
found = {f"{folder}, lines": [0, limit] for folder, limit in LIMITS["lines"].items()}
for folder in LIMITS["lines"]:
    for path in (path for path in Path(folder).rglob("*") if path.suffix in SOURCES):
        text = path.read_text(encoding="utf-8")
        found[f"{folder}, lines"][0] += text.count("\n")
        if path.suffix == ".py" and folder != "tests":
            found[str(path)] = [text.count("\n"), LONGER.get(str(path), LIMITS["module"])]
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    length = (node.end_lineno or 0) - node.lineno + 1
                    found[f"{path}:{node.lineno}, {node.name}"] = [length, LONGER.get(node.name, LIMITS["function"])]
pages = [path.read_text(encoding="utf-8") for path in Path("docs").rglob("*.md")]
found |= {"docs, pages": [len(pages), LIMITS["pages"]], "docs, words": [len(" ".join(pages).split()), LIMITS["words"]]}
sys.exit("\n".join(f"{what}: {size}, at most {limit}" for what, (size, limit) in found.items() if size > limit) or None)
