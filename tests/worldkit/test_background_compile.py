"""Compiling in threads while tracing."""

import subprocess
import sys

FIRST_PROGRAM = """
import sys
import jax
from worldkit.jax.background_compile import compile_in_background

with compile_in_background(1) as executor:
    before = set(sys.modules)
    executor.submit(lambda: jax.nn.initializers.orthogonal()(jax.random.key(0), (4, 4)).block_until_ready()).result()
    print(sorted({name.partition(".")[0] for name in set(sys.modules) - before} & {"scipy", "distrax", "numpy"}))
"""


def test_compiling_imports_nothing_that_tracing_may_be_importing() -> None:
    """Two threads that import modules of one package can wait for each other until Python gives up."""
    done = subprocess.run([sys.executable, "-c", FIRST_PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
