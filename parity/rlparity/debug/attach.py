"""Entry points of the debugger: the command line, a running environment, or a divergence."""

import signal
import sys
from argparse import Namespace
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from rich.console import Console

from rlparity.core.compare import value_text
from rlparity.core.prices import changed_prices, read_prices
from rlparity.core.replay import Divergence
from rlparity.core.trace import Case
from rlparity.debug.debugger import Debugger
from rlparity.debug.session import Session
from rlparity.engines.registry import world_spec
from rlparity.errors import EngineError, UsageError, install_command
from rlparity.io.console import Answer
from rlparity.tools.documents import ErrorDocument, FailureDocument, StopDocument
from rlparity.tools.report import action_name
from rlparity.world import World


def here(env: Any, index: int = 0, **options: Any) -> None:  # noqa: ANN401 - environments have no common type
    """Open the debugger's screen at an environment's current state, like ``breakpoint()``; ``env`` is not changed.

    Without a terminal, or without textual, it prints one sentence and returns.

    Args:
        env: an environment of rlworldkit, of one game or many, in any wrappers of Gymnasium or Stable-Baselines3, or
            a ``SyncVectorEnv`` or ``DummyVecEnv`` of such environments.
        index: number of the game, where there are many.
        options: those of ``Session``; ``engines`` defaults to the environment's own and the world's first other one.

    Raises:
        UsageError: ``env`` is not such an environment, or an option is wrong.
    """
    inner = getattr(env, "unwrapped", env)
    if hasattr(inner, "envs"):
        inner, index = _chosen(inner.envs, index).unwrapped, 0
    world = getattr(inner, "world", None)
    if not isinstance(world, World):
        kind = type(inner).__name__
        raise UsageError(f"{kind} is no environment of rlworldkit in this process: give one, or a vector of them.")
    options = {"engines": [*dict.fromkeys((inner.engine, *world.engines))][:2], **options}
    states = inner.get_states() if hasattr(inner, "get_states") else [inner.get_state()]
    case = Case((), state=_chosen(states, index))
    try:
        check_screen("")
    except UsageError as fault:
        print(f"rlparity.debug.here: {fault}")
        return
    with Session(world, case=case, **options) as session:
        show(session)


def open_at(spec: str, world: World, engines: tuple[str, str], found: Divergence, timeout: float) -> None:
    """Open the debugger's screen at the step of a divergence."""
    with Session(spec, engines, case=found.case, prices=changed_prices(world), timeout=timeout) as session:
        session.go(found.step)
        show(session)


def check_screen(otherwise: str) -> None:
    """Raise UsageError without textual or a terminal; ``otherwise``: an alternative, which ends the message."""
    if find_spec("textual") is None:
        raise UsageError(f"the screen needs textual: run `{install_command('rl-parity[debug]')}`{otherwise}.")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"the screen needs a terminal: run it in one{otherwise}.")


def show(session: Session) -> int:
    """Show a session's screen until the user quits; return the exit code. A signal is raised once it has closed."""
    from rlparity.debug.screen import DebugApp  # textual is optional

    app = DebugApp(Debugger(session))
    app.run()
    if app.ended_by is not None:
        signal.raise_signal(app.ended_by)
    return app.return_code or 0


def debug(options: Namespace) -> Answer | int:
    """Step through a game on both engines: stop, step back, edit, fork.

    Both boards, what differs, rewards, marks, actions, observation and state are shown for every step; `?` lists
    the keys. `rlparity.debug.Session` does the same in Python.

    Examples:
        rlparity debug --world my_module:WORLD rlparity-report/trace.json
        rlparity debug --world my_module:WORLD --seed 7 --until differs --write-test tests/test_seed_7.py
    """
    is_screen = not (options.json or options.until or options.write_test or options.commands)
    if is_screen:
        check_screen(", or give --until CONDITION")
    world = options.world if options.trace else world_spec(options.world, options.engines or ())
    prices = read_prices(options.price, options.prices)
    session = Session(
        world,
        options.engines,
        seed=options.seed,
        trace=options.trace,
        actions=[word.strip() for word in options.actions.split(",")] if options.actions else (),
        agent=options.agent,
        prices=prices,
        timeout=options.timeout,
    )
    if options.commands:
        return _answer(Debugger(session), _document(session, None))
    with session:
        if is_screen:
            return show(session)
        return _stop(session, options)


def _document(session: Session, stopped: str | None, message: str | None = None) -> StopDocument:
    """Make the document of the session's current step. stopped: the condition that holds there."""
    moment, differences, phase = session.moment, session.diff(), ""
    with suppress(EngineError):  # an engine that fails to give its phases leaves the document without them
        phase = moment.phases.parting.text if differences else ""
    marks, state = moment.marks and moment.marks[0], session.state()
    return StopDocument(session.position, stopped, moment.action, differences, marks, phase, state, message)


def _answer(debugger: Debugger, document: object) -> Answer:
    """Make the Answer with ``document``, followed by one for each command on standard input; EOF closes the session."""

    def then() -> Answer | None:
        if not (line := sys.stdin.readline()):
            debugger.session.close()
            return None
        debugger.do(line)
        while debugger.target is not None:
            debugger.advance()
        refusal = FailureDocument(ErrorDocument("usage", debugger.message, ()))
        stop = _document(debugger.session, None, debugger.message)
        return _answer(debugger, refusal if debugger.is_refusal else stop)

    return Answer(document, lambda _: None, int(bool(debugger.session.diff())), then)


def _stop(session: Session, options: Namespace) -> Answer:
    """Run until a condition holds, write the requested test, and make the Answer for that step."""
    held = session.run_until(*(options.until or ["differs"]))
    if options.write_test:
        session.write_test(options.write_test)
    document, moment, differences = _document(session, held), session.moment, session.diff()

    def text(console: Console) -> None:
        where = held or ("the game is over" if moment.is_over else "the actions end")
        console.print(f"Step {document.step}, {action_name(session.world, moment.action)}: {where}.")
        for each in differences:
            console.print(f"{each.field}: {value_text(each.expected)} and {value_text(each.observed)}")
        if document.phase:
            console.print(document.phase)
        if options.write_test:
            console.print(f"Written: {options.write_test}")

    return Answer(document, text, int(bool(differences)))


def _chosen(games: Any, index: int) -> Any:  # noqa: ANN401 - a list of environments or of states
    if not 0 <= index < len(games):
        raise UsageError(f"there is no game {index}: the games are 0 to {len(games) - 1}.")
    return games[index]
