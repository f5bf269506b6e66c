"""Compiling in threads beside tracing."""

import subprocess
import sys

FIRST_PROGRAM = """
import sys
import jax
from worldkit.jaxkit.beside import compiling_beside

with compiling_beside(1) as beside:
    before = set(sys.modules)
    beside.submit(lambda: jax.nn.initializers.orthogonal()(jax.random.key(0), (4, 4)).block_until_ready()).result()
    print(sorted({name.partition(".")[0] for name in set(sys.modules) - before} & {"scipy", "distrax", "numpy"}))
"""


def test_compiling_imports_nothing_that_tracing_may_be_importing() -> None:
    """Two threads that import modules of one package can wait for each other until Python gives up."""
    done = subprocess.run([sys.executable, "-c", FIRST_PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
