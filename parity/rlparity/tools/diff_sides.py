"""Inputs of ``rlparity diff``: two versions of an engine, the world that both share, and the games to play."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.core.checks import run_seeds
from rlparity.core.compare import OBSERVATION, value_text
from rlparity.core.prices import changed_prices, price_values
from rlparity.core.settings import Settings
from rlparity.core.source_specs import open_source
from rlparity.core.sources import POLICY, Source
from rlparity.core.trace import RESTART, trace_files
from rlparity.engine import Array, BatchEngine, BatchStep, EngineOptions, Slots, State
from rlparity.engines.checkout import commit_of, repository_of, status
from rlparity.engines.module_paths import checkout_of, is_installed, module_of, require_own_world, world_home
from rlparity.engines.places import with_remote_engines
from rlparity.engines.registry import engine_name
from rlparity.engines.remote import RemoteFactory, methods
from rlparity.errors import UsageError
from rlparity.spaces import box_of
from rlparity.tolerance import Tolerance
from rlparity.tools.rewards import read_golden
from rlparity.world import PLACE, Board, EngineFactory, Price, World

HERE = "."
UNIFORM, DIRECTED, GOLDEN = "uniform", "directed", "golden"
COMMIT_LENGTH = 40
_FORM = ("actions", "components", "observation_shape", "state_fields", "facts", "events")
"""Attributes of ``World`` that the two sides may have different."""


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    label: its name in reports. world: the world of that version, with the side's prices. factory: opens the engine.
    commit: the git commit of the engine's checkout, if there is one. is_dirty: the checkout has uncommitted changes.
    """

    label: str
    world: World
    factory: EngineFactory
    commit: str | None = None
    is_dirty: bool = False


def open_side(local: World, spec: str, engine: str, word: str, prices: Mapping[str, object]) -> Side:
    """Open the side that a command-line word names: ``.``, a git revision, ``pip:REQUIREMENT`` or ``python:FILE``.

    ``spec``: the world, as for ``--world``. Raises UsageError and EngineError as ``with_remote_engines`` does.
    """
    label, is_place = engine_name(local, engine), word.startswith(("pip:", "python:"))
    if word == HERE:
        require_own_world(spec, module_of(spec), or_installed=False)
    else:
        label += PLACE + (word if is_place else f"rev:{word}")
    checkout = repository_of(Path.cwd()) if is_place else checkout_of(spec)
    world = with_remote_engines(local, spec, [label])
    factory, home = world.engines[label], world_home(spec)
    if isinstance(factory, RemoteFactory):
        described = factory.describe()
        home = Path(described["home"])
        lists: dict[str, Any] = {name: tuple(described[name]) for name in _FORM}
        # prices of another revision may have more fields than Price has here
        lists["prices"] = tuple(Price(*(price[each.name] for each in fields(Price))) for price in described["prices"])
        lists["action_space"] = box_of(described.get("action_space"))
        world = replace(local, component_unit=described["component_unit"], marks=described["marks"], **lists)
        factory = replace(factory, world=world)
    world = world.with_prices(prices)
    if len(word) == COMMIT_LENGTH and not is_place:
        label = label.replace(word, word[:12])
    label += "".join(f" {name}={value:g}" for name, value in changed_prices(world).items())
    if checkout is not None and word != HERE and not is_place:
        return Side(label, world, factory, commit_of(checkout, word))
    if checkout is None or not home.is_relative_to(checkout) or is_installed(home):
        return Side(label, world, factory)
    return Side(label, world, factory, *status(checkout))


@dataclass(frozen=True)
class Shared:
    """Common world of two sides; its two engines, named by ``labels``, are the sides.

    Its actions are the local world's; only actions of both sides are valid. Its components are those of either side.
    local: the world of the current checkout, whose agents and golden episodes play. notes: sentences on what differs.
    plays (actions,): both sides have the action. observes: observations have one shape and are compared.
    same_states: both sides have the local world's state fields. readable: agents can read the observations of side A.
    """

    world: World
    labels: tuple[str, str]
    local: World
    sides: tuple[Side, Side]
    notes: tuple[str, ...]
    plays: NDArray[np.bool_]
    observes: bool
    same_states: bool
    readable: bool


