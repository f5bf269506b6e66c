"""distrax, made importable on current JAX.

distrax 0.1.5 imports tensorflow-probability 0.25, which at import reads ``jax.interpreters.xla.pytype_aval_mappings``,
a name that JAX 0.7 removed. It is put back for the whole process: whoever imports this first, as every environment for
JAX does, can then import distrax by its own name.
"""

from types import ModuleType

import jax.interpreters.xla
from jax._src import core


def restore_aval_table(module: ModuleType) -> None:
    """Give ``module`` the attribute ``pytype_aval_mappings`` if, and only if, it lacks one."""
    if not hasattr(module, "pytype_aval_mappings"):
        module.pytype_aval_mappings = core.pytype_aval_mappings  # type: ignore[attr-defined]


restore_aval_table(jax.interpreters.xla)

import distrax  # noqa: E402  (has to follow the line above)

__all__ = ["distrax", "restore_aval_table"]
