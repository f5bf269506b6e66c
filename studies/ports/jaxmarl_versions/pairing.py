"""Environments of JaxMARL: an engine at a place, such as `jaxmarl@pip:jaxmarl==0.2.0`, has the version there."""

from functools import partial
from importlib.metadata import version
from typing import Any

import jax.numpy as jnp
import jaxmarl
from jaxmarl.environments.smax import Scenario, map_name_to_scenario

from rlparity import World
from rlparity.adapters import Pairing
from rlparity.adapters.agents import jaxmarl_game, joint_actions
from rlparity.tolerance import Tolerance

IS_SCALED = version("jaxmarl") != "0.1.0"
"""Whether targets and cooldowns of SMAX are shown as shares of the last target and the longest cooldown."""


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


def by_kind(env: Any, seen: Any) -> dict[str, Any]:
    """What all units of SMAX see: targets, cooldowns, types and the rest, and the first two as shares.

    Units that are seen, those of the own team first, have 13 numbers each, oneself 10.
    """
    rows = jnp.stack([seen[agent] for agent in env.agents])
    units, own = rows[:, :-10].reshape(len(rows), -1, 13), rows[:, -10:]
    targets, cooldowns = units[..., 5], jnp.concatenate([units[..., 6], own[:, 3:4]], axis=1)
    types = jnp.concatenate([units[..., 7:], own[:, None, 4:]], axis=1)
    teams = [(env.num_allies, env.num_ally_actions - 1), (env.num_enemies, env.num_enemy_actions - 1)]
    sides = (teams[::-1] if agent.startswith("enemy") else teams for agent in env.agents)
    last = jnp.array([[own[1]] * (own[0] - 1) + [other[1]] * other[0] for own, other in sides])
    longest = jnp.where(types.any(-1), types @ env.unit_type_weapon_cooldowns, 1)
    shares = (targets, cooldowns) if IS_SCALED else (targets / last, jnp.clip(cooldowns / longest, 0, 1))
    parts = {"target": targets, "cooldown": cooldowns, "share": jnp.concatenate(shares, axis=1)}
    return parts | {"type": units[..., 7:], "rest": units[..., :5]}


def played(
    name: str,
    wrapper: Any = Wrapper,
    show: Any = lambda _, seen: seen,
    bonus: str = "",
    title: str = "",
    **options: Any,
) -> World:
    """The world of an environment."""
    env: Any = jaxmarl.make(name, **options)
    return Pairing(
        name=title or name.lower().replace("_", "-"),
        games={"jaxmarl": jaxmarl_game(wrapper(env), partial(show, env), bonus)},
        actions=joint_actions(env, env.agents),
        players=len(env.agents),
        tolerances={"observation": Tolerance(absolute=1e-5, reason="float32, in programs that are compiled apart")},
    ).world()


MIXED = Scenario(jnp.zeros(5, jnp.uint8), 2, 3, smacv2_position_generation=False, smacv2_unit_type_generation=True)
EVEN = Scenario(jnp.zeros(6, jnp.uint8), 3, 3, smacv2_position_generation=False, smacv2_unit_type_generation=True)
SMAX = played("HeuristicEnemySMAX", show=by_kind, scenario=map_name_to_scenario("3m"))
SMAX_MIXED = played("SMAX", show=by_kind, scenario=MIXED)
SMAX_EVEN = played("SMAX", show=by_kind, title="smax-even", scenario=EVEN)
HANABI = played("hanabi", Legal)
COIN_GAME = played("coin_game")
KITCHEN = played("overcooked", bonus="shaped_reward")
