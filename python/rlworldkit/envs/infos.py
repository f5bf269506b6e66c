"""Info dicts of the environments, for one game and for many."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.engine import Slots
from rlworldkit.envs.episodes import Episodes, EpisodeStep
from rlworldkit.envs.statistics import summary
from rlworldkit.score import Summary

Bools = NDArray[np.bool_]


def signed(seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Convert seeds to int64, because tensors hardly support uint64; ``seed % 2**64`` restores a seed."""
    return seeds.astype(np.int64)


def view_of_one(episodes: Episodes, game: int) -> dict[str, Any]:
    """Make the entries of every info: action_mask (int8 (actions,)), seed (``signed``), and the world's facts."""
    info = {"action_mask": episodes.mask[game].astype(np.int8), "seed": signed(episodes.seeds).item(game)}
    info.update(zip(episodes.world.facts, episodes.facts[game].tolist(), strict=False))
    return info


def step_of_one(episodes: Episodes, step: EpisodeStep, game: int) -> dict[str, Any]:
    """Make the other entries of a step's info: reward breakdown, events, and statistics at the end of an episode."""
    happened = int(step.events[game])
    info: dict[str, Any] = {}
    if happened:
        info = {name: True for bit, name in enumerate(episodes.world.events) if happened >> bit & 1}
    components = episodes.world.in_rewards(step.components[game]).tolist()
    info["reward_breakdown"] = dict(zip(episodes.world.components, components, strict=True))
    if step.terminated[game] or step.truncated[game]:
        info["episode_stats"] = summary_of_one(episodes, game)
    if step.failure is not None and step.lost[game]:
        info["engine_restarted"] = step.failure
    return info


def summary_of_one(episodes: Episodes, game: int) -> Summary:
    """Return the statistics of one episode, in plain numbers."""
    return _plain(summary(episodes.world, episodes.score, episodes.statistics.of(np.array([game]))))


def view_of_many(episodes: Episodes, where: Bools) -> dict[str, Any]:
    """Make ``view_of_one`` for games ``where`` (n,) as arrays, with a mask ``_key`` for each key as in Gymnasium."""
    facts = dict(zip(episodes.world.facts, episodes.facts.T.copy(), strict=False))
    values = {"action_mask": episodes.mask.astype(np.int8), "seed": signed(episodes.seeds), **facts}
    return _marked({name: _only(value, where) for name, value in values.items()}, where)


def step_of_many(episodes: Episodes, step: EpisodeStep, where: Bools) -> dict[str, Any]:
    """Make ``step_of_one`` for games ``where`` (n,) as arrays, with a mask ``_key`` for each key as in Gymnasium."""
    if not where.any():
        return {}
    rewards = _only(episodes.world.in_rewards(step.components), where)
    infos = _marked({"reward_breakdown": dict(zip(episodes.world.components, rewards.T, strict=True))}, where)
    events = np.where(where, step.events, 0)
    anywhere = int(np.bitwise_or.reduce(events))
    for bit, name in enumerate(episodes.world.events):
        if anywhere >> bit & 1:
            happened = events >> bit & 1 != 0
            infos |= _marked({name: happened}, happened)
    ended = where & (step.terminated | step.truncated)
    if ended.any():
        slots = np.flatnonzero(ended)
        found = summary(episodes.world, episodes.score, episodes.statistics.of(slots))
        infos |= _marked({"episode_stats": _spread(found, slots, episodes.num_games)}, ended)
    if step.failure is not None and (lost := where & step.lost).any():
        reasons = np.full(episodes.num_games, None, object)
        reasons[lost] = step.failure
        infos |= {"engine_restarted": reasons, "_engine_restarted": lost}
    return infos


def _plain(found: Summary) -> Summary:
    return {name: _plain(value) if isinstance(value, dict) else value[0].item() for name, value in found.items()}


def _spread(found: Summary, slots: Slots, num_games: int) -> Summary:
    """Scatter arrays (k,) to slots (k,) of arrays (n,), with 0 elsewhere."""
    spread: Summary = {}
    for name, value in found.items():
        if isinstance(value, dict):
            spread[name] = _spread(value, slots, num_games)
        else:
            spread[name] = np.zeros(num_games, value.dtype)
            spread[name][slots] = value
    return spread


def _only(values: NDArray[Any], where: Bools) -> NDArray[Any]:
    """Return values (n, …) with 0 outside ``where`` (n,)."""
    if where.all():
        return values
    return np.where(where.reshape(-1, *(1,) * (values.ndim - 1)), values, np.zeros((), values.dtype))


def _marked(values: dict[str, Any], where: Bools) -> dict[str, Any]:
    """Add a mask ``_key``, a copy of ``where``, for every key."""
    infos: dict[str, Any] = {}
    for name, value in values.items():
        infos[name] = _marked(value, where) if isinstance(value, dict) else value
        infos[f"_{name}"] = where.copy()
    return infos
