"""Git checkouts: which one a command compares, and that its revisions are exactly what git checks out."""

import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from command_line import Ran, commit, git, rlparity, run

from rlparity import UsageError, load_world
from rlparity.cli.doctor import BROKEN, NOTE, packages
from rlparity.cli.main import main
from rlparity.engines import registry
from rlparity.engines.checkout import check_out, commit_of, status, trees_of
from rlparity.engines.module_paths import module_of, require_own_world
from rlparity.engines.python_process import python_environment
from rlparity.engines.remote import RemoteFactory
from rlparity.tools.project import checks_of
from rlparity.world import GROUP

TOYS = Path(__file__).parent / "faulty_orchard"
CLIMB = """
from dataclasses import replace
from faulty_orchard import WORLD as ORCHARD
from orchard.planes import PlanesEngine


class Climb(PlanesEngine):
    def step(self, actions):
        from paid import PAID  # late, as engines import what they need
        step = super().step(actions)
        return replace(step, reward=step.reward + PAID)


WORLD = replace(ORCHARD, name="climb", engines={"one": Climb})
"""
SMALL = "--games", "4", "--steps", "5", "--cases", "0"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which git's settings, attributes and submodules change what is checked out."""
    root = tmp_path_factory.mktemp("original")
    inner, outer = root / "inner", root / "outer"
    for folder in (inner, outer):
        folder.mkdir()
        git(folder, "init", "--quiet")
    (inner / "deep.py").write_text("DEEP = 1\n")
    (inner / ".gitattributes").write_text("deep.py export-ignore\n")
    commit(inner)
    dep = root / "dep"
    dep.mkdir()
    git(dep, "init", "--quiet")
    (dep / "deptop.py").write_text("DEP = 1\n")
    git(dep, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "deeper")
    commit(dep)
    files = {
        ".gitattributes": (
            "/tests export-ignore\nformat export-subst\n*.crlf text eol=crlf\nident ident\n"
            "utf16 working-tree-encoding=UTF-16LE text\nup filter=upper\nlarge filter=lfs diff=lfs merge=lfs -text\n"
        ),
        "tests/world.py": "EXPORTED = False\n",
        "format": "$Format:%H$\n",
        "lines.crlf": "one\ntwo\n",
        "ident": "$Id$\n",
        "up": "small\n",
        "large": "version https://git-lfs.github.com/spec/v1\n",
        "program": "#!/bin/sh\n",
        " a\nname\twith ümlaut": "x",
        "sub/.gitattributes": "here.txt eol=crlf\n",
        "sub/here.txt": "a\nb\n",
    }
    for name, text in files.items():
        (outer / name).parent.mkdir(exist_ok=True)
        (outer / name).write_text(text)
    (outer / "utf16").write_bytes("wide\n".encode("utf-16-le"))
    (outer / "program").chmod(0o755)
    (outer / "link").symlink_to("sub/here.txt")
    (outer / "dangling").symlink_to("nowhere")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(dep), "lib dep")
    commit(outer)
    return outer


def clone(original: Path, to: Path, autocrlf: str = "false", *, with_submodules: bool = True) -> Path:
    """A clean checkout with a filter of its own."""
    recurse = ["--recurse-submodules"] if with_submodules else []
    settings = "filter.upper.smudge=tr a-z A-Z", "filter.upper.clean=tr A-Z a-z", f"core.autocrlf={autocrlf}"
    filters = [word for setting in settings for word in ("-c", setting)]
    words = "-c", "protocol.file.allow=always", "clone", "--quiet", *filters, *recurse, str(original), str(to)
    git(original.parent, *words)
    return to


def files_in(root: Path) -> dict[str, tuple[int, bytes]]:
    """Type and x bit, and content, of each file and folder that is not git's."""
    found = {}
    for path in root.rglob("*"):
        if ".git" not in path.relative_to(root).parts:
            content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
            found[str(path.relative_to(root))] = (path.lstat().st_mode & 0o170100, content)
    return found


def exported(checkout: Path, to: Path, revision: str = "HEAD") -> dict[str, tuple[int, bytes]]:
    to.mkdir(parents=True)
    check_out(trees_of(checkout, commit_of(checkout, revision)), to)
    return files_in(to)


