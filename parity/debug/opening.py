"""What a session begins with: a world, its engines, the start of a game, and who chooses actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from parity.compare import OBSERVATION
from parity.debug.conditions import action_of
from parity.debug.timeline import Moment
from parity.engine import Slots
from parity.errors import UsageError
from parity.prices import with_prices
from parity.registry import load_pair, load_traced, load_world
from parity.source_specs import open_source
from parity.sources import POLICY, choose_actions
from parity.spaces import action_numbers
from parity.trace import Action, Case, Trace, check_actions, read_trace
from parity.world import View, World

_ONLY: Slots = np.zeros(1, dtype=np.intp)


class Start(NamedTuple):
    """A world with its prices, what ``--world`` calls it, two engines and a game."""

    world: World
    spec: str
    engines: tuple[str, str]
    case: Case


def opened(
    world: World | str | None,
    engines: Sequence[str] | str | None,
    seed: int | None,
    trace: Path | str | None,
    case: Case | None,
    actions: Sequence[Action | str],
    prices: Mapping[str, object],
) -> Start:
    """What a session's arguments mean; raises UsageError as ``Session`` says."""
    if sum(start is not None for start in (seed, trace, case)) > 1:
        raise UsageError("a session begins with a seed, a trace or a case: give one of them.")
    if actions and (trace is not None or case is not None):
        raise UsageError("a trace and a case have their own actions: give others only with a seed.")
    names = (engines,) if isinstance(engines, str) else engines
    if names is not None and not 1 <= len(names) <= 2:
        raise UsageError(f"{len(names)} engines are given: name one or two.")
    pair = None if names is None else (names[0], names[-1])
    spec = world if isinstance(world, str) else None
    if trace is not None:
        read, path = read_trace(Path(trace)), Path(trace)
        changes = {**read.prices, **prices}
        found, both = load_traced(read, path, world, pair, lambda it: with_prices(it, changes))
        return Start(found, spec or found.name, both, read.case)
    loaded = with_prices(load_world(world), prices)
    found, spec, both = load_pair(loaded, pair, spec=spec, one_will_do=True)
    case = case or Case(tuple(action_of(found, each) for each in actions), seed=checked_seed(found, seed or 0))
    check_actions(found, Trace(found.name, both, case), Path("the case"))
    return Start(found, spec, both, case)


def checked_seed(world: World, seed: int) -> int:
    """The seed; raises UsageError where the world's engines do not take it."""
    if not 0 <= seed < 2**world.seed_bits:
        raise UsageError(f"seed {seed} is outside 0 ... 2^{world.seed_bits} - 1: choose one inside.")
    return seed


def action_chooser(world: World, agent: Path | str | None, seed: int) -> Callable[[Moment, int], Action]:
    """Choose the agent's action, or a valid one, by a game's seed, its moment and the step.

    Raises UsageError where there is no such agent.
    """
    source = open_source("uniform" if agent is None else f"{POLICY}{agent}", world, 1, np.random.default_rng(0))

    def chosen(moment: Moment, step: int) -> Action:
        observation, mask = (np.asarray(moment.sides[0][name]) for name in (OBSERVATION, "mask"))
        view = View(observation, mask, _ONLY, lambda _: [moment.states[0]])
        weights = source.weights(view)
        return action_numbers(
            choose_actions(np.random.default_rng([seed, step]), weights, mask, 0.0, world.action_space)[0]
        )

    return chosen
