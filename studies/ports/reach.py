"""Traces of differences that play reaches from a reset; runs in the environment and the folder of a pair.

    python -m reach check
    python -m reach find --world W --engines A,B [--source uniform] [--games 64] [--steps 500] [--seed 0]

`check` prints as JSON whether each trace in `reached` still shows what it records, with the same values. `find` plays
from resets, with the ledger, writes `reached/NAME.json` for each difference that shows and has none, and makes it
short by leaving out actions. `run.py PAIR --reach ...` starts it.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tables

from rlparity.core.ledger import read_ledger
from rlparity.core.lockstep import verdict
from rlparity.core.lockstep_run import LockstepRun
from rlparity.core.pair import Outputs, Pair
from rlparity.core.replay import last_differences
from rlparity.core.settings import Settings
from rlparity.core.trace import Action, Case, Trace, read_trace, write_trace
from rlparity.engine import Slots
from rlparity.engines.places import with_remote_engines
from rlparity.io.console import output_aside
from rlparity.world import World

with output_aside():  # of packages that print as they are imported
    import pairing

FOLDER = Path.cwd()
REACHED = FOLDER / "reached"
SHRINK_SECONDS = 60.0


def world_of(name: str, engines: tuple[str, ...]) -> World:
    """The world of a name, or of pairing:NAME, with those of the engines that have a place."""
    name = name.rpartition(":")[2]
    return with_remote_engines(getattr(pairing, name), f"pairing:{name}", engines)


def check() -> dict[str, bool]:
    """Whether each trace still shows what it records."""
    found = {}
    for path in sorted(REACHED.glob("*.json")):
        trace = read_trace(path)
        with Pair(world_of(trace.world, trace.engines), trace.engines, 1) as pair:
            shown = last_differences(pair, trace.case)[2]
        found[path.stem] = trace.case.seed is not None and bool(shown) and verdict(shown) == verdict(trace.differences)
    return found


class Search(LockstepRun):
    """A run from resets that keeps, for each entry of the ledger, the shortest game whose first difference it explains.

    spoilt: games that differed before.
    """

    def __init__(self, pair: Pair, settings: Settings) -> None:
        super().__init__(pair, settings)
        self.cases: dict[str, Case] = {}
        self.spoilt: set[int] = set()

    def check(self, seen: Outputs, slots: Slots, *then: Action) -> None:
        """Note the games in which entries explain something."""
        before = {name: set(games) for name, games in self.pair.met.items()}
        super().check(seen, slots, *then)
        new = {name: games - before.get(name, set()) - self.spoilt for name, games in self.pair.met.items()}
        for name, games in new.items():
            for game in games:
                case = self.history.case(int(np.flatnonzero(self.numbers == game)[0]), *then)
                known = self.cases.setdefault(name, case)
                self.cases[name] = min(known, case, key=lambda each: len(each.actions))
        self.spoilt.update(*new.values())


def shortened(pair: Pair, case: Case, entry: Any, seconds: float) -> Case:
    """The case with as few actions as are found to end in a step that shows the entry and nothing else."""

    def shows(candidate: Case) -> bool:
        before, action, differences = last_differences(pair, candidate)
        return (
            bool(differences)
            and pair.ledger is not None
            and entry in pair.ledger.entries_of(before, action, differences)
        )

    ends, length = time.monotonic() + seconds, len(case.actions)
    while length := length // 2:
        index = 0
        while index + length < len(case.actions) and time.monotonic() < ends:
            candidate = replace(case, actions=case.actions[:index] + case.actions[index + length :])
            case, index = (candidate, index) if shows(candidate) else (case, index + length)
    return case


def find(options: argparse.Namespace) -> list[str]:
    """Play, and write what was found; returns the names of the differences."""
    engines = tuple(options.engines.split(","))
    world = replace(world_of(options.world, engines), starts={})  # seeds alone
    ledger = read_ledger(FOLDER / tables.LEDGER).opened(world, engines)
    settings = Settings(
        games=options.games, steps=options.steps, seed=options.seed, source=options.source, invalid=0, stop_after=10**6
    )
    with Pair(world, engines, options.games, ledger=ledger) as pair:
        search = Search(pair, settings)
        search.play(lambda: None)
    if search.outcome.divergences:
        fields = {found.field for each in search.outcome.divergences for found in each.differences}
        print(f"{len(search.outcome.divergences)} games differ in what no entry explains: {sorted(fields)[:9]}")
    entries, written = {entry.id: entry for entry in ledger.entries}, []
    for name, group in tables.entries_of(FOLDER).items():
        met = sorted((len(search.cases[each].actions), each) for each in group if each in search.cases)
        path = REACHED / f"{name}.json"
        if not met or (path.exists() and not options.again):
            continue
        with Pair(world, engines, 1, ledger=ledger) as pair:
            case = shortened(pair, search.cases[met[0][1]], entries[met[0][1]], SHRINK_SECONDS)
            differences = last_differences(pair, case)[2]
        REACHED.mkdir(exist_ok=True)
        write_trace(Trace(f"pairing:{options.world}", engines, case, differences), path)
        written.append(f"{name}: {len(case.actions)} actions")
    return written


def main() -> None:
    """Check or find."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("check", "find"))
    parser.add_argument("--world")
    parser.add_argument("--engines")
    parser.add_argument("--source", default="uniform")
    parser.add_argument("--again", action="store_true", help="renew traces that are there")
    for name, default in (("games", 64), ("steps", 500), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    with output_aside():
        answer = json.dumps(check()) if options.command == "check" else "\n".join(find(options)) or "nothing new"
    print(answer)


if __name__ == "__main__":
    main()
