"""Planted faults of a world, and how a mutated copy of its source is run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """Planted fault: in ``file``, relative to the bench's source, ``new`` replaces ``old``, which occurs exactly once.

    old is matched word by word, ignoring whitespace. rules: ids of the rules that the fault breaks. tests: pytest files
    or node ids that should fail, where tests judge.
    """

    name: str
    file: str
    old: str
    new: str
    rules: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class MutationBench:
    """Mutants of one engine, or of a whole project, and how a mutated copy is run.

    engine: the engine that is mutated; reference: the one that it is compared with. For a project that its tests
        judge: the project's name in the report, and an empty string.
    source: folder that is copied, except names that match ``ignore`` (shell patterns).
    parts: names in ``source`` that are copied, such as one package of a site-packages folder; empty: all.
    environment: from the copy's folder, the environment variables under which a fresh Python process opens
        the mutated copy instead of the original (``PYTHONPATH`` for Python, a path to a binary, …).
    build: compiles the copy, if that is needed; raises EngineError where it does not compile. Copies are
        reused from mutant to mutant, so incremental builds save time.
    program: compiled form of a copy, such as its binary's bytes; a mutant that leaves it unchanged is no survivor. It
        is called only for survivors, so it may compile in another way than ``build``.
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
