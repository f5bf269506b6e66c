"""A player that looks ahead before every step: a trained agent with a search on top of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import Array
from numpy.typing import NDArray

from rlparity import EngineError, UsageError, World
from rlparity.io.arguments import SHARE
from rlworldkit.evaluation.spec import Lookahead
from rlworldkit.jax.engine import JaxEngine
from rlworldkit.jax.env import Compact, JaxEnv, State
from rlworldkit.jax.switches import fixed_switches
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.networks import ActorCritic, load_network
from rlworldkit.ppo.params import Params
from rlworldkit.ppo.search import Search, best_actions
from rlworldkit.runs.folder import CONFIG
from rlworldkit.runs.saved_config import read_saved_config
from rlworldkit.score import Player
from rlworldkit.threefry import seed_pairs

Program = Callable[..., Array]

_ENGINE = "jax"
_NO_SEARCH = "leave --search out"


@fixed_switches()
def searcher_of(world: World, env: JaxEnv, path: Path, lookahead: Lookahead, *, seed: int) -> Player:
    """The agent whose parameters the trainer wrote as ``params_*.npz``, unless a search knows better.

    Without that it takes the likeliest action. A choice depends on the game so far and on (``seed``, game's seed, step)
    alone. Rewards are those at the prices of ``env``.

    The player follows its games on the JAX engine of ``world``, whose states must be those of ``env``, whichever engine
    they are played on: their seeds and its own actions say everything. So it must be asked before every step of theirs,
    in the same places from their start on; EngineError where the games it is asked about are others.

    Raises ParityError, with one sentence, where the file is no such file, its run's settings cannot be read, or the
    world has no such engine.
    """
    if _ENGINE not in world.engines:
        raise UsageError(f"{world.name} has no engine {_ENGINE}, which a search follows its games on: {_NO_SEARCH}.")
    program = search_program(env, *load_network(path, env), Search(*lookahead, discount_of(path)), seed)
    engine: JaxEngine | None = None

    @fixed_switches()
    def player(
        observations: NDArray[Any], masks: NDArray[np.bool_], seeds: NDArray[np.uint64], steps: NDArray[np.int64]
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
        engine.step(actions)
        return actions

    return player


def search_program(env: JaxEnv, network: ActorCritic, params: Params, search: Search, seed: int) -> Program:
    """The compiled search for the actions, int32 (n,), of n games, which are the first of ``states``, leaves (m, …).

    It is called with states, seeds, uint32 (n, 2), and steps (n,), which tell one search from another, and masks.
    """

    def judge(params: Params, compact: Compact) -> tuple[Array, Array]:
        judged: Any = network.apply(params, env.expand(compact), env.privileges(compact))
        return judged

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


def discount_of(path: Path) -> float:
    """The discount of the run that a file of parameters lies in; the trainer's own where no settings lie beside it."""
    gamma = read_saved_config(path.parent).get("gamma", TrainConfig.gamma)
    if fault := SHARE.fault(gamma):
        raise UsageError(f"gamma {fault}, got {gamma!r} in {path.parent / CONFIG}.")
    return float(gamma)
