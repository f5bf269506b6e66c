"""The command ``parity debug``."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import asdict
from importlib.util import find_spec

from rich.console import Console

from parity.commands import print_answer
from parity.debug.debugger import Debugger
from parity.debug.session import Session
from parity.errors import UsageError, install_command
from parity.prices import read_prices
from parity.registry import world_spec
from parity.report import action_name


def debug(options: Namespace) -> int:
    """Open the debugger's screen, or stop at the first breakpoint and say what is there."""
    is_screen = not (options.json or options.until or options.write_test)
    if is_screen and find_spec("textual") is None:
        raise UsageError(f"the screen needs textual: run `{install_command('rl-parity[debug]')}`, or give --until.")
    if is_screen and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the screen needs a terminal: run it in one, or give --until CONDITION.")
    world = options.world if options.trace else world_spec(options.world, options.engines or ())
    prices = read_prices(options.price, options.prices)
    with Session(
        world,
        options.engines,
        seed=options.seed,
        trace=options.trace,
        agent=options.agent,
        prices=prices,
        timeout=options.timeout,
    ) as session:
        if not is_screen:
            return _stop(session, options)
        from parity.debug.screen import DebugApp  # textual is optional

        app = DebugApp(Debugger(session))
        app.run()
        return app.return_code or 0


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

    def show(console: Console) -> None:
        where = held or ("the game is over" if session.is_over else "the actions end")
        console.print(f"Step {session.position}, {action_name(session.world, moment.action)}: {where}.", markup=False)
        for each in session.diff():
            console.print(f"{each.field}: {each.expected} and {each.observed}", markup=False)
        if options.write_test:
            console.print(f"Written: {options.write_test}", markup=False)

    print_answer(options, answer, show)
    return 1 if session.diff() else 0
