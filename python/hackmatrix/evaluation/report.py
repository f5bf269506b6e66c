"""What many episodes say together, with 95% confidence intervals."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.table import Table

from hackmatrix.evaluation.play import Episode
from hackmatrix.rules import ACTIONS, COMPONENTS, SIPHON

Z = 1.96
"""Standard deviations that hold 95% of a normal distribution."""


def summary(episodes: Sequence[Episode]) -> dict[str, Any]:
    """All figures as plain values.

    Means are ``{"mean", "low", "high"}`` with a normal interval, shares the same with Wilson's (1927). Of each
    action with an opening: uses in an episode, and the share of its openings in which it was taken at once.
    """
    returns = [episode.stats["return"] for episode in episodes]
    endings = Counter(episode.ending for episode in episodes)
    died = [episode for episode in episodes if episode.ending == "died"]
    killers = Counter(" and ".join(episode.killers) or "nobody beside" for episode in died)
    stages = Counter(episode.stats["highest_stage"] for episode in episodes)
    return {
        "episodes": len(episodes),
        "return": {**_mean(returns), "median": float(np.median(returns))},
        "length": _mean([episode.stats["steps"] for episode in episodes]),
        "highest_stage": _mean([episode.stats["highest_stage"] for episode in episodes]),
        "win_rate": _share(endings["won"], len(episodes)),
        "endings": dict(endings.most_common()),
        "killed_by": dict(killers.most_common()),
        "died_beside_siphon_enemy": sum(episode.died_beside_siphon_enemy for episode in episodes),
        "stages": {str(stage): stages[stage] for stage in sorted(stages)},
        "reward": {
            name: _mean([episode.stats["reward_breakdown"][name] for episode in episodes]) for name in COMPONENTS
        },
        "actions": {name: _use(episodes, index) for index, name in enumerate(ACTIONS) if index >= SIPHON},
    }


def as_json(figures: dict[str, Any]) -> str:
    """The figures as JSON; null is what cannot be told (an interval from one episode, a share of nothing)."""
    return json.dumps(_told(figures), indent=2, allow_nan=False) + "\n"


def as_tables(figures: dict[str, Any], title: str) -> list[Table]:
    """The figures for the terminal: an overview, the reward, and the uses of siphon and programs."""
    overview = Table(title=title, box=None, show_header=False, title_justify="left", title_style="bold")
    count = figures["episodes"]
    overview.add_row("episodes", f"{count:,}")
    overview.add_row("return", f"{_interval(figures['return'])}, median {figures['return']['median']:.2f}")
    overview.add_row("length", _interval(figures["length"], 1))
    overview.add_row("highest stage", f"{_interval(figures['highest_stage'])} (9: won)")
    overview.add_row("won", _percent(figures["win_rate"]))
    overview.add_row("endings", _counts(figures["endings"], count))
    overview.add_row("killed by", _counts(figures["killed_by"], count))
    overview.add_row("died beside an enemy from a siphon", f"{figures['died_beside_siphon_enemy'] / count:.1%}")
    overview.add_row("stages", _counts(figures["stages"], count))

    reward = Table("component", "per episode", box=None)
    for name, value in figures["reward"].items():
        if value["low"] or value["high"]:
            reward.add_row(name, _interval(value, 3))

    uses = Table("action", "uses per episode", "openings", "taken at once", box=None)
    for name, use in figures["actions"].items():
        if use["openings"]:
            uses.add_row(name, _interval(use["uses"], 3), f"{use['openings']:,}", _percent(use["at_once"]))
    return [overview, reward, uses]


def _use(episodes: Sequence[Episode], action: int) -> dict[str, Any]:
    if action == SIPHON:
        uses = [episode.stats["actions"]["siphon"] for episode in episodes]
    else:
        uses = [episode.stats["programs_used"][ACTIONS[action]] for episode in episodes]
    openings = sum(episode.openings[action] for episode in episodes)
    return {
        "uses": _mean(uses),
        "openings": openings,
        "at_once": _share(sum(episode.at_once[action] for episode in episodes), openings),
    }


def _mean(values: Sequence[float]) -> dict[str, float]:
    mean = float(np.mean(values))
    margin = Z * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return {"mean": mean, "low": mean - margin, "high": mean + margin}


def _share(count: int, total: int) -> dict[str, float]:
    """Wilson's interval of a binomial share; of nothing, everything is possible."""
    if not total:
        return {"mean": math.nan, "low": 0.0, "high": 1.0}
    share = count / total
    centre = (share + Z**2 / (2 * total)) / (1 + Z**2 / total)
    margin = Z * math.sqrt(share * (1 - share) / total + Z**2 / (4 * total**2)) / (1 + Z**2 / total)
    return {"mean": share, "low": max(0.0, centre - margin), "high": min(1.0, centre + margin)}


def _told(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can say
    if isinstance(value, dict):
        return {name: _told(entry) for name, entry in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _interval(value: dict[str, float], digits: int = 2) -> str:
    return f"{value['mean']:.{digits}f} [{value['low']:.{digits}f}, {value['high']:.{digits}f}]"


def _percent(value: dict[str, float]) -> str:
    return f"{value['mean']:.1%} [{value['low']:.1%}, {value['high']:.1%}]"


def _counts(counts: dict[str, int], total: int) -> str:
    return ", ".join(f"{name} {count / total:.1%}" for name, count in counts.items()) or "–"
