"""What a run keeps on disk: ``params_{step}.npz`` to play with, ``checkpoint_{step}.pkl`` to go on with.

``{step}`` is the number of updates done. Files are written whole or not at all, carry a checksum, and reading them
executes nothing.
"""

import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax.traverse_util import flatten_dict
from numpy.typing import NDArray

from parity.files import write_whole
from parity.reading import Unreadable, read_bytes, size_text
from worldkit.jaxkit.env import JaxEnv
from worldkit.purejaxrl import parallel, plain_pickle
from worldkit.purejaxrl.checkpoint_file import (
    LIMIT,
    NETWORK,
    CheckpointError,
    WrongPart,
    pack,
    part,
    runner_of,
    text_of,
    unpack,
)
from worldkit.purejaxrl.checkpoint_parts import config_of, log_of, progress_of
from worldkit.purejaxrl.config import TrainConfig
from worldkit.purejaxrl.loop import Log, LoopState, Progress
from worldkit.purejaxrl.params import Params, began
from worldkit.purejaxrl.rollout import RunnerState
from worldkit.purejaxrl.update import UpdateStats

LATEST = "latest"
_BEGINNINGS = ("curriculum", "curriculum_share")
"""Settings of where games begin, and so of which of them are natural."""
_NAME = re.compile(r"checkpoint_(\d+)\.pkl")


@dataclass(frozen=True)
class Checkpoint:
    """A run at the end of an update."""

    runner: dict[str, NDArray[Any]]
    """The leaves of the RunnerState by their paths in it; random keys as their words."""
    progress: Progress
    log: Log
    config: dict[str, Any]
    """The run's TrainConfig and settings around it, as plain values."""
    rules_version: str


def checkpoint_path(folder: Path, updates: int) -> Path:
    """The checkpoint of a run after that many updates."""
    return folder / f"checkpoint_{updates}.pkl"


def save_checkpoint(path: Path, state: LoopState, config: dict[str, Any], env: JaxEnv) -> None:
    """Write a run to ``path``, replacing it only once it is complete.

    Raises OSError as writing does, and CheckpointError where the file would be larger than any that is read. Where
    several processes train together all must call this; the first writes.
    """
    leaves = named_leaves(state.runner)
    if not parallel.is_first_process():
        return
    data = pack(
        {
            "runner": leaves,
            "progress": state.progress._asdict(),
            "metrics": dict(state.log.metrics),
            "last_logged_step": state.log.at.updates,
            "logged": state.log.at._asdict(),
            "unlogged": [_plain_stats(stats) for stats in state.log.unlogged],
            "config": config,
            "rules_version": env.rules_version,
        },
        env.name,
    )
    if len(data) > LIMIT:
        raise CheckpointError(
            f"{path} would be larger than {size_text(LIMIT)}, the most that is read of a checkpoint: "
            "lower --num-envs or --hidden-dim."
        )
    write_whole(path, data)


def _plain_stats(stats: UpdateStats) -> dict[str, Any]:
    return {"loss": stats.loss._asdict(), "rollout": stats.rollout._asdict()}


def read_checkpoint(path: Path, env: JaxEnv) -> Checkpoint:
    """Read what ``save_checkpoint`` wrote of this world; raises CheckpointError with one sentence for anything else."""
    try:
        return _checkpoint_of(read_bytes(path, LIMIT), env)
    except FileNotFoundError:
        raise CheckpointError(f"{path} does not exist; give the path of a checkpoint_*.pkl file.") from None
    except Unreadable as fault:
        raise CheckpointError(f"{path} cannot be read ({fault}); give another checkpoint_*.pkl file.") from None
    except (plain_pickle.NotPlain, WrongPart) as fault:
        raise CheckpointError(
            f"{path} is no good checkpoint: {fault}; give another one, or `--resume {LATEST}`."
        ) from None


def _checkpoint_of(data: bytes, env: JaxEnv) -> Checkpoint:
    kept = unpack(data, env.name)
    progress, runner = progress_of(part(kept, "progress"), "progress"), runner_of(part(kept, "runner"))
    return Checkpoint(
        runner=runner,
        progress=progress,
        log=log_of(kept, progress, env),
        config=config_of(part(kept, "config"), runner),
        rules_version=text_of(part(kept, "rules_version"), "rules_version"),
    )


def latest_checkpoint(folder: Path, env: JaxEnv) -> tuple[Path, Checkpoint, list[CheckpointError]]:
    """The furthest good checkpoint of the run that began last in ``folder``, and what was wrong with others.

    Runs are the folder and its subfolders; those of which nothing tells when they began count as one, the oldest. How
    far a checkpoint is stands in it. Of copies that are equally far the one that has the run's own name is taken.

    Raises CheckpointError when there is no good one.
    """
    faults: list[CheckpointError] = []
    paths = sorted(_checkpoints(folder), key=lambda path: (began(path.parent), path), reverse=True)
    for _, of_one_run in itertools.groupby(paths, key=lambda path: began(path.parent)):
        furthest: tuple[Path, Checkpoint] | None = None
        for path in of_one_run:
            try:
                checkpoint = read_checkpoint(path, env)
            except CheckpointError as fault:
                faults.append(fault)
                continue
            if furthest is None or _rank(path, checkpoint) > _rank(*furthest):
                furthest = path, checkpoint
        if furthest:
            return *furthest, faults
    raise CheckpointError(f"there is no good checkpoint_*.pkl file in {folder}: name one, or start a new run.")


