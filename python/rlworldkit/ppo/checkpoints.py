"""Write, read, find and resume checkpoints, ``checkpoint_{step}.pkl``.

``{step}`` is the number of updates done. Files are written atomically, and every part is validated when it is read,
because a correct checksum does not show that the parts are valid.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from rlparity.errors import ParityError, UsageError, quoted
from rlparity.io.atomic_write import write_whole
from rlparity.io.safe_read import Unreadable, is_object, refused, size_text
from rlparity.spaces import is_count, is_number
from rlworldkit.jax.env import JaxEnv
from rlworldkit.ppo import parallel
from rlworldkit.ppo.checkpoint_format import (
    LIMIT,
    MISSING,
    NETWORK,
    is_numeric,
    pack,
    part,
    read_payload,
    rules_version_of,
    runner_of,
)
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.metrics import RolloutMetrics
from rlworldkit.ppo.params import trained_files
from rlworldkit.ppo.ppo import LossStats, UpdateStats
from rlworldkit.ppo.state import RunnerState
from rlworldkit.runs.folder import LATEST, began
from rlworldkit.runs.run import Progress

_BOUNDS = ("num_envs", "hidden_dim", "num_layers")
"""Settings that decide how much memory a run allocates before its state is compared with the checkpoint's arrays."""


class Log(NamedTuple):
    """State of a run's metrics, which a resumed run needs so that its next row is complete.

    at: progress at the last row. metrics: the last row. unlogged: stats of the updates since the last row, in order.
    """

    at: Progress = Progress()
    metrics: Mapping[str, float] = {}
    unlogged: tuple[UpdateStats, ...] = ()


class LoopState(NamedTuple):
    """State of a run between two updates."""

    runner: RunnerState
    progress: Progress
    log: Log


@dataclass(frozen=True)
class Checkpoint:
    """Content of a checkpoint file: a run at the end of an update."""

    path: Path
    runner: dict[str, NDArray[Any]]
    """Leaves of the RunnerState by their tree paths; random keys are stored as key data."""
    progress: Progress
    log: Log
    config: dict[str, Any]
    """TrainConfig and other settings of the run, as plain values."""
    rules_version: str


def save_checkpoint(path: Path, state: LoopState, config: dict[str, Any], env: JaxEnv) -> None:
    """Write a run to ``path`` atomically: an old file is replaced only once the new one is complete.

    Raises OSError as writing does, and ParityError if the file would be larger than ``LIMIT``, the most that is read.
    If several processes train together, all must call this; only the first writes.
    """
    leaves = named_leaves(state.runner)
    if not parallel.is_first_process():
        return
    log = state.log
    payload = {
        "runner": leaves,
        "progress": state.progress._asdict(),
        "metrics": dict(log.metrics),
        "last_logged_step": log.at.updates,
        "logged": log.at._asdict(),
        "unlogged": [{"loss": s.loss._asdict(), "rollout": s.rollout._asdict()} for s in log.unlogged],
        "config": config,
        "rules_version": env.rules_version,
    }
    data = pack(payload, env.name)
    if len(data) > LIMIT:
        raise ParityError(
            f"{path} would be larger than {size_text(LIMIT)}, the most that is read of a checkpoint: "
            "lower --num-envs or --hidden-dim."
        )
    write_whole(path, data)


def read_checkpoint(path: Path, env: JaxEnv, advice: str = f"give another one, or `--resume {LATEST}`") -> Checkpoint:
    """Read a checkpoint of this world that ``save_checkpoint`` wrote. Raises UsageError, which ends with ``advice``."""
    with refused(path, "checkpoint", MISSING, advice):
        payload = read_payload(path, env.name)
        progress, runner = _progress_of(part(payload, "progress"), "progress"), runner_of(payload)
        log, config = _log_of(payload, progress), _config_of(part(payload, "config"), runner)
        return Checkpoint(path, runner, progress, log, config, rules_version_of(payload))


