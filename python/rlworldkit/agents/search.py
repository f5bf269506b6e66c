"""Rollout search on top of an agent: it tries actions from the present state with other random numbers.

A rollout plays the action and then some steps of the policy. Its return is the discounted reward, plus the network's
value where the game goes on. A rollout gets a seed of its own before its first step (``JaxEnv.reseed``), so that the
search does not see the draws that its own game is going to make. All actions of a game are tried with the same seeds:
luck that they share cancels out when they are compared.

The policy's likeliest action stays unless another one is better by more than chance, since the best return is partly
luck. Only actions that the policy itself finds likely are tried: others would take most of the time and win little.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from rlparity import EngineError, UsageError, World
from rlparity.io.arguments import SHARE
from rlparity.threefry import seed_pairs
from rlworldkit.agents.agent import Agent, Choice, Masks, Player
from rlworldkit.jax.batching import where_wanted
from rlworldkit.jax.engine import JaxEngine
from rlworldkit.jax.env import Compact, JaxEnv, State
from rlworldkit.jax.switches import fixed_switches
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.networks import network_of
from rlworldkit.ppo.params import Params
from rlworldkit.runs.folder import CONFIG

PolicyAndValue = Callable[[Compact], tuple[Array, Array]]
"""Function of compact observations with one leading axis that returns logits and values."""

LANES = 256
"""Rollouts that are played side by side; constant, so that a return does not depend on the number of rollouts."""
SURE = 1.0
"""Standard errors by which an action must be better than the policy's likeliest to be taken instead."""
LIKELY = 0.05
"""The least probability that the policy must give an action for it to be tried."""
_ENGINE = "jax"
_NO_SEARCH = "leave --search out"


class Search(NamedTuple):
    """Size of a search. rollouts: per action. steps: of the policy per rollout. discount: of rewards per step."""

    rollouts: int
    steps: int
    discount: float


