"""Measure where and by whom an agent dies, and how long before its death another action would have helped.

    python studies/why_it_dies.py AGENT [--episodes N] [--picture FILE] [--json FILE]

AGENT is `best`, an agent's file or the folder of a run. For K = 1, 2, 3, 5, 8 and 12 every valid action is tried in the
state K steps before a death, and the agent plays on as it plays. A death could have been avoided from there if after
one of these actions the player is alive 10 steps after the original death, or has won. The chance is that of the game
itself, so the shares are what hindsight could do: more than somebody can who does not know what is to come.
"""

import argparse
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hackmatrix.explain.transition import StateTransition, ending
from hackmatrix.rules import ENEMIES, NUM_STAGES
from hackmatrix.score import DIED
from hackmatrix.world import WORLD
from rlparity import State
from rlparity.errors import ParityError
from rlparity.io.arguments import SEED, STANDARD_OUTPUT, STEPS, IntRange, Parser
from rlparity.io.console import open_console
from rlparity.io.table import Table
from rlworldkit.agents.agent import AgentPlayer
from rlworldkit.agents.reader import read_agent
from rlworldkit.cli.outputs import JSON_HELP, OUTPUT, fail, write_output
from rlworldkit.cli.players import add_choice_flags, add_older_names, caption_of, choice_of
from rlworldkit.envs.episodes import Episodes
from rlworldkit.evaluation.report import as_json, percent, share
from rlworldkit.pictures import drawn, literal
from rlworldkit.show.watch.frames import Frame, decide, frames

BEFORE = (1, 2, 3, 5, 8, 12)
"""Numbers of steps before a death at which other actions are tried."""
MARGIN = 10
"""Steps that a player must survive after the original death."""
SIDE_BY_SIDE = 128
MOST_STEPS = 5000
START, SIPHON, SCHEDULE = "stage's start", "siphon", "schedule"
_COLOURS = {START: "#7a5195", SIPHON: "#1b7f4d", SCHEDULE: "#d98c2b"}

Figures = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Position:
    """State of the game with this seed, ``step`` steps after its start."""

    seed: int
    step: int
    state: State


@dataclass(frozen=True)
class Death:
    """A death in step ``step`` of a game. before: positions by number of steps before it, if the game is that long."""

    seed: int
    step: int
    stage: int
    attackers: Sequence[State]
    before: dict[int, Position]


@dataclass(frozen=True)
class Try:
    """An action to try in a position. steps: how many the player must survive, including this action."""

    position: Position
    action: int
    steps: int


