"""A game and its rewards on the terminal, in 100 columns or fewer, and as JSON."""

import re
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from hackmatrix.explain.facts import Fact
from hackmatrix.explain.paths import exit_distance
from hackmatrix.explain.play import Moment
from hackmatrix.explain.transition import Transition
from hackmatrix.rules import ACTIONS, COMPONENTS
from hackmatrix.world.board import draw_board
from parity import State
from parity.trace import RESTART

WIDTH = 100
DIFFERS = "!="
_FAULT = "bold white on red"


def print_moment(console: Console, moment: Moment, engines: Sequence[str], before: State | None) -> None:
    """One moment: its heading, its rewards, and the board after it.

    before: the state shown last; cells that changed since are coloured. An invalid action changes nothing (C1), so
    there the heading is all, unless something differs.
    """
    console.print(Text(heading(moment), style="bold" if moment.sound else "bold red"))
    changed = moment.transition is None or moment.transition.valid
    if moment.transition is not None and (changed or not moment.sound):
        console.print(Padding(_rewards(moment, engines), (0, 0, 0, 2), expand=False))
    if not moment.states_agree:
        console.print(Text(f"  {DIFFERS} the engines' states differ; `parity replay` says where", style=_FAULT))
    if changed:
        _print_state(console, moment.state, before)
    console.print()


def print_before(console: Console, moment: Moment, state: State) -> None:
    """The board before the first moment that is shown."""
    console.print(Text(f"before step {moment.number}", style="bold"))
    _print_state(console, state, None)
    console.print()


def _print_state(console: Console, state: State, before: State | None) -> None:
    console.print(Padding(_board(state, before), (0, 0, 0, 2), expand=False))
    for line in (_player_line(state), _game_line(state)):
        console.print(Padding(Text(line), (0, 0, 0, 2), expand=False))


def heading(moment: Moment) -> str:
    """What was done and, in a few words, what came of it."""
    if moment.action is None:
        return f"start: seed {moment.state['seed']}"
    if moment.action == RESTART:
        return f"step {moment.number}: restart, the next game has seed {moment.state['seed']} (R6)"
    assert moment.transition is not None
    name = ACTIONS[moment.transition.action]
    return f"step {moment.number}: {name} ({moment.action}){_outcome(moment.transition)}"


def _outcome(step: Transition) -> str:
    if not step.valid and step.over:
        return ": invalid, the game is over (C4); nothing changes and every component is 0 (C1)"
    if not step.valid:
        return ": invalid here; nothing changes, every component is 0, the episode ends (C1)"
    if step.won:
        return ": stage 8 completed, the game is won"
    if step.completed:
        return f": stage {step.before['stage']} completed"
    return ": the player died" if step.died else ""


def _rewards(moment: Moment, engines: Sequence[str]) -> Table:
    headings = [Column(f"{'| ' if at else ''}{name}", justify="right") for at, name in enumerate(engines)]
    table = Table(Column("", min_width=20), *headings, Column("from", overflow="fold"), box=None)
    for index, (name, fact) in enumerate(zip(COMPONENTS, moment.facts, strict=True)):
        values = [row[index] for row in moment.values]
        if any(values) or fact.value:
            table.add_row(name, *_columns(values), _reason(fact, values), style="" if _sound(fact, values) else "red")
    totals = [sum(row) for row in moment.values]
    table.add_row("total", *_columns(totals), "", style="bold")
    return table


def _columns(values: Sequence[int]) -> list[Text]:
    """The engines' values; one that differs from the first has the mark instead of the bar."""
    texts = [Text(_signed(values[0]))]
    for value in values[1:]:
        same = value == values[0]
        texts.append(Text(f"{'|' if same else DIFFERS} {_signed(value)}", style="" if same else _FAULT))
    return texts


def _reason(fact: Fact, values: Sequence[int]) -> Text:
    if fact.value == values[0]:
        return Text(f"= {fact}")
    return Text(f"{DIFFERS} {_signed(fact.value)} by table W, = {fact}", style=_FAULT)


