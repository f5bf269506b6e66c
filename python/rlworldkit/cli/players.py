"""Flags of commands that let an agent play: which agent, how it chooses actions, and which games it plays."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from rlparity import World
from rlparity.core.prices import add_price_flags, changed_prices, prices_note
from rlparity.errors import EngineMissing, UsageError
from rlparity.io.arguments import SEED, STEPS, IntRange, Parser
from rlparity.io.console import counted, open_console
from rlworldkit.agents.agent import DRAWN, LIKELIEST, LOOKAHEAD, Agent, AgentPlayer, Choice
from rlworldkit.agents.reader import read_agent
from rlworldkit.jax.engine_backend import add_backend_flag, jax_env_of
from rlworldkit.jax.xla import enable_compilation_cache
from rlworldkit.program import Program
from rlworldkit.runs.console import Advance, working

PLAYER_SEED = IntRange(0, 2**32 - 1)
"""Range of ``--player-seed``: JAX makes its keys from 32 bits."""
EPISODES = IntRange(1, 10_000_000)
_SIZE = IntRange(1, 2**20)
JAX = "jax"
"""Name of the JAX engine, which must be compiled first, in every world that has one."""


def add_mode_flag(parser: argparse.ArgumentParser, program: Program) -> None:
    """Add the flag for the mode of the world, if it has several."""
    parser.set_defaults(mode=None)
    if program.modes:
        default = f"mode of the world (default {next(iter(program.modes))}, or the mode of the file)"
        parser.add_argument("-m", "--mode", choices=tuple(program.modes), metavar="MODE", help=default)


def add_player_flags(
    parser: Parser,
    program: Program,
    *,
    episodes: int | None = None,
    searches: bool = True,
    also: Sequence[str] = (),
    engine: str = "engine that plays the games",
) -> None:
    """Add the flags that all commands with a playing agent share, after the command's own and that of the agent.

    episodes: the default number of games; None: there is no such flag. searches: whether the agent may look ahead.
    also: values of ``--engine`` besides the world's engines. engine: what the engine does, for the help.
    """
    world = program.world
    add_mode_flag(parser, program)
    agent = parser.add_argument_group("agent")
    agent.add_argument("--hidden-dim", type=_SIZE, metavar="N", help="required width of hidden layers (default: any)")
    agent.add_argument("--num-layers", type=_SIZE, metavar="N", help="required number of hidden layers (default: any)")
    add_trust_flag(agent)
    add_choice_flags(agent, searches=searches and world.jax is not None)
    games = parser.add_argument_group("games")
    if episodes is not None:
        text, limit = f"number of games (default {episodes})", "truncate games after this many steps (default 5000)"
        names = "--games", "--episodes"
        games.add_argument(*names, dest="episodes", type=EPISODES, default=episodes, metavar="N", help=text)
        games.add_argument("--max-steps", type=STEPS, default=5000, metavar="N", help=limit)
    games.add_argument("--seed", type=SEED, default=0, metavar="N", help="seed of the first game (default 0)")
    text = f"{engine} (default {next(iter(world.engines))} if available; all play the same games)"
    games.add_argument("--engine", choices=(*world.engines, *also), help=text)
    if world.jax is not None:
        add_backend_flag(games)
    add_price_flags(parser, lambda: world)
    add_older_names(parser)


def add_trust_flag(group: argparse._ActionsContainer) -> None:
    """Add the flag that allows unpickling models of MaskablePPO."""
    text = "allow unpickling a .zip, which can run arbitrary code; needed for third-party models"
    group.add_argument("--trust", action="store_true", help=text)


def add_choice_flags(group: argparse._ActionsContainer, *, searches: bool = True) -> None:
    """Add flags for how an agent chooses its actions."""
    text = f"draw actions by their probabilities, as in training, or take the likeliest action (default {DRAWN})"
    group.add_argument("--choose", action="append", choices=(DRAWN, LIKELIEST), help=text)
    group.add_argument(
        "--player-seed", type=PLAYER_SEED, default=0, metavar="N", help="seed of drawn actions and searches (default 0)"
    )
    group.set_defaults(search=None)
    if searches:
        group.add_argument(
            "--search",
            type=LOOKAHEAD,
            metavar="ROLLOUTSxSTEPS",
            help="look ahead: with 8x16, follow each likely action with 8 rollouts of 16 policy steps, with new random "
            f"draws, and take one that beats the likeliest by more than a standard error ({LOOKAHEAD.span()})",
        )


def add_older_names(parser: argparse.ArgumentParser) -> None:
    """Add the earlier names of ``--choose``, in a group that the help lists last."""
    older = parser.add_argument_group("older names")
    for flag, how in (("--deterministic", LIKELIEST), ("--stochastic", DRAWN)):
        older.add_argument(flag, dest="choose", action="append_const", const=how, help=f"--choose {how}")


def choice_of(args: argparse.Namespace) -> Choice:
    """Read from the flags how an agent chooses actions; raises UsageError if they contradict each other."""
    given = set(args.choose or ())
    if len(given) + (args.search is not None) > 1:
        given |= {"by --search"} if args.search else set()
        raise UsageError(f"--choose is given as {' and '.join(sorted(given, reverse=True))}: give one way to choose.")
    return Choice(next(iter(given), DRAWN), player_seed=args.player_seed, search=args.search)


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments of ``read_agent`` from the flags for an agent's file."""
    return {"hidden_dim": args.hidden_dim, "num_layers": args.num_layers, "trust": args.trust}


