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
class Part:
    """Games of one kind. name: theirs, or the agent's that plays them. episodes, starts: of each, seeds or states.

    source: chooses actions; where it is None, ``actions`` are those of each episode.
    """

    name: str
    episodes: tuple[str, ...]
    starts: tuple[int | State, ...]
    source: Source | None = None
    actions: tuple[tuple[int, ...], ...] = ()

    @property
    def is_agent(self) -> bool:
        """An agent plays from seeds, so that returns can be compared."""
        return self.name not in (GOLDEN, DIRECTED)


def build_corpus(shared: Shared, settings: Settings, agents: Sequence[str]) -> list[Part]:
    """The games to play; ``agents``: files or names of those to load, which all play the same seeds.

    Raises UsageError for an agent that cannot be loaded.
    """
    local = shared.local
    parts = _golden_part(shared)
    seeds = run_seeds(settings.seed, settings.games, local.seed_bits).tolist()
    rng = np.random.default_rng(settings.seed)
    sources: dict[str, Source] = {}
    if shared.readable:
        if local.starts or local.policies:
            source = open_source(DIRECTED, local, settings.games, rng)
            made = source.starts(np.arange(settings.games))
            starts = tuple(made.get(slot, seed) for slot, seed in enumerate(seeds))
            names = tuple(f"{DIRECTED} {slot}" for slot in range(settings.games))
            parts.append(Part(DIRECTED, names, starts, source))
        for agent in agents or (list(local.agents)[:1] if local.load_policy else []):
            sources[agent] = open_source(POLICY + agent, local, settings.games, rng)
        sources |= {name: Source(policy) for name, policy in local.policies.items()}
    sources[UNIFORM] = Source()
    for agent, source in sources.items():
        names = tuple(f"{agent} seed {seed}" for seed in seeds)
        parts.append(Part(agent, names, tuple(seeds), source))
    return parts


def _golden_part(shared: Shared) -> list[Part]:
    """The golden episodes, each up to its first action that a side lacks."""
    folder = shared.local.golden
    if folder is None or not any(folder.glob("*.json")):
        return []
    names, starts, actions = [], [], []
    for path in trace_files(folder):
        case = read_golden(shared.local, path).case
        if case.state is not None and not shared.same_states:
            continue
        names.append(f"{GOLDEN} {path.stem}")
        starts.append(case.seed or 0 if case.state is None else case.state)
        actions.append(tuple(map(int, takewhile(lambda action: shared.plays[int(action)], case.actions))))
    return [Part(GOLDEN, tuple(names), tuple(starts), actions=tuple(actions))] if names else []
