"""What a run keeps on disk: ``params_{step}.npz`` to play with, ``checkpoint_{step}.pkl`` to go on with.

``{step}`` is the number of updates done. Files are written whole or not at all, carry a checksum, and reading them
executes nothing.
"""

import datetime
import hashlib
import io
import itertools
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict
from numpy.typing import NDArray

from parity.errors import ParityError
from worldkit.purejaxrl import parallel, plain_pickle
from worldkit.purejaxrl.loop import Log, LoopState, Progress
from worldkit.purejaxrl.masked_ppo import LossStats
from worldkit.purejaxrl.networks import Params
from worldkit.purejaxrl.rollout import RolloutMetrics, RunnerState
from worldkit.purejaxrl.train_env import TrainEnv
from worldkit.purejaxrl.update import UpdateStats
from worldkit.runs.files import write_whole
from worldkit.runs.run import kept_settings

FORMAT_VERSION = 1
LATEST = "latest"
BEGAN = "began"
"""The setting that tells when a run began."""
_NETWORK = ".train_state"
_NAME = re.compile(r"checkpoint_(\d+)\.pkl")


class CheckpointError(ParityError):
    """A checkpoint cannot be read, or does not fit the run; the message names it and says what to do."""


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


def params_path(folder: Path, updates: int) -> Path:
    """The parameters of a run after that many updates."""
    return folder / f"params_{updates}.npz"


def save_checkpoint(path: Path, state: LoopState, config: dict[str, Any], env: TrainEnv) -> None:
    """Write a run to ``path``, replacing it only once it is complete. Raises OSError as writing does.

    Where several processes train together all must call this; the first writes.
    """
    leaves = named_leaves(state.runner)
    if not parallel.is_first_process():
        return
    payload = plain_pickle.dumps(
        {
            "runner": leaves,
            "progress": state.progress._asdict(),
            "metrics": dict(state.log.metrics),
            "last_logged_step": state.log.at.updates,
            "logged": state.log.at._asdict(),
            "unlogged": [_plain_stats(stats) for stats in state.log.unlogged],
            "config": config,
            "rules_version": env.rules_version,
        }
    )
    content = {
        "format": _format(env),
        "version": FORMAT_VERSION,
        "sha256": hashlib.sha256(payload).hexdigest(),
        "payload": payload,
    }
    write_whole(path, plain_pickle.dumps(content))


def _format(env: TrainEnv) -> str:
    return f"{env.name} checkpoint"


def _plain_stats(stats: UpdateStats) -> dict[str, Any]:
    return {"loss": stats.loss._asdict(), "rollout": stats.rollout._asdict()}


def _log_of(kept: dict[str, Any], progress: Progress) -> Log:
    """The log in a payload; one without it, of an earlier version, had its last row at its last update."""
    if "logged" not in kept:
        return Log(progress)
    unlogged = (UpdateStats(LossStats(**each["loss"]), RolloutMetrics(**each["rollout"])) for each in kept["unlogged"])
    return Log(Progress(**kept["logged"]), kept["metrics"], tuple(unlogged))


def read_checkpoint(path: Path, env: TrainEnv) -> Checkpoint:
    """Read what ``save_checkpoint`` wrote of this world; raises CheckpointError with one sentence for anything else."""
    try:
        content = plain_pickle.loads(path.read_bytes())
    except FileNotFoundError:
        raise CheckpointError(f"{path} does not exist; give the path of a checkpoint_*.pkl file.") from None
    except OSError as error:
        raise CheckpointError(
            f"{path} cannot be read ({error.strerror}); give another checkpoint_*.pkl file."
        ) from None
    except plain_pickle.NotPlain as fault:
        raise _unusable(path, str(fault)) from None
    if not isinstance(content, dict) or content.get("format") != _format(env):
        raise _unusable(path, f"it is a pickle of something else than a run of {env.name}")
    if content.get("version") != FORMAT_VERSION:
        raise _unusable(path, f"its format is version {content.get('version')} and not {FORMAT_VERSION}")
    payload = content.get("payload")
    if not isinstance(payload, bytes) or hashlib.sha256(payload).hexdigest() != content.get("sha256"):
        raise _unusable(path, "its checksum is wrong")
    kept = plain_pickle.loads(payload)
    progress = Progress(**kept["progress"])
    return Checkpoint(kept["runner"], progress, _log_of(kept, progress), kept["config"], kept["rules_version"])


def latest_checkpoint(folder: Path, env: TrainEnv) -> tuple[Path, Checkpoint, list[CheckpointError]]:
    """The furthest good checkpoint of the run that began last in ``folder``, and what was wrong with others.

    Runs are the folder and its subfolders. When one began stands in its settings, or else in the date of its name; runs
    of which neither tells count as one, the oldest. How far a checkpoint is stands in it. The times of files mean
    nothing: copying changes them. Of copies that are equally far the one that has the run's own name is taken.

    Raises CheckpointError when there is no good one.
    """
    faults: list[CheckpointError] = []
    paths = sorted(_checkpoints(folder), key=lambda path: (_began(path.parent), path), reverse=True)
    for _, of_one_run in itertools.groupby(paths, key=lambda path: _began(path.parent)):
        furthest: tuple[Path, Checkpoint] | None = None
        for path in of_one_run:
            try:
                checkpoint = _read_file(path, env)
            except CheckpointError as fault:
                faults.append(fault)
                continue
            if furthest is None or _rank(path, checkpoint) > _rank(*furthest):
                furthest = path, checkpoint
        if furthest:
            return *furthest, faults
    raise CheckpointError(f"there is no good checkpoint_*.pkl file in {folder}: name one, or start a new run.")


