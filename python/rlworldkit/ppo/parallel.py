"""Data parallelism with JAX's own sharding: games and samples are split over all devices, the network is on each.

One device and many make the same updates, up to the order in which floats are summed. Several processes (hosts) see all
their devices as one mesh; the first of them writes files and decides what depends on time.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import sequential_vmap
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from rlparity.errors import UsageError
from rlworldkit.jax.env import JaxEnv

GAMES = "games"
SPLIT, WHOLE = PartitionSpec(GAMES), PartitionSpec()


def join_processes(coordinator: str | None, num_processes: int | None, process_id: int | None) -> None:
    """Make this process one of several that train together; call it before anything else asks JAX for devices.

    Without arguments JAX finds the others by itself on TPU pods and under SLURM. Raises UsageError when they do not
    come together.
    """
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    try:
        jax.distributed.initialize(coordinator, num_processes, process_id)
    except (RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"The processes do not come together ({reason}); check --coordinator and its port.") from error


def mesh_of_all_devices(num_envs: int, devices: Sequence[jax.Device] | None = None) -> Mesh | None:
    """These devices, or all devices of all processes, in a row; None where there is just one.

    Raises UsageError when the games cannot be split evenly.
    """
    devices = devices or jax.devices()
    if len(devices) == 1:
        return None
    if num_envs % len(devices):
        raise UsageError(f"num_envs must be a multiple of the {len(devices)} devices, got {num_envs}.")
    return Mesh(np.array(devices), (GAMES,))


def over_games(function: Callable[..., Any], mesh: Mesh | None) -> Callable[..., Any]:
    """``function`` of one game over all games: each device plays its own, and no game waits for another device's."""
    return on_each_device(jax.vmap(function), mesh)


def on_each_device(function: Callable[..., Any], mesh: Mesh | None) -> Callable[..., Any]:
    """``function`` of a batch of games, of which each device has its own share."""
    if mesh is None:
        return function
    return jax.shard_map(function, mesh=mesh, in_specs=SPLIT, out_specs=SPLIT, check_vma=False)


def one_seed_at_a_time(function: Callable[..., Any], env: JaxEnv) -> Callable[..., Any]:
    """``function(env, …)``, called for one seed after the other where the updates of several are one program.

    The compiler sums the floats of a batch of seeds in another order than those of one. Prices differ between seeds, so
    they are an argument: a batched function cannot close over them.
    """
    at_prices = sequential_vmap(lambda prices, *args: function(env.with_prices(prices), *args))
    return partial(at_prices, jnp.asarray(env.prices))


def split(tree: Any, mesh: Mesh | None) -> Any:  # noqa: ANN401 - a tree
    """The same tree of traced arrays, its leading axis split over the devices."""
    return tree if mesh is None else jax.lax.with_sharding_constraint(tree, NamedSharding(mesh, SPLIT))


def placed(leaf: Any, sharding: Any) -> Any:  # noqa: ANN401 - an array and where it shall lie
    """The same values where ``sharding`` wants them; every process must have the same ones."""
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(placed(jax.random.key_data(leaf), sharding))
    # by way of the host: an array of one process's devices cannot become one of all processes' otherwise
    return jax.device_put(np.asarray(leaf), sharding)


def on_host(leaf: Any) -> np.ndarray:  # noqa: ANN401 - an array of JAX
    """All values of an array, gathered from other processes too."""
    if isinstance(leaf, jax.Array) and not leaf.is_fully_addressable and not leaf.is_fully_replicated:
        return np.asarray(multihost_utils.process_allgather(leaf, tiled=True))
    return np.asarray(leaf)


def agreed(value: float) -> float:
    """The first process's value, in all of them."""
    return float(multihost_utils.broadcast_one_to_all(np.float32(value)))


def any_process(value: bool) -> bool:
    """True in all processes where the value is true in any."""
    return bool(np.any(multihost_utils.process_allgather(np.array(value))))


def is_first_process() -> bool:
    """True in the process that writes files and messages."""
    return jax.process_index() == 0
