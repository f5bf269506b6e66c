"""Read the file of a sweep: its search space, the values that all trials share, its objective and its budget."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from rlparity.errors import UsageError
from rlparity.io.arguments import IntRange
from rlparity.io.strict_json import is_json_number
from rlworldkit.jax.xla import available_cores
from rlworldkit.ppo.config import TrainConfig, auto_scale_for_batch_size, preset_of
from rlworldkit.program import Program
from rlworldkit.settings import check_settings, named_settings, read_settings, validate_values
from rlworldkit.sweep.options import EVALUATE, RETURN, SweepOptions

_PRICE = "prices."
"""Prefix of the names of prices in a study."""
_IN_PRICES = (RETURN, "train/mean_reward")
"""Metrics whose values depend on the prices that a run is trained with."""
_RANGE = "give a value, a list of values, or { low = …, high = … } with log = true or a step"


@dataclass(frozen=True)
class Sweep:
    """A sweep as its file and the flags describe it.

    name: the name of its study. folder: the folder of runs and results. at_once: trials side by side. held: values that
    all trials share. space: distributions of each trial's values. Keys of both: names of settings, and ``prices.NAME``.
    """

    name: str
    folder: Path
    at_once: int
    options: SweepOptions
    kind: type[TrainConfig]
    held: dict[str, Any]
    space: dict[str, BaseDistribution]

    @property
    def metric(self) -> str | None:
        """Metric by which trials are judged while they train; None if every such metric depends on a trial's prices."""
        if not self.options.is_played:
            return self.options.objective
        return None if any(name.startswith(_PRICE) for name in self.space) else RETURN

    def settings_of(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Settings of the trainer, by name, for a trial with these ``params``."""
        return {name: value for name, value in {**self.held, **params}.items() if not name.startswith(_PRICE)}

    def prices_of(self, params: Mapping[str, Any]) -> dict[str, float]:
        """Prices of a trial, by name, rounded to 9 digits, since adding up steps may give a little more than 0.3."""
        every = {**self.held, **params}.items()
        return {name.removeprefix(_PRICE): float(f"{each:.9g}") for name, each in every if name.startswith(_PRICE)}

    def config_of(self, params: Mapping[str, Any]) -> TrainConfig:
        """Build the trainer's configuration for a trial; raises UsageError for settings that do not go together."""
        values = self.settings_of(params)
        return auto_scale_for_batch_size(self.kind(**values), explicit=values).validated()


def read_sweep(program: Program, file: Path, flags: Mapping[str, Any]) -> Sweep:
    """Read the file of a sweep of a program's world; ``flags`` override the options of the file.

    Raises UsageError for a file that cannot be read, an unknown name or an invalid value, and for a sweep without a
    search space or a budget.
    """
    values = read_settings(file, "name a TOML file that describes a sweep")
    settings, prices = (values.pop(name, {}) for name in ("settings", "prices"))
    if not (isinstance(settings, dict) and isinstance(prices, dict)):
        raise UsageError(f"{file}: settings and prices must be tables, [settings] and [prices].")
    options = SweepOptions(**{**validate_values(SweepOptions, values, str(file)), **flags})
    check_settings(options)
    folder, at_once = Path("sweeps", file.stem), max(1, available_cores() // options.seeds)
    preset = preset_of(program.train_config, options.preset)
    sweep = Sweep(
        file.stem, options.folder or folder, options.at_once or at_once, options, program.train_config, preset, {}
    )
    for named, value in named_settings(program.train_config, settings, str(file), " in [settings]"):
        for each in _values_in(value):
            if fault := named.fault(each):
                raise UsageError(f"{file}: {named.name} {fault}, got {each!r:.60}; {_RANGE}.")
        is_whole = isinstance(named.values, IntRange)
        _add(sweep, file, named.name, value, IntDistribution if is_whole else FloatDistribution, {})
    for name, value in prices.items():
        for each in _values_in(value):
            program.world.with_prices({name: each})
        _add(sweep, file, _PRICE + name, value, FloatDistribution, {"step": program.world.component_unit})
    if not sweep.space:
        raise UsageError(f"{file} searches nothing: give a setting or a price a list of values, or a range.")
    if options.steps is None and options.core_hours is None:
        raise UsageError(f"{file} has no budget: give it steps or core_hours.")
    if options.objective in _IN_PRICES and any(name.startswith(_PRICE) for name in sweep.space):
        raise UsageError(
            f"{file}: {options.objective} uses the prices of each trial: take {EVALUATE}return, in the game's prices."
        )
    return sweep


def _values_in(value: Any) -> list[Any]:  # noqa: ANN401 - of TOML
    """Values of a setting in the file: the items of a list, the ends of a range, or the value itself."""
    if isinstance(value, dict):
        return [value[end] for end in ("low", "high") if end in value]
    return value if isinstance(value, list) else [value]


def _check_step(low: float, high: float, step: float | None, unit: float | None) -> None:
    """Raise ValueError for a step that does not end at ``high``, or is no multiple of a price's ``unit``."""
    begin, end, each, least = (Fraction(str(number or 0)) for number in (low, high, step, unit))
    if least and each % least:
        raise ValueError(f"step must be a multiple of {unit:g}")
    if each > 0 and begin < end and (end - begin) % each:
        raise ValueError(f"step must divide the range of {float(end - begin):g}")


def _add(sweep: Sweep, file: Path, name: str, value: Any, axis: Any, defaults: dict[str, float]) -> None:  # noqa: ANN401
    """Add a value, list or range of the file to a sweep; a range becomes a distribution ``axis`` with ``defaults``."""
    try:
        if isinstance(value, list):
            sweep.space[name] = CategoricalDistribution(value)
        elif not isinstance(value, dict):
            sweep.held[name] = value
        elif not {"low", "high"} <= value.keys() <= {"low", "high", "log", "step"}:
            raise ValueError("it must have low and high, and beside them log or step")
        elif type(value.get("log", False)) is not bool:
            raise ValueError("log must be true or false")
        elif value.get("log") and defaults:
            raise ValueError("prices are whole steps, which log has not")
        elif not is_json_number(step := value.get("step", 1)) or (axis is IntDistribution and type(step) is not int):
            raise ValueError(f"step must be a {'whole ' if axis is IntDistribution else ''}number")
        else:
            _check_step(value["low"], value["high"], value.get("step"), defaults.get("step"))
            sweep.space[name] = axis(**defaults | value)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise UsageError(f"{file}: {name} cannot be searched ({error}): {_RANGE}.") from None
