"""Where ``parity mutants`` plants its faults: a copy of the JAX engine's source, held to the torch engine."""

import os
from collections.abc import Mapping
from pathlib import Path

from goodharts.rules import Mode
from parity import MutationBench
from parity.mutants import read_mutants

_HERE = Path(__file__).resolve().parent


def benches(mode: Mode) -> tuple[MutationBench, ...]:
    """The faults that show in a mode."""
    tables = "world", mode.rewarded_for, "mortal" if mode.is_mortal else "frozen"
    planted = (read_mutants(_HERE / "mutants_jax" / f"{table}.toml", "goodharts/jax_env/") for table in tables)
    bench = MutationBench(
        engine="jax",
        reference="torch",
        source=_HERE.parents[1],
        mutants=tuple(mutant for mutants in planted for mutant in mutants),
        environment=_with_source,
    )
    return (bench,)


def _with_source(copy: Path) -> Mapping[str, str]:
    # most of a mutant's time is compiling; what is computed is the same at any level of optimisation
    quick = f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0".strip()
    return {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", "XLA_FLAGS": quick}
