"""Data parallelism with JAX's own sharding: games and samples are split over all devices, the network is on each.

Updates do not depend on the number of devices, except for the order in which floats are summed. Several processes
(hosts) share one mesh of all their devices; the first process writes files and makes all decisions that depend on time.
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
    """Join this process to others that train together; call it before anything else asks JAX for devices.

    Without arguments JAX finds the other processes itself on TPU pods and under SLURM. Raises UsageError if they do
    not connect.
    """
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    try:
        jax.distributed.initialize(coordinator, num_processes, process_id)
    except (RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"The processes cannot connect ({reason}); check --coordinator and its port.") from error


def mesh_of_all_devices(num_envs: int, devices: Sequence[jax.Device] | None = None) -> Mesh | None:
    """Make a one-dimensional mesh of these devices, or of all devices of all processes; None for a single device.

    Raises UsageError if the games cannot be split evenly.
    """
    devices = devices or jax.devices()
    if len(devices) == 1:
        return None
    if num_envs % len(devices):
        raise UsageError(f"num_envs must be a multiple of the {len(devices)} devices, got {num_envs}.")
    return Mesh(np.array(devices), (GAMES,))


def over_games(function: Callable[..., Any], mesh: Mesh | None) -> Callable[..., Any]:
    """Map ``function`` of one game over all games; each device runs its own games, and waits for no other device."""
    return on_each_device(jax.vmap(function), mesh)


def on_each_device(function: Callable[..., Any], mesh: Mesh | None) -> Callable[..., Any]:
    """Run ``function`` of a batch of games on every device, with the device's share of the games."""
    if mesh is None:
        return function
    return jax.shard_map(function, mesh=mesh, in_specs=SPLIT, out_specs=SPLIT, check_vma=False)


def one_seed_at_a_time(function: Callable[..., Any], env: JaxEnv) -> Callable[..., Any]:
    """Wrap ``function(env, …)`` so that it runs for one seed after another if several seeds share a program.

    For a batch of seeds the compiler would sum floats in another order than for one seed. Prices differ between seeds,
    so they are passed as an argument: a batched function cannot close over them.
    """
    at_prices = sequential_vmap(lambda prices, *args: function(env.with_prices(prices), *args))
    return partial(at_prices, jnp.asarray(env.prices))


def split(tree: Any, mesh: Mesh | None) -> Any:  # noqa: ANN401 - a tree
    """Shard the leading axis of a tree of traced arrays over the devices."""
    return tree if mesh is None else jax.lax.with_sharding_constraint(tree, NamedSharding(mesh, SPLIT))


def placed(leaf: Any, sharding: Any) -> Any:  # noqa: ANN401 - an array and where it shall lie
    """Copy an array to the devices of ``sharding``; every process must hold the same values."""
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(placed(jax.random.key_data(leaf), sharding))
    # through the host, since an array on one process's devices cannot be moved directly to those of all processes
    return jax.device_put(np.asarray(leaf), sharding)


def on_host(leaf: Any) -> np.ndarray:  # noqa: ANN401 - an array of JAX
    """Copy all values of an array to the host, gathered from other processes too."""
    if isinstance(leaf, jax.Array) and not leaf.is_fully_addressable and not leaf.is_fully_replicated:
        return np.asarray(multihost_utils.process_allgather(leaf, tiled=True))
    return np.asarray(leaf)


def agreed(value: float) -> float:
    """Broadcast the first process's value to all processes."""
    return float(multihost_utils.broadcast_one_to_all(np.float32(value)))


def any_process(value: bool) -> bool:
    """True in all processes if the value is true in any process."""
    return bool(np.any(multihost_utils.process_allgather(np.array(value))))


def is_first_process() -> bool:
    """True in the process that writes files and messages."""
    return jax.process_index() == 0
