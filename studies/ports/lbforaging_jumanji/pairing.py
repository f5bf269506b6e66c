"""Level-based foraging: lbforaging, and its port to JAX in Jumanji, in the starts that the port draws."""

from functools import partial
from typing import Any

import numpy as np
from jumanji.environments.routing.lbf.env import LevelBasedForaging
from jumanji.environments.routing.lbf.generator import RandomGenerator
from lbforaging.foraging import ForagingEnv
from mirrored import starts_of
from resets import ResetGame

from rlparity import MultiDiscrete, Tolerance, World
from rlparity.adapters import Outcome, Pairing, SingleGame, jumanji_game

ROUNDING = Tolerance(ulps=4, any_dtype=True, reason="float32 and float64")


class Original(SingleGame):
    """A game of lbforaging in a field of 8 by 8."""

    def __init__(self, start: Any, show: Any, players: int, foods: int, sight: int, **options: Any) -> None:
        self._start, self._show = start, show
        self._env = ForagingEnv(players, 1, 2, 1, None, (8, 8), foods, sight, 50, False, **options)

    def begin(self, seed: int) -> Any:
        env, start = self._env, self._start(seed)
        agents, food = start.agents, start.food_items
        for player, place, level in zip(env.players, agents.position.tolist(), agents.level.tolist(), strict=True):
            player.setup(tuple(place), level, env.field_size)
        env.field[:], env.current_step, env._game_over = 0, 0, False
        env.field[tuple(food.position.T)] = food.level
        env._food_spawned = env.field.sum()
        env._gen_valid_moves()
        return self._shown(env._make_gym_obs())

    def act(self, action: Any) -> Outcome:
        seen, rewards, done, *_ = self._env.step(action.tolist())
        return Outcome(self._shown(seen), np.float32(rewards), np.full(len(action), done), np.full(len(action), False))

    def _shown(self, seen: Any) -> Any:
        valid = [[action.value for action in self._env._valid_actions[player]] for player in self._env.players]
        return self._show(np.array(seen, np.int32), np.array([np.isin(np.arange(6), each) for each in valid]))


def foraging(
    name: str, *parts: str, players: int = 3, foods: int = 1, sight: int = 8, penalty: float = 0.0, scales: bool = True
) -> World:
    """The world of both, of which these parts are compared. scales: rewards are normalised."""
    generator = RandomGenerator(8, players, foods, sight)
    env = LevelBasedForaging(generator, time_limit=50, penalty=penalty, normalize_reward=scales)
    shape = {"agents_view": (players, 3 * (players + foods)), "action_mask": (players, 6), "crowded": ()}

    def show(view: Any, mask: Any) -> dict[str, Any]:
        places = view[:, 3 * foods : 3 * foods + 2]  # of oneself
        crowded = (places[:, None] == places[None]).all(-1).sum() > players
        shown = {"agents_view": view, "action_mask": mask, "crowded": crowded}
        return {part: shown[part] for part in parts}

    start = starts_of(lambda key: env.reset(key)[0])
    original = partial(Original, start, show, players, foods, sight, penalty=penalty, normalize_reward=scales)
    return Pairing(
        name=name,
        games={"lbforaging": original, "jumanji": jumanji_game(env, lambda seen: show(*seen[:2]))},
        actions=MultiDiscrete([6] * players),
        observation_shape={part: shape[part] for part in parts},
        players=players,
        tolerances={"reward": ROUNDING, "components": ROUNDING},
    ).world()


ALL = "agents_view", "crowded"
FORAGING, TWO_FOODS = foraging("foraging", *ALL), foraging("foraging-two-foods", "agents_view", foods=2)
MASKS = foraging("foraging-masks", "action_mask", players=2)
SHORT_SIGHT = foraging("foraging-short-sight", "agents_view", players=2, sight=2)
GAPS = foraging("foraging-gaps", "agents_view", sight=2)
PENALTY = foraging("foraging-penalty", *ALL, penalty=0.1)
PENALTY_RAW = foraging("foraging-penalty-raw", *ALL, penalty=0.1, scales=False)


class Masks(RandomGenerator):  # type: ignore[misc]
    """The port's generator, with the cells in which agents may begin instead of where they do."""

    def sample_agents(self, key: Any, mask: Any) -> Any:
        return mask.reshape(8, 8)


def original_free(seed: int) -> Any:
    """The cells without food, in any of which lbforaging lets its players begin."""
    field = ForagingEnv(2, 1, 2, 1, None, (8, 8), 2, 8, 50, False)
    for player in field.players:
        player.position = None
    field.field[tuple(MASK_STARTS(seed).food_items.position.T)] = 1
    return np.array([[bool(field._is_empty_location(row, column)) for column in range(8)] for row in range(8)])


MASK_STARTS = starts_of(Masks(8, 8, 2, 8))
STARTS = Pairing(
    name="foraging-starts",
    games={
        "lbforaging": lambda: ResetGame(original_free),
        "jumanji": lambda: ResetGame(lambda seed: MASK_STARTS(seed).agents.position),
    },
    actions=("end",),
    observation_shape=(8, 8),
).world()
