"""Start states for directed runs, which ordinary play seldom reaches (dicts S of the protocol), and their shrinkers."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hackmatrix import rules
from hackmatrix.cells import CELLS, Place, around, place_of
from rlparity import StartMaker, State
from rlparity.shrinkers import fewer_entries, smaller_numbers

CORNER_CELLS = tuple(CELLS[corner] for corner in rules.CORNERS)
PROGRAM_ACTIONS = tuple(range(rules.FIRST_PROGRAM, rules.NUM_ACTIONS))
ENEMY_HP = {"virus": 2, "daemon": 3, "glitch": 2, "cryptog": 2}
"""The most hp of each type (A5)."""


@dataclass(frozen=True)
class _Maker:
    """Draws the parts of one state; shares are chances per cell."""

    rng: np.random.Generator
    beings: float = 0.2
    blocks: float = 0.25
    transmissions: float = 0.4
    """Share of the beings that are transmissions (none on a block)."""
    resources: float = 0.5
    siphoned: float = 0.15
    owned: float = 0.7
    rich: int = 20
    hp: tuple[int, ...] = (1, 2, 3)
    stages: tuple[int, ...] = (1, 2, 4, 7, 8)

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def below(self, count: int) -> int:
        return int(self.rng.integers(count))

    def one_of(self, choices: Sequence[Any]) -> Any:  # noqa: ANN401 - an element of what is given
        return choices[self.below(len(choices))]

    def origin(self) -> dict[str, bool]:
        return {"spawnedFromSiphon": self.chance(0.3), "isFromScheduledTask": self.chance(0.3)}

    def enemy(self, place: Place) -> State:
        enemy_type = self.one_of(rules.ENEMIES)
        seen = self.one_of(CELLS)
        known = {"lastKnownRow": seen[0], "lastKnownCol": seen[1]} if enemy_type == "cryptog" else {}
        disabled = self.one_of((0, 0, 0, 0, 1, 2))
        hp = 1 + self.below(ENEMY_HP[enemy_type])
        fields = {"type": enemy_type, "hp": hp, "stunned": self.chance(0.15), "disabledTurns": disabled}
        return {**at(place), **fields, **known, **self.origin()}

    def transmission(self, place: Place) -> State:
        turns = self.one_of((1, 1, 2, 3, 5, 7))
        return {**at(place), "turnsRemaining": turns, "enemyType": self.one_of(rules.ENEMIES), **self.origin()}

    def block(self, place: Place) -> State:
        siphoned = self.chance(self.siphoned)
        is_data = self.chance(0.5)
        held = {"points": 1 + self.below(9)} if is_data else {"programActionIndex": self.one_of(PROGRAM_ACTIONS)}
        kind = "question" if self.chance(0.2) else "data" if is_data else "program"
        spawn = 0 if siphoned else self.below(10)
        return {**at(place), **held, "type": kind, "spawnCount": spawn, "siphoned": siphoned}

    def resource(self, place: Place, *, bare: bool) -> State:
        amounts = {"credits": 0, "energy": 0}
        amounts[self.one_of(("credits", "energy"))] = 1 + self.below(3)
        return {**at(place), **amounts, "dataSiphon": bare and self.chance(0.15)}

    def record(self, stage: int, player: Place | None = None, exit_place: Place | None = None) -> State:
        """A state without history, seed and event number."""
        exit_place = exit_place or self.one_of(CORNER_CELLS)
        player = player or self.one_of(tuple(place for place in CELLS if place != exit_place))
        state: State = {"enemies": [], "transmissions": [], "blocks": [], "resources": []}
        for place in CELLS:
            block = place != exit_place and self.chance(self.blocks)
            if block:
                state["blocks"].append(self.block(place))
            if self.chance(self.resources):
                state["resources"].append(self.resource(place, bare=not block and place != exit_place))
            if place != player and self.chance(self.beings):
                coming = not block and self.chance(self.transmissions)
                kind = "transmissions" if coming else "enemies"
                state[kind].append(self.transmission(place) if coming else self.enemy(place))
        turn = self.below(30)
        return {
            **state,
            "player": {
                **at(player),
                "hp": self.one_of(self.hp),
                "credits": self.below(self.rich + 1),
                "energy": self.below(self.rich + 1),
                "dataSiphons": self.one_of((0, 1, 1, 2, 3)),
                "attackDamage": 1 + self.below(rules.MAX_ATTACK),
                "score": self.below(40),
            },
            "siphoned": [at(place) for place in CELLS if self.chance(self.siphoned)],
            "siphonCenters": [at(place) for place in CELLS if self.chance(self.siphoned / 2)],
            "exit": at(exit_place),
            "ownedPrograms": [action for action in PROGRAM_ACTIONS if self.chance(self.owned)],
            "stage": stage,
            "turn": turn,
            "showActivated": self.chance(0.2),
            "scheduledTasksDisabled": self.chance(0.2),
            "stepActive": self.chance(0.1),
            "atkPlusUses": self.below(3),
            "scheduledTaskInterval": 4 + self.below(9),
            "nextScheduledTaskTurn": turn + self.below(6),
            "pendingSiphonTransmissions": self.one_of((0, 0, 0, 1, 4)),
            "closestApproach": self.below(12),
        }

    def state(self, player: Place | None = None, exit_place: Place | None = None) -> State:
        """A whole state, in half of the cases with a history."""
        stage = self.one_of(self.stages)
        whole = self.record(stage, player, exit_place)
        if self.chance(0.5):
            whole["history"] = self.record(stage)
            whole["killsSinceHistory"], whole["pickupsSinceHistory"] = self.below(4), self.below(2)
        return whole | {"seed": int(self.rng.integers(2**64, dtype=np.uint64)), "eventNumber": self.below(1000)}


def at(place: Place) -> dict[str, int]:
    """A cell as the protocol names it."""
    return {"row": place[0], "col": place[1]}


def _without(state: State, places: Container[Place]) -> State:
    """Remove enemies, transmissions and blocks from some cells of a state."""
    lists = ("enemies", "transmissions", "blocks")
    return {**state, **{name: [entry for entry in state[name] if place_of(entry) not in places] for name in lists}}


def _without_pickups(state: State, places: Container[Place] = CELLS) -> list[State]:
    """The resources of a state, without the pickups on these cells."""
    return [
        {**entry, "dataSiphon": entry["dataSiphon"] and place_of(entry) not in places} for entry in state["resources"]
    ]


def doorstep(rng: np.random.Generator) -> State:
    """The player one step from the exit, in any stage; in stage 8 the step wins. Beings survive into the next stage."""
    stages = (*range(1, rules.NUM_STAGES), *2 * (rules.NUM_STAGES,))
    maker = _Maker(rng, beings=float(rng.choice([0.1, 0.5])), stages=stages)
    corner = maker.one_of(CORNER_CELLS)
    door = maker.one_of(around(corner))
    return _without(maker.state(door, corner), (corner, door))


def crowded_doorstep(rng: np.random.Generator) -> State:
    """A crowded board, the player one step from the exit: the next stage has few cells for blocks, or no valid ones."""
    maker = _Maker(rng, blocks=0.0, stages=(1, 3, 6))
    corner = maker.one_of(CORNER_CELLS)
    door = maker.one_of(around(corner))
    other = maker.one_of(tuple(place for place in CORNER_CELLS if place != corner))
    left_free = {*around(other), door, corner}
    if maker.chance(0.3):
        left_free |= {place for place in CELLS if maker.chance(0.1)}
    empty = _without(maker.state(door, corner), CELLS)
    return {**empty, "enemies": [maker.enemy(place) for place in CELLS if place not in left_free]}


def full_board(rng: np.random.Generator) -> State:
    """Hardly an empty cell, and spawns due: transmissions are exposed or dropped."""
    maker = _Maker(rng, beings=float(rng.choice([0.8, 1.0])), blocks=0.3, transmissions=0.6, owned=1.0)
    state = maker.state()
    due = {"pendingSiphonTransmissions": maker.one_of((1, 5, 40)), "nextScheduledTaskTurn": state["turn"]}
    return {**state, **due, "scheduledTasksDisabled": False, "stepActive": False}


def exposed(rng: np.random.Generator) -> State:
    """Only the player's own row and column have empty cells, and spawns are due."""
    maker = _Maker(rng, beings=0.0, blocks=0.0)
    state = maker.state()
    row, column = place_of(state["player"])
    away = [place for place in CELLS if place[0] != row and place[1] != column]
    blocks = [maker.block(place) for place in away if at(place) != state["exit"]]
    coming = [maker.transmission(place) for place in away if at(place) == state["exit"]]
    due = {"pendingSiphonTransmissions": 3, "nextScheduledTaskTurn": state["turn"], "stepActive": False}
    return {**state, **due, "blocks": blocks, "transmissions": coming, "resources": _without_pickups(state)}


