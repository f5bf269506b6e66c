"""Digest of the jaxprs of a world's functions, which source edits that compute the same leave unchanged.

``python -m rlworldkit.jax.program_digest MODULE:WORLD`` prints the digest; ``rlworldkit.jax.xla.traced_program`` runs
it on a copy of the source.
"""

import hashlib
import re
import sys
from pkgutil import resolve_name

import jax
import jax.numpy as jnp
from jax import ShapeDtypeStruct

from rlworldkit.jax.env import JaxEnv

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def program_digest(env: JaxEnv) -> str:
    """SHA-256 of the jaxprs of all functions of one game that ``JaxEngine`` calls, at its own prices."""
    seed, action = ShapeDtypeStruct((2,), jnp.uint32), ShapeDtypeStruct((), jnp.int32)
    state = jax.eval_shape(env.reset, seed)
    calls = {"reset": (seed,), "step": (state, action), "step_autoreset": (state, action)}
    calls |= dict.fromkeys(("next_game", "observe", "compact", "mask", "facts", "seed", "arrays"), (state,))
    if env.phase_names:
        calls["phases"] = state, action
    digest = hashlib.sha256()
    for name, args in calls.items():
        digest.update(_ADDRESS.sub("", str(jax.make_jaxpr(getattr(env, name))(*args))).encode())
    return digest.hexdigest()


if __name__ == "__main__":
    print(program_digest(resolve_name(sys.argv[1]).jax()))
