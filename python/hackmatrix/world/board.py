"""A state as a person reads it in the harness's reports."""

from collections.abc import Mapping
from typing import Any

from hackmatrix.render import words
from parity import Board


def draw_board(state: Mapping[str, Any]) -> Board:
    """The 36 cells, row 5 on top, and every single value.

    A cell reads from what stands there to what lies there: ``@`` the player, ``V2`` a virus with 2 hp
    (``*`` stunned, ``~3`` disabled for 3 turns), ``>C1`` a cryptog coming in 1 turn, ``[7]`` a data block,
    ``[p8]`` a program block (its action), ``[?7]`` a question, ``+4`` its spawn count, ``$2`` credits, ``e3`` energy,
    ``ds`` a data siphon, ``EXIT``, ``.`` siphoned, ``o`` a siphon's centre.
    """
    cells = [[[] for _ in range(6)] for _ in range(6)]  # type: list[list[list[str]]]

    def put(place: Mapping[str, Any], text: str) -> None:
        cells[place["row"]][place["col"]].append(text)

    put(state["player"], words.PLAYER)
    for enemy in state["enemies"]:
        put(enemy, _enemy(enemy))
    for coming in state["transmissions"]:
        put(coming, words.transmission_word(coming["enemyType"], coming["turnsRemaining"]) + _origin(coming))
    for block in state["blocks"]:
        held = str(block["points"]) if "points" in block else f"p{block['programActionIndex']}"
        question = "?" if block["type"] == "question" else ""
        put(block, words.block_word(question + held, block["spawnCount"]))
    for resource in state["resources"]:
        for word in words.amount_words(resource["credits"], resource["energy"]):
            put(resource, word)
        if resource["dataSiphon"]:
            put(resource, words.PICKUP)
    put(state["exit"], words.EXIT)
    for cell in state["siphoned"]:
        put(cell, words.SIPHONED)
    for cell in state["siphonCenters"]:
        put(cell, words.CENTRE)
    rows = tuple(tuple(" ".join(cell) for cell in row) for row in reversed(cells))
    return Board(rows, _scalars(state))


def _enemy(enemy: Mapping[str, Any]) -> str:
    word = words.enemy_word(enemy["type"], enemy["hp"], enemy["stunned"], enemy["disabledTurns"])
    known = f"({enemy['lastKnownRow']},{enemy['lastKnownCol']})" if "lastKnownRow" in enemy else ""
    return word + known + _origin(enemy)


def _origin(being: Mapping[str, Any]) -> str:
    return ("s" if being["spawnedFromSiphon"] else "") + ("t" if being["isFromScheduledTask"] else "")


def _scalars(state: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    player = {name: state["player"][name] for name in sorted(state["player"]) if name not in ("row", "col")}
    programs = " ".join(map(str, state["ownedPrograms"])) or "none"
    single = {name: state[name] for name in sorted(state) if isinstance(state[name], int)}
    recorded = "none" if state["history"] is None else f"turn {state['history']['turn']}"
    return {**player, "ownedPrograms": programs, **single, "history": recorded}
