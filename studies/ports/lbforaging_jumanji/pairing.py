"""Level-based foraging: lbforaging, and its port to JAX in Jumanji, in the starts that the port draws."""

from functools import partial
from typing import Any

import numpy as np
from jumanji.environments.routing.lbf.env import LevelBasedForaging
from jumanji.environments.routing.lbf.generator import RandomGenerator
from lbforaging.foraging import ForagingEnv

from rlparity import MultiDiscrete, Tolerance, World
from rlparity.adapters import Outcome, Pairing, SingleGame, jumanji_game, resets_world, starts_of

ROUNDING = Tolerance(ulps=4, any_dtype=True, reason="float32 and float64")


class Original(SingleGame):
    """A game of lbforaging in a field of 8 by 8."""

    def __init__(self, start: Any, show: Any, players: int, foods: int, sight: int, **prices: float) -> None:
        self._start, self._show = start, show
        self.env = ForagingEnv(players, 1, 2, 1, None, (8, 8), foods, sight, 50, False, **prices)

    def begin(self, seed: int) -> Any:
        env, start = self.env, self._start(seed)
        agents, food = start.agents, start.food_items
        for player, place, level in zip(env.players, agents.position.tolist(), agents.level.tolist(), strict=True):
            player.setup(tuple(place), level, env.field_size)
        env.field[:], env.current_step, env._game_over = 0, 0, False
        env.field[tuple(food.position.T)] = food.level
        env._food_spawned = env.field.sum()
        env._gen_valid_moves()
        return self._shown(env._make_gym_obs())

    def act(self, action: Any) -> Outcome:
        seen, rewards, done, *_ = self.env.step(action.tolist())
        return Outcome(self._shown(seen), np.float32(rewards), np.full(len(action), done), np.full(len(action), False))

    def _shown(self, seen: Any) -> Any:
        valid = [[action.value for action in self.env._valid_actions[player]] for player in self.env.players]
        return self._show(np.array(seen, np.int32), np.array([np.isin(np.arange(6), each) for each in valid]))


def foraging(name: str, *parts: str, players: int = 3, foods: int = 1, sight: int = 8, **prices: float) -> World:
    """The world of both, of which these parts are compared; both have the same names for what rewards depend on."""
    env = LevelBasedForaging(RandomGenerator(8, players, foods, sight), time_limit=50, **prices)

    def show(view: Any, mask: Any) -> dict[str, Any]:
        places = view[:, 3 * foods : 3 * foods + 2]  # of oneself
        crowded = (places[:, None] == places[None]).all(-1).sum() > players
        shown = {"agents_view": view, "action_mask": mask, "crowded": crowded}
        return {part: shown[part] for part in parts}

    original = partial(Original, starts_of(lambda key: env.reset(key)[0]), show, players, foods, sight, **prices)
    games: dict[str, Any] = {"lbforaging": original, "jumanji": jumanji_game(env, lambda seen: show(*seen[:2]))}
    rounding = {"reward": ROUNDING, "components": ROUNDING}
    return Pairing(name, games, MultiDiscrete([6] * players), players=players, tolerances=rounding).world()


ALL = "agents_view", "crowded"
FORAGING, TWO_FOODS = foraging("foraging", *ALL), foraging("foraging-two-foods", "agents_view", foods=2)
MASKS = foraging("foraging-masks", "action_mask", players=2)
SHORT_SIGHT = foraging("foraging-short-sight", "agents_view", players=2, sight=2)
GAPS = foraging("foraging-gaps", "agents_view", sight=2)
PENALTY = foraging("foraging-penalty", *ALL, penalty=0.1)
PENALTY_RAW = foraging("foraging-penalty-raw", *ALL, penalty=0.1, normalize_reward=False)


FOOD = starts_of(RandomGenerator(8, 2, 2, 8))


def free_cells(seed: int) -> Any:
    """The cells in which lbforaging lets its players begin, with food where the port has it."""
    game = Original(FOOD, lambda *_: None, 2, 2, 8)
    game.begin(seed)
    for player in game.env.players:
        player.position = None
    return np.array([[bool(game.env._is_empty_location(row, column)) for column in range(8)] for row in range(8)])


MASKED = RandomGenerator(8, 8, 2, 8)
MASKED.sample_agents = lambda key, mask: mask.reshape(8, 8)  # the cells themselves instead of some of them
PORT_CELLS = starts_of(lambda key: MASKED(key).agents.position)
STARTS = resets_world("foraging-starts", lbforaging=free_cells, jumanji=PORT_CELLS)
