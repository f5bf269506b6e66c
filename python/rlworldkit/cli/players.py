"""The flags of whoever lets an agent play: which agent it is, how it chooses, and which games it plays."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlparity import World
from rlparity.core.prices import changed_prices, prices_note
from rlparity.errors import EngineMissing, UsageError
from rlparity.io.arguments import SEED, STEPS, IntRange
from rlparity.io.console import counted, open_console
from rlworldkit.cli.train_sb3 import require_sb3
from rlworldkit.evaluation.spec import LOOKAHEAD
from rlworldkit.jax.opening import jax_env_of
from rlworldkit.jax.xla import enable_compilation_cache
from rlworldkit.program import Program
from rlworldkit.runs.console import Advance, working
from rlworldkit.show import show_of
from rlworldkit.watch.agents import KINDS, agents_of, first_good_agent

if TYPE_CHECKING:
    from rlworldkit.show import Agent
    from rlworldkit.watch.frames import AgentPlayer

PLAYER_SEED = IntRange(0, 2**32 - 1)
"""JAX makes its keys of 32 bits."""
EPISODES = IntRange(1, 10_000_000)
_SIZE = IntRange(1, 2**20)
JAX = "jax"
"""The name of the engine that is compiled first, in every world that has it."""


def add_mode_flag(parser: argparse.ArgumentParser, program: Program) -> None:
    """Add the flag for the mode of the world, where it has several."""
    parser.set_defaults(mode=None)
    if program.modes:
        default = f"of the world (default {next(iter(program.modes))}, or that of the file)"
        parser.add_argument("-m", "--mode", choices=tuple(program.modes), metavar="MODE", help=default)


def agents_text(world: World) -> str:
    """List the files and names of agents that can be watched."""
    own, named = map("*{}".format, show_of(world).readers), map("`{}`, which comes with the game".format, world.agents)
    kinds = [*own, KINDS, "a MaskablePPO .zip", "a run's folder", *named]
    return f"{', '.join(kinds[:-1])}, or {kinds[-1]}"


def add_agent_flags(group: argparse._ArgumentGroup, program: Program) -> None:
    """Add flags for reading an agent's file, and for how the agent chooses."""
    group.add_argument("--hidden-dim", type=_SIZE, metavar="N", help="hidden width (default: as the file has it)")
    group.add_argument("--num-layers", type=_SIZE, metavar="N", help="hidden layers (default: as the file has them)")
    add_trust_flag(group)
    how = group.add_mutually_exclusive_group()
    how.add_argument("--deterministic", action="store_true", help="take the likeliest actions (the default)")
    how.add_argument("--stochastic", action="store_true", help="draw them by their probabilities, as `evaluate` does")
    group.set_defaults(search=None)
    if program.world.jax is not None:
        add_search_flag(how)
    add_player_seed_flag(group, "drawn actions and of searches")


def add_search_flag(group: argparse._ActionsContainer) -> None:
    """Add the flag for how far a search looks ahead before every step."""
    group.add_argument(
        "--search",
        type=LOOKAHEAD,
        metavar="ROLLOUTSxSTEPS",
        help="try every likely action in so many rollouts of so many steps of the policy, their chance drawn anew, and "
        f"take what is better than its likeliest one by more than chance, such as 8x16 ({LOOKAHEAD.span()})",
    )


def add_trust_flag(group: argparse._ActionsContainer) -> None:
    """Add the flag for models of MaskablePPO that may execute what they like."""
    group.add_argument(
        "--trust", action="store_true", help="let a .zip execute what it likes, as models need that others saved"
    )


def add_player_seed_flag(group: argparse._ActionsContainer, drawing: str) -> None:
    """Add the flag for the player's own seed; ``drawing``: what that is for."""
    text = f"seed of {drawing} (default 0)"
    group.add_argument("--player-seed", type=PLAYER_SEED, default=0, metavar="N", help=text)


