"""The command ``parity debug``."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import Any

from rich.console import Console

from parity.compare import value_text
from parity.console import print_answer
from parity.debug.attach import check_screen, show
from parity.debug.session import Session
from parity.phases import Phase
from parity.prices import read_prices
from parity.registry import world_spec
from parity.report import action_name


def debug(options: Namespace) -> int:
    """Open the debugger's screen, or stop at the first breakpoint and say what is there."""
    is_screen = not (options.json or options.until or options.write_test)
    if is_screen:
        check_screen(", or give --until CONDITION")
    world = options.world if options.trace else world_spec(options.world, options.engines or ())
    prices = read_prices(options.price, options.prices)
    with Session(
        world,
        options.engines,
        seed=options.seed,
        trace=options.trace,
        actions=[word.strip() for word in options.actions.split(",")] if options.actions else (),
        agent=options.agent,
        prices=prices,
        timeout=options.timeout,
    ) as session:
        return show(session, sub_step=options.sub_step) if is_screen else _stop(session, options)


def _stop(session: Session, options: Namespace) -> int:
    """Run to the first condition, write what is asked for, and say where the game stands."""
    held = session.run_until(*(options.until or ["differs"]))
    if options.write_test:
        session.write_test(options.write_test)
    moment = session.moment
    answer = {
        "step": session.position,
        "stopped": held,
        "action": moment.action,
        "differences": [asdict(each) for each in session.diff()],
        "marks": moment.marks and moment.marks[0],
        "state": session.state(),
    }
    if options.sub_step:
        answer["phases"] = [
            {"name": name, "phases": [*map(_phase, sides)], "differences": [*map(asdict, differences)]}
            for name, sides, differences in session.phases.rows()
        ]

    def text(console: Console) -> None:
        where = held or ("the game is over" if session.is_over else "the actions end")
        console.print(f"Step {session.position}, {action_name(session.world, moment.action)}: {where}.", markup=False)
        for each in session.diff():
            console.print(f"{each.field}: {value_text(each.expected)} and {value_text(each.observed)}", markup=False)
        for name, _, differences in session.phases.rows() if options.sub_step else ():
            said = ", ".join(
                f"{each.field} {value_text(each.expected)} and {value_text(each.observed)}" for each in differences
            )
            console.print(f"After {name}: {said or 'no difference'}", markup=False)
        if options.sub_step:
            console.print(session.phases.text or "An engine tells no phases of this step.", markup=False)
        if options.write_test:
            console.print(f"Written: {options.write_test}", markup=False)

    print_answer(options, answer, text)
    return 1 if session.diff() else 0


def _phase(phase: Phase | None) -> dict[str, Any] | None:
    if phase is None:
        return None
    return {"state": phase.state, "draws": None if phase.draws is None else [*map(asdict, phase.draws)]}
