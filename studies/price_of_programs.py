"""Measure the return of a trained player that is made to siphon, by the programs that it siphons.

    python studies/price_of_programs.py PARAMS [--programs COL,ROW] [--episodes N] [--engine jax]

Whenever the cross (S1) holds a wanted program that the player does not own, and a siphon is valid, it siphons; for the
rest it plays as it was trained.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hackmatrix.rules import ACTIONS, CELL_FEATURES, DIRECTIONS, GRID_PART, GRID_SHAPE, PROGRAM_PART, SIPHON, SIZE
from hackmatrix.world import WORLD
from rlparity.errors import ParityError
from rlparity.io.arguments import STEPS, Parser
from rlworldkit.agents.agent import AgentPlayer, Player
from rlworldkit.agents.reader import read_agent
from rlworldkit.cli.outputs import fail
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.evaluation.report import summary
from rlworldkit.jax.xla import enable_compilation_cache

PROGRAMS = ACTIONS[SIPHON + 1 :]
_SIPHONED = CELL_FEATURES.index("siphoned")
_HELD = slice(_SIPHONED + 1, _SIPHONED + 1 + len(PROGRAMS))
_CROSS = ((0, 0), *DIRECTIONS)  # S1


def main() -> None:
    """Read the command line, play, and print a line for each choice of programs."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("params", help="a params_*.npz file")
    parser.add_argument("--programs", type=programs_of, help="only these, together, in place of each by itself and all")
    parser.add_argument("--episodes", type=STEPS, default=2000)
    parser.add_argument("--engine", choices=("jax", "swift"), default="jax")
    args = parser.parse_args()
    enable_compilation_cache("hackmatrix")
    try:
        play(args.params, args.programs, args.episodes, args.engine)
    except ParityError as error:
        fail(error)


def play(params: str, together: Sequence[str] | None, episodes: int, engine: str) -> None:
    """Play and print for each choice of programs, or only for the programs ``together``.

    Raises UsageError for a bad file, EngineError where the engine fails.
    """
    player = AgentPlayer(read_agent(WORLD, params))
    each = {"none": (), **{name: (name,) for name in PROGRAMS}, "all": PROGRAMS}
    for name, wanted in {",".join(together): together}.items() if together else each.items():
        chosen = insisting(player, np.array([name in wanted for name in PROGRAMS]))
        played = play_episodes(WORLD, chosen, 0, episodes, engine=engine, num_envs=256)
        value = summary(WORLD, played)["return"]
        uses = np.mean([sum(episode.stats["programs_used"].values()) for episode in played])
        print(f"{name:7} return {value['mean']:6.2f} ± {value['high'] - value['mean']:.2f}, {uses:.2f} programs run")


def insisting(player: Player, wanted: NDArray[np.bool_]) -> Player:
    """Wrap the player so that it siphons wherever that gives a program of ``wanted``, bool (23,)."""

    def choose(
        observations: NDArray[np.float32], masks: NDArray[np.bool_], seeds: NDArray[np.uint64], steps: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        actions = player(observations, masks, seeds, steps)
        new = new_within_reach(observations) & wanted
        return np.where(masks[:, SIPHON] & new.any(axis=1), SIPHON, actions).astype(np.int32)

    return choose


def new_within_reach(observations: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Find the programs that a siphon would add, bool (n, 23), in observations (n, 1545)."""
    board = observations[:, GRID_PART].reshape(-1, *GRID_SHAPE)
    held = np.pad(board[..., _HELD] * (board[..., _SIPHONED, None] == 0), ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows, columns = np.rint((SIZE - 1) * observations[:, :2]).astype(int).T + 1
    cross = [held[np.arange(len(held)), rows + up, columns + right] for up, right in _CROSS]
    return (np.stack(cross) > 0).any(axis=0) & (observations[:, PROGRAM_PART] == 0)


def programs_of(text: str) -> list[str]:
    """Parse a flag's value: names of programs, separated by commas."""
    names = text.split(",")
    if unknown := set(names) - set(PROGRAMS):
        raise argparse.ArgumentTypeError(f"there is no program {min(unknown)!r}; name some of {', '.join(PROGRAMS)}")
    return names


if __name__ == "__main__":
    main()
