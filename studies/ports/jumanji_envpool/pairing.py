"""Environments of Jumanji, and EnvPool's ports of them to C++, which begin where Jumanji does."""

from typing import Any

import jax
import jumanji
import numpy as np
from pools import pooled

from rlparity import MultiDiscrete, Tolerance, World
from rlparity.adapters import Pairing, starts_of
from rlparity.adapters.named import EnvPoolGame
from rlparity.adapters.observations import as_array
from rlparity.adapters.pytree import jumanji_game

ROUNDING = dict.fromkeys(("reward", "components"), Tolerance(absolute=1e-6, reason="float32 sums in another order"))


def text(value: Any) -> str:
    """Numbers, or the two of a position, as EnvPool's options take them."""
    leaves = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(value)])
    return ",".join(repr(number.item()) for number in (leaves * 1 if leaves.dtype == bool else leaves))


def ported(name: str, *actions: int, edges: str = "", tolerances: Any = (), **options: str) -> World:
    """The world of both; ``options`` are EnvPool's, with the parts of Jumanji's state that they tell."""
    env: Any = jumanji.make(name)
    start = starts_of(lambda key: env.reset(key)[0])

    def placed(seed: int) -> Any:
        state = start(seed)
        told = {option: text(getattr(state, part)) for option, part in options.items()}
        if edges:
            told[edges] = ",".join(f"{a}-{b}" for a, b in np.argwhere(np.triu(state.adj_matrix)).tolist())
        return pooled(f"Jumanji/{name}", seed, **told)

    seen = as_array(jax.device_get(env.observation_spec.generate_value())).dtype
    return Pairing(
        name=name.lower().rpartition("-")[0],
        games={"jumanji": jumanji_game(env, declares={}), "envpool": lambda: EnvPoolGame(placed)},
        actions=MultiDiscrete(actions) if len(actions) > 1 else tuple(map(str, range(*actions))),
        observation_shape={part: seen[part].shape for part in seen.names or ()},
        tolerances=dict(tolerances),
        accept=("infos are left out",),
    ).world()


MAZE = ported(
    "Maze-v0",
    4,
    maze_walls="walls",
    maze_agent_position="agent_position",
    maze_target_position="target_position",
)
TILES = ported("SlidingTilePuzzle-v0", 4, sliding_tile_initial_puzzle="puzzle")
CUBE = ported("RubiksCube-v0", *(6, 1, 3), rubiks_cube_initial_cube="cube")
MINESWEEPER = ported("Minesweeper-v0", *(10, 10), minesweeper_mine_locations="flat_mine_locations")
SUDOKU = ported("Sudoku-v0", *(9, 9, 9), sudoku_initial_board="board")
TSP = ported("TSP-v1", 20, tolerances=ROUNDING, tsp_coordinates="coordinates")
KNAPSACK = ported("Knapsack-v1", 50, knapsack_weights="weights", knapsack_values="values")
COLOURING = ported("GraphColoring-v1", 20, edges="graph_coloring_edges")
CLEANER = ported("Cleaner-v0", *(4, 4, 4), cleaner_grid="grid", cleaner_agent_locations="agents_locations")
SNAKE = ported("Snake-v1", 4, snake_head_position="head_position", snake_fruit_position="fruit_position")
