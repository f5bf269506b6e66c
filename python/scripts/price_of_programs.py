"""What would it bring a trained player to siphon programs? Its return when it must, by the programs it goes for.

    python python/scripts/price_of_programs.py PARAMS [--episodes N] [--engine jax]

Whenever the cross (S1) holds a wanted program that the player does not own, and a siphon is valid, it siphons; for the
rest it plays as it was trained.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from hackmatrix.evaluation import EVALUATION
from hackmatrix.rules import ACTIONS, CELL_FEATURES, DIRECTIONS, GRID_PART, GRID_SHAPE, PROGRAM_PART, SIPHON, SIZE
from parity.arguments import STEPS, Parser
from parity.errors import ParityError
from worldkit.cli.parser import fail
from worldkit.evaluation.play import play_episodes
from worldkit.evaluation.players import player_of
from worldkit.evaluation.report import summary
from worldkit.evaluation.spec import Player
from worldkit.jaxkit.xla import keep_compiled_programs

PROGRAMS = ACTIONS[SIPHON + 1 :]
_SIPHONED = CELL_FEATURES.index("siphoned")
_HELD = slice(_SIPHONED + 1, _SIPHONED + 1 + len(PROGRAMS))
_CROSS = ((0, 0), *DIRECTIONS)  # S1


def main() -> None:
    """Play, and print a line for each choice of programs."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("params", help="a params_*.npz file")
    parser.add_argument("--episodes", type=STEPS, default=2000)
    parser.add_argument("--engine", choices=("jax", "swift"), default="jax")
    args = parser.parse_args()
    keep_compiled_programs("hackmatrix")
    try:
        play(args.params, args.episodes, args.engine)
    except ParityError as error:
        fail(error)


def play(params: str, episodes: int, engine: str) -> None:
    """Play for each choice of programs; raises UsageError for a bad file, EngineError where the engine fails."""
    player = player_of(EVALUATION, params, deterministic=False, seed=0)
    for name, wanted in {"none": (), **{name: (name,) for name in PROGRAMS}, "all": PROGRAMS}.items():
        chosen = insisting(player, np.array([program in wanted for program in PROGRAMS]))
        played = play_episodes(EVALUATION, chosen, 0, episodes, engine=engine, num_envs=256)
        value = summary(EVALUATION, played)["return"]
        uses = np.mean([sum(episode.stats["programs_used"].values()) for episode in played])
        print(f"{name:7} return {value['mean']:6.2f} ± {value['high'] - value['mean']:.2f}, {uses:.2f} programs run")


def insisting(player: Player, wanted: NDArray[np.bool_]) -> Player:
    """The player, but siphoning wherever that gives a program of ``wanted``, bool (23,)."""

    def choose(
        observations: NDArray[np.float32], masks: NDArray[np.bool_], seeds: NDArray[np.uint64], steps: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        actions = player(observations, masks, seeds, steps)
        new = within_reach(observations) & (observations[:, PROGRAM_PART] == 0) & wanted
        return np.where(masks[:, SIPHON] & new.any(axis=1), SIPHON, actions).astype(np.int32)

    return choose


def within_reach(observations: NDArray[np.float32]) -> NDArray[np.bool_]:
    """The programs, bool (n, 23), that unsiphoned blocks in the cross of observations (n, 1545) show."""
    board = observations[:, GRID_PART].reshape(-1, *GRID_SHAPE)
    held = np.pad(board[..., _HELD] * (board[..., _SIPHONED, None] == 0), ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows, columns = np.rint((SIZE - 1) * observations[:, :2]).astype(int).T + 1
    games = np.arange(len(observations))
    cross = [held[games, rows + up, columns + right] for up, right in _CROSS]
    reached: NDArray[np.bool_] = np.any(cross, axis=0)
    return reached


if __name__ == "__main__":
    main()
