"""Random valid state dicts: the material of the properties and of the comparisons with the reference."""

import random

from hackmatrix import rules

from .blocks import CORNERS, EVERYWHERE
from .builders import at_place
from .engines import Entry, Place, StateDict
from .reference import board
from .reference.board import ENEMIES, MAX_HP


def _chance(rng: random.Random, probability: float) -> bool:
    return rng.random() < probability


def _origin(rng: random.Random) -> Entry:
    return {"spawnedFromSiphon": _chance(rng, 0.3), "isFromScheduledTask": _chance(rng, 0.3)}


def _enemy(rng: random.Random, place: Place) -> Entry:
    kind = rng.choice(ENEMIES)
    known = rng.choice(EVERYWHERE)
    seen = {"lastKnownRow": known[0], "lastKnownCol": known[1]} if kind == "cryptog" else {}
    disabled = rng.choice([0, 0, 0, 0, 1, 2])
    state = {"hp": rng.randint(1, MAX_HP[kind]), "stunned": _chance(rng, 0.15), "disabledTurns": disabled}
    return at_place(place) | {"type": kind} | state | seen | _origin(rng)


def _transmission(rng: random.Random, place: Place) -> Entry:
    return at_place(place) | {"turnsRemaining": rng.randint(1, 4), "enemyType": rng.choice(ENEMIES)} | _origin(rng)


def _block(rng: random.Random, place: Place) -> Entry:
    siphoned = _chance(rng, 0.25)
    content = (
        {"points": rng.randint(1, 9)}
        if _chance(rng, 0.5)
        else {"programActionIndex": rng.choice(board.PROGRAM_ACTIONS)}
    )
    kind = "question" if _chance(rng, 0.3) else "data" if "points" in content else "program"
    spawn = 0 if siphoned else rng.randint(0, 9)
    return at_place(place) | content | {"type": kind, "spawnCount": spawn, "siphoned": siphoned}


def _resource(rng: random.Random, place: Place, bare: bool) -> Entry:
    amounts = {"credits": rng.choice([0, 0, 1, 2, 3]), "energy": rng.choice([0, 0, 1, 2, 3])}
    return at_place(place) | amounts | {"dataSiphon": bare and _chance(rng, 0.15)}


def _record(rng: random.Random, stage: int, player: Place | None = None) -> StateDict:
    """A state without history, seed and event number."""
    density, blocked = rng.choice([0.05, 0.2, 0.45]), rng.choice([0.1, 0.25, 0.5])
    exit_place = rng.choice(sorted(CORNERS))
    player = player or rng.choice([place for place in EVERYWHERE if place != exit_place])
    enemies, transmissions, blocks, resources = [], [], [], []
    for place in EVERYWHERE:
        block = place != exit_place and _chance(rng, blocked)
        if block:
            blocks.append(_block(rng, place))
        if _chance(rng, 0.5):
            resources.append(_resource(rng, place, not block and place != exit_place))
        if place == player or not _chance(rng, density):
            continue
        if block or _chance(rng, 0.6):
            enemies.append(_enemy(rng, place))
        else:
            transmissions.append(_transmission(rng, place))
    turn = rng.randint(0, 30)
    rich = rng.choice([0, 3, 12, 60])
    return {
        "player": at_place(player)
        | {
            "hp": rng.randint(1, 3),
            "credits": rng.randint(0, rich),
            "energy": rng.randint(0, rich),
            "dataSiphons": rng.choice([0, 1, 1, 2, 12]),
            "attackDamage": rng.randint(1, 3),
            "score": rng.choice([0, 3, 40, 9995]),
        },
        "enemies": enemies,
        "transmissions": transmissions,
        "blocks": blocks,
        "resources": resources,
        "siphoned": [at_place(place) for place in EVERYWHERE if _chance(rng, 0.1)],
        "siphonCenters": [at_place(place) for place in EVERYWHERE if _chance(rng, 0.05)],
        "exit": at_place(exit_place),
        "ownedPrograms": [action for action in range(rules.FIRST_PROGRAM, rules.NUM_ACTIONS) if _chance(rng, 0.7)],
        "stage": stage,
        "turn": turn,
        "showActivated": _chance(rng, 0.3),
        "scheduledTasksDisabled": _chance(rng, 0.3),
        "stepActive": _chance(rng, 0.15),
        "atkPlusUses": rng.randint(0, 2),
        "scheduledTaskInterval": rng.randint(4, 12),
        "nextScheduledTaskTurn": turn + rng.randint(0, 6),
        "pendingSiphonTransmissions": rng.choice([0, 0, 1, 4, 12]),
    }


def random_state(number: int) -> StateDict:
    """The ``number``-th random state: any mixture of what a valid dict S can hold, in a stage from 1 to 8."""
    rng = random.Random(number)
    stage = rng.choice([1, 1, 2, 3, 5, 7, 8])
    whole = _record(rng, stage) | {"seed": rng.getrandbits(64), "eventNumber": rng.getrandbits(16)}
    if _chance(rng, 0.5):
        counted = {"killsSinceHistory": rng.randint(0, 4), "pickupsSinceHistory": rng.randint(0, 1)}
        whole |= {"history": _record(rng, stage)} | counted
    return whole


def crowded_doorsteps(count: int) -> list[StateDict]:
    """Random states of stages 1-7 whose player completes the stage by moving up into the exit (5,0) or (5,5)."""
    starts = []
    for number in range(count):
        rng = random.Random(f"doorstep {number}")
        exit_place = rng.choice([(5, 0), (5, 5)])
        below = (4, exit_place[1])
        whole = _record(rng, rng.randint(1, 7), player=below)
        whole["exit"] = at_place(exit_place)
        for name in ("enemies", "transmissions", "blocks", "resources"):
            kept = [entry for entry in whole[name] if (entry["row"], entry["col"]) != exit_place]
            whole[name] = kept
        starts.append(whole | {"seed": rng.getrandbits(64), "eventNumber": rng.getrandbits(16)})
    return starts