def walled_exit(rng: np.random.Generator) -> State:
    """Blocks on both sides of the exit: no path leads there."""
    maker = _Maker(rng, beings=0.2, blocks=0.15)
    corner = maker.one_of(CORNER_CELLS)
    walls = around(corner)
    player = maker.one_of(tuple(place for place in CELLS if place not in (*walls, corner)))
    state = _without(maker.state(player, corner), walls)
    blocks = [*state["blocks"], *map(maker.block, walls)]
    return {**state, "resources": _without_pickups(state, walls), "blocks": blocks}


def saturated(rng: np.random.Generator) -> State:
    """Counters at the ends of their ranges (A7), turn and event numbers about to wrap."""
    maker = _Maker(rng, owned=1.0, rich=9999)
    state = maker.state()
    player = {name: 9990 + maker.below(10) for name in ("credits", "energy", "dataSiphons", "score")}
    turns = 250 + maker.below(6)
    coming = [{**entry, "turnsRemaining": turns} for entry in state["transmissions"]]
    enemies = [{**entry, "disabledTurns": maker.one_of((0, 0, 254, 255))} for entry in state["enemies"]]
    history = state.get("history")
    return {
        **state,
        "player": {**state["player"], **player},
        "transmissions": coming,
        "enemies": enemies,
        "turn": 2**32 - 1 - maker.below(3),
        "eventNumber": 2**32 - 1 - maker.below(3),
        "nextScheduledTaskTurn": maker.one_of((0, 2, 2**32 - 1)),
        "scheduledTaskInterval": maker.one_of((0, 4, 5, 2**32 - 1)),
        "pendingSiphonTransmissions": maker.one_of((0, 9995)),
        "killsSinceHistory": 9999 - maker.below(3) if history else 0,
    }


