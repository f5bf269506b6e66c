"""Crafter, and Craftax-Classic, its port to JAX, in the worlds that the port makes and without creatures."""

from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import crafter
import jax
import jax.numpy as jnp
import numpy as np
from craftax.craftax_classic.constants import BlockType
from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset

from rlparity import Tolerance, World
from rlparity.adapters import Outcome, Pairing, SingleGame, gymnax_game, starts_of

NAMES = {block.value: block.name.lower() for block in BlockType} | {BlockType.CRAFTING_TABLE.value: "table"}
NUMBERS = {name: value for value, name in NAMES.items()}
BLOCKS = np.array([0, *(NUMBERS[name] for name in crafter.constants.materials)])
"""Crafter's numbers of what lies on the map -> the port's."""
FACINGS = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
"""By the numbers of the port: nowhere, left, right, up, down."""
NEEDS, CLOCKS = ("health", "food", "drink", "energy"), ("hunger", "thirst", "fatigue", "recover")
ITEMS = [f"{'player_' if name in NEEDS else 'inventory.'}{name}" for name in crafter.constants.items]
ROUNDING = dict.fromkeys(("reward", "components"), Tolerance(absolute=1e-5, any_dtype=True, reason="float32"))


class Port(CraftaxClassicSymbolicEnvNoAutoReset):  # type: ignore[misc]
    """The port, which shows what it has of Crafter's world; plants of an age of ``ripe`` are taken for ripe ones."""

    ripe = 2**30

    def step_env(self, key: Any, state: Any, action: Any, params: Any) -> Any:
        ages = state.growing_plants_age
        state = state.replace(growing_plants_age=jnp.where(ages >= self.ripe, jnp.maximum(ages, 599), ages))
        return super().step_env(key, state, action, params)

    def get_obs(self, state: Any) -> dict[str, Any]:
        return {
            "map": state.map,
            "player": jnp.array([*state.player_position, state.player_direction, state.is_sleeping]),
            "inventory": jnp.array(attrgetter(*ITEMS)(state)),
            "clocks": jnp.array([getattr(state, f"player_{name}") for name in CLOCKS], jnp.float32),
        }


@jax.jit
def luck(seed: Any, turn: Any) -> Any:
    """What the port draws for the sapling that an action of a turn may find."""
    _, of_action = jax.random.split(jax.random.fold_in(jax.random.key(seed), turn))
    return jax.random.uniform(jax.random.split(of_action)[1])


class Original(crafter.Env, SingleGame):  # type: ignore[misc]
    """Crafter; ``facing``: where the player looks at first; ``stones``: what a furnace costs."""

    def __init__(self, start: Any, facing: tuple[int, int], stones: int) -> None:
        super().__init__(seed=0)
        self._start, self._facing, self._stones = start, facing, stones

    def begin(self, seed: int) -> Any:
        start = self._start(seed)

        def lay(world: Any, player: Any) -> None:
            world.random = player.random = SimpleNamespace(uniform=lambda: float(luck(seed, self._step)))
            player.facing = self._facing
            for (row, column), block in np.ndenumerate(start.map):
                world[column, row] = NAMES[int(block)]

        crafter.worldgen.generate_world = lay
        return self.reset()

    def act(self, action: int) -> Outcome:
        crafter.constants.place["furnace"]["uses"]["stone"] = self._stones
        seen, reward, done, _ = self.step(action)
        return Outcome(seen, reward, done, False)

    def _balance_chunk(self, *_: Any) -> None:
        """Let no creatures come."""

    def _obs(self) -> dict[str, Any]:
        world, player = self._world, self._player
        blocks = BLOCKS[world._mat_map].T
        for plant in (each for each in world.objects if isinstance(each, crafter.objects.Plant)):
            blocks[tuple(plant.pos[::-1])] = NUMBERS["ripe_plant" if plant.ripe else "plant"]
        return {
            "map": blocks,
            "player": np.array([*player.pos[::-1], FACINGS.index(tuple(player.facing)), player.sleeping]),
            "inventory": np.array([*player.inventory.values()]),
            "clocks": np.array([getattr(player, f"_{name}") for name in CLOCKS], np.float32),
        }


def craftax(name: str, facing: tuple[int, int] = FACINGS[3], stones: int = 4, ripe: int = 2**30) -> World:
    """The world of both."""
    env = Port()
    env.ripe = ripe
    chances = "cow_chance", "zombie_base_chance", "zombie_night_chance", "skeleton_chance"
    params = env.default_params.replace(**{f"spawn_{chance}": 0.0 for chance in chances})
    start = starts_of(lambda key: env.reset_env(key, params)[1])
    port = gymnax_game(env, params, observe=None, declares={})
    games = {"crafter": lambda: Original(start, facing, stones), "craftax": port}
    return Pairing(name, games, tuple(crafter.constants.actions), tolerances=ROUNDING).world()


CRAFTAX, AS_IT_BEGINS = craftax("craftax"), craftax("craftax-as-it-begins", FACINGS[4])
MENDED = craftax("craftax-mended", stones=1, ripe=301)
"""With two differences set aside, behind which others are: a furnace's price, and when plants are ripe."""
