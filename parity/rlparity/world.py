"""Description of a world for the harness: the ``World`` dataclass, registered as entry point ``rlparity.worlds``."""

from __future__ import annotations

import os
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rlparity.agent import Judge, Policy
from rlparity.engine import Array, BatchEngine, EngineOptions, GameSeeds, State, consecutive_seeds
from rlparity.errors import UsageError, quoted, unknown
from rlparity.mutant import MutationBench
from rlparity.spaces import Box
from rlparity.tolerance import Tolerance

GROUP = "rlparity.worlds"
"""Entry point group in which worlds are registered."""
PLACE = "@"
"""Separates the name of an engine from its place, see ``rlparity.engines.places``."""


class EngineFactory(Protocol):
    """Factory that opens a batch engine of ``games`` games.

    Raises EngineError with one sentence when the engine cannot start. Heavy imports belong in here, not at the
    top of the module that registers the world.
    """

    def __call__(self, games: int, options: EngineOptions = EngineOptions(), /) -> BatchEngine:
        """Open the engine."""
        ...


StartMaker = Callable[[np.random.Generator], State]
"""Function that draws, from the given generator, a state that play rarely reaches; the state needs its own seed."""

Shrinker = Callable[[State], Iterable[State]]
"""Function that yields smaller states than the given one (an entity less, a smaller number, a smaller seed), the
largest reductions first. It must not change the given state. A state that the engines refuse is skipped. Every
candidate must be smaller by one and the same measure, so that shrinking ends."""


@dataclass(frozen=True)
class Board:
    """State as a person sees it: rows of cell texts, top row first, and a table of single values."""

    rows: tuple[tuple[str, ...], ...]
    scalars: Mapping[str, str | int | float | bool]


PriceValues = tuple[int, ...]
"""One value for each of a world's prices, in its order and in units of its components."""


@dataclass(frozen=True)
class Price:
    """Price: a number of the reward. default, low, high: in units of the world's components (``component_unit``)."""

    name: str
    default: int
    low: int
    high: int


