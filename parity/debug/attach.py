"""The debugger's screen where something stops: at an environment in the middle of a run, or at a divergence."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

from parity.debug.debugger import Debugger
from parity.debug.session import Session
from parity.errors import UsageError, install_command
from parity.prices import changed_prices
from parity.replay import Divergence
from parity.trace import Case
from parity.world import World


def here(env: Any, index: int = 0, **options: Any) -> None:  # noqa: ANN401 - environments have no common type
    """Open the debugger's screen at an environment's present state, as ``breakpoint()`` does; it stays as it is.

    Without a terminal, or textual, it prints one sentence.

    Args:
        env: an environment of rlworldkit, of one game or many, in any wrappers of Gymnasium or Stable-Baselines3, or
            a ``SyncVectorEnv`` or ``DummyVecEnv`` of such.
        index: the game, where there are many.
        options: those of ``Session``, such as ``engines``.

    Raises:
        UsageError: it is no such environment, or an option is wrong.
    """
    inner = getattr(env, "unwrapped", env)
    if hasattr(inner, "envs"):
        inner, index = _chosen(inner.envs, index).unwrapped, 0
    world = getattr(getattr(inner, "env_spec", None), "world", None)
    if not isinstance(world, World):
        kind = type(inner).__name__
        raise UsageError(f"{kind} is no environment of rlworldkit in this process: give one, or a vector of them.")
    states = inner.get_states() if hasattr(inner, "get_states") else [inner.get_state()]
    case = Case((), state=_chosen(states, index))
    try:
        check_screen("")
    except UsageError as fault:
        print(f"parity.debug.here: {fault}")
        return
    with Session(world, case=case, **options) as session:
        show(session)


def open_at(spec: str, world: World, engines: tuple[str, str], found: Divergence, timeout: float) -> None:
    """Open the debugger's screen where a run's game differs."""
    with Session(spec, engines, case=found.case, prices=changed_prices(world), timeout=timeout) as session:
        session.go(found.step)
        show(session)


def check_screen(otherwise: str) -> None:
    """Raise UsageError where there is no textual or no terminal; ``otherwise``: what else to do."""
    if find_spec("textual") is None:
        raise UsageError(f"the screen needs textual: run `{install_command('rl-parity[debug]')}`{otherwise}.")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"the screen needs a terminal: run it in one{otherwise}.")


def show(session: Session, *, sub_step: bool = False) -> int:
    """Show a session's screen until it is left; returns the exit code."""
    from parity.debug.screen import DebugApp  # textual is optional

    app = DebugApp(Debugger(session), sub_step=sub_step)
    app.run()
    return app.return_code or 0


def _chosen(games: Any, index: int) -> Any:  # noqa: ANN401 - a list of environments or of states
    if not 0 <= index < len(games):
        raise UsageError(f"there is no game {index}: the games are 0 to {len(games) - 1}.")
    return games[index]
