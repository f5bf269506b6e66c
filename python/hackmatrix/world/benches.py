"""Where ``parity mutants`` plants its faults: a copy of either engine's source, held to the other engine."""

import os
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path

from hackmatrix.swift_env.process import BINARY_VARIABLE, binary_path
from parity import EngineError, Mutant, MutationBench

_ROOT = Path(__file__).resolve().parents[3]


def _scratch(copy: Path) -> Path:
    """A build folder of the copy's own: the compiler's caches know where they lie, and a copied one is refused."""
    return copy / f".build-{copy.name}"


def read_mutants(engine: str, folder: str) -> tuple[Mutant, ...]:
    """The mutants of ``mutants_ENGINE.toml``, whose files lie in ``folder`` of the bench's source."""
    table = tomllib.loads((Path(__file__).parent / f"mutants_{engine}.toml").read_text(encoding="utf-8"))
    return tuple(
        Mutant(entry["name"], folder + entry["file"], entry["old"], entry["new"], tuple(entry["rules"]))
        for entry in table["mutant"]
    )


def _built(copy: Path) -> None:
    where = ("--package-path", str(copy), "--scratch-path", str(_scratch(copy)))
    command = ("swift", "build", *where, "--configuration", "release", "--product", "HackMatrix")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise EngineError("there is no Swift toolchain on the PATH: install Swift 6 to run these mutants.") from error
    if done.returncode != 0:
        raise EngineError(f"the Swift copy does not build: {(done.stdout + done.stderr).strip()[-300:]}")


def _with_binary(copy: Path) -> Mapping[str, str]:
    # the JAX side is the same in every run, so it is compiled once
    cache = {"JAX_COMPILATION_CACHE_DIR": str(copy.parent / "jax-cache")}
    return {BINARY_VARIABLE: str(_scratch(copy) / "release" / "HackMatrix"), **cache, **_quick()}


def _with_source(copy: Path) -> Mapping[str, str]:
    return {"PYTHONPATH": str(copy), BINARY_VARIABLE: str(binary_path()), **_quick()}


def _quick() -> dict[str, str]:
    """Most of a mutant's time is compiling; what is computed is the same at any level of optimisation."""
    return {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0".strip()}


BENCHES = (
    MutationBench(
        engine="swift",
        reference="jax",
        source=_ROOT / "swift",
        mutants=read_mutants("swift", "Sources/HackMatrixCore/"),
        environment=_with_binary,
        build=_built,
        ignore=(".build*",),
    ),
    MutationBench(
        engine="jax",
        reference="swift",
        source=_ROOT / "python",
        mutants=read_mutants("jax", "hackmatrix/jax_env/"),
        environment=_with_source,
    ),
)
