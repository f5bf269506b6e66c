"""What is longer than its ceiling in ``[tool.size]`` is named."""

import subprocess
import sys
from pathlib import Path

LIMITS = "[tool.size]\nfunction = 3\nmodule = 5\npages = 1\nwords = 3\n[tool.size.lines]\npackage = 9\n"
SHORT, LONG = "def short():\n    a = 1\n    return a\n", "def long():\n    a = 1\n    b = 2\n    return a, b\n\n\n"


def test_each_kind_of_ceiling_is_checked(root: Path, tmp_path: Path) -> None:
    def faults(**files: str) -> list[str]:
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        words = [sys.executable, str(root / ".ci" / "check_size.py")]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False).stderr.splitlines()

    assert faults(pyproject_toml=LIMITS, package__a_py=SHORT, package__b_js="\n" * 6, docs__a_md="one two three") == []
    assert set(faults(package__c_py=LONG, docs__b_md="four")) == {
        "package, lines: 15, at most 9",
        "package/c.py: 6, at most 5",
        "package/c.py:1, long: 4, at most 3",
        "docs, pages: 2, at most 1",
        "docs, words: 4, at most 3",
    }
