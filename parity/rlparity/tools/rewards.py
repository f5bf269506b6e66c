"""Golden episodes: compare the rewards of recorded games with today's, transition by transition."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rlparity.agent import View
from rlparity.core.guard import DEFAULT_TIMEOUT, GuardedEngine
from rlparity.core.prices import changed_prices
from rlparity.core.replay import begin
from rlparity.core.settings import Settings
from rlparity.core.source_specs import open_source
from rlparity.core.trace import RESTART, Action, Case, Trace, batch_of, read_trace, trace_files, trace_text, write_trace
from rlparity.engine import Slots, consecutive_seeds
from rlparity.errors import StateRefused, UsageError
from rlparity.spaces import action_numbers
from rlparity.world import World

Components = tuple[tuple[int | float, ...], ...]
_ONLY: Slots = np.zeros(1, dtype=np.intp)


@dataclass(frozen=True)
class Change:
    """Changed value of one component in one transition.

    before: None where the golden episode lacks the component; after: None where the world no longer has it.
    """

    episode: str
    step: int
    action: Action
    component: str
    before: int | float | None
    after: int | float | None

    @property
    def amount(self) -> int | float:
        """The difference of after and before; a missing component counts as 0."""
        return (self.after or 0) - (self.before or 0)


@dataclass(frozen=True)
class GoldenEpisode:
    """A golden episode and the components that each engine gives for it now. The golden trace names its components."""

    path: Path
    golden: Trace
    expected: Components
    observed: Components

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the recorded components."""
        assert self.golden.component_names is not None
        return self.golden.component_names

    def changes(self, world: World) -> list[Change]:
        """List components of the reference engine that differ from the recorded ones of the same name."""
        assert self.golden.components is not None
        return self._between(self.names, self.golden.components, world.components, self.expected)

    def disagreements(self, world: World) -> list[Change]:
        """List components of the second engine (after) that differ from the reference's (before)."""
        return self._between(world.components, self.expected, world.components, self.observed)

    def _between(
        self, old_names: Sequence[str], before: Components, new_names: Sequence[str], after: Components
    ) -> list[Change]:
        changes = []
        for step, (action, olds, news) in enumerate(zip(self.golden.case.actions, before, after, strict=True)):
            old, new = dict(zip(old_names, olds, strict=True)), dict(zip(new_names, news, strict=True))
            changes += [
                Change(self.path.stem, step, action, name, old.get(name), new.get(name))
                for name in dict.fromkeys((*new_names, *old_names))
                if not np.array_equal(old.get(name, 0), new.get(name, 0), equal_nan=True)
            ]
        return changes


@dataclass(frozen=True)
class RewardsDocument:
    """Result of ``rewards``. disagreements: differences between the engines. accepted: number of episodes renewed."""

    episodes: int
    transitions: int
    new_components: Sequence[str]
    changes: Sequence[Change]
    engines_agree: bool
    disagreements: Sequence[Change]
    accepted: int


def golden_folder(world: World, folder: Path | None) -> Path:
    """Return the folder of golden episodes; raises UsageError when the world has none and none is given."""
    chosen = folder or world.golden
    if chosen is None:
        raise UsageError(f"world '{world.name}' has no golden episodes: record some with rlparity record --output DIR.")
    return chosen


def replay_golden(
    world: World, engines: tuple[str, str], folder: Path, timeout: float = DEFAULT_TIMEOUT
) -> list[GoldenEpisode]:
    """Replay every golden episode on both engines. Raises UsageError for a file that is not a golden episode."""
    paths = trace_files(folder)
    traces = [read_golden(world, path) for path in paths]
    played = []
    for name in engines:
        with closing(GuardedEngine(world, name, 1, timeout=timeout)) as engine:
            played.append([_play(engine, path, trace.case) for path, trace in zip(paths, traces, strict=True)])
    episodes = [GoldenEpisode(*parts) for parts in zip(paths, traces, *played, strict=True)]
    if not any(episode.names and episode.golden.case.actions for episode in episodes):
        raise UsageError(f"the episodes in {folder} hold no rewards to compare: record others with rlparity record.")
    return episodes


