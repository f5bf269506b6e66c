"""One game played on one or more engines, with the readings of its rewards: on the terminal and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Column
from rich.text import Text

from hackmatrix.cells import owned_programs, rows_of
from hackmatrix.explain.readings import Prices, Reading, readings_of
from hackmatrix.explain.transition import StateTransition, exit_distance
from hackmatrix.render.words import SIGNS, cell_text, legend
from hackmatrix.rules import ACTIONS, COMPONENTS, SIZE
from hackmatrix.world import WORLD, rules_of
from rlparity import State, World
from rlparity.core.trace import RESTART, Action, Case
from rlparity.io.console import counted
from rlparity.io.table import Table
from rlworldkit.render.spans import FAINT
from rlworldkit.show.pages.replay import open_engines, replay

WIDTH = 100
"""Columns of the terminal's output."""
_DIFFERS = "!="
_FAULT = "bold white on red"


@dataclass(frozen=True)
class ExplainedStep:
    """A ``ReplayStep`` with the readings of its rewards.

    state: the first engine's state after the step; transition: the step in that engine, None for a start or restart.
    values: per engine the components in thousandths; readings: from the first engine's states and prices.
    states_agree: all engines are in the same state.
    """

    number: int
    action: Action | None
    state: State
    transition: StateTransition | None
    values: tuple[tuple[int, ...], ...]
    readings: tuple[Reading, ...]
    states_agree: bool

    @property
    def engines_agree(self) -> bool:
        """Whether all engines gave the same components and states."""
        return len(set(self.values)) <= 1 and self.states_agree

    @property
    def readings_agree(self) -> bool:
        """Whether the readings have the values of the first engine's components."""
        return not self.values or tuple(reading.value for reading in self.readings) == self.values[0]

    @property
    def sound(self) -> bool:
        """Whether engines and readings agree."""
        return self.engines_agree and self.readings_agree


def explained_steps(engines: Sequence[str], case: Case, world: World = WORLD) -> Iterator[ExplainedStep]:
    """Yield the start and every action of a case, played on each named engine; readings use the first one's prices.

    ``world``: HackMatrix, with the prices that its engines are opened with.
    Raises EngineError where an engine cannot start, StateRefused where one refuses the case's start state.
    """
    prices: Prices = rules_of(engines[0], world.price_values)["rewards"]["prices"]
    before: State = {}
    with open_engines(world, engines) as opened:
        for step in replay(opened, case):
            state = step.states[0]
            transition = StateTransition(before, state, step.action) if isinstance(step.action, int) else None
            readings = readings_of(transition, prices) if transition else ()
            agree = all(each == state for each in step.states)
            yield ExplainedStep(step.number, step.action, state, transition, step.components, readings, agree)
            before = state


def print_step(console: Console, step: ExplainedStep, engines: Sequence[str], before: State | None) -> None:
    """Print one step: its heading, its rewards, and the board after it.

    before: the state shown last; cells that changed since are coloured. An invalid action changes nothing (C1), so only
    its heading is printed, unless engines or readings differ.
    """
    console.print(Text(heading(step), style="bold" if step.sound else "bold red"))
    changed = step.transition is None or step.transition.valid
    if step.transition is not None and (changed or not step.sound):
        _print_indented(console, _rewards(step, engines))
    if not step.states_agree:
        console.print(Text(f"  {_DIFFERS} the engines' states differ", style=_FAULT))
    if changed:
        _print_state(console, step.state, before)
    console.print()


def print_before(console: Console, step: ExplainedStep, state: State) -> None:
    """Print the board before the first step that is shown."""
    console.print(Text(f"before step {step.number}", style="bold"))
    _print_state(console, state, None)
    console.print()


def _print_state(console: Console, state: State, before: State | None) -> None:
    player, record = state["player"], state["history"]
    _print_indented(console, _board(state, before or state))
    programs = " ".join(owned_programs(state)) or "none"
    numbers = f"hp {player['hp']}, credits {player['credits']}, energy {player['energy']}, score {player['score']}"
    held = f"siphons {player['dataSiphons']}, attack {player['attackDamage']}, programs: {programs}"
    _print_indented(console, f"{numbers}, {held}")
    distance = exit_distance(state)
    away = "no path to the exit" if distance is None else f"exit {distance} away"
    since = f"{state['killsSinceHistory']} kills, {state['pickupsSinceHistory']} pickups since"
    told = "none" if record is None else f"turn {record['turn']}, {since}"
    place = f"stage {state['stage']}, turn {state['turn']}, {away}, closest {state['closestApproach']}"
    _print_indented(console, f"{place}, record: {told}")


def print_legend(console: Console) -> None:
    """Print the signs of the boards, and which document has the rule ids."""
    assert WORLD.rule_book is not None
    console.print(Text("signs", style="bold"))
    for line in (*legend(WIDTH - 2, SIGNS), f"C1, W2 and the like: rules of {WORLD.rule_book.name}"):
        console.print(f"  {line}", style=FAINT)
    console.print()