def _rank(path: Path, checkpoint: Checkpoint) -> tuple[int, bool]:
    """Greater for the checkpoint to prefer of one run: the furthest, and the original of a copy."""
    return checkpoint.progress.updates, checkpoint.config.get("run_name") == path.parent.name


def check_fits(checkpoint: Checkpoint, path: Path, shapes: RunnerState, env: JaxEnv) -> None:
    """Raises CheckpointError when a checkpoint is of other rules, or of another network than ``shapes`` tells."""
    if checkpoint.rules_version != env.rules_version:
        raise CheckpointError(
            f"{path} was trained under version {checkpoint.rules_version} of the rules, and these are "
            f"{env.rules_version}: start a new run."
        )
    leaves, _ = jax.tree_util.tree_flatten_with_path(shapes)
    names = {jax.tree_util.keystr(place): leaf for place, leaf in leaves}
    wanted = {name: _form(leaf) for name, leaf in names.items() if name.startswith(NETWORK)}
    kept = {name: _form(leaf) for name, leaf in checkpoint.runner.items() if name.startswith(NETWORK)}
    if kept != wanted:
        raise CheckpointError(
            f"{path} is of another network or optimizer: resume without --network, --hidden-dim, --num-layers, "
            "--value-head, --privileged-critic, --lr-end and --lr-steps, which are kept in it."
        )


def check_metrics(checkpoint: Checkpoint, path: Path, stats: UpdateStats) -> None:
    """Raises CheckpointError when a checkpoint's unlogged updates have other metrics than ``stats``."""
    structures = {jax.tree.structure(entry) for entry in checkpoint.log.unlogged}
    if structures - {jax.tree.structure(stats)}:
        raise CheckpointError(f"{path} holds other metrics than this world has: start a new run.")


def has_same_games(checkpoint: Checkpoint, shapes: RunnerState, config: TrainConfig) -> bool:
    """Whether a run whose state is like ``shapes`` goes on with the games and the random key of a checkpoint."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(shapes)
    names = {jax.tree_util.keystr(place): leaf for place, leaf in leaves}
    same_beginnings = all(
        checkpoint.config.get(name, getattr(TrainConfig, name)) == getattr(config, name) for name in _BEGINNINGS
    )
    return same_beginnings and all(
        name in checkpoint.runner and _form(checkpoint.runner[name]) == _form(leaf)
        for name, leaf in names.items()
        if not name.startswith(NETWORK)
    )


def restored(
    checkpoint: Checkpoint, path: Path, fresh: RunnerState, config: TrainConfig
) -> tuple[RunnerState, str | None]:
    """The RunnerState of a checkpoint, in the shape of ``fresh``, and a remark for the user or None.

    Where the games are others, in number, in form or in where they begin, the network and the optimizer are restored,
    new games begin, and the remark says so. Call ``check_fits`` first.
    """
    wanted = named_leaves(fresh)
    same_games = has_same_games(checkpoint, fresh, config)
    leaves = {
        name: checkpoint.runner[name] if same_games or name.startswith(NETWORK) else value
        for name, value in wanted.items()
    }
    remark = None
    if not same_games:
        remark = (
            f"{path} holds other games than this run plays: network and optimizer are restored, new games begin, and "
            "the optimizer's momentum is that of the old batch."
        )
    return _from_leaves(fresh, leaves), remark


def named_leaves(runner: RunnerState) -> dict[str, NDArray[Any]]:
    """The leaves of a RunnerState by their paths in it, on the host; random keys as their words."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(runner)
    return {jax.tree_util.keystr(path): parallel.on_host(_words(leaf)) for path, leaf in leaves}


def _from_leaves(template: RunnerState, named: dict[str, NDArray[Any]]) -> RunnerState:
    leaves, structure = jax.tree_util.tree_flatten_with_path(template)
    values = []
    for path, leaf in leaves:
        value = jnp.asarray(named[jax.tree_util.keystr(path)])
        value = jax.random.wrap_key_data(value) if _is_key(leaf) else value
        values.append(parallel.placed(value, leaf.sharding) if isinstance(leaf, jax.Array) else value)
    restored_runner: RunnerState = jax.tree_util.tree_unflatten(structure, values)
    return restored_runner


def _is_key(leaf: Any) -> bool:  # noqa: ANN401 - a leaf of a tree
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _form(leaf: Any) -> tuple[Any, Any]:  # noqa: ANN401 - a number, an array, or what one will be like
    """Shape, and the dtype that JAX makes of it; of a random key those of its words."""
    if jnp.issubdtype(getattr(leaf, "dtype", float), jax.dtypes.prng_key):
        leaf = jax.eval_shape(jax.random.key_data, leaf)
    return np.shape(leaf), jnp.result_type(getattr(leaf, "dtype", leaf))


def _words(leaf: Any) -> Any:  # noqa: ANN401 - a leaf of a tree
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _checkpoints(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("checkpoint_*.pkl") if _NAME.fullmatch(path.name))


def save_params(path: Path, params: Params) -> None:
    """Write ``params`` (nested dicts of arrays) to ``path``, replacing it only once it is complete."""
    arrays = {name: parallel.on_host(array) for name, array in flatten_dict(params, sep="/").items()}
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, **arrays)
    write_whole(path, archive.getvalue())
