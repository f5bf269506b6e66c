"""The ``World`` value by which the harness knows a world; registered as entry point ``rlparity.worlds``."""

from __future__ import annotations

import os
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rlparity.engine import Array, BatchEngine, EngineOptions, GameSeeds, Slots, State, consecutive_seeds
from rlparity.spaces import Box

GROUP = "rlparity.worlds"
"""The group of the entry points by which worlds are registered."""
PLACE = "@"
"""Separates the name of an engine from its place, see ``rlparity.engines.places``."""


class EngineFactory(Protocol):
    """Opens a batch engine of ``games`` games.

    Raises EngineError with one sentence when the engine cannot start. Heavy imports belong in here, not at the
    top of the module that registers the world.
    """

    def __call__(self, games: int, options: EngineOptions = EngineOptions(), /) -> BatchEngine:
        """Open the engine."""
        ...


@dataclass(frozen=True)
class View:
    """View of a policy: some games of the reference engine, before their next action.

    observation: (k, *observation shape); mask: (k, actions) bool; slots: (k,) where these games are.
    """

    observation: Array
    mask: NDArray[np.bool_]
    slots: Slots
    read_states: Callable[[Slots], list[State]]

    def states(self) -> list[State]:
        """Complete states of the k games, fetched when called, which is slow for big batches."""
        return self.read_states(self.slots)

    def part(self, rows: Slots) -> View:
        """The view of some of these games."""
        return View(self.observation[rows], self.mask[rows], self.slots[rows], self.read_states)


Policy = Callable[[View], Array]
"""Weights (k, actions), not negative, need not sum to 1; invalid actions are masked afterwards. A row
without any weight on a valid action means: uniform."""

StartMaker = Callable[[np.random.Generator], State]
"""A state that is seldom reached by playing, drawn from the given generator; give it a seed of its own."""

Shrinker = Callable[[State], Iterable[State]]
"""Smaller states than the given one (an entity less, a smaller number, a smaller seed), boldest first.
Must not change what it is given. A state that the engines refuse is skipped. Every candidate must be
smaller by one and the same measure, so that shrinking ends."""


@dataclass(frozen=True)
class Board:
    """A state as a person sees it: rows of cell texts, top row first, and a table of single values."""

    rows: tuple[tuple[str, ...], ...]
    scalars: Mapping[str, str | int | float | bool]


@dataclass(frozen=True)
class Mutant:
    """A fault: in ``file``, relative to the bench's source, ``old``, found just once, becomes ``new``.

    old is compared word by word, whatever space lies between. function: where it is looked for, of Python the end of a
    qualified name (``Games.step``), elsewhere the beginning of its signature; left out: in the whole file.
    rules: the ids of those that it breaks. tests: where tests judge, pytest's files or node ids that should notice.
    """

    name: str
    file: str
    old: str
    new: str
    rules: tuple[str, ...] = ()
    function: str = ""
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class MutationBench:
    """A set of mutants of one engine, or of a whole project, and how a mutated copy is run.

    engine: the engine that is mutated; reference: the one it is held against. Of a project that its tests judge:
        what the report calls it, and nothing.
    source: folder that is copied, without what ``ignore`` names (shell patterns).
    parts: names in ``source``, such as a package's in the folder of all that are installed; only these are copied.
    environment: from the copy's folder, the environment variables under which a fresh Python process opens
        the mutated copy instead of the original (``PYTHONPATH`` for Python, a path to a binary, …).
    build: compiles the copy, if that is needed; raises EngineError when it does not compile. Copies are
        reused from mutant to mutant, so incremental builds pay.
    """

    engine: str
    reference: str
    source: Path
    mutants: tuple[Mutant, ...]
    environment: Callable[[Path], Mapping[str, str]]
    build: Callable[[Path], None] | None = None
    ignore: tuple[str, ...] = ("__pycache__", ".git", ".venv", ".cache")
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tolerance:
    """How far values of a field may be apart: within any of the three distances they count as equal.

    absolute: the distance. relative: in shares of the larger of the two. ulps: in units in the last place, of the
        narrower type where the two sides have different ones.
    any_dtype: the sides may have different types; for a whole field alone. indices: those of the field's first axis
        that it holds for; None: all.
    ignored: the field is not compared at all. reason: for reports.
    """

    absolute: float = 0.0
    relative: float = 0.0
    ulps: int = 0
    any_dtype: bool = False
    indices: tuple[int, ...] | None = None
    ignored: bool = False
    reason: str = ""

    def __str__(self) -> str:
        """The distances, where they hold and the reason, such as ``[3, 4] within 2 ulps (sine)``."""
        if self.ignored:
            return "ignored" + (f" ({self.reason})" if self.reason else "")
        distances = {"absolute": self.absolute, "relative": self.relative, "ulps": self.ulps}
        within = " or ".join(f"{value:g} {name}" for name, value in distances.items() if value) or "0"
        where = "" if self.indices is None else f"{list(self.indices)} "
        types = ", any dtype" if self.any_dtype else ""
        return f"{where}within {within}{types}" + (f" ({self.reason})" if self.reason else "")


PriceValues = tuple[int, ...]
"""One value for each of a world's prices, in its order and in units of its components."""


@dataclass(frozen=True)
class Price:
    """A number of the reward. default, low, high: in units of the world's components (its ``component_unit``)."""

    name: str
    default: int
    low: int
    high: int


