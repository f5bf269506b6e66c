"""Environments of JaxMARL: an engine at a place, such as `jaxmarl@pip:jaxmarl==0.2.0`, has the version there."""

from typing import Any

import jax
import jax.numpy as jnp
import jaxmarl
from jaxmarl.environments.smax import Scenario, map_name_to_scenario

from rlparity import World
from rlparity.adapters import Pairing
from rlparity.adapters.agents import jaxmarl_game, joint_actions
from rlparity.tolerance import Tolerance


class Wrapper:
    """An environment as it is."""

    def __init__(self, env: Any) -> None:
        self.env, self.agents, self.reset = env, env.agents, env.reset
        self.step_once = vars(env).get("step", env.step_env)  # where it overrides that of all

    def step_env(self, *game: Any) -> Any:
        """A step without an automatic reset."""
        return self.step_once(*game)


class Legal(Wrapper):
    """Each action is one of those that are available, counted round and round."""

    def step_env(self, key: Any, state: Any, actions: Any) -> Any:
        masks = self.env.get_legal_moves(state)
        order = {agent: jnp.argsort(-masks[agent], stable=True) for agent in actions}
        chosen = {name: order[name][action % masks[name].sum().astype(int)] for name, action in actions.items()}
        return self.step_once(key, state, chosen)


class Shaped(Wrapper):
    """Rewards include those for steps on the way."""

    def step_env(self, *game: Any) -> Any:
        seen, state, rewards, done, infos = self.step_once(*game)
        return seen, state, {cook: rewards[cook] + infos["shaped_reward"][cook] for cook in rewards}, done, infos


class Sorted(Wrapper):
    """What all units of SMAX see, by kind: targets, cooldowns, types and the rest."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.reset = lambda key: (lambda seen, state: (self.parts(seen), state))(*env.reset(key))

    def parts(self, seen: Any) -> dict[str, Any]:
        """Seen units have 13 numbers each, oneself 10."""
        rows = jnp.stack([seen[agent] for agent in self.agents])
        units, own = rows[:, :-10].reshape(len(rows), -1, 13), rows[:, -10:]
        cooldowns = jnp.concatenate([units[..., 6], own[:, 3:4]], axis=1)
        return {"target": units[..., 5], "cooldown": cooldowns, "type": units[..., 7:], "rest": units[..., :5]}

    def step_env(self, *game: Any) -> Any:
        seen, *rest = self.step_once(*game)
        return self.parts(seen), *rest


def played(name: str, wrapper: Any = Wrapper, **options: Any) -> World:
    """The world of an environment."""
    env: Any = jaxmarl.make(name, **options)
    wrapped = wrapper(env)
    seen = jax.eval_shape(wrapped.reset, jax.random.key(0))[0]
    return Pairing(
        name=name.lower().replace("_", "-"),
        games={"jaxmarl": jaxmarl_game(wrapped)},
        actions=joint_actions(env, env.agents),
        observation_shape={part: shown.shape for part, shown in sorted(seen.items())},
        players=len(env.agents),
        tolerances={"observation": Tolerance(absolute=1e-5, reason="float32, in programs that are compiled apart")},
    ).world()


MIXED = Scenario(jnp.zeros(5, jnp.uint8), 2, 3, smacv2_position_generation=False, smacv2_unit_type_generation=True)
SMAX = played("HeuristicEnemySMAX", Sorted, scenario=map_name_to_scenario("3m"))
SMAX_MIXED = played("SMAX", Sorted, scenario=MIXED)
HANABI = played("hanabi", Legal)
COIN_GAME = played("coin_game")
KITCHEN = played("overcooked", Shaped)