def surrounded(rng: np.random.Generator) -> State:
    """Low hp and enemies on every side, many of them from siphons."""
    maker = _Maker(rng, beings=0.15, blocks=0.15, hp=(1, 1, 2))
    player = (1 + maker.below(rules.SIZE - 2), 1 + maker.below(rules.SIZE - 2))
    state = _without(maker.state(player), around(player))
    attackers = [
        {**maker.enemy(place), "stunned": False, "disabledTurns": 0, "spawnedFromSiphon": maker.chance(0.7)}
        for place in around(player)
    ]
    return {**state, "enemies": [*state["enemies"], *attackers]}


def on_a_block(rng: np.random.Generator) -> State:
    """The player stands on a block with siphons in hand, as after a WARP."""
    maker = _Maker(rng, beings=0.1, blocks=0.4, siphoned=0.05)
    state = maker.state()
    here = place_of(state["player"])
    blocks = [*(block for block in state["blocks"] if place_of(block) != here), maker.block(here)]
    player = {**state["player"], "dataSiphons": 3}
    return {**state, "player": player, "resources": _without_pickups(state), "blocks": blocks}


def drained(rng: np.random.Generator) -> State:
    """All blocks are siphoned but have spawn counts, none of which REDUC could lower."""
    state = _Maker(rng, beings=0.1, blocks=0.3, owned=1.0).state()
    blocks = [{**block, "siphoned": True, "spawnCount": int(rng.integers(10))} for block in state["blocks"]]
    return {**state, "blocks": blocks}


def finished(rng: np.random.Generator) -> State:
    """A game that is over: every action is invalid."""
    maker = _Maker(rng)
    state = maker.state()
    if maker.chance(0.5):
        return {**state, "stage": rules.WON_STAGE}
    return {**state, "player": {**state["player"], "hp": 0}}


_MAKERS = [doorstep, crowded_doorstep, full_board, exposed, walled_exit]
_MAKERS += [saturated, surrounded, on_a_block, drained, finished]
STARTS: Mapping[str, StartMaker] = {
    "mixed": lambda rng: _Maker(rng).state(),
    "sparse": lambda rng: _Maker(rng, beings=0.06, blocks=0.1).state(),
    "crowded": lambda rng: _Maker(rng, beings=0.5, blocks=0.35).state(),
    "armed": lambda rng: _Maker(rng, beings=0.3, owned=1.0, rich=60).state(),
    "poor": lambda rng: _Maker(rng, beings=0.2, owned=1.0, rich=2).state(),
    "siphoning": lambda rng: _Maker(rng, beings=0.05, blocks=0.3, siphoned=0.05, resources=0.9).state(),
    **{make.__name__: make for make in _MAKERS},
}


def no_history(state: State) -> Iterator[State]:
    """Remove the history, which UNDO would restore."""
    if state.get("history") is not None:  # generated starts may leave it out
        yield {**state, "history": None, "killsSinceHistory": 0, "pickupsSinceHistory": 0}


SHRINKERS = (no_history, fewer_entries, smaller_numbers)
"""Shrinkers of states for `rlparity shrink`."""
