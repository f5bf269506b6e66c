"""Statistics of many episodes, with 95% confidence intervals."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from parity.prices import changed_prices, prices_text
from parity.strict_json import json_text
from parity.table import Table, Z, mean_interval
from rlworldkit.evaluation.spec import Episode, EvaluationSpec, Figures, Rows


def summary(spec: EvaluationSpec, episodes: Sequence[Episode]) -> Figures:
    """Return the figures as plain values, the world's among them.

    Means are ``{"mean", "low", "high"}`` with a normal interval, shares the same with Wilson's (1927). Of each
    action with an opening: uses in an episode, and the share of its openings in which it was taken at once. ``prices``
    are those that are not the game's own, in reward.
    """
    world = spec.env.world
    reported = world.actions if spec.actions is None else spec.actions
    returns = [episode.stats["return"] for episode in episodes]
    general = {
        "episodes": len(episodes),
        "return": {**mean(returns), "median": float(np.median(returns))},
        "length": mean([episode.stats["steps"] for episode in episodes]),
        "endings": dict(Counter(episode.ending for episode in episodes).most_common()),
        "reward": {
            name: mean([episode.stats["reward_breakdown"][name] for episode in episodes]) for name in world.components
        },
        "actions": {name: _use(episodes, world.actions.index(name)) for name in reported},
    }
    return {**spec.figures(general, episodes), "prices": changed_prices(world)}


def as_json(figures: Figures) -> str:
    """The figures as JSON. A share of nothing is "NaN", and an interval from one episode infinite (`strict_json`)."""
    return json_text(figures, indent=2) + "\n"


def as_tables(spec: EvaluationSpec, figures: Figures, title: str) -> list[Table]:
    """The figures for the terminal: an overview, the reward, and the uses of actions."""
    overview = Table(title=title, box=None, show_header=False, title_justify="left", title_style="bold")
    count = figures["episodes"]
    general: Rows = [
        ("episodes", f"{count:,}"),
        ("return", f"{interval(figures['return'])}, median {figures['return']['median']:.2f}"),
        ("length", interval(figures["length"], ".1f")),
        ("endings", shares(figures["endings"], count)),
    ]
    for row in (*spec.rows(general, figures), ("prices", prices_text(figures["prices"]))):
        overview.add_row(*row)

    reward = Table("component", "per episode", box=None)
    for name, value in figures["reward"].items():
        if value["low"] or value["high"]:
            reward.add_row(name, interval(value, ".3f"))

    uses = Table("action", "uses per episode", "openings", "taken at once", box=None)
    for name, use in figures["actions"].items():
        if use["openings"]:
            uses.add_row(name, interval(use["uses"], ".3f"), f"{use['openings']:,}", percent(use["at_once"]))
    return [overview, reward, uses]


def _use(episodes: Sequence[Episode], action: int) -> Figures:
    openings = sum(episode.openings[action] for episode in episodes)
    return {
        "uses": mean([episode.uses[action] for episode in episodes]),
        "openings": openings,
        "at_once": share(sum(episode.at_once[action] for episode in episodes), openings),
    }


def mean(values: Sequence[float]) -> dict[str, float]:
    """The mean of values and its normal interval; infinite for a single value."""
    return dict(zip(("mean", "low", "high"), mean_interval(np.asarray(values)), strict=True))


def share(count: int, total: int) -> dict[str, float]:
    """Wilson's interval of a binomial share; of nothing, everything is possible."""
    if not total:
        return {"mean": math.nan, "low": 0.0, "high": 1.0}
    part = count / total
    centre = (part + Z**2 / (2 * total)) / (1 + Z**2 / total)
    margin = Z * math.sqrt(part * (1 - part) / total + Z**2 / (4 * total**2)) / (1 + Z**2 / total)
    return {"mean": part, "low": max(0.0, centre - margin), "high": min(1.0, centre + margin)}


def interval(value: dict[str, float], style: str = ".2f") -> str:
    """A mean and its interval, such as ``1.50 [1.20, 1.80]``; of a single value, ``1.50 [–, –]``."""
    low, high = (format(value[end], style) if math.isfinite(value[end]) else "–" for end in ("low", "high"))
    return f"{value['mean']:{style}} [{low}, {high}]"


def percent(value: dict[str, float]) -> str:
    """A share and its interval."""
    return interval(value, ".1%")


def shares(counts: dict[str, int], total: int) -> str:
    """Counts as shares of a total, such as ``died 90.0%, won 10.0%``."""
    return ", ".join(f"{name} {count / total:.1%}" for name, count in counts.items()) or "–"
