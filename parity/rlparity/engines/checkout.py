"""Git checkouts: the repository of a folder, its commits, and their files as git checks them out."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rlparity.errors import UsageError

_OF_HOOKS = (
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_DIR", "GIT_GRAFT_FILE"),
    *("GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS"),
    *("GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE"),
)
"""Variables of ``git rev-parse --local-env-vars``, except configuration, which people set for all repositories."""
_SUBMODULE, _COMMIT = "160000 ", "# branch.oid "
_READ_TREE = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.splitIndex=false", "-c", "core.fsmonitor=false"),
    *("read-tree", "--reset", "-u", "--no-recurse-submodules"),
)
"""Git command that writes the files of a commit without changing the repository."""


def repository_of(folder: Path) -> Path | None:
    """Root of the git checkout that a folder is in; None where it is in none."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)


def commit_of(checkout: Path, revision: str) -> str:
    """Resolve a revision of the checkout to a commit of 40 hexadecimal digits; raises UsageError if there is none."""
    words = "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    return _git(f"there is no revision '{revision}' in {checkout}: name a commit, branch or tag of it", checkout, words)


def status(checkout: Path) -> tuple[str | None, bool]:
    """Commit of a checkout (None before the first one or without git), and whether its files differ from the commit."""
    if shutil.which("git") is None:
        return None, False
    words = "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--untracked-files=normal"
    lines = _git(f"git status fails in {checkout}", checkout, words).splitlines()
    commits = [line.removeprefix(_COMMIT) for line in lines if line.startswith(_COMMIT)]
    commit = next((each for each in commits if each != "(initial)"), None)
    return commit, any(not line.startswith("#") for line in lines)


class Tree(NamedTuple):
    """A commit of a repository, or of a submodule. folder: in the checkout; git_dir: the repository's own."""

    folder: Path
    git_dir: Path
    commit: str


def trees_of(checkout: Path, commit: str, folder: Path = Path()) -> list[Tree]:
    """List the trees of a commit of the repository in ``folder`` of a checkout: its own, then those of submodules.

    Only submodules that are checked out are listed. Raises UsageError where a repository lacks the commit.
    """
    repository = checkout / folder
    git_dir = Path(_git(f"git fails in {repository}", repository, ("rev-parse", "--absolute-git-dir")))
    fault, words = f"{repository} has no commit {commit}: fetch that", ("ls-tree", "-r", "-z", "--full-tree", commit)
    trees = [Tree(folder, git_dir, commit)]
    for line in _git(fault, git_dir, words, _variables(git_dir)).split("\0")[:-1]:
        mode, _, name = line.partition("\t")
        if mode.startswith(_SUBMODULE) and (repository / name / ".git").exists():
            trees += trees_of(checkout, mode.split()[2], folder / name)
    return trees


def check_out(trees: list[Tree], folder: Path) -> None:
    """Write the files of trees into an empty folder, exactly as git checks them out, filters applied."""
    for number, tree in enumerate(trees):
        place, index = folder / tree.folder, folder.with_name(f"index-{number}")
        variables = {**_variables(tree.git_dir), "GIT_WORK_TREE": str(place), "GIT_INDEX_FILE": str(index)}
        place.mkdir(parents=True, exist_ok=True)
        _git(f"{tree.commit} in {tree.git_dir} cannot be checked out", place, (*_READ_TREE, tree.commit), variables)


def key_of(trees: list[Tree]) -> str:
    """Cache key for the files of trees, which also depend on git's attributes and configuration."""
    digest = hashlib.sha256()
    for tree in trees:
        variables = _variables(tree.git_dir)
        words = "config", "--null", "--get-regexp", r"^(core|filter|extensions)\."
        digest.update(f"{tree.folder}\0{tree.commit}\0".encode(errors="surrogateescape"))
        digest.update(_git("git config fails", tree.git_dir, words, variables).encode(errors="surrogateescape"))
        for name in ("info/attributes", "info/sparse-checkout"):
            path = _git("git fails", tree.git_dir, ("rev-parse", "--git-path", name), variables)
            if (file := tree.git_dir / path).is_file():
                digest.update(file.read_bytes())
    return f"{trees[0].commit}-{digest.hexdigest()[:12]}"


def _variables(git_dir: Path) -> dict[str, str]:
    """Environment variables with which git works without a checkout, whatever the repository's configuration names."""
    return {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(git_dir)}


def _git(fault: str, folder: Path, words: tuple[str, ...], variables: Mapping[str, str] | None = None) -> str:
    return output(fault, "git", "-C", folder, *words, env={**outside_hooks(os.environ), **(variables or {})})


def outside_hooks(environment: Mapping[str, str]) -> dict[str, str]:
    """Remove the variables that git sets for its hooks, which name one repository and its index."""
    return {name: value for name, value in environment.items() if name not in _OF_HOOKS}


def output(fault: str, *command: str | Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command, return its output; raises UsageError where it fails, with its last error line, or is missing."""
    try:
        done = subprocess.run(command, env=env, capture_output=True, check=False)
    except OSError:
        raise UsageError(f"there is no {command[0]} on the PATH that runs: install it.") from None
    if done.returncode != 0:
        told = done.stderr.decode(errors="replace")
        said = re.findall(r"^(?!note: |hint: )(?:ERROR: )?(.*\S)", told, re.MULTILINE)
        raise UsageError(f"{': '.join([fault, *said[-1:]]).rstrip('.')}.")
    return os.fsdecode(done.stdout).removesuffix("\n")
