"""Replay the witnesses of the ledger on all three implementations, and name the one that the other two outvote."""

from itertools import combinations
from pathlib import Path

import pairing

from rlparity.core.ledger import read_ledger
from rlparity.core.pair import Pair
from rlparity.core.replay import differs_at
from rlparity.world import World

WORLDS: dict[str, World] = {
    world.name: world for world in (getattr(pairing, game.name.upper()) for game in pairing.GAMES)
}


def main() -> None:
    """Print a line for each entry."""
    for entry in read_ledger(Path(__file__).with_name("known-differences.toml")).entries:
        world = WORLDS[entry.worlds[0]]
        apart = set()
        for names in combinations(world.engines, 2):
            with Pair(world, names, 1) as pair:
                if differs_at(pair, entry.witness.case) is not None:
                    apart.add(names)
        odd = [name for name in world.engines if len([names for names in apart if name in names]) == 2]
        answer = f"{odd[0]} stands alone" if len(apart) == 2 else f"no two agree ({len(apart)} pairs differ)"
        print(f"{entry.id}: {answer}")


if __name__ == "__main__":
    main()
