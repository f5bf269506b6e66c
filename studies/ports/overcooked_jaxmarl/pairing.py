"""Overcooked: the original's rules with its old dynamics, and their port to JAX in JaxMARL."""

from functools import partial
from typing import Any

import numpy as np
from flax.core.frozen_dict import FrozenDict
from jaxmarl.environments.overcooked.layouts import overcooked_layouts
from jaxmarl.environments.overcooked.overcooked import BASE_REW_SHAPING_PARAMS, Overcooked
from overcooked.mdp.actions import Action, Direction
from overcooked.mdp.overcooked_mdp import OvercookedGridworld

from rlparity import MultiDiscrete, World
from rlparity.adapters import Outcome, Pairing, SingleGame, starts_of
from rlparity.adapters.agents import jaxmarl_game

PRICES = {name.replace("PLATE", "DISH"): price for name, price in BASE_REW_SHAPING_PARAMS.items()}


class Original(SingleGame):
    """A game of the original.

    start: where the port's cooks begin; None: they begin where the original says. hides: what lies on a counter hides
    it, as in the port.
    """

    def __init__(self, kitchen: str, start: Any, hides: bool) -> None:
        self._rules = OvercookedGridworld.from_layout_name(kitchen, old_dynamics=True, rew_shaping_params=PRICES)
        self._start, self._hides = start, hides

    def begin(self, seed: int) -> Any:
        self._state = self._rules.get_standard_start_state()
        if self._start:
            start = self._start(seed)
            for cook, place, way in zip(self._state.players, start.agent_pos, start.agent_dir_idx, strict=True):
                cook.update_pos_and_or(tuple(place.tolist()), Direction.ALL_DIRECTIONS[way])
        return self._shown()

    def act(self, action: Any) -> Outcome:
        joint = [Action.INDEX_TO_ACTION[number] for number in action]
        self._state, infos = self._rules.get_state_transition(self._state, joint)
        rewards = np.float32(infos["shaped_reward_by_agent"]) + sum(infos["sparse_reward_by_agent"])
        return Outcome(self._shown(), rewards, np.full(2, self._state.timestep >= 400), False)

    def _shown(self) -> dict[str, Any]:
        seen = np.array(self._rules.lossless_state_encoding(self._state, horizon=400), np.uint8).transpose(0, 2, 1, 3)
        if self._hides:
            seen[..., 11] *= ~seen[..., 21:25].any(-1)
        return {"agent_0": seen[0], "agent_1": seen[1]}


def kitchen(name: str, layout: str, original: str, is_mirrored: bool = True, hides: bool = True) -> World:
    """The world of both in a kitchen."""
    env = Overcooked(FrozenDict(overcooked_layouts[layout]))
    start = starts_of(lambda key: env.reset(key)[1]) if is_mirrored else None
    return Pairing(
        name=name,
        games={
            "overcooked": partial(Original, original, start, hides),
            "jaxmarl": jaxmarl_game(env, bonus="shaped_reward"),
        },
        actions=MultiDiscrete((6, 6)),
        observation_shape=dict.fromkeys(env.agents, (env.height, env.width, 26)),
        players=2,
        draws=is_mirrored or None,
    ).world()


ROOM = kitchen("cramped-room", "cramped_room", "cramped_room")
COUNTERS = kitchen("cramped-room-counters", "cramped_room", "cramped_room", hides=False)
ADVANTAGES = kitchen("asymmetric-advantages", "asymm_advantages", "asymmetric_advantages")
RING = kitchen("coordination-ring", "coord_ring", "coordination_ring")
FORCED = kitchen("forced-coordination", "forced_coord", "forced_coordination")
CIRCUIT = kitchen("counter-circuit", "counter_circuit", "counter_circuit_o_1order")
ROOM_AS_IT_BEGINS = kitchen("cramped-room-as-it-begins", "cramped_room", "cramped_room", is_mirrored=False)
RING_AS_IT_BEGINS = kitchen("ring-as-it-begins", "coord_ring", "coordination_ring", is_mirrored=False)
