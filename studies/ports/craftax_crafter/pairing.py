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
from rlparity.adapters import Outcome, Pairing, SingleGame, gymnax_game, key_of, starts_of

NUMBERS = {block.name.lower(): block.value for block in BlockType} | {"table": BlockType.CRAFTING_TABLE.value}
BLOCKS = np.array([0, *(NUMBERS[name] for name in crafter.constants.materials)])
"""Crafter's numbers of what lies on the map -> the port's."""
FACINGS = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
"""By the numbers of the port: nowhere, left, right, up, down."""
NEEDS, CLOCKS = ("health", "food", "drink", "energy"), ("hunger", "thirst", "fatigue", "recover")
ITEMS = [f"{'player_' if name in NEEDS else 'inventory.'}{name}" for name in crafter.constants.items]
ROUNDING = dict.fromkeys(("reward", "components"), Tolerance(absolute=1e-5, any_dtype=True, reason="float32"))


class Port(CraftaxClassicSymbolicEnvNoAutoReset):  # type: ignore[misc]
    """The port, which shows what it has of Crafter's world."""

    def get_obs(self, state: Any) -> dict[str, Any]:
        player = jnp.array([*state.player_position, state.player_direction, state.is_sleeping])
        clocks = jnp.array([getattr(state, f"player_{name}") for name in CLOCKS], jnp.float32)
        return {"map": state.map, "player": player, "inventory": jnp.array(attrgetter(*ITEMS)(state)), "clocks": clocks}


class EarlyPort(Port):
    """The port with plants that are ripe as early as Crafter's."""

    def step_env(self, key: Any, state: Any, action: Any, params: Any) -> Any:
        ripe = state.replace(growing_plants_age=state.growing_plants_age + 298 * (state.growing_plants_age > 300))
        return super().step_env(key, ripe, action, params)


def luck(seed: int, turn: int) -> float:
    """What the port draws for the sapling that an action of a turn may find."""
    return float(jax.random.uniform(jax.random.split(jax.random.split(key_of(seed, turn))[1])[1]))


class Original(crafter.Env, SingleGame):  # type: ignore[misc]
    """Crafter; ``facing``: where the player looks at first; ``stones``: what a furnace costs."""

    def __init__(self, start: Any, facing: tuple[int, int], stones: int) -> None:
        super().__init__(seed=0)
        self._start, self._facing = start, facing
        crafter.constants.place["furnace"]["uses"]["stone"] = stones

    def begin(self, seed: int) -> Any:
        self.reset()
        self._world.random = self._player.random = SimpleNamespace(uniform=lambda: luck(seed, self._step))
        self._player.facing = self._facing
        self._world._mat_map[:] = np.argmax(self._start(seed).map.T[..., None] == BLOCKS, axis=-1)
        return self._obs()

    def act(self, action: int) -> Outcome:
        return Outcome(*self.step(action)[:3], False)  # type: ignore[call-arg] # it takes the three for more

    def _balance_chunk(self, *_: Any) -> None:
        """Let no creatures come."""

    def _obs(self) -> dict[str, Any]:
        blocks, player = BLOCKS[self._world._mat_map].T, self._player
        for plant in (each for each in self._world.objects if isinstance(each, crafter.objects.Plant)):
            blocks[tuple(plant.pos[::-1])] = NUMBERS["ripe_plant" if plant.ripe else "plant"]
        place = np.array([*player.pos[::-1], FACINGS.index(tuple(player.facing)), player.sleeping])
        clocks = np.array([getattr(player, f"_{name}") for name in CLOCKS], np.float32)
        return {"map": blocks, "player": place, "inventory": np.array([*player.inventory.values()]), "clocks": clocks}


def craftax(name: str, facing: tuple[int, int] = FACINGS[3], stones: int = 4, port: type[Port] = Port) -> World:
    """The world of both."""
    env = port()
    chances = "cow_chance", "zombie_base_chance", "zombie_night_chance", "skeleton_chance"
    params = env.default_params.replace(**{f"spawn_{chance}": 0.0 for chance in chances})
    start = starts_of(lambda key: env.reset_env(key, params)[1])
    games: dict[str, Any] = {"crafter": lambda: Original(start, facing, stones)}
    games["craftax"] = gymnax_game(env, params, observe=None, declares={})
    return Pairing(name, games, tuple(crafter.constants.actions), tolerances=ROUNDING).world()


crafter.worldgen.generate_world = lambda *_: None  # begin lays the port's
CRAFTAX, AS_IT_BEGINS = craftax("craftax"), craftax("craftax-as-it-begins", FACINGS[4])
MENDED = craftax("craftax-mended", stones=1, port=EarlyPort)
"""With two differences set aside, behind which others are: a furnace's price, and when plants are ripe."""
