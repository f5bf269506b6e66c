"""Explanation of a game's end, from the states around its last step by chapters C and E alone."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hackmatrix.cells import Place, around, place_of
from hackmatrix.explain.transition import WAIT, StateTransition
from hackmatrix.rules import ENEMIES, NUM_STAGES, SIPHON
from rlparity import State

WON, INVALID = "won", "invalid action"
STEP_LIMIT, LEFT = "step limit", "left"
"""Causes of an end that no rule brings about: the game was cut off from outside."""
UNDONE = "UNDO"
"""Cause of an end where UNDO restored a record with hp 0, which only a hand-made state has (P-UNDO)."""
_CROWD = 3
"""Number of attackers from which on a cause counts them instead of listing them, to keep the causes comparable."""
_PLURALS = dict(zip(ENEMIES, ("viruses", "daemons", "glitches", "cryptogs"), strict=True))


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
