"""W2: what a siphon gives, and which cells would have given more."""

from dataclasses import dataclass

from hackmatrix.explain.transition import CELLS, Place, around, place_of, places
from parity import State


@dataclass(frozen=True)
class Yield:
    """What a siphon in one cell would give: points (sorted), programs not owned yet, and amounts."""

    points: tuple[int, ...] = ()
    programs: frozenset[int] = frozenset()
    credits: int = 0
    energy: int = 0

    def __str__(self) -> str:
        return f"{self.credits} credits, {self.energy} energy"

    def beats(self, other: "Yield") -> bool:
        """The same blocks' worth, no less of either amount, and more of one (W2)."""
        more = (self.credits, self.energy) != (other.credits, other.energy)
        no_less = self.credits >= other.credits and self.energy >= other.energy
        return (self.points, self.programs) == (other.points, other.programs) and no_less and more


@dataclass(frozen=True)
class Missed:
    """What a siphon missed: its own yield, both amounts missed, and the better cells with the most of either."""

    here: Yield
    credits: int
    energy: int
    best: tuple[tuple[Place, Yield], ...]


def yield_of(state: State, place: Place) -> Yield:
    """What a siphon in ``place`` would give; nothing in a cell with a block (W2)."""
    if place in places(state["blocks"]):
        return Yield()
    cross = _open_cross(state, place)
    blocks = [block for block in state["blocks"] if place_of(block) in cross]
    bare = cross - places(blocks)
    amounts = [entry for entry in state["resources"] if place_of(entry) in bare]
    programs = {block["programActionIndex"] for block in blocks if "programActionIndex" in block}
    return Yield(
        points=tuple(sorted(block["points"] for block in blocks if "points" in block)),
        programs=frozenset(programs.difference(state["ownedPrograms"])),
        credits=sum(entry["credits"] for entry in amounts),
        energy=sum(entry["energy"] for entry in amounts),
    )


def missed(state: State) -> Missed:
    """What a siphon where the player stands would miss (W2)."""
    own = place_of(state["player"])
    here = yield_of(state, own)
    needed = _open_cross(state, own) & places(state["blocks"]) if here.points or here.programs else set()
    reaching = [place for place in CELLS if needed <= {place, *around(place)}]
    open_cells = (place for place in reaching if place not in places(state["blocks"]))
    better = [(place, there) for place in open_cells if (there := yield_of(state, place)).beats(here)]
    credits = max((there.credits for _, there in better), default=here.credits)
    energy = max((there.energy for _, there in better), default=here.energy)
    best = tuple(
        each for each in better if each[1].credits == credits > here.credits or each[1].energy == energy > here.energy
    )
    return Missed(here, credits - here.credits, energy - here.energy, best)


def _open_cross(state: State, place: Place) -> set[Place]:
    """The cells of the cross that are not siphoned (S1)."""
    return {place, *around(place)} - places(state["siphoned"])
