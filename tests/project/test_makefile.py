"""The Makefile, on a copy of the few files that its rules read, ``.ci/run`` with stand-ins for tools, and sizes."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OWN = ("parity", "python/rlworldkit")
INPUTS = (
    "Makefile",
    ".ci/install",
    ".ci/with-clock",
    "pyproject.toml",
    *(f"{home}/pyproject.toml" for home in OWN),
    "constraints.txt",
)
OLD, NEW = 1_000_000_000, 2_000_000_000

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "CI"}
    return subprocess.run(
        ["make", *words], cwd=folder, env=clean, capture_output=True, text=True, timeout=60, check=False
    )


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def installed(root: Path, tmp_path: Path) -> Path:
    """A project whose environment has just been installed, with every extra."""
    for name in (*OWN, ".ci"):
        (tmp_path / name).mkdir(parents=True)
    for name in INPUTS:
        shutil.copy(root / name, tmp_path / name)
        os.utime(tmp_path / name, (OLD, OLD))
    (tmp_path / ".venv").mkdir()
    for name in ("pyvenv.cfg", ".core", ".all"):
        (tmp_path / ".venv" / name).touch()
    return tmp_path


def test_an_installed_project_is_installed_anew_when_the_dependencies_change(installed: Path) -> None:
    (installed / "python" / "new.py").touch()
    assert make(installed, "--question", "setup").returncode == 0
    assert "pip" not in make(installed, "--dry-run", "train").stdout
    for changed in INPUTS[3:]:
        os.utime(installed / changed, (NEW, NEW))
        assert make(installed, "--question", "setup").returncode != 0
        os.utime(installed / changed, (OLD, OLD))


@pytest.mark.parametrize(("target", "what"), [("train", "--editable ."), ("setup", '--editable ".[dev]"')])
def test_a_fresh_clone_installs_what_the_target_needs(installed: Path, target: str, what: str) -> None:
    shutil.rmtree(installed / ".venv")
    planned = make(installed, "--dry-run", target).stdout.splitlines()
    newer_pip, install = [line for line in planned if re.search(r"-m pip|\.ci/install", line)]
    assert ' install --quiet "pip>=26" uv || ' in newer_pip
    asked = f"--constraint constraints.txt --editable ./parity --editable ./python/rlworldkit {what}"
    assert f"'.ci/install .venv/bin/python {asked}'" in install


INSTALLER = """#!/bin/sh
case "$*" in
  *config\\ list) printf "%s='%s'\\n" global.cert /pem global.index-url https://a/simple :env:.find-links /wheels ;;
  -m\\ uv\\ --version) exit $MISSING ;;
  -m\\ uv*) [ "$FAILS" = 0 ] && echo uv "$SSL_CERT_FILE" "$UV_DEFAULT_INDEX" "$UV_FIND_LINKS" ;;
  *) echo "$2" ;;
esac
"""


@pytest.mark.parametrize(
    ("missing", "fails", "by"), [("0", "0", "uv /pem https://a/simple /wheels"), ("1", "0", "pip"), ("0", "1", "pip")]
)
def test_uv_installs_from_where_pip_would_and_else_pip_does(installed: Path, missing: str, fails: str, by: str) -> None:
    python = executable(installed / "some-python", INSTALLER)
    env = {"PATH": os.environ["PATH"], "MISSING": missing, "FAILS": fails}
    assert subprocess.check_output([".ci/install", python, "x"], cwd=installed, env=env, text=True) == f"{by}\n"


WITHOUT_NEWER_PIP = """#!/bin/sh
case "$*" in
  -m\\ venv*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && touch "$3/pyvenv.cfg" ;;
  *pip\\>=26*) exit 1 ;;
esac
"""


def test_an_index_without_a_newer_pip_will_do(installed: Path) -> None:
    shutil.rmtree(installed / ".venv")
    python = executable(installed / "some-python", WITHOUT_NEWER_PIP)
    answer = make(installed, "setup", f"PYTHON={python}")
    assert answer.returncode == 0
    first, slower, last = answer.stderr.splitlines()
    assert first == "Making the environment .venv (half a minute) ..."
    assert slower == f"Going on with the pip that {python} brings, which is slower."
    assert last == "Installing every extra into .venv (one to four minutes the first time) ..."
    assert (installed / ".venv" / ".all").exists()


@pytest.mark.parametrize(("ci", "returncode"), [("true", 2), ("", 0)])
def test_a_missing_swift_toolchain_fails_in_ci_only(installed: Path, ci: str, returncode: int) -> None:
    tools = installed / "tools"
    tools.mkdir()
    for tool in ("sh", "make"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    answer = make(installed, "swift", f"CI={ci}", f"PATH={tools}")
    assert answer.returncode == returncode
    assert "https://www.swift.org/install" in answer.stdout + answer.stderr


PYTHON = 'case "$2" in *ensurepip*) [ -e "$HERE/venv-installed" ] ;; esac'
APT = 'echo "$@" >> "$HERE/apt.log"; case "$*" in *python3-venv*) touch "$HERE/venv-installed" ;; esac'
MAKE = 'echo "make $* with CI=$CI"; exit "$MAKE_EXIT"'


def test_ci_installs_what_is_missing_and_ends_as_make_does(root: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, script in {"python3": PYTHON, "apt-get": APT, "make": MAKE}.items():
        executable(tools / name, f"#!/bin/sh\n{script}\n")
    for name in ("bash", "sh", "dirname", "touch"):
        (tools / name).symlink_to(str(shutil.which(name)))
    (tmp_path / ".ci").mkdir()
    shutil.copy(root / ".ci" / "run", tmp_path / ".ci" / "run")

    def ci(make_exit: int) -> "subprocess.CompletedProcess[str]":
        env = {"PATH": str(tools), "HERE": str(tmp_path), "MAKE_EXIT": str(make_exit), "HOME": os.environ["HOME"]}
        run = tmp_path / ".ci" / "run"
        return subprocess.run([run], env=env, capture_output=True, text=True, timeout=30, check=False)

    first = ci(0)
    assert (first.returncode, first.stdout) == (0, "make test with CI=true\n"), first.stderr
    updated, installed = (tmp_path / "apt.log").read_text().splitlines()
    assert updated.startswith("update")
    assert installed.endswith(" python3-venv chromium")
    (tools / "chromium").symlink_to(tools / "sh")
    (tools / "apt-get").unlink()
    assert ci(2).returncode == 2  # with nothing left to install
    (tmp_path / "venv-installed").unlink()
    other = ci(0)
    assert (other.returncode, "python3-venv missing" in other.stderr) == (1, True)


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