def add_game_flags(group: argparse._ActionsContainer, episodes: int) -> None:
    """Add the flags for the games to play; ``episodes`` of them by default."""
    group.add_argument(
        "--games",
        "--episodes",
        dest="episodes",
        type=EPISODES,
        default=episodes,
        metavar="N",
        help=f"how many games (default {episodes})",
    )
    group.add_argument("--seed", type=SEED, default=0, metavar="N", help="the first game's seed (default 0)")
    group.add_argument("--max-steps", type=STEPS, default=5000, metavar="N", help="truncate after (default 5000)")


def load(program: Program, world: World, path: Path, **how: Any) -> tuple[Path, Agent]:  # noqa: ANN401 - as load_agent has them
    """The agent that ``find`` finds, and its file; raises ParityError where there is none that can be used."""
    found = find(program, world, path, **how)
    if found is None:
        raise UsageError(f"There is no agent in {path}: name the folder of a run, or an agent's file.")
    return found


def find(program: Program, world: World, path: Path, **how: Any) -> tuple[Path, Agent] | None:  # noqa: ANN401
    """The agent in a file, or the furthest good one in the folder of a run; and its file. None in a folder without one.

    Of a folder without those of rlworldkit's trainers it is the world's own, named as the default agent is.
    The name of an agent that comes with the game means it, unless there is a file or a folder of this name. Otherwise
    as `rlworldkit.watch.agents.first_good_agent`.
    """
    path = world.agent_at(path)
    files = agents_of(path) if os.path.isdir(path) else [path]  # pathlib's own raises for a name that no file can have
    default_agent = show_of(world).default_agent
    if not files and default_agent and (own := path / default_agent.name).exists():
        files = [own]
    if any(file.suffix == ".zip" for file in files):
        require_sb3()
    return first_good_agent(world, files, **how)


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """The flags for an agent's file, as ``load_agent`` takes it."""
    return {"hidden_dim": args.hidden_dim, "num_layers": args.num_layers, "trust": args.trust}


def player_of(world: World, path: Path, agent: Agent, args: argparse.Namespace) -> AgentPlayer:
    """Return the agent of a file as the flags want it to choose; a search is announced on standard error.

    Raises ParityError for a search with a file that holds no parameters.
    """
    from rlworldkit.watch.frames import AgentPlayer

    searcher = None
    if args.search is not None:
        enable_compilation_cache(world.name)  # before JAX is imported
        from rlworldkit.evaluation.searcher import searcher_of

        searcher = searcher_of(world, jax_env_of(world), path, args.search, seed=args.player_seed)
        print("Compiling the search, which takes about a minute ...", file=sys.stderr)
    return AgentPlayer(agent, deterministic=not args.stochastic, player_seed=args.player_seed, searcher=searcher)


def add_engine_flag(parser: argparse._ActionsContainer, world: World) -> None:
    """Add the flag for the engine that plays the games."""
    default = f"(default {next(iter(world.engines))} where it is built; all play the same games)"
    parser.add_argument("--engine", choices=tuple(world.engines), help=default)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def engine_of(world: World, given: str | None, say: Callable[[str], None] = _say) -> str:
    """The engine asked for, else the first that is there, the reference; then a line says which that is, and why."""
    if given is not None:
        return given
    reason = f"the reference of {world.name}"
    for name in world.engines:
        try:
            if name != JAX:  # opening it would compile it
                world.engines[name](1).close()
        except EngineMissing as error:
            reason = f"because {error.advice}"
            continue
        break
    if len(world.engines) > 1:
        say(f"Engine: {name}, {reason}.")
    return name


def playing(program: Program, engines: Sequence[str], total: int | None = None) -> AbstractContextManager[Advance]:
    """Show on standard error that the JAX engine is compiled, where it is one of these, and how many games are played.

    It gives a function that is to be told how many more have been played. Nothing is shown of neither.
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


def caption_of(world: World, path: Path, args: argparse.Namespace) -> str:
    """The player, its way of choosing, and prices that are not the game's own, in a few words."""
    how = f"{'drawn' if args.stochastic else 'likeliest'} actions"
    if args.search:
        how = f"a search of {args.search} steps"
    return f"{world.agent_name(path)}, {how}{prices_note(changed_prices(world))}"
