"""What the infos of the Gymnasium environments say, for one game and for many."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hackmatrix.games.episodes import Episodes, Step
from hackmatrix.games.rows import FACTS, Flag
from hackmatrix.rules import COMPONENTS

Bools = NDArray[np.bool_]

_EVENTS = {
    Flag.INVALID_ACTION: "invalid_action",
    Flag.STAGE_COMPLETE: "stage_complete",
    Flag.DEATH: "death",
    Flag.VICTORY: "victory",
}


def view_of_one(episodes: Episodes, game: int) -> dict[str, Any]:
    """What an info always says: action_mask (int8 (28,)), seed (uint64), stage, score, hp, turn."""
    facts = dict(zip(FACTS, episodes.facts[game].tolist(), strict=False))
    return {"action_mask": episodes.mask[game].astype(np.int8), "seed": episodes.seeds[game], **facts}


def step_of_one(episodes: Episodes, step: Step, game: int) -> dict[str, Any]:
    """What the info of a step says besides: the breakdown, what happened, and at the end the statistics."""
    flags, components = int(step.flags[game]), (step.components[game] / 1000).tolist()
    info: dict[str, Any] = {name: True for flag, name in _EVENTS.items() if flags & flag}
    info["reward_breakdown"] = dict(zip(COMPONENTS, components, strict=True))
    if step.terminated[game] or step.truncated[game]:
        info["episode_stats"] = episodes.statistics.of(game)
    if step.failure is not None and step.lost[game]:
        info["engine_restarted"] = step.failure
    return info


def view_of_many(episodes: Episodes, where: Bools) -> dict[str, Any]:
    """``view_of_one`` of the games ``where`` (n,), with ``_key`` beside every key as in Gymnasium."""
    numbers = episodes.facts[:, : len(FACTS)].astype(np.int64).T
    facts = dict(zip(FACTS, numbers, strict=True))
    return _present({"action_mask": episodes.mask.astype(np.int8), "seed": episodes.seeds.copy(), **facts}, where)


def step_of_many(episodes: Episodes, step: Step, where: Bools) -> dict[str, Any]:
    """``step_of_one`` of the games ``where`` (n,), with ``_key`` beside every key as in Gymnasium."""
    if not where.any():
        return {}
    components = dict(zip(COMPONENTS, (step.components / 1000).T, strict=True))
    infos = _present({"reward_breakdown": components}, where)
    for flag, name in _EVENTS.items():
        happened = where & (step.flags & flag != 0)
        if happened.any():
            infos |= _present({name: happened}, happened)
    ended = where & (step.terminated | step.truncated)
    if ended.any():
        slots = np.flatnonzero(ended)
        summary = _spread(episodes.statistics.summary(slots), slots, episodes.num_games)
        infos |= _present({"episode_stats": summary}, ended)
    if step.failure is not None and (lost := where & step.lost).any():
        reasons = np.full(episodes.num_games, None, object)
        reasons[lost] = step.failure
        infos |= {"engine_restarted": reasons, "_engine_restarted": lost}
    return infos


def _spread(summary: dict[str, Any], slots: NDArray[np.intp], num_games: int) -> dict[str, Any]:
    """Arrays (k,) as arrays (n,) that are 0 outside slots (k,)."""

    def spread(values: Any) -> Any:  # noqa: ANN401 - a tree
        if isinstance(values, dict):
            return {name: spread(value) for name, value in values.items()}
        full = np.zeros(num_games, values.dtype)
        full[slots] = values
        return full

    return {name: spread(value) for name, value in summary.items()}


def _present(values: dict[str, Any], where: Bools) -> dict[str, Any]:
    """Values (n, …), 0 outside ``where``, and beside every key ``_key``: where."""
    everywhere = bool(where.all())
    infos: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            infos[name] = _present(value, where)
        elif everywhere:
            infos[name] = value
        else:
            infos[name] = np.where(where.reshape(-1, *(1,) * (value.ndim - 1)), value, np.zeros((), value.dtype))
        infos[f"_{name}"] = where.copy()
    return infos