def _progress_of(value: object, name: str) -> Progress:
    if not is_object(value) or value.keys() != set(Progress._fields):
        raise Unreadable(f"its {name} must be made of {', '.join(Progress._fields)}")
    for field, given in value.items():
        if not (is_number(given) and given >= 0 if field == "seconds" else is_count(given)):
            raise Unreadable(f"the {field} of its {name} are {quoted(given)}")
    return Progress(**value)


def _config_of(value: object, runner: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Check that no setting claims more than the arrays hold; other settings are checked with the flags."""
    if not is_object(value):
        raise Unreadable("its config is no object")
    numbers = sum(leaf.size for leaf in runner.values())
    for name in _BOUNDS:
        if name in value and not is_count(value[name], 1 + (len(runner) if name == "num_layers" else numbers)):
            raise Unreadable(f"its {name} is {quoted(value[name])}, which does not fit its arrays")
    return value


def _log_of(payload: dict[str, Any], progress: Progress) -> Log:
    """Read the log of a run at ``progress``; ``check_metrics`` compares its unlogged updates with this world's."""
    logged = _progress_of(part(payload, "logged"), "log")
    metrics, entries = part(payload, "metrics"), part(payload, "unlogged")
    if any(at > done for at, done in zip(logged, progress, strict=True)):
        raise Unreadable("its log is ahead of its progress")
    if not is_object(metrics) or not all(type(value) in (int, float) for value in metrics.values()):
        raise Unreadable("its metrics are no object of numbers")
    if not isinstance(entries, list):
        raise Unreadable("its unlogged updates are no list")
    return Log(logged, metrics, tuple(map(_stats_of, entries)))


def _stats_of(entry: Any) -> UpdateStats:  # noqa: ANN401 - a tree of plain values
    try:
        return UpdateStats(LossStats(**entry["loss"]), RolloutMetrics(**entry["rollout"]))
    except (TypeError, KeyError, IndexError):
        raise Unreadable("an unlogged update is not made of the parts of a loss and a rollout") from None


def latest_checkpoint(folder: Path, env: JaxEnv) -> tuple[Checkpoint, list[UsageError]]:
    """Find the furthest valid checkpoint of the newest run in ``folder``; return it, and the errors of invalid ones.

    The folder and its subfolders hold one run each; runs without a start time count as one run, the oldest. Progress is
    read from the checkpoint, not from its name. Among equals, a checkpoint in the folder of the run's own name wins.

    Raises UsageError if there is no valid one.
    """
    faults: list[UsageError] = []
    paths = [path for path in trained_files(folder) if path.suffix == ".pkl"]
    for _, of_one_run in itertools.groupby(paths, key=lambda path: began(path.parent)):
        furthest: tuple[int, bool, Checkpoint] | None = None
        for path in of_one_run:
            try:
                found = read_checkpoint(path, env)
            except UsageError as fault:
                faults.append(fault)
            else:
                ranked = found.progress.updates, found.config.get("run_name") == path.parent.name, found
                furthest = max(furthest or ranked, ranked, key=lambda each: each[:2])
        if furthest:
            return furthest[2], faults
    raise UsageError(f"there is no good checkpoint_*.pkl file in {folder}: name one, or start a new run.")


def check_fits(checkpoint: Checkpoint, shapes: RunnerState, env: JaxEnv) -> None:
    """Raise UsageError if a checkpoint is of other rules, or its network or optimizer differs from ``shapes``."""
    if checkpoint.rules_version != env.rules_version:
        raise UsageError(
            f"{checkpoint.path} was trained under version {checkpoint.rules_version} of the rules, and these are "
            f"{env.rules_version}: start a new run."
        )
    differing = _forms(_by_path(shapes)).items() ^ _forms(checkpoint.runner).items()
    if any(name.startswith(NETWORK) for name, _ in differing):
        raise UsageError(
            f"{checkpoint.path} is of another network or optimizer: resume without --network, --hidden-dim, "
            "--num-layers, --activation, --value-head, --privileged-critic, --lr-end and --lr-steps, which it keeps."
        )


def check_metrics(checkpoint: Checkpoint, stats: UpdateStats) -> None:
    """Raise UsageError if a checkpoint's unlogged updates differ in form from ``stats``, or their number is wrong."""
    entries, wanted = checkpoint.log.unlogged, stats._replace(episodes=None)
    since = checkpoint.progress.updates - checkpoint.log.at.updates
    if not all(_is_like(entry, wanted) for entry in entries) or sum(len(e.rollout.episodes) for e in entries) != since:
        raise UsageError(
            f"{checkpoint.path} holds other metrics than this world's, or lacks some since its last row: start a "
            "new run."
        )


def _is_like(entry: UpdateStats, stats: UpdateStats) -> bool:
    """Compare structure and shapes of an entry with those of ``stats``, except for the first axis, the updates."""
    structure: Any = jax.tree.structure(entry)
    leaves, wanted = jax.tree.leaves(entry), jax.tree.leaves(stats)
    return (
        structure == jax.tree.structure(stats)
        and all(is_numeric(leaf) and leaf.ndim for leaf in leaves)
        and all(leaf.shape == (len(leaves[0]), *like.shape[1:]) for leaf, like in zip(leaves, wanted, strict=True))
    )


def keeps_games(start: Checkpoint, shapes: RunnerState, config: TrainConfig) -> bool:
    """True if a run whose state is like ``shapes`` can continue the games and the random key of a checkpoint."""
    differing = _forms(_by_path(shapes)).items() - _forms(start.runner).items()
    return all(name.startswith(NETWORK) for name, _ in differing) and all(
        start.config.get(name, getattr(TrainConfig, name)) == getattr(config, name)
        for name in ("curriculum", "curriculum_share")
    )


def restored(checkpoint: Checkpoint, fresh: RunnerState, *, with_games: bool = True) -> RunnerState:
    """Copy ``fresh`` with the network and optimizer of a checkpoint and, unless ``with_games`` is false, its games.

    Call ``check_fits`` first; ``keeps_games`` tells whether ``with_games`` is possible.
    """

    def leaf(place: Any, leaf: Any) -> Any:  # noqa: ANN401 - a path and a leaf of a tree
        name = jax.tree_util.keystr(place)
        if not with_games and not name.startswith(NETWORK):
            return leaf
        value = jnp.asarray(checkpoint.runner[name])
        value = jax.random.wrap_key_data(value) if _is_key(leaf) else value
        return parallel.placed(value, leaf.sharding) if isinstance(leaf, jax.Array) else value

    runner: RunnerState = jax.tree_util.tree_map_with_path(leaf, fresh)
    return runner


def named_leaves(runner: RunnerState) -> dict[str, NDArray[Any]]:
    """Leaves of a RunnerState by their tree paths, on the host; random keys become key data."""
    return {name: parallel.on_host(leaf) for name, leaf in _by_path(runner).items()}


def _by_path(runner: RunnerState) -> dict[str, Any]:
    """Leaves of a RunnerState, or their shapes, by their tree paths; random keys become key data."""

    def plain(leaf: Any) -> Any:  # noqa: ANN401 - a number, an array or a shape
        if not _is_key(leaf):
            return leaf
        return jax.random.key_data(leaf) if isinstance(leaf, jax.Array) else jax.eval_shape(jax.random.key_data, leaf)

    return {jax.tree_util.keystr(path): plain(leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(runner)}


def _forms(leaves: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (np.shape(leaf), jnp.result_type(getattr(leaf, "dtype", leaf))) for name, leaf in leaves.items()}


def _is_key(leaf: Any) -> bool:  # noqa: ANN401 - a number, an array, or what one will be like
    return jnp.issubdtype(getattr(leaf, "dtype", float), jax.dtypes.prng_key)