def share(local: World, sides: tuple[Side, Side]) -> Shared:
    """Build the common world of two sides. Raises UsageError where they have too little in common to be played."""
    one, other = (side.world for side in sides)
    if one.component_unit != other.component_unit:
        units = f"{one.component_unit:g} and {other.component_unit:g}"
        raise UsageError(f"components are in units of {units} reward: rewards of these sides cannot be compared.")
    plays = np.array([name in one.actions and name in other.actions for name in local.actions])
    state_fields = tuple(name for name in one.state_fields if name in other.state_fields)
    if one.action_space != other.action_space:
        raise UsageError("the two sides have different action spaces: nothing can be compared.")
    if not (plays.any() or one.action_space) or not state_fields:
        raise UsageError("the two sides share no action, or no field of the state: nothing can be compared.")
    observes, same_shape = (each.observation_shape == one.observation_shape for each in (other, local))
    same_states = one.state_fields == other.state_fields == local.state_fields
    world = replace(
        local,
        components=tuple(dict.fromkeys((*one.components, *other.components))),
        observation_shape=one.observation_shape,
        observation_label=local.observation_label if same_shape else None,
        state_fields=state_fields,
        tolerances=local.tolerances if observes else {**local.tolerances, OBSERVATION: Tolerance(ignored=True)},
        states_replay=local.states_replay or not same_states,  # a side rejects states that lack some of its fields
        draw=local.draw if same_states else lambda state: Board((), {name: value_text(state[name]) for name in state}),
        facts=one.facts if one.facts == other.facts else (),
        events=one.events if one.events == other.events else (),
        marks=one.marks if list(one.marks.items()) == list(other.marks.items()) else {},
        rules=(),
        prices=(),
        price_values=None,
    )
    a, b = (side.label for side in sides)
    labels = (a, b) if a != b else (f"{a} (A)", f"{b} (B)")
    engines = {label: partial(_open, side, world, plays) for label, side in zip(labels, sides, strict=True)}
    readable, notes = same_shape and same_states, _notes(one, other)
    if not readable:
        notes.append("Agents cannot read what A gives: only uniform and golden games are played.")
    world = replace(world, engines=engines)
    return Shared(world, labels, local, sides, tuple(notes), plays, observes, same_states, readable)


def _notes(*worlds: World) -> list[str]:
    """Describe how two worlds differ, in one sentence for each kind of attribute."""
    notes, (one, other) = [], map(_parts, worlds)
    for what, before in one.items():
        pairs = {name: (before.get(name, "absent"), other[what].get(name, "absent")) for name in before | other[what]}
        if changed := [f"{name} {old} -> {new}".strip() for name, (old, new) in pairs.items() if old != new]:
            notes.append(f"{what}: {', '.join(changed)}.")
    return notes


def _parts(world: World) -> dict[str, dict[str, str]]:
    names = ("actions", "components", "state_fields", "facts", "events", "marks")
    prices = zip(world.prices, price_values(world), strict=True)
    return {
        **{name.replace("_", " ").capitalize(): dict.fromkeys(getattr(world, name), "present") for name in names},
        "Shape of observations, which are not compared": {"": str(world.observation_shape)},
        "Prices": {price.name: f"{value * world.component_unit:.10g}" for price, value in prices},
    }


def _open(side: Side, shared: World, plays: NDArray[np.bool_], games: int, options: EngineOptions, /) -> BatchEngine:
    engine = side.factory(games, replace(options, prices=side.world.price_values))
    is_same = plays.all() and all(getattr(side.world, name) == getattr(shared, name) for name in _FORM)
    return engine if is_same else SharedEngine(engine, side.world, shared, plays)


