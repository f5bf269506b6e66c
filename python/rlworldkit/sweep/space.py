"""The file of a sweep: what is searched and what is held, what is best, and how much may be spent."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from parity.arguments import IntRange
from parity.errors import UsageError, unknown
from rlworldkit.config_layers import read_toml, validate_values
from rlworldkit.game import Game
from rlworldkit.ppo.config import TrainConfig, auto_scale_for_batch_size, preset_of
from rlworldkit.settings import fault_of, settings_of
from rlworldkit.sweep.options import EVALUATE, RETURN, SweepOptions

SETTINGS, PRICES = "settings", "prices"
_PRICE = f"{PRICES}."
"""What the name of a price begins with in a study."""
_IN_PRICES = (RETURN, "train/mean_reward")
"""Metrics in the prices that a run is trained with."""
_Entry = tuple[str, Any, Callable[[Any], str | None], Callable[..., BaseDistribution]]
"""A name, what the file gives it, what is wrong with a value of it, and the distribution of a range."""
_RANGE = "give a value, a list of values, or { low = …, high = … } with log = true or a step"


@dataclass(frozen=True)
class Sweep:
    """A sweep as its file and the flags describe it.

    settings, prices: those that all trials have, by name. space: what a trial chooses, by the names of settings and by
    ``prices.NAME``.
    """

    options: SweepOptions
    kind: type[TrainConfig]
    settings: dict[str, Any]
    prices: dict[str, float]
    space: dict[str, BaseDistribution]

    @property
    def metric(self) -> str | None:
        """The metric by which trials are judged while they train; None: none is in the game's own prices."""
        if not self.options.objective.startswith(EVALUATE):
            return self.options.objective
        return None if any(map(_is_price, self.space)) else RETURN

    def settings_of(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that a trial of these ``params`` gives to the trainer, by name."""
        return {**self.settings, **{name: value for name, value in params.items() if not _is_price(name)}}

    def prices_of(self, params: Mapping[str, Any]) -> dict[str, float]:
        """The prices of a trial that are not the game's own, by name: 0.3 where adding up steps gives a little more."""
        chosen = {name: float(f"{value:.9g}") for name, value in params.items() if _is_price(name)}
        return {**self.prices, **{name.removeprefix(_PRICE): value for name, value in chosen.items()}}

    def config_of(self, params: Mapping[str, Any]) -> TrainConfig:
        """The trainer's configuration of a trial; raises UsageError for settings that do not go together."""
        values = self.settings_of(params)
        return auto_scale_for_batch_size(self.kind(**values), explicit=values).validated()


def read_sweep(game: Game, file: Path, flags: Mapping[str, Any]) -> Sweep:
    """Read a sweep of a world; ``flags`` are options over those of the file.

    Raises UsageError for a file that cannot be read, an unknown name or an impossible value, and for a sweep without a
    search space or an end.
    """
    try:
        values = read_toml(file)
    except FileNotFoundError:
        raise UsageError(f"There is no {file}: name a TOML file that describes a sweep.") from None
    tables = {name: values.pop(name, {}) for name in (SETTINGS, PRICES)}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise UsageError(f"{file}: {name} must be a table, [{name}].")
    options = SweepOptions(**{**validate_values(SweepOptions, values, str(file)), **flags})
    kind = game.train_config
    held: dict[str, dict[str, Any]] = {SETTINGS: preset_of(kind, options.preset), PRICES: {}}
    space: dict[str, BaseDistribution] = {}
    for name, value, fault_in, axis in (*_settings(file, kind, tables[SETTINGS]), *_prices(game, tables[PRICES])):
        table, _, own_name = name.rpartition(".")
        for each in _values_in(value):
            if fault := fault_in(each):
                raise UsageError(f"{file}: {own_name} {fault}, got {each!r:.60}; {_RANGE}.")
        try:
            if isinstance(value, list):
                space[name] = CategoricalDistribution(value)
            elif isinstance(value, dict):
                if type(value.get("log", False)) is not bool:
                    raise ValueError("log must be true or false")
                space[name] = axis(**value)
            else:
                held[table or SETTINGS][own_name] = value
        except (TypeError, ValueError) as error:
            raise UsageError(f"{file}: {own_name} cannot be searched ({error}): {_RANGE}.") from None
    sweep = Sweep(options, kind, held[SETTINGS], held[PRICES], space)
    if not space:
        raise UsageError(f"{file} searches nothing: give a setting or a price a list of values, or a range.")
    if options.steps is None and options.core_hours is None:
        raise UsageError(f"{file} has no end: give it steps or core_hours.")
    if options.objective in _IN_PRICES and any(map(_is_price, space)):
        raise UsageError(
            f"{file}: {options.objective} is in the prices of each trial: take {EVALUATE}return, in those of the game."
        )
    return sweep


def _is_price(name: str) -> bool:
    return name.startswith(_PRICE)


def _values_in(value: Any) -> Iterable[Any]:  # noqa: ANN401 - of TOML
    """The values that a setting can have: of a list, the ends of a range, or the one itself."""
    if isinstance(value, dict):
        return [value[end] for end in ("low", "high") if end in value]
    return value if isinstance(value, list) else [value]


def _settings(file: Path, kind: type[TrainConfig], table: Mapping[str, Any]) -> Iterator[_Entry]:
    known = {each.name: each for each in settings_of(kind)}
    for name, value in table.items():
        if name not in known:
            there = ", ".join(known)
            raise UsageError(f"{file} has an unknown setting {unknown(name, known)}: there are {there}.")
        axis = IntDistribution if isinstance(known[name].values, IntRange) else FloatDistribution
        yield name, value, partial(fault_of, known[name]), axis


def _prices(game: Game, table: Mapping[str, Any]) -> Iterator[_Entry]:
    step = game.env().world.component_unit
    for name, value in table.items():

        def fault_in(value: object, name: str = name) -> str | None:
            try:
                game.with_prices({name: value}).env()
            except UsageError as error:
                return f"cannot be had: {error}"
            return None

        yield _PRICE + name, value, fault_in, partial(FloatDistribution, step=step)