def read_golden(world: World, path: Path) -> Trace:
    """Read a golden episode, and name its components; raises UsageError for a file that is not one."""
    trace = read_trace(path)
    if RESTART in trace.case.actions:
        raise UsageError(f"{path} goes on after a restart: a golden episode is one game, record it anew.")
    rows, names = trace.components, trace.component_names
    if names is None and rows:
        # Older files do not name their columns; since then, worlds have only appended components.
        names = world.components[: len(rows[0])]
    if rows is None or len(rows) != len(trace.case.actions) or any(len(row) != len(names or ()) for row in rows):
        raise UsageError(
            f"{path} does not hold the {len(names or world.components)} reward components of each of its steps: "
            "record it anew with rlparity record."
        )
    return replace(trace, component_names=names or world.components)


def _play(engine: GuardedEngine, path: Path, case: Case) -> Components:
    try:
        begin(engine, case)
    except StateRefused as error:
        raise UsageError(f"engine '{engine.name}' refuses the start of {path}: {error}") from error
    steps = (engine.step(batch_of(engine.world, action)) for action in case.actions if action != RESTART)
    return tuple(tuple(step.components[0].tolist()) for step in steps)


def rewards_document(world: World, episodes: Sequence[GoldenEpisode]) -> RewardsDocument:
    """Build the document of replayed golden episodes, with none accepted yet."""
    disagreements = [change for episode in episodes for change in episode.disagreements(world)]
    return RewardsDocument(
        episodes=len(episodes),
        transitions=sum(len(episode.golden.case.actions) for episode in episodes),
        new_components=[name for name in world.components if any(name not in episode.names for episode in episodes)],
        changes=[change for episode in episodes for change in episode.changes(world)],
        engines_agree=not disagreements,
        disagreements=disagreements,
        accepted=0,
    )


def accept(world: World, episodes: Sequence[GoldenEpisode]) -> int:
    """Rewrite outdated golden episodes, and return their number. Call it only when the engines agree."""
    renewed = 0
    for episode in episodes:
        trace = replace(episode.golden, components=episode.expected, component_names=world.components)
        if trace_text(trace) != episode.path.read_text(encoding="utf-8"):
            write_trace(trace, episode.path)
            renewed += 1
    return renewed


def record(world: World, spec: str, engines: tuple[str, str], settings: Settings, folder: Path) -> list[Path]:
    """Play one episode for each game on the reference engine and write it as a golden episode.

    An episode ends with the game or after ``settings.steps`` steps. ``spec`` names the world as ``--world`` does.
    """
    rng = np.random.default_rng(settings.seed)
    source = open_source(settings.source, world, 1, rng)
    kind = settings.source.partition(":")[0]
    paths = []
    with closing(GuardedEngine(world, engines[0], 1, timeout=settings.timeout)) as engine:
        for seed in consecutive_seeds(settings.seed, settings.games).tolist():
            state = source.starts(_ONLY).get(0)
            case = Case((), seed=seed) if state is None else Case((), state=state)
            observation = begin(engine, case)
            actions: list[int | tuple[int | float, ...]] = []
            components: list[tuple[int | float, ...]] = []
            while len(actions) < settings.steps:
                view = View(observation, engine.mask(), _ONLY, engine.get_state)
                action = source.actions(view, rng, settings.invalid, world.action_space)
                step = engine.step(action)
                observation = step.observation
                actions.append(action_numbers(action[0]))
                components.append(tuple(step.components[0].tolist()))
                if step.ended[0]:
                    break
            case = replace(case, actions=tuple(actions))
            trace = Trace(
                spec,
                engines,
                case,
                components=tuple(components),
                component_names=world.components,
                prices=changed_prices(world),
            )
            paths.append(folder / f"{kind}-{seed}.json")
            write_trace(trace, paths[-1])
    return paths