def player_of(world: World, agent: Agent | str | Path, args: argparse.Namespace) -> AgentPlayer:
    """Make the player that the flags describe from an agent or its path; a search is announced on standard error.

    Raises ParityError if the agent cannot be read, or the world or the agent has nothing to search with.
    """
    choice = choice_of(args)
    agent = agent if isinstance(agent, Agent) else read_agent(world, agent, **reading(args))
    if choice.search is None:
        return AgentPlayer(agent, choice)
    enable_compilation_cache(world.name)  # before JAX is imported
    from rlworldkit.agents.search import searcher_of

    searcher = searcher_of(world, jax_env_of(world), agent, choice)
    print("Compiling the search, which takes about a minute ...", file=sys.stderr)
    return AgentPlayer(agent, choice, searcher)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def engine_of(world: World, given: str | None, say: Callable[[str], None] = _say) -> str:
    """Return ``given``, or else the first engine that is built; then ``say`` gets a line with its name and why."""
    if given is not None:
        return given
    reason = f"the reference of {world.name}"
    for name in world.engines:
        try:
            if name != JAX:  # opening the JAX engine would compile it
                world.engines[name](1).close()
        except EngineMissing as error:
            reason = f"because {error.advice}"
            continue
        break
    if len(world.engines) > 1:
        say(f"Engine: {name}, {reason}.")
    return name


def playing(program: Program, engines: Sequence[str], total: int | None = None) -> AbstractContextManager[Advance]:
    """Show on standard error that the JAX engine, if it is one of ``engines``, is compiled, and the games played.

    The context's value is a function that takes how many more games have been played. ``total``: None shows no games.
    """
    tasks = [] if total is None else [f"playing {counted(total, 'game')}"]
    if JAX in engines:
        enable_compilation_cache(program.name)  # before JAX is imported
        from rlworldkit.jax.trace_cache import reuse_text

        tasks.insert(0, f"compiling the JAX engine ({reuse_text()})")
    if not tasks:
        return nullcontext(lambda games: None)
    text = ", then ".join(tasks)
    return working(open_console(stderr=True), text[0].upper() + text[1:], total)


def caption_of(world: World, player: AgentPlayer) -> str:
    """Caption with the agent, how it chooses actions, and prices that are not the world's own."""
    return f"{world.agent_name(player.agent.path)}, {player.choice}{prices_note(changed_prices(world))}"