@pytest.mark.parametrize("kind", ["clone", "without submodules", "sparse", "worktree", "autocrlf"])
def test_a_revision_equals_a_clean_checkout_of_it_file_by_file(original: Path, tmp_path: Path, kind: str) -> None:
    is_whole, autocrlf = kind in ("clone", "autocrlf"), "true" if kind == "autocrlf" else "false"
    checkout = clone(original, tmp_path / "checkout", autocrlf, with_submodules=is_whole)
    if kind == "sparse":
        git(checkout, "sparse-checkout", "set", "sub")
    elif kind == "worktree":
        git(checkout, "worktree", "add", "--quiet", "../linked")
        checkout = tmp_path / "linked"
    assert status(checkout) == (commit_of(checkout, "HEAD"), False)
    before = subprocess.check_output(["git", "-C", checkout, "count-objects", "-v"])
    there = files_in(checkout)
    assert exported(checkout, tmp_path / "export" / "files") == there
    assert ("lib dep/deeper/deep.py" in there) == is_whole
    assert ("tests/world.py" in there) == (kind != "sparse")
    if kind != "sparse":
        end = b"\r\n" if kind == "autocrlf" else b"\n"
        assert there["lines.crlf"][1] == b"one\r\ntwo\r\n"
        assert (there["up"][1], there["format"][1]) == (b"SMALL" + end, b"$Format:%H$" + end)
    assert subprocess.check_output(["git", "-C", checkout, "count-objects", "-v"]) == before
    assert status(checkout)[1] is False


def climb_repository(root: Path, folder: str) -> Path:
    """A repository with the world climb in a folder, which pays 0 for a step at first and 3 now."""
    (root / folder).mkdir(parents=True)
    git(root, "init", "--quiet")
    (root / folder / "climb.py").write_text(CLIMB)
    (root / ".gitignore").write_text("__pycache__\n")
    for paid in (0, 3):
        (root / folder / "paid.py").write_text(f"PAID = {paid}\n")
        commit(root)
    return root


@pytest.fixture
def climbs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """Two checkouts of a world: it is imported from the first; the second, with a commit more, is worked in."""
    first, second = climb_repository(tmp_path / "first", "source"), tmp_path / "second"
    git(first, "worktree", "add", "--quiet", str(second))
    (second / "source" / "paid.py").write_text("PAID = 5\n")
    commit(second)
    monkeypatch.syspath_prepend(first / "source")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(second)
    forget()
    yield first, second
    forget()


def forget() -> None:
    for name in ("climb", "paid"):
        sys.modules.pop(name, None)


def diff(*words: str) -> Ran:
    return rlparity("diff", *words, *SMALL, "--json", "-", world="climb:WORLD")


@pytest.mark.parametrize(
    "words", ["diff HEAD~1 HEAD", "diff HEAD~1 .", "run --engines one,one", "coverage", "mutants", "rewards"]
)
def test_a_world_of_another_checkout_than_that_of_the_working_directory_is_refused(
    climbs: tuple[Path, Path], words: str
) -> None:
    first, second = (each / "source" for each in climbs)
    told = rlparity(*words.split(), world="climb:WORLD").refusal()
    assert f"imported from {first}, but the repository of the working directory has it in {second}: " in told
    assert f"put PYTHONPATH={second} before the command" in told


