"""Readings of rewards: every component of table W, computed from the states around a step.

Each function turns one transition into a Reading: the engine's price of the component times a quantity from the states.
The quantities are computed independently of both engines; the prices come from the engine's tables.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from hackmatrix.cells import CELLS, Place, around, cell_name, place_of, places
from hackmatrix.explain.transition import RESET, StateTransition, exit_distance
from hackmatrix.rules import COMPONENTS, SIPHON
from rlparity import State

Prices = Mapping[str, Sequence[int]]
"""Table W in the form of ``getRules``: the prices of each component in thousandths."""


class Reading(NamedTuple):
    """A component's value, ``base + price x quantity`` thousandths, and its reason."""

    price: int
    quantity: int
    text: str = ""
    base: int = 0

    @property
    def value(self) -> int:
        """The component in thousandths."""
        return self.base + self.price * self.quantity

    def __str__(self) -> str:
        base = f"{reward_text(self.base)} + " if self.base else ""
        reason = f": {self.text}" if self.text else ""
        return f"{base}{reward_text(self.price)} x {self.quantity}{reason}"


def reward_text(thousandths: int) -> str:
    """Thousandths as reward, without trailing zeros: ``-0.01``, ``0.5``, ``100``."""
    return f"{thousandths / 1000:.3f}".rstrip("0").rstrip(".")


def step_penalty(step: StateTransition, price: int) -> Reading:
    """W step_penalty: paid for every valid action."""
    return Reading(price, int(step.valid), "a valid action")


def stage_completion(step: StateTransition, *prices: int) -> Reading:
    """W stage_completion: paid for a completed stage, at the price of that stage (C3)."""
    stage = step.before["stage"]
    return Reading(prices[stage - 1], 1, f"stage {stage} completed") if step.completed else Reading(0, 0)


def score_gain(step: StateTransition, price: int) -> Reading:
    """W score_gain: the change of the score."""
    before, after = _both(step, "score")
    return Reading(price, after - before, f"score {before} -> {after}")


def kills(step: StateTransition, price: int) -> Reading:
    """W kills: removed enemies and transmissions that count (V4); UNDO repays the kills since its record (W3)."""
    if step.undone:
        return _repaid(step, price, "kills")
    counted = [str(being) for being in step.removed if being.counts]
    scheduled = [str(being) for being in step.removed if not being.counts]
    text = f"removed {', '.join(counted) or 'nothing that counts'}"
    if scheduled:
        text += f"; not counted, being scheduled: {', '.join(scheduled)} (V4)"
    return Reading(price, len(counted), text)


def data_siphon(step: StateTransition, price: int) -> Reading:
    """W data_siphon: a pickup walked onto (V3); UNDO repays the pickups since its record (W3)."""
    if step.undone:
        return _repaid(step, price, "pickups")
    taken = [entry for entry in step.before["resources"] if entry["dataSiphon"] and place_of(entry) == step.entered]
    return Reading(price, len(taken), f"walked onto the pickup at {cell_name(step.entered)}" if step.entered else "")


def distance_shaping(step: StateTransition, price: int) -> Reading:
    """W distance_shaping: cells gained on the closest approach (W1, W3)."""
    closest, restored = (state["closestApproach"] for state in (step.before, step.after))
    if step.undone:
        return Reading(price, closest - restored, f"UNDO restores the closest approach, {closest} -> {restored} (W3)")
    if step.completed:
        return Reading(price, closest, f"the stage is completed: all that was left of the closest approach, {closest}")
    distance = exit_distance(step.after) if step.valid and not step.died else None
    if distance is None:
        return Reading(price, 0, "no path, or no player alive")
    gain = max(0, closest - distance)
    return Reading(price, gain, f"closest approach {closest} -> {closest - gain}")


def victory(step: StateTransition, base: int, price: int) -> Reading:
    """W victory: paid for the completion of stage 8 (C3)."""
    score = step.after["player"]["score"]
    return Reading(price, score, f"won with score {score}", base) if step.won else Reading(0, 0)


def death_penalty(step: StateTransition, *prices: int) -> Reading:
    """W death_penalty: paid for a death, at the price of the current stage."""
    stage = step.before["stage"]
    return Reading(prices[stage - 1], 1, f"died in stage {stage}") if step.died else Reading(0, 0)


def resource_gain(step: StateTransition, price: int) -> Reading:
    """W resource_gain: the changes of credits and energy, negative when spent."""
    before, after = step.before["player"], step.after["player"]
    changed = [name for name in ("credits", "energy") if before[name] != after[name]]
    change = sum(after[name] - before[name] for name in changed)
    return Reading(price, change, ", ".join(f"{name} {before[name]} -> {after[name]}" for name in changed))


def resource_holding(step: StateTransition, price: int) -> Reading:
    """W resource_holding: credits and energy held when a stage is completed."""
    credits, energy = (step.after["player"][name] for name in ("credits", "energy"))
    held = credits + energy if step.completed else 0
    return Reading(price, held, f"holding {credits} credits, {energy} energy at the end of the stage")


