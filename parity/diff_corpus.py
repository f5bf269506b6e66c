"""Games that ``parity diff`` plays: golden episodes, directed games, and games of agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from parity.contract import run_seeds
from parity.diff_sides import Shared
from parity.engine import State
from parity.lockstep import Settings
from parity.rewards import read_golden
from parity.sources import POLICY, Source, open_source
from parity.trace import trace_files

UNIFORM, DIRECTED, GOLDEN = "uniform", "directed", "golden"


@dataclass(frozen=True)
class Game:
    """A game to play: its name, the seed or state that it starts from, and recorded actions, if it has these."""

    name: str
    start: int | State
    actions: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Part:
    """Games of one kind, or of the agent of that name. source: chooses the actions; None: they are recorded."""

    name: str
    games: tuple[Game, ...]
    source: Source | None = None
    is_agent: bool = False


def build_corpus(shared: Shared, settings: Settings, agents: Sequence[str]) -> list[Part]:
    """The games to play; ``agents``: files or names of those to load, which all play the same seeds.

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
            games = (Game(f"{DIRECTED} {slot}", made.get(slot, seed)) for slot, seed in enumerate(seeds))
            parts.append(Part(DIRECTED, tuple(games), source))
        for agent in agents or (list(local.agents)[:1] if local.load_policy else []):
            sources[agent] = open_source(POLICY + agent, local, settings.games, rng)
        sources |= {name: Source(policy) for name, policy in local.policies.items()}
    sources[UNIFORM] = Source()
    for agent, source in sources.items():
        parts.append(Part(agent, tuple(Game(f"{agent} seed {seed}", seed) for seed in seeds), source, is_agent=True))
    return parts


def _recorded(shared: Shared) -> tuple[Game, ...]:
    """The golden episodes, each up to its first action that a side lacks."""
    folder = shared.local.golden
    games = []
    for path in trace_files(folder) if folder is not None and any(folder.glob("*.json")) else ():
        case = read_golden(shared.local, path).case
        if case.state is None or shared.same_states:
            actions = takewhile(lambda action: shared.plays[action], map(int, case.actions))
            games.append(Game(f"{GOLDEN} {path.stem}", case.state or case.seed or 0, tuple(actions)))
    return tuple(games)