def main() -> None:
    """Read the command line, play, and print, write and draw the results."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", type=Path, help="`best`, params_*.npz, checkpoint_*.pkl, a .zip, or a run's folder")
    parser.add_argument("--episodes", type=IntRange(1, 100_000), default=100, metavar="N", help="(default 100)")
    parser.add_argument("--seed", type=SEED, default=0, metavar="N", help="the first game's seed (default 0)")
    parser.add_argument("--max-steps", type=STEPS, default=MOST_STEPS, metavar="N", help="truncate after that many")
    add_choice_flags(parser, searches=False)
    parser.add_argument("--picture", type=OUTPUT, metavar="FILE", help="draw it, as a PNG")
    parser.add_argument("--json", type=OUTPUT, metavar="FILE", help=JSON_HELP)
    add_older_names(parser)
    args = parser.parse_args()
    try:
        watched = AgentPlayer(read_agent(WORLD, args.agent), choice_of(args))
        deaths = deaths_of(watched, args.seed, args.episodes, args.max_steps)
        figures = figures_of(deaths, args.episodes, avoidable(watched, deaths))
    except ParityError as error:
        fail(error)
    title = f"{caption_of(WORLD, watched)}: {len(deaths)} deaths in {args.episodes} games from seed {args.seed} on"
    console = open_console(stderr=args.json == STANDARD_OUTPUT)
    console.print(title)
    for table in tables(figures):
        console.print(table)
    if args.json:
        write_output(args.json, as_json(figures))
    if args.picture:
        write_output(args.picture, picture(figures, title))


def deaths_of(watched: AgentPlayer, first_seed: int, episodes: int, max_steps: int = MOST_STEPS) -> list[Death]:
    """Play ``episodes`` games on the Swift engine, and collect the deaths.

    Raises EngineError where the engine cannot start, or fails.
    """
    told: dict[int, deque[Frame]] = {}
    deaths = []
    with closing(Episodes(WORLD, min(episodes, SIDE_BY_SIDE), engine="swift", max_episode_steps=max_steps)) as opened:
        for moment in frames(opened, watched, first_seed, episodes):
            told.setdefault(moment.seed, deque(maxlen=max(BEFORE) + 1)).append(moment)
            if moment.ending is not None:
                last = list(told.pop(moment.seed))
                deaths += [death_of(last)] if moment.ending == DIED else []
    return deaths


def death_of(last: Sequence[Frame]) -> Death:
    """Make the Death at the end of a game from its last frames."""
    before, after = last[-2:]
    assert after.decision is not None
    found = ending(StateTransition(before.state, after.state, after.decision.action))
    positions = {
        steps: Position(after.seed, after.step - steps, last[-1 - steps].state) for steps in BEFORE if steps < len(last)
    }
    return Death(after.seed, after.step, found.stage, found.attackers, positions)


def avoidable(watched: AgentPlayer, deaths: Sequence[Death]) -> dict[int, list[bool]]:
    """Find, for each of ``BEFORE``, which of the deaths in games that long some action avoids."""
    found = {}
    for steps in BEFORE:
        of_steps = [death.before[steps] for death in deaths if steps in death.before]
        tries = [
            Try(position, action, steps + MARGIN)
            for position, actions in zip(of_steps, valid_actions(of_steps), strict=True)
            for action in actions
        ]
        saved = {one.position.seed for one, lived in zip(tries, outlived(watched, tries), strict=True) if lived}
        found[steps] = [position.seed in saved for position in of_steps]
    return found


def valid_actions(positions: Sequence[Position]) -> Iterator[list[int]]:
    """Yield the valid actions in each position."""
    for part in _parts(positions):
        with closing(Episodes(WORLD, len(part), engine="swift")) as episodes:
            episodes.start_from([position.state for position in part], np.arange(len(part)))
            yield from (np.flatnonzero(mask).tolist() for mask in episodes.mask)


def outlived(watched: AgentPlayer, tries: Sequence[Try]) -> list[bool]:
    """Tell for each try whether the player survives its steps or wins."""
    return [lived for part in _parts(tries) for lived in _outlived(watched, part).tolist()]


def _outlived(watched: AgentPlayer, tries: Sequence[Try]) -> NDArray[np.bool_]:
    """Tell the same for at most ``SIDE_BY_SIDE`` tries, played in parallel."""
    seeds = np.array([one.position.seed for one in tries], np.uint64)
    # the agent's draws depend on the step number, so continue the numbers of the original game
    first = np.array([one.position.step for one in tries])
    limits = np.array([one.steps for one in tries])
    actions = np.array([one.action for one in tries], np.int32)
    lives, won = np.ones(len(tries), np.bool_), np.zeros(len(tries), np.bool_)
    victory = WORLD.events.index("victory")
    with closing(Episodes(WORLD, len(tries), engine="swift")) as episodes:
        episodes.start_from([one.position.state for one in tries], np.arange(len(tries)))
        for number in range(1, limits.max() + 1):
            episodes.begin_step(actions)
            step = episodes.finish_step()
            won |= lives & (step.events >> victory & 1).astype(np.bool_)
            lives &= ~step.terminated | (number > limits)
            going = np.flatnonzero(lives & ~won & (number < limits))
            if not len(going):
                break
            decided = decide(
                watched,
                episodes.observation[going],
                episodes.mask[going],
                seeds[going],
                first[going] + number,
                partial(episodes.get_states, going),
            )
            actions[going] = [decision.action for decision in decided]
    return lives | won


def _parts(things: Sequence[T]) -> Iterator[Sequence[T]]:
    """Split a sequence into parts of at most ``SIDE_BY_SIDE``."""
    for first in range(0, len(things), SIDE_BY_SIDE):
        yield things[first : first + SIDE_BY_SIDE]


def origin_of(attacker: State) -> str:
    """Origin of an attacker (A5)."""
    return SIPHON if attacker["spawnedFromSiphon"] else SCHEDULE if attacker["isFromScheduledTask"] else START


def figures_of(deaths: Sequence[Death], games: int, avoided: dict[int, list[bool]]) -> Figures:
    """Collect the results as JSON values: deaths by stage, attackers, and shares with 95% intervals."""
    stages = Counter(death.stage for death in deaths)
    attackers = Counter((killer["type"], origin_of(killer)) for death in deaths for killer in death.attackers)
    return {
        "games": games,
        "deaths": len(deaths),
        "stages": {str(stage): stages[stage] for stage in range(1, NUM_STAGES + 1)},
        "attackers": {kind: {origin: attackers[kind, origin] for origin in _COLOURS} for kind in ENEMIES},
        "avoidable": {
            str(steps): {"deaths": len(saved), **share(sum(saved), len(saved))} for steps, saved in avoided.items()
        },
    }


def tables(figures: Figures) -> list[Table]:
    """Make the tables of the figures for the terminal."""
    stages = Table("stage", "deaths", box=None)
    for stage, count in figures["stages"].items():
        stages.add_row(stage, str(count))
    attackers = Table("attackers", *(f"of the {origin}" for origin in _COLOURS), box=None)
    for kind, counts in figures["attackers"].items():
        attackers.add_row(kind, *map(str, counts.values()))
    avoided = Table("steps before", "deaths", "some action avoids it", box=None)
    for steps, found in figures["avoidable"].items():
        avoided.add_row(steps, str(found["deaths"]), percent(found) if found["deaths"] else "–")
    return [stages, attackers, avoided]


def picture(figures: Figures, title: str) -> bytes:
    """Draw a PNG of deaths by stage, attackers by type and origin, and the share of avoidable deaths."""
    figure = Figure(figsize=(9, 9), layout="constrained")
    figure.suptitle(literal(title))
    stages, attackers, avoided = figure.subplots(3, 1)
    stages.bar(list(figures["stages"]), list(figures["stages"].values()), color=_COLOURS[START])
    stages.set(title="Deaths by stage", xlabel="stage", ylabel="deaths")
    _draw_attackers(attackers, figures["attackers"])
    _draw_avoided(avoided, figures["avoidable"])
    for axis in (stages, attackers, avoided):
        axis.grid(axis="y", alpha=0.3)
    return drawn(figure)


def _draw_attackers(axis: Axes, attackers: dict[str, dict[str, int]]) -> None:
    below = np.zeros(len(attackers))
    for origin, colour in _COLOURS.items():
        counts = np.array([of_type[origin] for of_type in attackers.values()])
        axis.bar(list(attackers), counts, bottom=below, color=colour, label=f"of the {origin}")
        below += counts
    axis.set(title="Who attacked in the last step", ylabel="attackers", ylim=(0, 1.25 * max(1, *below)))
    axis.legend(loc="upper center", ncols=len(_COLOURS))


def _draw_avoided(axis: Axes, avoided: dict[str, Figures]) -> None:
    shares = {steps: found for steps, found in avoided.items() if found["deaths"]}
    means = np.array([found["mean"] for found in shares.values()])
    ends = np.array([[found["low"], found["high"]] for found in shares.values()]).reshape(-1, 2).T
    axis.errorbar(list(shares), means, np.abs(ends - means), marker="o", capsize=3, color=_COLOURS[SIPHON])
    axis.set(title=f"Some action, and the player lives {MARGIN} steps longer (with the chance of the game itself)")
    axis.set(xlabel="steps before the death", ylabel="share of deaths", ylim=(0, 1))


if __name__ == "__main__":
    main()