def _print_indented(console: Console, content: RenderableType) -> None:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_row("", content)
    console.print(grid)


def heading(step: ExplainedStep) -> str:
    """The action of a step and, in a few words, its outcome."""
    if step.action is None:
        return f"start: seed {step.state['seed']}"
    if step.action == RESTART:
        return f"step {step.number}: restart, the next game has seed {step.state['seed']} (R6)"
    assert step.transition is not None
    name = ACTIONS[step.transition.action]
    return f"step {step.number}: {name} ({step.action}){_outcome(step.transition)}"


def _outcome(step: StateTransition) -> str:
    if not step.valid and step.over:
        return ": invalid, the game is over (C4); nothing changes and every component is 0 (C1)"
    if not step.valid:
        return ": invalid here; nothing changes, every component is 0, the episode ends (C1)"
    if step.won:
        return ": stage 8 completed, the game is won"
    if step.completed:
        return f": stage {step.before['stage']} completed"
    return ": the player died" if step.died else ""


def _rewards(step: ExplainedStep, engines: Sequence[str]) -> Table:
    headings = [Column(f"{'| ' if at else ''}{name}", justify="right") for at, name in enumerate(engines)]
    table = Table(Column("", min_width=20), *headings, "from", box=None)
    for name, values, reading in _components(step):
        reason = Text(f"= {reading}")
        if reading.value != values[0]:
            reason = Text(f"{_DIFFERS} {_signed(reading.value)} by table W, = {reading}", style=_FAULT)
        table.add_row(name, *_columns(values), reason, style="" if {*values} == {reading.value} else "red")
    table.add_row("total", *_columns(list(map(sum, step.values))), "", style="bold")
    return table


def _components(step: ExplainedStep) -> Iterator[tuple[str, tuple[int, ...], Reading]]:
    """Name, values of the engines and reading of each component that is not 0 everywhere."""
    for name, values, reading in zip(COMPONENTS, zip(*step.values, strict=True), step.readings, strict=True):
        if any(values) or reading.value:
            yield name, values, reading


def _columns(values: Sequence[int]) -> list[Text]:
    """The engines' values; a value that differs from the first has ``!=`` in place of the bar."""
    first, *others = values
    return [Text(_signed(first))] + [
        Text(f"| {_signed(value)}") if value == first else Text(f"{_DIFFERS} {_signed(value)}", style=_FAULT)
        for value in others
    ]


def _signed(thousandths: int) -> str:
    return f"{thousandths / 1000:+.3f}"


def _board(state: State, last: State) -> Table:
    columns = [Column(f"col {col}", min_width=8) for col in range(SIZE)]
    table = Table("", *columns, box=box.ASCII)
    for cells, before in zip(rows_of(state), rows_of(last), strict=True):
        texts = zip(map(cell_text, cells), map(cell_text, before), strict=True)
        painted = [Text(text, style="" if text == was else "yellow") for text, was in texts]
        table.add_row(f"row {cells[0].row}", *painted)
    return table


def verdict(played: Sequence[ExplainedStep], engines: Sequence[str]) -> str:
    """One sentence on whether the engines agree, and whether the readings of table W do."""
    steps = counted(sum(step.transition is not None for step in played), "step")
    apart = _numbers([step for step in played if not step.engines_agree])
    unread = _numbers([step for step in played if not step.readings_agree])
    names = " and ".join(engines)
    agreement = f"played {steps}" if len(engines) == 1 else f"DIFFER in {apart}" if apart else f"agree on {steps}"
    reading = f"DIFFER from {engines[0]} in {unread}" if unread else "agree"
    return f"{names} {agreement}; the rewards recomputed from table W {reading}."


def _numbers(found: Sequence[ExplainedStep]) -> str:
    names = ["the start" if step.action is None else f"step {step.number}" for step in found]
    return ", ".join(dict.fromkeys(names))


def as_json(played: Sequence[ExplainedStep], engines: Sequence[str], prices: Mapping[str, float]) -> dict[str, Any]:
    """Everything shown, as JSON values: components in thousandths, states as S of docs/reference/protocol.md.

    ``prices``: prices that differ from the defaults, in reward.
    """
    return {
        "engines": list(engines),
        "prices": dict(prices),
        "agree": all(step.sound for step in played),
        "steps": [_step_value(step) for step in played],
    }


def _step_value(step: ExplainedStep) -> dict[str, Any]:
    value: dict[str, Any] = {
        "step": None if step.action is None else step.number,
        "action": step.action,
        "heading": heading(step),
        "states_agree": step.states_agree,
        "state": step.state,
    }
    if step.transition is None:
        return value
    components = {
        name: {"engines": list(values), "table_w": reading.value, "from": str(reading)}
        for name, values, reading in _components(step)
    }
    return value | {"valid": step.transition.valid, "components": components, "total": list(map(sum, step.values))}