class SharedEngine(BatchEngine):
    """Wrapper that gives a side's engine the form of the shared world: names in its order, and only shared fields."""

    def __init__(self, engine: BatchEngine, own: World, shared: World, plays: NDArray[np.bool_]) -> None:
        self.games, self.engine = engine.games, engine
        self._own, self._shared, self._plays = own, shared, plays
        self._actions = np.array([name in own.actions and own.actions.index(name) for name in shared.actions], np.int32)

    seeds, marks, close = methods("pass_on", "seeds", "marks", "close")
    reset, restart, set_state = methods("begin", "reset", "restart", "set_state")

    def pass_on(self, call: str, *given: Any) -> Any:  # noqa: ANN401 - a method's arguments and result
        return getattr(self.engine, call)(*given)

    def begin(self, call: str, *given: Any) -> Array:  # noqa: ANN401 - a method's arguments
        return self.observed(self.pass_on(call, *given))

    def mask(self) -> NDArray[np.bool_]:
        return self.engine.mask()[:, self._actions] & self._plays

    def facts(self) -> Array | None:
        return self.engine.facts() if self._shared.facts else None

    def own_actions(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Translate actions to the side's own numbers; array actions are the same on both sides."""
        return actions if self._shared.action_space else self._actions[actions]

    def begin_step(self, actions: NDArray[Any], *, restarting: bool) -> None:
        self.engine.begin_step(self.own_actions(actions), restarting=restarting)

    def step(self, actions: NDArray[Any]) -> BatchStep:
        step = self.engine.step(self.own_actions(actions))
        columns = dict(zip(self._own.components, step.components.T, strict=True))
        missing = np.zeros(self.games, step.components.dtype)
        return replace(
            step,
            observation=self.observed(step.observation),
            components=np.column_stack([columns.get(name, missing) for name in self._shared.components]),
            facts=step.facts if self._shared.facts else None,
            events=step.events if self._shared.events else None,
        )

    def get_state(self, slots: Slots) -> list[State]:
        names = self._shared.state_fields
        return [{name: state[name] for name in names if name in state} for state in self.engine.get_state(slots)]

    def state_arrays(self) -> Mapping[str, Array] | None:
        return self.engine.state_arrays() if self._own.state_fields == self._shared.state_fields else None

    def observed(self, observation: Array) -> Array:
        """Return the observations, or zeros of the shared shape where the side's own shape is another one."""
        is_same = self._own.observation_shape == self._shared.observation_shape
        return observation if is_same else np.zeros((len(observation), *self._shared.observation_shape), np.float32)


@dataclass(frozen=True)
class GameSpec:
    """A game to play: its name, the seed or state that it starts from, and its recorded actions, if any."""

    name: str
    start: int | State
    actions: tuple[int | tuple[int | float, ...], ...] | None = None


@dataclass(frozen=True)
class Part:
    """Games of one kind or of one agent, as ``name`` says. source: chooses the actions; None: they are recorded."""

    name: str
    games: tuple[GameSpec, ...]
    source: Source | None = None
    is_agent: bool = False


def build_corpus(shared: Shared, settings: Settings, agents: Sequence[str]) -> list[Part]:
    """Collect the games to play. ``agents``: files or names of agents to load, which all play the same seeds.

    Raises UsageError for an agent that cannot be loaded.
    """
    local, rng = shared.local, np.random.default_rng(settings.seed)
    seeds = run_seeds(settings.seed, settings.games, local.seed_bits).tolist()
    recorded = _recorded(shared)
    parts = [Part(GOLDEN, recorded)] if recorded else []
    sources: dict[str, Source] = {}
    if shared.readable:
        if local.starts or local.policies:
            source = open_source(DIRECTED, local, settings.games, rng)
            made = source.starts(np.arange(settings.games))
            games = (GameSpec(f"{DIRECTED} {slot}", made.get(slot, seed)) for slot, seed in enumerate(seeds))
            parts.append(Part(DIRECTED, tuple(games), source))
        shipped = [name for name, path in local.agents.items() if local.read_agent and path.exists()]
        for agent in agents or shipped[:1]:
            sources[agent] = open_source(POLICY + agent, local, settings.games, rng)
        sources |= {name: Source(policy) for name, policy in local.policies.items()}
    sources[UNIFORM] = Source()
    for name, source in sources.items():
        parts.append(Part(name, tuple(GameSpec(f"{name} seed {seed}", seed) for seed in seeds), source, is_agent=True))
    return parts


def _recorded(shared: Shared) -> tuple[GameSpec, ...]:
    """Load the golden episodes, each cut before its first action that a side lacks."""
    folder = shared.local.golden
    games = []
    for path in trace_files(folder) if folder is not None and any(folder.glob("*.json")) else ():
        case = read_golden(shared.local, path).case
        if case.state is None or shared.same_states:
            whole = (action for action in case.actions if action != RESTART)
            actions = takewhile(lambda action: isinstance(action, tuple) or shared.plays[action], whole)
            games.append(GameSpec(f"{GOLDEN} {path.stem}", case.state or case.seed or 0, tuple(actions)))
    return tuple(games)
