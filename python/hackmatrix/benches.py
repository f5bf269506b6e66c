"""Benches of ``rlparity mutants``: a copy of either engine's source, compared with the other engine."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from hackmatrix.swift_env.process import BINARY_VARIABLE, binary_path
from rlparity import EngineError, MutationBench
from rlparity.tools.mutant_table import read_mutants
from rlworldkit.jax.xla import for_mutants, traced_program

_PACKAGE = Path(__file__).resolve().parent
_MUTANTS = _PACKAGE / "mutants.toml"


def _built(copy: Path, *options: str) -> None:
    """Make a debug build, in which a change compiles in a third of the time.

    Each copy has its own build folder: the compiler's caches contain their path, and a copied cache is refused.
    """
    where = ("--package-path", str(copy), "--scratch-path", str(copy / f".build-{copy.name}"))
    command = ("swift", "build", *where, *(options or ("--product", "HackMatrix")))
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError as error:
        raise EngineError("there is no Swift toolchain on the PATH: install Swift 6.2 to run these mutants.") from error
    if done.returncode != 0:
        raise EngineError(f"the Swift copy does not build: {(done.stdout + done.stderr).strip()[-300:]}")


def _optimised(copy: Path) -> bytes:
    """The engine's optimised object code, without code that has no effect and without line numbers."""
    _built(copy, "--configuration", "release", "-debug-info-format", "none", "--target", "HackMatrixCore")
    objects = (copy / f".build-{copy.name}" / "release" / "HackMatrixCore.build").glob("*.o")
    return b"".join(path.read_bytes() for path in sorted(objects))


def _with_binary(copy: Path) -> Mapping[str, str]:
    binary = copy / f".build-{copy.name}" / "debug" / "HackMatrix"
    return {BINARY_VARIABLE: str(binary), **for_mutants(copy)}


def _with_source(copy: Path) -> Mapping[str, str]:
    return {"PYTHONPATH": str(copy), BINARY_VARIABLE: str(binary_path()), **for_mutants(copy)}


def _traced(copy: Path) -> bytes:
    host = ("state_from_dict.py", "state_to_dict.py", "tables.py")  # reads and writes states, and tells the rules
    files = (copy / _PACKAGE.name / "jax_env" / name for name in host)
    return traced_program("hackmatrix.world:WORLD", _with_source(copy), *files)


BENCHES = (
    MutationBench(
        engine="swift",
        reference="jax",
        source=_PACKAGE.parents[1] / "swift",  # of a checkout; it is not installed
        mutants=read_mutants(_MUTANTS, "swift", folder="Sources/HackMatrixCore/"),
        environment=_with_binary,
        build=_built,
        program=_optimised,
        ignore=(".build*",),
    ),
    MutationBench(
        engine="jax",
        reference="swift",
        source=_PACKAGE.parent,
        parts=(_PACKAGE.name,),
        mutants=read_mutants(_MUTANTS, "jax", folder="hackmatrix/jax_env/"),
        environment=_with_source,
        program=_traced,
    ),
)