def damage_penalty(step: StateTransition, price: int) -> Reading:
    """W damage_penalty: net loss of hp in the step."""
    before, after = _both(step, "hp")
    return Reading(price, max(0, before - after), f"hp {before} -> {after}")


def hp_recovery(step: StateTransition, price: int) -> Reading:
    """W hp_recovery: net gain of hp in the step."""
    before, after = _both(step, "hp")
    return Reading(price, max(0, after - before), f"hp {before} -> {after}")


def siphon_quality(step: StateTransition, price: int) -> Reading:
    """W siphon_quality: the most credits and the most energy that better cells would have given on top (W2)."""
    if not step.valid or step.action != SIPHON:
        return Reading(price, 0)
    state, own = step.before, place_of(step.before["player"])
    here = _yield_of(state, own)
    needed = _open_cross(state, own) & places(state["blocks"]) if here.points or here.programs else set()
    reaching = [place for place in CELLS if needed <= {place, *around(place)} and place not in places(state["blocks"])]
    better = {place: there for place in reaching if (there := _yield_of(state, place)).beats(here)}
    credits = max((there.credits for there in better.values()), default=here.credits)
    energy = max((there.energy for there in better.values()), default=here.energy)
    best = "; ".join(
        f"{cell_name(place)} gives {there}"
        for place, there in better.items()
        if there.credits == credits > here.credits or there.energy == energy > here.energy
    )
    lost = _Yield(credits=credits - here.credits, energy=energy - here.energy)
    return Reading(price, lost.credits + lost.energy, f"missed {lost}: here {here}; {best} (W2)")


def siphon_death_penalty(step: StateTransition, price: int) -> Reading:
    """W siphon_death_penalty: paid for a death next to an enemy from a siphon."""
    beside = around(place_of(step.after["player"])) if step.died else []
    guilty = [enemy for enemy in step.after["enemies"] if enemy["spawnedFromSiphon"] and place_of(enemy) in beside]
    who = " and ".join(f"the {enemy['type']} at {cell_name(place_of(enemy))}" for enemy in guilty)
    return Reading(price, int(bool(guilty)), f"died beside {who}, from a siphon")


def program_waste(step: StateTransition, price: int) -> Reading:
    """W program_waste: paid for RESET at hp 2."""
    wasted = step.valid and step.action == RESET and step.before["player"]["hp"] == 2
    return Reading(price, int(wasted), "RESET at hp 2")


def readings_of(step: StateTransition, prices: Prices) -> tuple[Reading, ...]:
    """The readings of all components of a step, in the order of table W; an invalid action's are worth 0 (C1)."""
    return tuple(read(step, *prices[name]) for name, read in READINGS.items())


def _repaid(step: StateTransition, price: int, what: str) -> Reading:
    count = step.before[f"{what}SinceHistory"]
    return Reading(price, -count, f"UNDO repays the {what} since its record, {count} (W3)")


def _both(step: StateTransition, name: str) -> tuple[int, int]:
    """A number of the player before and after the step."""
    return step.before["player"][name], step.after["player"][name]


class _Yield(NamedTuple):
    """Yield of a siphon in one cell: points (sorted), programs not owned yet, and amounts."""

    points: tuple[int, ...] = ()
    programs: frozenset[int] = frozenset()
    credits: int = 0
    energy: int = 0

    def __str__(self) -> str:
        return f"{self.credits} credits, {self.energy} energy"

    def beats(self, other: "_Yield") -> bool:
        """Whether points and programs are the same, neither amount is lower, and one is higher (W2)."""
        no_less = self.credits >= other.credits and self.energy >= other.energy
        return self[:2] == other[:2] and no_less and self != other


def _yield_of(state: State, place: Place) -> _Yield:
    """Yield of a siphon in ``place``; nothing in a cell with a block (W2)."""
    if place in places(state["blocks"]):
        return _Yield()
    cross = _open_cross(state, place)
    blocks = [block for block in state["blocks"] if place_of(block) in cross]
    bare = cross - places(blocks)
    amounts = [entry for entry in state["resources"] if place_of(entry) in bare]
    programs = {block["programActionIndex"] for block in blocks if "programActionIndex" in block}
    return _Yield(
        points=tuple(sorted(block["points"] for block in blocks if "points" in block)),
        programs=frozenset(programs.difference(state["ownedPrograms"])),
        credits=sum(entry["credits"] for entry in amounts),
        energy=sum(entry["energy"] for entry in amounts),
    )


def _open_cross(state: State, place: Place) -> set[Place]:
    """The cells of the cross that are not siphoned (S1)."""
    return {place, *around(place)} - places(state["siphoned"])


READINGS: dict[str, Callable[..., Reading]] = {component: globals()[component] for component in COMPONENTS}
"""Component -> its reading from a step and the component's prices, in the order of table W."""
