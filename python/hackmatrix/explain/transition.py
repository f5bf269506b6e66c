"""One step of one game: the states around it, and what follows from them by the rules alone, such as a game's end."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hackmatrix.cells import CELLS, Place, around, cell_name, is_dead, is_won, place_of, places
from hackmatrix.rules import ACTIONS, DIRECTIONS, ENEMIES, MOVES, NUM_STAGES, SIPHON, SIZE
from rlparity import State

WARP, UNDO, RESET, WAIT, _PUSH, _PULL = map(ACTIONS.index, ("WARP", "UNDO", "RESET", "WAIT", "PUSH", "PULL"))
WON, INVALID = "won", "invalid action"
STEP_LIMIT, LEFT = "step limit", "left"
"""Causes of an end that no rule brings about: the game was cut off from outside."""
UNDONE = "UNDO"
"""Cause of an end where UNDO restored a record with hp 0, which only a hand-made state has (P-UNDO)."""
_CROWD = 3
"""Number of attackers from which on a cause counts them instead of listing them, to keep the causes comparable."""
_PLURALS = dict(zip(ENEMIES, ("viruses", "daemons", "glitches", "cryptogs"), strict=True))


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
        return self.completed and is_won(self.after)

    @property
    def died(self) -> bool:
        """Whether the step ended at hp 0 (C4)."""
        return self.valid and is_dead(self.after)

    @property
    def over(self) -> bool:
        """Whether the game had ended before the step, so that every action is invalid (C4)."""
        return is_dead(self.before) or is_won(self.before)

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


@dataclass(frozen=True)
class Ending:
    """The end of a game.

    stage: the stage it ended in, 1-8; 8 for a won game. cause: the attackers in a word or two, or another cause.
    place: the player's cell. attackers: the enemies that took the last hp, as state entries; none if the player lives.
    """

    stage: int
    cause: str
    place: Place
    attackers: Sequence[State] = ()

    @property
    def from_siphon(self) -> bool:
        """Whether one of the attackers came from a siphon."""
        return any(attacker["spawnedFromSiphon"] for attacker in self.attackers)


def ending(last: StateTransition, cut_off: str = LEFT) -> Ending:
    """Explain the end of a game from its last step (C3, C4).

    cut_off: the cause of an end that the step itself does not explain, ``STEP_LIMIT`` or ``LEFT``.
    """
    killers = attackers(last) if last.died else ()
    cause = WON if last.won else cut_off if last.valid else INVALID
    if last.died:
        cause = _listed(killers) or UNDONE
    return Ending(min(last.after["stage"], NUM_STAGES), cause, place_of(last.after["player"]), killers)


def attackers(step: StateTransition) -> Sequence[State]:
    """The enemies that attacked the player in the enemy turn of a step (E4, E5), in row-major order.

    Each is its entry in the state before the step, or after the step if it moved next to the player in this turn.

    An enemy that can act and begins the turn next to the player attacks and stays. Apart from these, only a virus can
    attack, if the first of its two moves leads next to the player. All attackers are listed, even where fewer would
    have taken the remaining hp: the turn runs to its end, and the order of the attacks is random.
    """
    ends_turn = step.moves or (step.valid and step.action in (SIPHON, WAIT))  # C2
    if not ends_turn or step.completed or step.before["stepActive"]:  # C3, E1
        return ()
    beside = around(place_of(step.after["player"]))
    acting = [enemy for enemy in step.before["enemies"] if _can_act(enemy, step)]
    stood = [enemy for enemy in acting if place_of(enemy) in beside]
    now_beside = [enemy for enemy in step.after["enemies"] if place_of(enemy) in beside]
    came = [enemy for enemy in now_beside if _came_at_once(enemy, acting, step)]
    return sorted([*stood, *came], key=place_of)


def _can_act(enemy: State, step: StateTransition) -> bool:
    """Whether an enemy is neither disabled nor stunned, also not by this action, which stuns survivors (E4, V2)."""
    is_hit = step.target is not None and step.target.place == place_of(enemy)
    return not (enemy["stunned"] or enemy["disabledTurns"] or is_hit)


def _came_at_once(enemy: State, acting: Sequence[State], step: StateTransition) -> bool:
    """Whether this is a virus on a cell that was free before, one move from where a virus like it stood (A5, E4)."""
    place = place_of(enemy)
    gone = {being.place for being in step.removed}
    held = {place_of(entry) for entry in (*step.before["enemies"], *step.before["transmissions"])} - gone
    return (
        enemy["type"] == "virus"
        and place not in held
        and any(place_of(other) in around(place) and _traits(other) == _traits(enemy) for other in acting)
    )


def _traits(enemy: State) -> tuple[object, ...]:
    """Properties of an enemy that can act which an enemy turn does not change."""
    return enemy["type"], enemy["hp"], enemy["spawnedFromSiphon"], enemy["isFromScheduledTask"]


def _listed(killers: Sequence[State]) -> str:
    if len(killers) >= _CROWD:
        return f"{len(killers)} enemies"
    counts = Counter(killer["type"] for killer in killers)
    kinds = filter(counts.get, ENEMIES)
    return " and ".join(kind if counts[kind] == 1 else f"{counts[kind]} {_PLURALS[kind]}" for kind in kinds)
