"""The harness and rlworldkit know no game, and reference implementations nothing that they judge."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hackmatrix import rules

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*(ROOT / "python" / "rlworldkit").rglob("*.py"), *(ROOT / "parity" / "rlparity").rglob("*.py")])
OWN_WORDS = {"hackmatrix", "goodharts", "swift", "siphon", "stage", "roguelike", "enemy", *rules.ENEMIES}
SIZES = (rules.NUM_ACTIONS, len(rules.MARKS), rules.OBSERVATION_SIZE)


def test_no_word_and_no_size_of_a_game() -> None:
    found = set()
    for path in FILES:
        text = path.read_text().replace("jax.stages", "").replace("daemon=True", "").replace("daemon_threads", "")
        words = re.findall(rf"(?<![a-z])({'|'.join(OWN_WORDS)})", text, re.IGNORECASE)
        if path.is_relative_to(ROOT / "parity"):
            words = [word for word in words if word not in ("stage", "enemy")]  # in examples
        if path.name == "generated.py":  # which edits the language
            words = [word for word in words if word.lower() != "swift"]
        if path.suffix != ".html" and path.name != "picture.py":  # which have pixels
            words += re.findall(rf"(?<![\w.#%-])({'|'.join(map(str, SIZES))})(?![\w.%])", text)
        found |= {(path.name, word) for word in words}
    assert found == set()


def test_sizes_of_the_game_stand_in_its_rules_alone() -> None:
    """No number of actions or marks and no size of the observation in code; docstrings and comments may name them."""
    written = []
    for path in sorted((ROOT / "python").rglob("*.py")):
        code = re.sub(r'"""(?:.|\n)*?"""|#.*', "", path.read_text())
        for size in SIZES:
            for found in re.finditer(rf"(?<![\w.]){size}(?![\w.])", code):
                written.append(f"{path.relative_to(ROOT)}: {code[: found.start()].count(chr(10)) + 1}: {size}")
    # coordinates in pixels, and lines of a terminal
    drawing = [line for line in written if re.search(r"(render|watch)/picture\.py|watch/text\.py", line)]
    assert [line for line in written if line not in drawing] == []


def test_the_kit_is_tested_on_the_toy_world_alone() -> None:
    tests = [(path, path.read_text()) for path in (ROOT / "tests" / "rlworldkit").rglob("*.py")]
    imports = re.compile(r"^\s*(import|from) (hackmatrix|goodharts|tests\.(hackmatrix|goodharts))\b", re.MULTILINE)
    assert [path.name for path, text in tests if imports.search(text)] == []


THREEFRY = "tests.hackmatrix.rules.randomness"
ALLOWED = {*sys.stdlib_module_names, "numpy", "rlparity", THREEFRY}
"""``rlparity`` is the harness, through which a reference implementation plays beside engines."""


def imported(path: Path) -> set[str]:
    """Imports of a module from outside of its folder: packages, modules of tests, and a dot for one upwards."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level != 1:
            package = str(node.module).partition(".")[0]
            found.add("." if node.level else str(node.module) if package == "tests" else package)
    return found


def test_a_reference_implementation_imports_nothing_of_the_world_that_it_judges() -> None:
    files = [*(ROOT / "tests" / "goodharts" / "reading").rglob("*.py"), ROOT / f"{THREEFRY.replace('.', '/')}.py"]
    assert len(files) > 3
    assert {path.name: imported(path) - ALLOWED for path in files if imported(path) - ALLOWED} == {}


OLD_NAMES = (
    r"(?<![\w/.-])parity (run|record|replay|coverage|mutants|rewards|diff|ledger|init|doctor|serve|transfer|debug)\b"
    r"|\b(import|from) parity\b|-m parity\b|tool\.parity\b|(?<![\w.])parity\.(worlds|world|engine|core)\b"
    r"|(?<!rl)parity-report|\b(import|from) worldkit\b|python/worldkit|(?<!rl)worldkit\.(?!json)"
)


def test_no_file_says_the_names_of_before() -> None:
    """But the changelog; the data that Stable-Baselines3's models have beside them are named ``worldkit.json``."""
    here = Path(__file__).relative_to(ROOT)
    words = ["git", "grep", "-nIP", OLD_NAMES, "--", ".", ":!CHANGELOG.md", f":!{here}"]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if "not a git repository" in found.stderr:
        pytest.skip("These are no files of a git checkout.")
    assert (found.returncode, found.stdout) == (1, ""), found.stderr
