"""``play``: play the game in the terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rlparity.core.prices import changed_prices, price_flags, read_prices
from rlparity.errors import INTERRUPTED_EXIT_CODE, EngineError, UsageError
from rlparity.io.arguments import FloatRange, OutputFile, Parser
from rlparity.io.console import open_console
from rlworldkit.agents.reader import agents_text
from rlworldkit.cli import players
from rlworldkit.extras import install_package
from rlworldkit.program import Program
from rlworldkit.render.display import require_room
from rlworldkit.render.show import show_of
from rlworldkit.show.watch.controls import FASTEST, SLOWEST, Controls

if TYPE_CHECKING:
    from rlworldkit.show.play.session import PlaySession


def main(program: Program, argv: Sequence[str]) -> int:
    """Play games until the player leaves; return 0, or 130 if a signal asked for the end.

    Raises EngineError if the engine is not built, or fails; the game is saved first.
    """
    parser = _parser(program)
    args = parser.parse_args(argv)
    if find_spec("textual") is None:
        raise UsageError(f"This command needs textual: run `{install_package('textual')}`.")
    _check_terminal()
    # Imported only now, so that a mistaken command line fails at once.
    from rlworldkit.show.play.app import PlayApp
    from rlworldkit.show.play.game import PlayEngine
    from rlworldkit.show.play.panes import layout_of
    from rlworldkit.show.play.session import PlaySession

    world = program.world_of(args.mode, args.agent).with_prices(read_prices(args.price, args.prices))
    player = None if args.agent is None else players.player_of(world, args.agent, args)
    chosen: list[str] = []
    args.engine = players.engine_of(world, args.engine, chosen.append)
    with closing(PlayEngine(world, args.engine)) as engine:
        session = PlaySession(engine, args.seed, args.save, player)
        require_room(open_console(), "playing", layout_of(session, large=False).size)
        print(*chosen, sep="\n", end="\n" * len(chosen), file=sys.stderr)
        with players.playing(program, [args.engine]):  # before the screen is taken over
            engine.look(session.game, int(session.game.mask.argmax()))
        app = PlayApp(session, Controls(args.speed))
        try:
            failure = app.run()
        finally:
            _keep(program, session)
    # printing fails if the terminal is gone
    with contextlib.suppress(OSError):
        for path, verdict in session.saved.items():
            print(f"{verdict}\nSaved: {path}; {_shows(program, path)}.")
    if failure is not None:
        raise EngineError(f"{failure} The game is saved up to step {len(session.game.turns)}.")
    if app.return_code:
        return app.return_code
    return INTERRUPTED_EXIT_CODE if app.was_stopped else 0


def _shows(program: Program, path: Path) -> str:
    """Text with the command that shows most of a saved game."""
    word, what = ("explain", "explains its rewards") if "explain" in program.commands else ("view", "shows it")
    return f"{program.typed(word, path)} {what}"


def _keep(program: Program, session: PlaySession) -> None:
    """Save the unsaved game; if no file can be written, the error contains the whole game."""
    try:
        session.keep()
    except UsageError as error:
        done = ",".join(session.game.world.actions[turn.action] for turn in session.game.turns)
        if "explain" not in program.commands:
            raise UsageError(f"{error} The actions of game {session.game.seed} were: {done}") from error
        words = "--seed", str(session.game.seed), "--actions", done
        prices = price_flags(changed_prices(session.game.world))
        again = program.typed("explain", *words, *prices)
        raise UsageError(f"{error} The game is played again by: {again}") from error


def _check_terminal() -> None:
    """Raise UsageError, which tells what to do, if there is no terminal that can show the game."""
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError("Playing needs a terminal: start it in one, without redirecting its input, output or errors.")
    console = open_console()
    if console.is_dumb_terminal:
        raise UsageError(f"The terminal (TERM={os.environ['TERM']}) cannot show a screen: play in one that can.")


def _parser(program: Program) -> Parser:
    description = f"Play {program.world.title} in the terminal; with --agent, see its choices or let it play."
    keys = f"Keys: {show_of(program.world).panels.hint}, ? is help, q leaves."
    parser = program.parser("play", description, keys)
    parser.add_argument(
        "--save",
        type=OutputFile(),
        metavar="FILE",
        help=f"trace file to save the game to (default {program.world.name}-SEED.json)",
    )
    parser.add_argument("--agent", type=Path, metavar="PATH", help=f"agent: {agents_text(program.world)}")
    text = "actions per second of the agent (default 4)"
    parser.add_argument("--speed", type=FloatRange(SLOWEST, FASTEST), default=4.0, metavar="N", help=text)
    players.add_player_flags(parser, program, searches=False)
    return parser
