"""Players to evaluate: trained parameters, a random one, and those of a world.

A choice depends on what is seen and on (player's seed, game's seed, step) alone, so that an episode is the same
whatever is played beside it, and on any engine.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity import ParityError, UsageError, World
from rlworldkit.evaluation.choice import drawn, likeliest
from rlworldkit.evaluation.onnx_policy import ONNX, read_onnx
from rlworldkit.evaluation.spec import Logits
from rlworldkit.jax.opening import jax_env_of
from rlworldkit.ppo.params import other_actions
from rlworldkit.score import Player, score_of

RANDOM = "random"


def player_of(world: World, name: str, *, deterministic: bool, seed: int) -> Player:
    """``random``, one of the world's players, or the parameters in a file or of an agent that comes with the world.

    Raises UsageError for anything else. ``deterministic`` takes the likeliest action, the first of several; otherwise
    actions are drawn with ``seed``.
    """
    num_actions, players = len(world.actions), score_of(world).players
    if name == RANDOM:
        return logits_player(uniform_logits(num_actions), player_seed=seed)
    if name in players:
        return players[name]
    path, names = world.agent_at(Path(name)), " or ".join((RANDOM, *players, *world.agents))
    if path.suffix != ONNX and world.jax is None:
        raise UsageError(f"there is no player {name!r}: evaluate {names}.")
    try:
        logits_of = _read_logits(path, world)
        found = np.shape(logits_of(np.zeros((1, *world.observation_shape), np.float32)))
        if found != (1, num_actions):
            raise other_actions(path, num_actions)
    except ParityError as error:
        raise UsageError(f"{error} Or evaluate {names}.") from error
    return logits_player(logits_of, deterministic=deterministic, player_seed=seed)


def _read_logits(path: Path, world: World) -> Logits:
    if path.suffix == ONNX:
        policy = read_onnx(path, world)
        return lambda seen: policy(seen)[0]
    from rlworldkit.ppo.networks import load_logits

    return load_logits(path, jax_env_of(world))


def agent_file(world: World, name: str) -> Path:
    """The file of a trained agent, which is named itself or by the name that the agent comes under with the world.

    Raises UsageError for a player that has no policy and no value to search with.
    """
    if name == RANDOM or name in score_of(world).players:
        raise UsageError(f"a search needs an agent's policy and value: give a params_*.npz file, not {name!r}.")
    return world.agent_at(Path(name))


def uniform_logits(num_actions: int) -> Logits:
    """Chance: all actions are equally likely, whatever is seen."""
    return lambda seen: np.zeros((len(seen), num_actions), np.float32)


def logits_player(logits_of: Logits, *, deterministic: bool = False, player_seed: int = 0) -> Player:
    """A player that takes actions by masked logits: the likeliest ones, or drawn ones."""

    def player(
        observations: NDArray[Any], masks: NDArray[np.bool_], seeds: NDArray[np.uint64], steps: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        logits = np.asarray(logits_of(observations), np.float32)
        return likeliest(logits, masks) if deterministic else drawn(logits, masks, seeds, steps, player_seed)

    return player
