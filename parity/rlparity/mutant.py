"""Planted faults of a world, and how a mutated copy of its source is run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """A fault: in ``file``, relative to the bench's source, ``old``, found just once, becomes ``new``.

    old is compared word by word, whatever space lies between. rules: the ids of those that it breaks. tests: where
    tests judge, pytest's files or node ids that should notice.
    """

    name: str
    file: str
    old: str
    new: str
    rules: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class MutationBench:
    """A set of mutants of one engine, or of a whole project, and how a mutated copy is run.

    engine: the engine that is mutated; reference: the one it is held against. Of a project that its tests judge:
        what the report calls it, and nothing.
    source: folder that is copied, without what ``ignore`` names (shell patterns).
    parts: names in ``source``, such as a package's in the folder of all that are installed; only these are copied.
    environment: from the copy's folder, the environment variables under which a fresh Python process opens
        the mutated copy instead of the original (``PYTHONPATH`` for Python, a path to a binary, …).
    build: compiles the copy, if that is needed; raises EngineError when it does not compile. Copies are
        reused from mutant to mutant, so incremental builds pay.
    program: what a copy compiles to, such as its binary's bytes: a survivor that leaves it as it was is none. Only
        survivors are asked, so that it may compile in another way than ``build``.
    """

    engine: str
    reference: str
    source: Path
    mutants: tuple[Mutant, ...]
    environment: Callable[[Path], Mapping[str, str]]
    build: Callable[[Path], None] | None = None
    program: Callable[[Path], bytes] | None = None
    ignore: tuple[str, ...] = ("__pycache__", ".git", ".venv", ".cache")
    parts: tuple[str, ...] = ()
