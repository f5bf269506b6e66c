"""Benches of ``rlparity mutants``: a copy of either engine's source, compared with the other engine."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from hackmatrix.swift_env.process import BINARY_VARIABLE, binary_path
from rlparity import EngineError, MutationBench
from rlparity.tools.mutant_table import read_mutants
from rlworldkit.jax.xla import for_mutants

_PACKAGE = Path(__file__).resolve().parent
_MUTANTS = _PACKAGE / "mutants.toml"


def _scratch(copy: Path) -> Path:
    """A build folder of the copy's own: the compiler's caches know where they lie, and a copied one is refused."""
    return copy / f".build-{copy.name}"


def _built(copy: Path) -> None:
    where = ("--package-path", str(copy), "--scratch-path", str(_scratch(copy)))
    command = ("swift", "build", *where, "--configuration", "release", "--product", "HackMatrix")
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError as error:
        raise EngineError("there is no Swift toolchain on the PATH: install Swift 6.2 to run these mutants.") from error
    if done.returncode != 0:
        raise EngineError(f"the Swift copy does not build: {(done.stdout + done.stderr).strip()[-300:]}")


def _binary(copy: Path) -> Path:
    return _scratch(copy) / "release" / "HackMatrix"


def _with_binary(copy: Path) -> Mapping[str, str]:
    return {BINARY_VARIABLE: str(_binary(copy)), **for_mutants(copy)}


BENCHES = (
    MutationBench(
        engine="swift",
        reference="jax",
        source=_PACKAGE.parents[1] / "swift",  # of a checkout; it is not installed
        mutants=read_mutants(_MUTANTS, "swift", folder="Sources/HackMatrixCore/"),
        environment=_with_binary,
        build=_built,
        program=lambda copy: _binary(copy).read_bytes(),
        ignore=(".build*",),
    ),
    MutationBench(
        engine="jax",
        reference="swift",
        source=_PACKAGE.parent,
        parts=(_PACKAGE.name,),
        mutants=read_mutants(_MUTANTS, "jax", folder="hackmatrix/jax_env/"),
        environment=lambda copy: {"PYTHONPATH": str(copy), BINARY_VARIABLE: str(binary_path()), **for_mutants(copy)},
    ),
)