@fixed_switches()
def searcher_of(world: World, env: JaxEnv, agent: Agent, choice: Choice, *, following: bool = False) -> Player:
    """Make a player that takes an agent's likeliest action, unless the search of ``choice`` finds a better one.

    Its choice depends on the game so far and on (player's seed, game's seed, step) alone. Rewards are those at the
    prices of ``env``.

    The player replays its games, from their seeds and its own actions, on the JAX engine of ``world``, whose states
    must be those of ``env``; the games themselves may run on any engine. So it must be called before each of their
    steps, with the same game at the same index from the start; it raises EngineError if the masks differ.

    following: a game that ends is followed by the next one, by the world's rule, and ``steps`` is not reset.

    Raises ParityError, with one sentence, if the settings of the agent's run cannot be read, or the world has no
    such engine.
    """
    if _ENGINE not in world.engines:
        raise UsageError(f"{world.name} has no engine {_ENGINE}, which a search follows its games on: {_NO_SEARCH}.")
    assert choice.search is not None
    search = Search(*choice.search, discount_of(agent))
    program = search_program(env, *judge_of(agent, env), search, choice.player_seed)
    engine: JaxEngine | None = None

    @fixed_switches()
    def player(
        observations: NDArray[Any], masks: Masks, seeds: NDArray[np.uint64], steps: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        nonlocal engine
        if engine is None or engine.games != len(steps):
            opened = world.engines[_ENGINE](len(steps))
            if not isinstance(opened, JaxEngine):
                raise UsageError(f"the engine {_ENGINE} of {world.name} does not play a JaxEnv: {_NO_SEARCH}.")
            engine = opened
        begun = np.flatnonzero(steps == 0)
        if len(begun):
            engine.reset(seeds[begun], begun)
        if not np.array_equal(engine.mask(), masks):
            raise EngineError("these are not the games that the search follows on the JAX engine.")
        actions = np.asarray(program(engine.states, seed_pairs(seeds), steps, masks))
        (engine.step_restarting if following else engine.step)(actions)
        return actions

    return player


def judge_of(agent: Agent, env: JaxEnv) -> tuple[Params, Callable[[Params, Compact], tuple[Array, Array]]]:
    """Return parameters and a JAX function of them: the agent's network, or a callback to an agent without one."""
    if agent.network is not None:
        params = agent.network().params
        network = network_of(params, env.networks(), len(env.observation_shape))

        def judge(params: Params, compact: Compact) -> tuple[Array, Array]:
            judged: Any = network.apply(params, env.expand(compact), env.privileges(compact))
            return judged

        return params, judge

    def asked(seen: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        logits, values = agent(np.asarray(seen), np.ones((len(seen), env.num_actions), np.bool_))
        if np.isnan(values).any():
            raise UsageError(f"{agent.path} estimates no values, which a search needs: {_NO_SEARCH}.")
        return np.asarray(logits, np.float32), np.asarray(values, np.float32)

    def judge_outside(params: Params, compact: Compact) -> tuple[Array, Array]:
        seen = env.expand(compact)
        shapes = (jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((len(seen), env.num_actions), (len(seen),)))
        judged: Any = jax.pure_callback(asked, tuple(shapes), seen)
        return judged

    asked(np.zeros((1, *env.observation_shape), np.float32))
    return (), judge_outside


def search_program(
    env: JaxEnv, params: Params, judge: Callable[[Params, Compact], tuple[Array, Array]], search: Search, seed: int
) -> Callable[..., Array]:
    """Make the jitted search for the actions, int32 (n,), of the first n games of ``states``, leaves (m, …).

    It takes states, seeds, uint32 (n, 2), and steps (n,), from which its random keys are derived, and masks.
    """

    @jax.jit
    def choice(
        params: Params, key: Array, prices: Array, games: State, seeds: Array, steps: Array, masks: Array
    ) -> Array:
        def key_of(seed: Array, step: Array) -> Array:
            one: Array = key
            for number in (*seed, step):
                one = jax.random.fold_in(one, number)
            return one

        games = jax.tree.map(lambda leaf: leaf[: len(masks)], games)
        keys = jax.vmap(key_of)(seeds, steps)
        return best_actions(env.with_prices(prices), partial(judge, params), search, games, masks, keys)

    return partial(choice, params, jax.random.key(seed), np.asarray(env.prices, np.int32))


def discount_of(agent: Agent) -> float:
    """Return the discount of an agent's training; the trainer's default if its settings are unknown."""
    gamma = agent.settings().get("gamma", TrainConfig.gamma)
    if fault := SHARE.fault(gamma):
        raise UsageError(f"gamma {fault}, got {gamma!r} in {agent.path.parent / CONFIG}.")
    return float(gamma)


def best_actions(env: JaxEnv, judge: PolicyAndValue, search: Search, states: State, masks: Array, keys: Array) -> Array:
    """Return the actions to take in n games, int32 (n,); the arguments are those of ``returns_of``.

    A game in which the policy finds only one action likely is not searched.
    """
    logits, _ = judge(jax.vmap(env.compact)(states))
    chances = jax.nn.softmax(jnp.where(masks, logits, -jnp.inf), axis=-1)
    tried = masks & (chances >= LIKELY)
    tried &= tried.sum(axis=-1, keepdims=True) > 1
    return surely_best(returns_of(env, judge, search, states, tried, keys), chances.argmax(axis=-1))


def returns_of(env: JaxEnv, judge: PolicyAndValue, search: Search, states: State, masks: Array, keys: Array) -> Array:
    """Play rollouts in n games; their returns are float32 (n, actions, rollouts), -inf for actions that are not tried.

    Rollouts of one number use the same random numbers, whatever their action. They are played ``LANES`` at a time, so
    that games with few actions to try, or that are over, cost little. Memory grows with the number of rollouts, time
    with that of tried actions. states: leaves (n, …). masks: the actions to try, all of them valid, bool (n, actions).
    keys: JAX keys (n,), the only source of randomness of each game's search.
    """
    shape = (*masks.shape, search.rollouts)

    def rollouts(lane: Array) -> Array:
        game, action, number = jnp.unravel_index(lane, shape)
        state = jax.tree.map(lambda leaf: leaf[game], states)
        # the action is not folded in: all actions are tried with the same random numbers
        key = jax.vmap(jax.random.fold_in)(keys[game], number)
        return _rollout_returns(env, judge, search, state, action.astype(jnp.int32), key)

    is_tried = jnp.broadcast_to(masks[..., None], shape).ravel()
    count = max(is_tried.size, LANES)
    is_tried = jnp.pad(is_tried, (0, count - is_tried.size))
    returns = where_wanted(is_tried, rollouts, jnp.arange(count), jnp.full(count, -jnp.inf), LANES)
    return returns[: masks.size * search.rollouts].reshape(shape)


def surely_best(returns: Array, usual: Array) -> Array:
    """Return the actions, int32 (n,), that beat the ``usual`` ones, int32 (n,), by more than chance; else ``usual``.

    ``returns``, (n, actions, rollouts) of two rollouts at least, are compared rollout by rollout. Of several better
    actions, the one with the highest lower bound on its advantage is taken.
    """
    ahead = returns - jnp.take_along_axis(returns, usual[:, None, None], axis=1)
    ahead = jnp.where(returns > -jnp.inf, ahead, 0.0)
    error = ahead.std(axis=-1, ddof=1) / returns.shape[-1] ** 0.5
    least = ahead.mean(axis=-1) - SURE * error
    return jnp.where(least.max(axis=-1) > 0, least.argmax(axis=-1), usual).astype(jnp.int32)


def _rollout_returns(
    env: JaxEnv, judge: PolicyAndValue, search: Search, state: State, action: Array, key: Array
) -> Array:
    """Play one rollout in each of n games, ``action``, int32 (n,), then the policy's; gives the discounted returns."""
    chance, policy = jax.vmap(jax.random.split, out_axes=1)(key)
    seeds = jax.vmap(lambda one: jax.random.bits(one, (2,), jnp.uint32))(chance)
    state = jax.vmap(env.reseed)(state, seeds)
    going, total = jnp.ones(action.shape, bool), jnp.zeros(action.shape)

    def step(carry: tuple[State, Array, Array, Array], time: Array) -> tuple[tuple[State, Array, Array, Array], None]:
        state, action, going, total = carry
        step = jax.vmap(env.step)(state, action)
        logits, value = judge(jax.vmap(env.compact)(step.final))
        is_cut_off = ~step.terminated & (step.truncated | (time == search.steps))
        worth = step.reward + jnp.where(is_cut_off, search.discount * value, 0.0)
        total += jnp.where(going, search.discount**time * worth, 0.0)
        going &= ~(step.terminated | step.truncated)
        masked = jnp.where(jax.vmap(env.mask)(step.final), logits, -jnp.inf)
        action = jax.vmap(lambda one, valid: jax.random.categorical(jax.random.fold_in(one, time), valid))(
            policy, masked
        )
        return (step.final, action.astype(jnp.int32), going, total), None

    (_, _, _, total), _ = jax.lax.scan(step, (state, action, going, total), jnp.arange(search.steps + 1))
    return total
