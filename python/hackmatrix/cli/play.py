"""``hackmatrix play``: play HackMatrix in the terminal."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hackmatrix.cli.players import AGENTS, PROGRAM, announce, load, watched_of
from hackmatrix.rules import ACTIONS
from hackmatrix.watch.controls import FASTEST, SLOWEST, Controls
from hackmatrix.world import ENGINES
from parity.arguments import SEED, Parser, Real
from parity.console import open_console, typed_command
from parity.errors import INTERRUPTED_EXIT_CODE, EngineError, UsageError, install_command
from worldkit.cli.evaluate import PLAYER_SEED
from worldkit.cli.outputs import check_output
from worldkit.render.display import require_room

if TYPE_CHECKING:
    from hackmatrix.play.session import Session
    from hackmatrix.watch.play import Watched


def main(argv: Sequence[str] | None = None) -> int:
    """Play games until the player leaves; the exit code is 0, or 130 where a signal asked for the end.

    Raises:
        SystemExit: code 2 with one sentence on standard error where the command line is wrong.
        ParityError: there is no terminal to play in, the agent cannot be used, or the game cannot be saved.
        EngineError: the engine is not built, or fails; the game is saved before.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    check_output(parser, args.save and str(args.save))
    if find_spec("textual") is None:
        raise UsageError(f"This command needs textual: run `{install_command('hackmatrix[play]')}`.")
    _check_terminal()
    # Imported only now: a mistaken command line should not have to wait.
    from hackmatrix.play.app import PlayApp
    from hackmatrix.play.session import Session
    from hackmatrix.play.table import open_table

    player = _player(args)
    announce(args.engine)
    with closing(open_table(args.engine)) as table:
        session = Session(table, args.seed, args.save, player)
        table.look(int(session.game.position.mask.argmax()))  # the JAX engine compiles before the screen is taken over
        app = PlayApp(session, Controls(args.speed))
        try:
            failure = app.run()
        finally:
            _keep(session)
    # a terminal that has gone cannot be told anything
    with contextlib.suppress(OSError):
        for path, verdict in session.saved.items():
            print(f"{verdict}\nSaved: {path}; {typed_command(*PROGRAM, 'explain', path)} explains its rewards.")
    if failure is not None:
        raise EngineError(f"{failure} The game is saved up to step {len(session.game.turns)}.")
    if app.return_code:
        return app.return_code
    return INTERRUPTED_EXIT_CODE if app.was_stopped else 0


def _keep(session: Session) -> None:
    """Save what is not saved; where no file can be written, the sentence has the whole game."""
    try:
        session.keep()
    except UsageError as error:
        done = ",".join(ACTIONS[turn.action] for turn in session.game.turns)
        again = typed_command(*PROGRAM, "explain", "--seed", str(session.game.seed), "--actions", done)
        raise UsageError(f"{error} The game is played again by: {again}") from error


def _player(args: argparse.Namespace) -> Watched | None:
    if args.agent is None:
        return None
    _, agent = load(args.agent, trust=args.trust)
    return watched_of(agent, args)


def _check_terminal() -> None:
    """Raises UsageError, which says what to do, where there is no terminal that can show the game."""
    from hackmatrix.play.panes import HEIGHT, WIDTH

    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError("Playing needs a terminal: start it in one, without redirecting its input, output or errors.")
    console = open_console()
    if console.is_dumb_terminal:
        raise UsageError(f"The terminal (TERM={os.environ['TERM']}) cannot show a screen: play in one that can.")
    require_room(console, "playing", (WIDTH, HEIGHT))


def _parser() -> Parser:
    parser = Parser(
        prog="hackmatrix play",
        description="Play HackMatrix in the terminal, with an agent at hand if you like.",
        epilog="Keys: arrows move, s siphons, the letters beside programs run them, ? is help, q leaves.",
        allow_abbrev=False,
    )
    parser.add_argument("--seed", type=SEED, default=0, metavar="N", help="the first game's seed (default 0)")
    parser.add_argument("--engine", choices=tuple(ENGINES), default="swift", help="(default swift)")
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="where the game is saved as a trace (default hackmatrix-SEED.json)"
    )
    agent = parser.add_argument_group("agent")
    agent.add_argument("--agent", type=Path, metavar="PATH", help=AGENTS)
    agent.add_argument("--stochastic", action="store_true", help="it draws actions instead of taking the likeliest")
    agent.add_argument(
        "--player-seed", type=PLAYER_SEED, default=0, metavar="N", help="seed of drawn actions (default 0)"
    )
    agent.add_argument(
        "--speed", type=Real(SLOWEST, FASTEST), default=4.0, metavar="N", help="its actions a second (default 4)"
    )
    agent.add_argument(
        "--trust", action="store_true", help="let a .zip execute what it likes, as models need that others saved"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