def _read_file(path: Path, env: TrainEnv) -> Checkpoint:
    if path.exists() and not path.is_file():  # reading from a pipe would wait for ever
        raise _unusable(path, "it is no regular file")
    return read_checkpoint(path, env)


def _rank(path: Path, checkpoint: Checkpoint) -> tuple[int, bool]:
    """Greater for the checkpoint to prefer of one run: the furthest, and the original of a copy."""
    return checkpoint.progress.updates, checkpoint.config.get("run_name") == path.parent.name


def _began(folder: Path) -> str:
    """When the run of a folder began, as ``now`` tells it; empty where nothing says so."""
    kept = kept_settings(folder).get(BEGAN)
    if isinstance(kept, str):
        return kept
    found = re.search(r"\d{8}-\d{6}", folder.name)
    try:
        return _written(datetime.datetime.strptime(found[0], "%Y%m%d-%H%M%S")) if found else ""
    except ValueError:
        return ""


def now() -> str:
    """The time as a run's settings tell when it began: text whose order is that of time."""
    return _written(datetime.datetime.now(datetime.UTC))


def _written(time: datetime.datetime) -> str:
    """A time, which is local unless it names its zone, in UTC."""
    return time.astimezone(datetime.UTC).isoformat(timespec="milliseconds")


def check_fits(checkpoint: Checkpoint, path: Path, shapes: RunnerState, env: TrainEnv) -> None:
    """Raises CheckpointError when a checkpoint is of other rules, or of another network than ``shapes`` tells."""
    if checkpoint.rules_version != env.rules_version:
        raise CheckpointError(
            f"{path} was trained under version {checkpoint.rules_version} of the rules, and these are "
            f"{env.rules_version}: start a new run."
        )
    leaves, _ = jax.tree_util.tree_flatten_with_path(shapes)
    wanted = {jax.tree_util.keystr(place): np.shape(leaf) for place, leaf in leaves}
    wanted = {name: shape for name, shape in wanted.items() if name.startswith(_NETWORK)}
    kept = {name: leaf.shape for name, leaf in checkpoint.runner.items() if name.startswith(_NETWORK)}
    if kept != wanted:
        raise CheckpointError(
            f"{path} is of another network: resume without --network, --hidden-dim and --num-layers, which are "
            "kept in it."
        )


def restored(checkpoint: Checkpoint, path: Path, fresh: RunnerState) -> tuple[RunnerState, str | None]:
    """The RunnerState of a checkpoint, in the shape of ``fresh``, and a remark for the user or None.

    Where the games are others, in number or in form, the network and the optimizer are restored and new games begin.
    Call ``check_fits`` first.
    """
    wanted = named_leaves(fresh)
    of_games = {name for name in wanted if not name.startswith(_NETWORK)}
    same_games = all(
        name in checkpoint.runner and checkpoint.runner[name].shape == wanted[name].shape for name in of_games
    )
    kept = wanted.keys() if same_games else wanted.keys() - of_games
    leaves = {name: checkpoint.runner[name] if name in kept else value for name, value in wanted.items()}
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


def _words(leaf: Any) -> Any:  # noqa: ANN401 - a leaf of a tree
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _unusable(path: Path, fault: str) -> CheckpointError:
    return CheckpointError(f"{path} is no good checkpoint: {fault}; give another one, or `--resume {LATEST}`.")


def _checkpoints(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("checkpoint_*.pkl") if _NAME.fullmatch(path.name))


def save_params(path: Path, params: Params) -> None:
    """Write ``params`` (nested dicts of arrays) to ``path``, replacing it only once it is complete."""
    arrays = {name: parallel.on_host(array) for name, array in flatten_dict(params, sep="/").items()}
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, **arrays)
    write_whole(path, archive.getvalue())


def load_params(path: Path) -> Params:
    """Read what ``save_params`` wrote; ParityError with one sentence if the file is not such a file."""
    try:
        # A plain .npy loads as well, and then has no names.
        loaded = np.load(path, allow_pickle=False)
        flat = {name: loaded[name] for name in loaded.files}
    except FileNotFoundError:
        raise ParityError(f"{path} does not exist; give the path of a params_*.npz file.") from None
    except (OSError, ValueError, AttributeError, EOFError, zipfile.BadZipFile):
        raise ParityError(f"{path} cannot be read as parameters; give the path of a params_*.npz file.") from None
    return unflatten_dict(flat, sep="/")