@dataclass(frozen=True)
class World:
    """Description of a game for the harness and all tools. Only the first seven fields are required.

    The optional functions ``jax``, ``show``, ``score`` and ``train_config`` are called only when they are needed, so
    they may contain heavy imports.

    engines: name -> factory; the first is the reference, whose answers reports call "expected".
    actions: names of actions 0, 1, …; components: names of the reward components, in order.
    observation_shape: shape of one game's observation.
    observation_fields: name -> shape of the parts of an observation that is a dict; its shape is () then, and engines
        give structured arrays with a field for each (``rlparity.adapters.observations.as_array``).
    action_space: space of actions that are arrays of numbers; ``actions`` is empty then, and nothing is masked.
    players: number of rewarded players; with several, rewards are (games, players), and ended flags may be.
    state_fields: the top-level keys of every state; an engine whose states lack one is refused.
    draw: draws a complete state as a board, for reports.
    title: name for people and, with ``-v0``, the Gymnasium id of its environments; by default the name.
    rules_version: changes whenever the same seed and actions may give another game; stored with agents.
    home: ``module:attribute`` of this value, by which traces may name it. Pickles contain only this name; without a
        home, the whole value is pickled.
    jax: opens the game in JAX, a ``rlworldkit.jax.env.JaxEnv``, which trainers play.
    show: returns the ``rlworldkit.render.show.Show``, by which people watch and play it; None: the board of ``draw``.
    score: returns the ``rlworldkit.score.Score``, by which episodes are reported; None: return, length and components.
    train_config: returns the class of a training's settings, with the presets and choices of this game; None:
        ``rlworldkit.ppo.config.TrainConfig``.
    observation_range: minimum and maximum number of an observation.
    make_space: makes a Gymnasium space of the observations that ``split`` returns; None: a Box of shape and range.
    split: converts observations (…, *shape) to those of environments, with the same leading axes: an array or a dict of
        arrays, which may be views.
    row_names, column_names: names of the drawn rows, the top one first, and columns (default: 0, 1, …).
    colour_of: colour of a word in a drawn cell, as red, green and blue of 0 … 255 on a dark background; the words of a
        cell are separated by spaces. None: the default colour of text.
    signs: legend for the pages of reports: words in drawn cells, or parts of words -> their meaning.
    seed_bits: width of the seeds that all engines take, 2 to 64; lockstep gives no larger ones.
    states_replay: states are only a seed and the actions since then, so that a case is shrunk by removing actions and
        not by beginning in a later state.
    draws: whether games draw from their seeds; False for a deterministic world, in which all seeds play one game;
        None: unknown.
    game_seeds: the seeds of games that are started together from one seed; by default seed, seed + 1, … (see
        ``GameSeeds``).
    facts: names of the numbers that engines report beside the observation, such as the stage.
    events: names of what can happen in a step, at most 32; event *i* is bit *i* of ``BatchStep.events``.
    counted_events: those events that are counted in each episode, for its statistics.
    prices: the numbers of the reward that can be changed when an engine is opened.
    price_values: prices that its engines are opened with, in units of components (``with_prices``); None: the
        defaults.
    component_unit: reward of one unit of a component (0.001 for thousandths).
    observation_label: names one index of the observation, for reports.
    marks: mark -> rule id. Engines count marks; a rule is hit when one of its marks is. Their order is that
        of the entries of ``BatchEngine.marks``.
    rules: rule ids that a coverage run must hit (default: every id that a mark names).
    tolerances: field -> absolute tolerance, or ``Tolerance``; all else is compared bit for bit. Fields are
        ``observation``, ``observation.NAME``, ``components``, ``reward``, ``facts`` and ``state.NAME``.
    accept: names of limitations that its comparisons may have, such as "no game ends", as reports name them; a name
        that does not apply fails the comparison.
    starts, policies: start makers and policies of directed and exploring runs, by name.
    read_agent: reads a trained agent for ``--source policy:FILE``; raises UsageError when it cannot.
    agents: name -> file of an agent, for use in place of the file; the first is shown where none is named.
    shrinkers: candidates for smaller states.
    rule_book: the Markdown file with the texts of the rules, which debuggers show; it need not exist.
    sources: engine -> folder or file of its source, in which debuggers look for marks; it need not exist.
    golden: folder of the episodes that ``rlparity rewards`` replays.
    benches: where ``rlparity mutants`` plants its faults.
    """

    name: str
    engines: Mapping[str, EngineFactory]
    actions: tuple[str, ...]
    components: tuple[str, ...]
    observation_shape: tuple[int, ...]
    state_fields: tuple[str, ...]
    draw: Callable[[State], Board]
    title: str = ""
    rules_version: str = "1"
    home: str | None = None
    jax: Callable[[], Any] | None = None
    show: Callable[[], Any] | None = None
    score: Callable[[], Any] | None = None
    train_config: Callable[[], type[Any]] | None = None
    observation_range: tuple[float, float] = (-np.inf, np.inf)
    make_space: Callable[[], Any] | None = None
    split: Callable[[Array], Any] = np.asarray
    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()
    observation_fields: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    action_space: Box | None = None
    players: int = 1
    colour_of: Callable[[str], tuple[int, int, int] | None] | None = None
    signs: Mapping[str, str] = field(default_factory=dict)
    seed_bits: int = 64
    states_replay: bool = False
    draws: bool | None = True
    game_seeds: GameSeeds = consecutive_seeds
    facts: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    counted_events: tuple[str, ...] = ()
    component_unit: float = 1.0
    prices: tuple[Price, ...] = ()
    price_values: PriceValues | None = None
    observation_label: Callable[[tuple[int, ...]], str] | None = None
    marks: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    tolerances: Mapping[str, float | Tolerance] = field(default_factory=dict)
    accept: tuple[str, ...] = ()
    starts: Mapping[str, StartMaker] = field(default_factory=dict)
    policies: Mapping[str, Policy] = field(default_factory=dict)
    read_agent: Callable[[World, Path], Judge] | None = None
    agents: Mapping[str, Path] = field(default_factory=dict)
    shrinkers: tuple[Shrinker, ...] = ()
    rule_book: Path | None = None
    sources: Mapping[str, Path] = field(default_factory=dict)
    golden: Path | None = None
    benches: tuple[MutationBench, ...] = ()

    def __post_init__(self) -> None:
        """Validate the fields; raises TypeError for a wrong container or path, ValueError for bad names or widths."""
        kinds = {"Mapping": Mapping, "tuple": tuple, "Path": Path}
        for name, kind in self.__annotations__.items():
            wanted = kinds.get(kind.split("[")[0].split(" ")[0])
            value = getattr(self, name)
            if wanted and value is not None and not isinstance(value, wanted):
                raise TypeError(f"World.{name} is of type {type(value).__name__}, not {wanted.__name__}")
        named = (self.actions, self.components, self.facts, self.events, self.marks, self.engines)
        names = (self.name, *chain(*named), *(price.name for price in self.prices))
        for name in self.tolerances:
            self.tolerance_of(name)
        if not 2 <= self.seed_bits <= 64:
            raise ValueError(f"World.seed_bits is {self.seed_bits}, and must be from 2 to 64")
        if bad := [name for name in names if not isinstance(name, str) or not name.isprintable()]:
            raise ValueError(f"World has the name {bad[0]!r}, which is no printable text")
        object.__setattr__(self, "title", self.title or self.name)

    def __reduce__(self) -> tuple[Callable[..., World], tuple[Any, ...]]:
        if self.home is not None:
            return _at_home, (self.home, self.price_values)
        return World, tuple(getattr(self, each.name) for each in fields(self))

    def with_prices(self, prices: Mapping[str, object]) -> World:
        """Copy the world with some prices changed, by name, in reward; its engines open with these.

        Values are numbers or their texts. Raises UsageError for a name or a value that the world does not have.
        """
        if not prices:
            return self
        known = {price.name: price for price in self.prices}
        values = {price.name: price.default for price in self.prices}
        values.update(zip(known, self.price_values or (), strict=False))
        for name, value in prices.items():
            if name not in known:
                names = ", ".join(known) or "none"
                raise UsageError(f"world '{self.name}' has no price {unknown(name, known)}: its prices are {names}.")
            values[name] = _in_units(self, known[name], value)
        return replace(self, price_values=tuple(values.values()))

    @cached_property
    def unit(self) -> Fraction:
        """Exact reward of one unit of a component: 1/1000 for 0.001, which as a float is a little more."""
        return Fraction(self.component_unit).limit_denominator(10**9)

    def in_rewards(self, components: Array) -> NDArray[np.float64]:
        """Convert components to reward by division, so that a thousand thousandths are exactly 1."""
        whole = components if self.unit.numerator == 1 else components * self.unit.numerator
        return whole / self.unit.denominator

    def tolerance_of(self, name: str) -> Tolerance | None:
        """The tolerance of a compared field; None where it is compared bit for bit.

        A part of the observation without its own tolerance has that of the whole observation.
        """
        given = self.tolerances.get(name)
        if self.observation_fields and given is None and name.startswith("observation."):
            given = self.tolerances.get("observation")
        return given if given is None or isinstance(given, Tolerance) else Tolerance(absolute=given)

    def rule_ids(self) -> tuple[str, ...]:
        """The rule ids that coverage demands, in order."""
        return self.rules or tuple(dict.fromkeys(self.marks.values()))

    def agent_at(self, path: Path) -> Path:
        """Resolve the path of an agent: an existing file or folder, or else the file of the world's agent of this name.

        A name that is neither is returned unchanged.
        """
        is_there = os.path.exists(path)  # pathlib's own raises for a name that no file can have
        return path if is_there else self.agents.get(str(path), path)

    def agent_name(self, path: Path) -> str:
        """Name of the agent in a file: its name in the world's ``agents``, or else the file's name."""
        return next((name for name, file in self.agents.items() if file == path), path.name)


def _in_units(world: World, price: Price, value: object) -> int:
    unit = world.unit
    span = f"{float(price.low * unit):g} to {float(price.high * unit):g}"
    try:
        units = Fraction(str(value)) / unit if not isinstance(value, bool) else None
    except (ValueError, ZeroDivisionError):
        units = None
    if units is None or not price.low <= units <= price.high:
        raise UsageError(f"the price {price.name} must be a number from {span}, got {quoted(value)}.")
    if units.denominator != 1:
        raise UsageError(f"the price {price.name} must be a multiple of {float(unit):g}, got {quoted(value)}.")
    return int(units)


def _at_home(home: str, price_values: PriceValues | None) -> World:
    """Import the world at ``home``, with these prices."""
    world: World = pkgutil.resolve_name(home)
    return world if price_values == world.price_values else replace(world, price_values=price_values)


def imported(spec: str) -> object:
    """Import a ``module:attribute`` from the working directory or the path; raises whatever the import raises."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    return pkgutil.resolve_name(spec)
