"""HackMatrix in JAX: the rules as pure functions, one module per chapter.

The contract: every function below works on one game, can be jitted and vmapped, and under `vmap` runs
native batch code. No function calls back to the host, all inputs and outputs are 32-bit, and a seed is
a pair of uint32.

- ``reset(seed) -> state``
- ``at_stage(seed, number) -> state``: as ``reset``, in another stage
- ``step(state, action) -> (state, result)``; ``step_auto_reset`` also replaces ended games by new ones
- ``phases(state, action)``: the parts of ``step``, by the names in ``PHASES``, and the state after each
- ``mask(state)``: bool, one for each action
- ``observe(state)``: float32 (1545,); ``compact`` and ``expand`` are its two halves
- ``components(counts, prices)``: int32 (15,), in thousandths, and ``reward(components)``: float32
- ``get_state(state) -> dict`` and ``set_state(dict) -> state`` (host side), the state dict of the protocol
- ``rules(prices)``: every table as this engine holds it
"""

from hackmatrix.jax_env.env import PHASES as PHASES
from hackmatrix.jax_env.env import StepResult as StepResult
from hackmatrix.jax_env.env import at_stage as at_stage
from hackmatrix.jax_env.env import compact as compact
from hackmatrix.jax_env.env import mask as mask
from hackmatrix.jax_env.env import observe as observe
from hackmatrix.jax_env.env import phases as phases
from hackmatrix.jax_env.env import reset as reset
from hackmatrix.jax_env.env import restart as restart
from hackmatrix.jax_env.env import step as step
from hackmatrix.jax_env.env import step_auto_reset as step_auto_reset
from hackmatrix.jax_env.observation import PACKED_SIZE as PACKED_SIZE
from hackmatrix.jax_env.observation import expand as expand
from hackmatrix.jax_env.rewards import components as components
from hackmatrix.jax_env.rewards import reward as reward
from hackmatrix.jax_env.state import State as State
from hackmatrix.jax_env.state import state_bytes as state_bytes
from hackmatrix.jax_env.state_from_dict import set_state as set_state
from hackmatrix.jax_env.state_to_dict import get_state as get_state
from hackmatrix.jax_env.tables import PRICES as PRICES
from hackmatrix.jax_env.tables import rules_tables

rules = rules_tables
