"""Multi-particle environments: mpe2, and its ports to JAX in JaxMARL, in the starts that the ports draw."""

from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import jaxmarl
import numpy as np
from pettingzoo.utils.conversions import aec_to_parallel

from rlparity import Tolerance, World
from rlparity.adapters import Outcome, Pairing, starts_of
from rlparity.adapters.agents import ParallelGame, jaxmarl_game, joint_actions


def rounding(slope: float = 1) -> Tolerance:
    """What is allowed to values that change ``slope`` times as fast as a place."""
    return Tolerance(ulps=64, absolute=slope * 1e-4, any_dtype=True, reason="float32 and float64")


class Original(ParallelGame):
    """A scenario of mpe2; ``is_placed``: things get the places of the port, and not only its luck."""

    def __init__(self, name: str, start: Any, agents: list[str], is_placed: bool) -> None:
        self._raw = import_module(f"mpe2.{name}.{name}").raw_env(max_cycles=25)
        super().__init__(lambda: aec_to_parallel(self._raw), agents)
        self._start, self._is_placed = start, is_placed

    def begin(self, seed: int) -> Any:
        start, world, self._raw.np_random = self._start(seed), self._raw.world, self
        order = [*map(self.agents.index, (agent.name for agent in world.agents))]
        landmarks = [*range(len(order), len(start.p_pos))]
        again = landmarks[1:] if hasattr(world, "food") else []  # food and forests are placed twice
        self._places = iter(start.p_pos[order + landmarks + again])
        if hasattr(start, "private_key"):
            self._goals = iter([start.goal_colour.argmax(), start.private_key.argmax()])
        else:  # of two goals, each is what the other agent knows
            self._goals = iter(np.ravel(start.goal)[::-1])
        return super().begin(None)  # type: ignore[arg-type]

    def uniform(self, low: float, high: float, _: int) -> Any:
        """Where something begins; the port's things lie between -1 and 1."""
        place = np.float64(next(self._places))
        return place if self._is_placed else low + (high - low) * (place + 1) / 2

    def integers(self, _: int) -> Any:
        """The number of a landmark."""
        return next(self._goals)

    def act(self, action: Any) -> Outcome:
        outcome = super().act(action)
        return replace(
            outcome, terminated=outcome.terminated | outcome.truncated, truncated=False
        )  # as JaxMARL says it


def scenario(name: str, version: int = 3, is_placed: bool = True, slope: float = 1) -> World:
    """The world of both; near the edge rewards fall ``slope`` times as fast as a place changes."""
    env: Any = jaxmarl.make(f"MPE_{name}_v{version}", action_type="Discrete")
    original = partial(Original, name, starts_of(lambda key: env.reset(key)[1]), env.agents, is_placed)
    return Pairing(
        name=name.replace("_", "-") + "-luck" * (not is_placed),
        games={"mpe2": original, "jaxmarl": jaxmarl_game(env)},
        actions=joint_actions(env, env.agents),
        observation_shape={agent: env.observation_spaces[agent].shape for agent in env.agents},
        players=len(env.agents),
        tolerances={"observation": rounding(), "reward": rounding(slope), "components": rounding(slope)},
    ).world()


SIMPLE, SPREAD, PUSH, TAG = *map(scenario, ("simple", "simple_spread", "simple_push")), scenario("simple_tag", slope=10)
ADVERSARY, CRYPTO, REFERENCE = map(scenario, ("simple_adversary", "simple_crypto", "simple_reference"))
COMMUNICATION, LISTENER = scenario("simple_world_comm", slope=20), scenario("simple_speaker_listener", 4)
TAG_LUCK = scenario("simple_tag", is_placed=False, slope=10)
