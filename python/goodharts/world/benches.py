"""Benches of ``parity mutants``: a copy of either engine's source, compared with the other engine."""

import os
from collections.abc import Mapping
from pathlib import Path

from goodharts.rules import Mode
from parity import MutationBench
from parity.mutant_table import read_mutants

_MUTANTS = Path(__file__).resolve().parent / "mutants.toml"
_PYTHON = _MUTANTS.parents[2]


def benches(mode: Mode) -> tuple[MutationBench, ...]:
    """The faults that show in a mode."""
    return _bench("torch", "jax", mode), _bench("jax", "torch", mode)


def _bench(engine: str, reference: str, mode: Mode) -> MutationBench:
    shown = "world", mode.rewarded_for, "mortal" if mode.is_mortal else "frozen"
    mutants = read_mutants(_MUTANTS, *(f"{engine}_{part}" for part in shown), folder=f"goodharts/{engine}_env/")
    return MutationBench(engine, reference, _PYTHON, mutants, _with_source)


def _with_source(copy: Path) -> Mapping[str, str]:
    return {
        "PYTHONPATH": str(copy),
        "OMP_NUM_THREADS": "1",
        # most of a mutant's time is compiling: what is the same in all of them is compiled once
        "JAX_COMPILATION_CACHE_DIR": str(copy.parent / "jax-cache"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.5",
        # and what is computed is the same at any level of optimisation
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0".strip(),
    }
