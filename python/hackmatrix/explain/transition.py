"""One step of one game: the states around it, and facts that follow from them by the rules alone."""

from dataclasses import dataclass
from functools import cached_property

from hackmatrix.cells import CELLS, Place, around, cell_name, place_of, places
from hackmatrix.rules import ACTIONS, DIRECTIONS, MOVES, SIPHON, SIZE, WON_STAGE
from rlparity import State

WARP, UNDO, RESET, WAIT, _PUSH, _PULL = map(ACTIONS.index, ("WARP", "UNDO", "RESET", "WAIT", "PUSH", "PULL"))


def exit_distance(state: State) -> int | None:
    """Steps from the player to the exit around blocks, through any enemies; None without a path (W1)."""
    goal = place_of(state["exit"])
    closed = places(state["blocks"]) - {goal}
    reached = frontier = {place_of(state["player"])}
    distance = 0
    while frontier:
        if goal in frontier:
            return distance
        frontier = {near for place in frontier for near in around(place)} - closed - reached
        reached = reached | frontier
        distance += 1
    return None


@dataclass(frozen=True)
class Being:
    """An enemy or a transmission; ``counts``: its removal counts as a kill (V4)."""

    name: str
    place: Place
    counts: bool

    def __str__(self) -> str:
        return f"{self.name} at {cell_name(self.place)}"


@dataclass(frozen=True)
class StateTransition:
    """A step: the complete states (S of docs/reference/protocol.md) around it, and the action's number."""

    before: State
    after: State
    action: int

    @property
    def valid(self) -> bool:
        """Whether the action was valid: only valid actions count as events (R3, C1)."""
        return bool(self.before["eventNumber"] != self.after["eventNumber"])

    @property
    def moves(self) -> bool:
        """Whether the action is a move or an attack (V)."""
        return self.valid and self.action < len(MOVES)

    @property
    def undone(self) -> bool:
        """Whether the action restored a record (P-UNDO)."""
        return self.valid and self.action == UNDO

    @property
    def completed(self) -> bool:
        """Whether the action completed a stage (C3)."""
        stages = self.after["stage"] - self.before["stage"]
        return (self.moves or (self.valid and self.action == WARP)) and bool(stages == 1)

    @property
    def won(self) -> bool:
        """Whether the action completed the last stage (C3)."""
        return self.completed and bool(self.after["stage"] == WON_STAGE)

    @property
    def died(self) -> bool:
        """Whether the step ended at hp 0 (C4)."""
        return self.valid and bool(self.after["player"]["hp"] == 0)

    @property
    def over(self) -> bool:
        """Whether the game had ended before the step, so that every action is invalid (C4)."""
        return bool(self.before["player"]["hp"] == 0 or self.before["stage"] == WON_STAGE)

    @property
    def entered(self) -> Place | None:
        """The cell that a move without a target entered (V3)."""
        return self._line[0] if self.moves and self.target is None else None

    @cached_property
    def target(self) -> Being | None:
        """The enemy or transmission that a move attacked (V1)."""
        beings = {being.place: being for being in _beings(self.before)}
        stops = beings.keys() | places(self.before["blocks"])
        return next((beings.get(place) for place in self._line if place in stops), None) if self.moves else None

    @cached_property
    def removed(self) -> tuple[Being, ...]:
        """Every enemy and transmission that the action removed, scheduled ones too (V2, table P), in row-major order.

        For an attack, its target is read from the state before, because enemies move afterwards. After the other
        programs no enemy moves, so one that is missing from its cell was removed.
        """
        if not self.valid or self.action in (SIPHON, WAIT, UNDO, _PUSH, _PULL):
            return ()
        if self.moves:
            target, strength = self.target, self.before["player"]["attackDamage"]
            held = {place_of(enemy) for enemy in self.before["enemies"] if enemy["hp"] > strength}
            return (target,) if target and target.place not in held else ()
        left = {being.place for being in _beings(self.after)}
        return tuple(being for being in _beings(self.before) if being.place not in left)

    @property
    def _line(self) -> list[Place]:
        """The cells from the player outward in the direction of the move."""
        row, col = place_of(self.before["player"])
        up, right = DIRECTIONS[self.action]
        return [near for far in range(1, SIZE) if (near := (row + far * up, col + far * right)) in CELLS]


def _beings(state: State) -> list[Being]:
    enemies = [(enemy["type"], enemy) for enemy in state["enemies"]]
    coming = [(f"coming {entry['enemyType']}", entry) for entry in state["transmissions"]]
    beings = [Being(name, place_of(entry), not entry["isFromScheduledTask"]) for name, entry in enemies + coming]
    return sorted(beings, key=lambda being: being.place)
