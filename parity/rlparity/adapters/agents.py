"""Adapters of multi-agent environments: JaxMARL and PettingZoo.

An observation is a dict by agent; actions, rewards and end flags are arrays in the order of the agents.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlparity.adapters.observations import declared
from rlparity.adapters.pytree import PytreeGame
from rlparity.adapters.single import Outcome, SingleGame
from rlparity.spaces import Box, MultiDiscrete


class ParallelGame(SingleGame):
    """One game of ``make()``, a PettingZoo parallel environment.

    agents: their order; None: the environment's own. An agent that has left keeps its last observation and end flags,
    and gets reward 0.
    """

    def __init__(self, make: Callable[[], Any], agents: Sequence[str] | None = None) -> None:
        self.env = make()
        self.agents = [*(agents or self.env.possible_agents)]

    def begin(self, seed: int) -> Any:
        seen, infos = self.env.reset(seed=seed)
        self._keep_infos(infos)
        self._last: tuple[dict[str, Any], ...] = dict(seen), {}, {}
        return self._shown()

    def act(self, action: Any) -> Outcome:
        given = {agent: part for agent, part in zip(self.agents, action, strict=True) if agent in self.env.agents}
        seen, rewards, *flags, infos = self.env.step(given)
        self._keep_infos(infos)
        for known, new in zip(self._last, (seen, *flags), strict=True):
            known.update(new)
        earned = np.array([float(rewards.get(agent, 0)) for agent in self.agents])
        ends = (np.array([each[agent] for agent in self.agents]) for each in self._last[1:])
        return Outcome(self._shown(), *map(_of_all, (earned, *ends)))

    def _shown(self) -> dict[str, Any]:
        return {agent: np.copy(self._last[0][agent]) for agent in sorted(self.agents)}

    def _keep_infos(self, infos: Mapping[str, Mapping[str, Any]]) -> None:
        self.info = {agent: info for agent, info in infos.items() if info}

    def declarations(self) -> Mapping[str, Any]:
        if not hasattr(self.env, "observation_space"):
            return {}
        spaces = self.env.observation_space, self.env.action_space
        return declared("pettingzoo", *({agent: space_of(agent) for agent in self.agents} for space_of in spaces))

    def close(self) -> None:
        self.env.close()


def jaxmarl_game(
    env: Any, show: Callable[[Any], Any] = lambda seen: seen, bonus: str = "", **options: Any
) -> Callable[[], PytreeGame]:
    """Factory of games of a JaxMARL environment; ``options`` are those of ``PytreeGame``.

    show: ``show(observations)`` returns what is compared of them. bonus: name of the info that is added to the rewards,
    such as ``shaped_reward``.

    JaxMARL has one ``done`` flag, also for time limits. Give ``observe=env.get_obs`` to compare states.
    """
    import jax.numpy as jnp

    def step(key: Any, state: Any, action: Any) -> tuple[Any, ...]:
        given = {agent: action[place] for place, agent in enumerate(env.agents)}
        seen, state, rewards, ends, infos = env.step_env(key, state, given)
        rewards = {agent: rewards[agent] + infos[bonus][agent] for agent in env.agents} if bonus else rewards
        arrays = (jnp.stack([jnp.asarray(each[agent]) for agent in env.agents]) for each in (rewards, ends))
        return show(seen), state, *map(_of_all, arrays)

    def reset(key: Any) -> tuple[Any, Any]:
        seen, state = env.reset(key)
        return show(seen), state

    return lambda: PytreeGame(reset, step, **options)


def _of_all(values: Any) -> Any:
    """Return values by agent (agents,), without that axis where there is a single agent."""
    return values if len(values) > 1 else values[0]


def joint_actions(env: Any, agents: Sequence[str]) -> Box:
    """Action space of all agents in one array, from discrete spaces or boxes of one shape."""
    spaces = [env.action_space(agent) for agent in agents]
    if all(hasattr(space, "n") for space in spaces):
        return MultiDiscrete([int(space.n) for space in spaces])
    sides = ([np.broadcast_to(getattr(space, side), space.shape) for space in spaces] for side in ("low", "high"))
    low, high = (tuple(np.stack(side).ravel().tolist()) for side in sides)
    return Box(low, high, (len(agents), *spaces[0].shape), "float32")