def _sound(fact: Fact, values: Sequence[int]) -> bool:
    return {*values} == {fact.value}


def _signed(thousandths: int) -> str:
    return f"{thousandths / 1000:+.3f}"


def _board(state: State, last: State | None) -> Table:
    rows = _cell_texts(state)
    old = rows if last is None else _cell_texts(last)
    columns = [Column(f"col {col}", min_width=8) for col in range(6)]
    table = Table("", *columns, box=box.ASCII)
    for row, (texts, before) in enumerate(zip(rows, old, strict=True)):
        painted = [Text(text, style="" if text == was else "yellow") for text, was in zip(texts, before, strict=True)]
        table.add_row(f"row {5 - row}", *painted)
    return table


def _cell_texts(state: State) -> list[list[str]]:
    """The cells as lockstep's board draws them, top row first, program blocks by name."""
    return [
        [re.sub(r"p(\d+)\]", lambda found: f"{ACTIONS[int(found[1])]}]", text) for text in row]
        for row in draw_board(state).rows
    ]


def _player_line(state: State) -> str:
    player = state["player"]
    programs = " ".join(ACTIONS[action] for action in state["ownedPrograms"]) or "none"
    numbers = f"hp {player['hp']}, credits {player['credits']}, energy {player['energy']}, score {player['score']}"
    return f"{numbers}, siphons {player['dataSiphons']}, attack {player['attackDamage']}, programs: {programs}"


def _game_line(state: State) -> str:
    distance = exit_distance(state)
    away = "no path to the exit" if distance is None else f"exit {distance} away"
    record = "none"
    if state["history"] is not None:
        counted = f"{state['killsSinceHistory']} kills, {state['pickupsSinceHistory']} pickups since"
        record = f"turn {state['history']['turn']}, {counted}"
    return f"stage {state['stage']}, turn {state['turn']}, {away}, closest {state['closestApproach']}, record: {record}"


def verdict(played: Sequence[Moment], engines: Sequence[str]) -> str:
    """One sentence: whether the engines agree, and whether table W's reading does."""
    steps = sum(moment.transition is not None for moment in played)
    apart = _numbers([moment for moment in played if not moment.engines_agree])
    unread = _numbers([moment for moment in played if not moment.facts_agree])
    names = " and ".join(engines)
    told = f"{names} DIFFER in {apart}" if apart else f"{names} agree on {_steps(steps)}"
    if len(engines) == 1:
        told = f"{names} played {_steps(steps)}"
    return f"{told}; table W's reading " + (f"DIFFERS from {engines[0]} in {unread}." if unread else "agrees.")


def _steps(number: int) -> str:
    return f"{number} step{'' if number == 1 else 's'}"


def _numbers(found: Sequence[Moment]) -> str:
    names = ["the start" if moment.action is None else f"step {moment.number}" for moment in found]
    return ", ".join(dict.fromkeys(names))


def as_json(played: Sequence[Moment], engines: Sequence[str]) -> dict[str, Any]:
    """Everything shown, as JSON values: components in thousandths, states as S of docs/protocol.md."""
    return {
        "engines": list(engines),
        "agree": all(moment.sound for moment in played),
        "moments": [_moment_value(moment) for moment in played],
    }


def _moment_value(moment: Moment) -> dict[str, Any]:
    step = moment.transition
    value: dict[str, Any] = {
        "step": None if moment.action is None else moment.number,
        "action": moment.action,
        "heading": heading(moment),
        "states_agree": moment.states_agree,
        "state": moment.state,
    }
    if step is None:
        return value
    components = {
        name: {"engines": [row[index] for row in moment.values], "table_w": fact.value, "from": str(fact)}
        for index, (name, fact) in enumerate(zip(COMPONENTS, moment.facts, strict=True))
        if fact.value or any(row[index] for row in moment.values)
    }
    totals = [sum(row) for row in moment.values]
    return value | {"valid": step.valid, "components": components, "total": totals}