@dataclass(frozen=True)
class World:
    """Everything the harness knows about a world. Only the first seven fields are required.

    engines: name -> factory; the first is the reference, whose answers reports call "expected".
    actions: names of actions 0, 1, …; components: names of the reward components, in order.
    observation_shape: of one game.
    observation_fields: name -> shape of the parts of an observation that is a dict; its shape is () then, and engines
        give structured arrays with a field for each (``rlparity.adapters.observations.as_array``).
    action_space: of actions that are arrays of numbers; ``actions`` is empty then, and nothing is masked.
    players: 1, or how many are rewarded: then rewards are (games, players), and ended flags may be.
    state_fields: the top-level keys of every state; an engine whose states lack one is refused.
    draw: a complete state as a board, for reports.
    row_names, column_names: what the drawn rows, the top one first, and columns are called (default: 0, 1, …).
    colour_of: the colour, as red, green and blue of 0 … 255 on a dark ground, of a word in a drawn cell, whose text is
        words with spaces between them; None: the colour of any text.
    signs: what stands in drawn cells, words or parts of them -> what it means, for the pages of reports.
    seed_bits: width of the seeds that all engines take, 2 to 64; lockstep gives no larger ones.
    states_replay: states are no more than a seed and the actions since, so that a case gets shorter by its actions and
        not by beginning in a later state.
    draws: whether games draw from their seeds; False for a world without chance, in which all seeds play one game.
    game_seeds: the seeds of the games that a person starts together from one seed: seed, seed + 1, … unless the world
        says otherwise.
    facts: names of the numbers that engines report beside the observation, such as the stage.
    events: names of what can happen in a step, at most 32; event *i* is bit *i* of ``BatchStep.events``.
    prices: the numbers of the reward that can be changed when an engine is opened.
    price_values: what its engines are opened with, in units of components (``with_prices``); None: the
        defaults.
    component_unit: what one unit of a component is worth in reward (0.001 for thousandths).
    observation_label: a name for one index of the observation, for reports.
    marks: mark -> rule id. Marks are what engines count; a rule is hit when one of its marks is. Their
        order is that of the columns of ``BatchEngine.marks``.
    rules: rule ids that a coverage run must hit (default: every id that a mark names).
    tolerances: field -> absolute tolerance, or ``Tolerance``s; all else is compared bit for bit. Fields are
        ``observation``, ``observation.NAME``, ``components``, ``reward``, ``facts`` and ``state.NAME``.
    starts, policies: what directed and exploring runs start from and choose actions by.
    load_policy: reads a checkpoint for ``--source policy:FILE``; raises UsageError when it cannot.
    agents: checkpoints that come with the world, by names that may be given instead of a file.
    shrinkers: candidates for smaller states.
    rule_book: the Markdown file with the texts of the rules, which debuggers show; it need not be there.
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
    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()
    observation_fields: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    action_space: Box | None = None
    players: int = 1
    colour_of: Callable[[str], tuple[int, int, int] | None] | None = None
    signs: Mapping[str, str] = field(default_factory=dict)
    seed_bits: int = 64
    states_replay: bool = False
    draws: bool = True
    game_seeds: GameSeeds = consecutive_seeds
    facts: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    component_unit: float = 1.0
    prices: tuple[Price, ...] = ()
    price_values: PriceValues | None = None
    observation_label: Callable[[tuple[int, ...]], str] | None = None
    marks: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    tolerances: Mapping[str, float | Tolerance | tuple[Tolerance, ...]] = field(default_factory=dict)
    starts: Mapping[str, StartMaker] = field(default_factory=dict)
    policies: Mapping[str, Policy] = field(default_factory=dict)
    load_policy: Callable[[Path], Policy] | None = None
    agents: Mapping[str, Path] = field(default_factory=dict)
    shrinkers: tuple[Shrinker, ...] = ()
    rule_book: Path | None = None
    golden: Path | None = None
    benches: tuple[MutationBench, ...] = ()

    def __post_init__(self) -> None:
        """Raise TypeError for a mapping, a tuple or a path that is something else, ValueError for odd names."""
        kinds = {"Mapping": Mapping, "tuple": tuple, "Path": Path}
        for name, kind in self.__annotations__.items():
            wanted = kinds.get(kind.split("[")[0].split(" ")[0])
            value = getattr(self, name)
            if wanted and value is not None and not isinstance(value, wanted):
                raise TypeError(f"World.{name} is of type {type(value).__name__}, not {wanted.__name__}")
        named = (self.actions, self.components, self.facts, self.events, self.marks, self.engines)
        names = (self.name, *chain(*named), *(price.name for price in self.prices))
        if bad := [name for name in names if not isinstance(name, str) or not name.isprintable()]:
            raise ValueError(f"World has the name {bad[0]!r}, which is no printable text")

    def tolerances_of(self, name: str) -> tuple[Tolerance, ...]:
        """The tolerances of a compared field; none where it is compared bit for bit.

        A part of the observation without its own has those of the whole.
        """
        given = self.tolerances.get(name, ())
        if self.observation_fields and given == () and name.startswith("observation."):
            given = self.tolerances.get("observation", ())
        if isinstance(given, Tolerance):
            return (given,)
        return given if isinstance(given, tuple) else (Tolerance(absolute=given),)

    def rule_ids(self) -> tuple[str, ...]:
        """The rule ids that coverage demands, in order."""
        return self.rules or tuple(dict.fromkeys(self.marks.values()))

    def agent_at(self, path: Path) -> Path:
        """The file or folder of this name; where there is none, that of the world's agent of this name, if it has one.

        A name without either is given back.
        """
        is_there = os.path.exists(path)  # pathlib's own raises for a name that no file can have
        return path if is_there else self.agents.get(str(path), path)

    def agent_name(self, path: Path) -> str:
        """The name of the agent in a file: its own where it comes with the world, else that of the file."""
        return next((name for name, file in self.agents.items() if file == path), path.name)


def imported(spec: str) -> object:
    """What a ``module:attribute`` in the working directory or on the path is; raises whatever importing it does."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    return pkgutil.resolve_name(spec)
