"""The parts of a checkpoint as values of their types, or ``WrongPart``: a right checksum says nothing of them."""

from collections.abc import Collection
from typing import Any

from numpy.typing import NDArray

from parity.reading import is_count, is_number, is_object, shown
from worldkit.jaxkit.env import JaxEnv
from worldkit.purejaxrl.checkpoint_file import WrongPart, is_numeric, part
from worldkit.purejaxrl.loop import Log, Progress
from worldkit.purejaxrl.masked_ppo import LossStats
from worldkit.purejaxrl.rollout import RolloutMetrics
from worldkit.purejaxrl.update import UpdateStats

_BOUNDS = ("num_envs", "hidden_dim", "num_layers")
"""Settings that say how much a run of this checkpoint takes before anything is compared with its arrays."""


def progress_of(value: object, name: str) -> Progress:
    """Counts and seconds, none negative."""
    _check_names(value, Progress._fields, name)
    assert isinstance(value, dict)
    for field in ("updates", "timesteps"):
        if not is_count(value[field]):
            raise WrongPart(f"the {field} of its {name} are {shown(value[field])}")
    if not is_number(value["seconds"]) or value["seconds"] < 0:
        raise WrongPart(f"the seconds of its {name} are {shown(value['seconds'])}")
    return Progress(**value)


def config_of(value: object, runner: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The settings by their names, none that claims more than the arrays hold; what else is checked with the flags."""
    if not is_object(value):
        raise WrongPart("its config is no object")
    values = sum(leaf.size for leaf in runner.values())
    for name in _BOUNDS:
        if name in value and not is_count(value[name], 1 + (len(runner) if name == "num_layers" else values)):
            raise WrongPart(f"its {name} is {shown(value[name])}, which its arrays do not bear out")
    return value


def log_of(kept: dict[str, Any], progress: Progress, env: JaxEnv) -> Log:
    """The log of a run at ``progress``; without one, as in earlier versions, its last row was at its last update."""
    if "logged" not in kept and "unlogged" not in kept:
        return Log(progress)
    logged = progress_of(part(kept, "logged"), "log")
    metrics, entries = part(kept, "metrics"), part(kept, "unlogged")
    if any(at > done for at, done in zip(logged, progress, strict=True)):
        raise WrongPart("its log is ahead of its progress")
    if not is_object(metrics) or not all(type(value) in (int, float) for value in metrics.values()):
        raise WrongPart("its metrics are no object of numbers")
    if not isinstance(entries, list):
        raise WrongPart("its unlogged updates are no list")
    stats = tuple(_stats_of(entry, env) for entry in entries)
    if sum(len(entry.rollout.episodes) for entry in stats) != progress.updates - logged.updates:
        raise WrongPart("its unlogged updates are not those since its last row")
    return Log(logged, metrics, stats)


def _stats_of(entry: object, env: JaxEnv) -> UpdateStats:
    """The stats of some updates in a row; every array has an axis of updates first."""
    _check_names(entry, ("loss", "rollout"), "unlogged updates")
    assert isinstance(entry, dict)
    loss, rollout = entry["loss"], entry["rollout"]
    loss = {"diagnostics": {}, **loss} if is_object(loss) else loss  # which files of earlier versions lack
    _check_names(loss, LossStats._fields, "unlogged losses")
    _check_names(rollout, RolloutMetrics._fields, "unlogged rollouts")
    named = {"diagnostics": loss["diagnostics"], "sums": rollout["sums"], "maxima": rollout["maxima"]}
    if not all(is_object(values) for values in named.values()):
        raise WrongPart("its unlogged diagnostics, sums or maxima are no objects")
    parts, single = ({name: value for name, value in each.items() if name not in named} for each in (loss, rollout))
    flat = [*parts.values(), *single.values(), *(value for values in named.values() for value in values.values())]
    if not all(is_numeric(array) for array in flat):
        raise WrongPart("its unlogged updates hold what is no array of numbers")
    updates = single["episodes"].shape[:1]
    wide = single["component_sums"]
    if len(updates) != 1 or any(array.shape != updates for array in flat if array is not wide):
        raise WrongPart("its unlogged updates are of different numbers")
    if wide.shape != (*updates, len(env.components)):
        raise WrongPart("its unlogged updates are of other reward components")
    return UpdateStats(LossStats(**loss), RolloutMetrics(**rollout))


def _check_names(value: object, names: Collection[str], what: str) -> None:
    if not is_object(value) or value.keys() != set(names):
        raise WrongPart(f"its {what} must be made of {', '.join(names)}")