def test_tests_scripts_and_doctors_say_so_too(climbs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = climbs
    with pytest.raises(
        UsageError, match=rf"^\[tool.rlparity.worlds.a\], world: .* {first}/source, .* {second}/source: "
    ):
        next(checks_of("a", {"world": "climb:WORLD"}))
    with pytest.raises(UsageError, match=f"{first}/source, .* {second}/source: "):
        load_world("climb:WORLD")
    with pytest.raises(UsageError, match=f"^world 'gym:climb:Climb-v0' is imported from {first}/source, "):
        require_own_world("gym:climb:Climb-v0", module_of("gym:climb:Climb-v0"))
    assert [*map(module_of, ("gym:CartPole-v1", "gym:no_such:Climb-v0"))] == ["", ""]
    world = load_world("climb:WORLD", anywhere=True)
    served = RemoteFactory(world, "climb:WORLD", "one", python_environment({}, map(Path, sys.path)))
    assert served.describe()["home"] == str(first / "source")  # such as a copy with a planted fault
    entry = EntryPoint("climb", "climb:WORLD", GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    (check,) = (each for each in run(main, "doctor", "--json").json["checks"] if each["name"] == "world")
    assert (check["status"], f"{first}/source" in check["found"]) == (BROKEN, True)
    for root in climbs:
        (root / "tool").mkdir()
        (root / "tool" / "__init__.py").touch()
    harness = packages("rl-parity", (), "tool", first / "tool", remedy="")
    assert (harness.status, harness.remedy.endswith(f" has another in {second}/tool")) == (NOTE, True)


def test_revisions_are_those_of_the_working_directory(
    climbs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever git has told a hook, and however deep in the checkout it runs."""
    first, second = climbs
    monkeypatch.syspath_prepend(second / "source")  # as PYTHONPATH does
    monkeypatch.chdir(second / "source")
    for name, value in {"DIR": first / ".git/worktrees/second", "INDEX_FILE": "no-such", "PREFIX": "source/"}.items():
        monkeypatch.setenv(f"GIT_{name}", str(value))
    assert status(second) == (commit_of(second, "HEAD"), False)
    (second / "note").write_text("not committed")
    found = diff("HEAD~1", ".", "--price-a", "sting=-0.7").json
    assert [side["commit"] for side in found["sides"]] == [commit_of(second, "HEAD~1"), commit_of(second, "HEAD")]
    shown = {family["family"]: family["transitions"] for family in found["families"]}
    assert 0 < shown["rewards:sting"] < shown["reward"] == found["transitions"]  # a commit pays more for every step
    old, new = found["sides"]
    assert (old["label"], old["dirty"], old["prices"]) == ("one@rev:HEAD~1 sting=-0.7", False, {"sting": -0.7})
    assert (new["label"], new["dirty"], new["prices"]) == ("one", True, {})
    elsewhere = climb_repository(tmp_path / "elsewhere", "other")
    monkeypatch.chdir(elsewhere)
    for sides in (("HEAD", "HEAD"), (".", ".")):
        told = diff(*sides).refusal()
        assert f"imported from {second}/source, but revisions and . are those of {elsewhere}, where this runs" in told
    assert rlparity("run", "--engines", "one,one", "--no-report", *SMALL[:4], world="climb:WORLD").code == 0


@pytest.mark.long
@pytest.mark.parametrize("layout", ["climb", "renamed"])
def test_a_world_that_a_hook_of_an_editable_install_finds_is_found_at_a_revision(tmp_path: Path, layout: str) -> None:
    """Setuptools registers a finder where a folder has more than the packages."""
    root = tmp_path / "root"
    (root / "lib" / layout).mkdir(parents=True)
    git(root, "init", "--quiet")
    (root / "lib" / layout / "__init__.py").write_text(CLIMB)
    (root / "lib" / "other.py").touch()
    (root / "setup.cfg").write_text(
        "[metadata]\nname = climb\nversion = 1\n[options]\npy_modules = paid\npackages = climb\n"
        f"package_dir =\n    = lib\n    climb = lib/{layout}\n"
        "[options.entry_points]\nrlparity.worlds =\n    climbing = climb:WORLD\n"
    )
    for paid in (0, 3):
        (root / "lib" / "paid.py").write_text(f"PAID = {paid}\n")
        commit(root)
    build = "import setuptools.build_meta as backend, sys; backend.build_editable(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, tmp_path], cwd=root, check=True, capture_output=True)
    venv.create(tmp_path / "venv", symlinks=True)
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(packages)
    (dist_info,) = packages.glob("*.dist-info")
    (dist_info / "direct_url.json").write_text(f'{{"dir_info": {{"editable": true}}, "url": "file://{root}"}}')
    (packages / "here.pth").write_text("\n".join([*filter(None, sys.path), str(TOYS.parent)]))
    words = "-P", "-m", "rlparity", "diff", "HEAD~1", "HEAD", "--world", "climbing", *SMALL
    environment = {**os.environ, "PYTHONPATH": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [str(tmp_path / "venv" / "bin" / "python"), *words]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if layout == "climb":
        assert (done.returncode, done.stderr) == (1, "")
        assert "only rewards differ (reward), not expected" in done.stdout
    else:
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert f"package 'climb' is imported from {root}/lib/renamed, and " in done.stderr
