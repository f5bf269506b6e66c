"""Statistics of many episodes, with 95% intervals."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from rlparity import World
from rlparity.core.prices import changed_prices, prices_text
from rlparity.io.intervals import mean_intervals
from rlparity.io.strict_json import json_text
from rlparity.io.table import Table
from rlworldkit.score import Episode, Figures, Rows, score_of

_Z = 1.959964
"""Half-width, in standard deviations, of the interval that holds 95% of a normal distribution."""


def summary(world: World, episodes: Sequence[Episode]) -> Figures:
    """Return the figures of episodes as plain values, with the world's own figures.

    Means are ``{"mean", "low", "high"}`` with a bootstrap interval, shares the same with Wilson's (1927). An action has
    its uses in an episode, its openings, and the share of openings in which it was taken at once. ``prices`` are those
    that differ from the game's own, in reward.
    """
    score = score_of(world)
    reported = world.actions if score.actions is None else score.actions
    of_episodes = means({name: [episode.stats[name] for episode in episodes] for name in ("return", "steps")})
    uses = np.array([episode.uses for episode in episodes])
    taken = means({name: uses[:, world.actions.index(name)] for name in reported})
    general = {
        "episodes": len(episodes),
        "return": {**of_episodes["return"], "median": float(np.median([each.stats["return"] for each in episodes]))},
        "length": of_episodes["steps"],
        "endings": dict(Counter(episode.ending for episode in episodes).most_common()),
        "reward": means(
            {name: [each.stats["reward_breakdown"][name] for each in episodes] for name in world.components}
        ),
        "actions": {name: _use(episodes, world.actions.index(name), taken[name]) for name in reported},
    }
    return {**score.figures(general, episodes), "prices": changed_prices(world)}


def as_json(figures: Figures) -> str:
    """Format figures as JSON. A share of nothing is "NaN"; an interval from one episode is infinite (`strict_json`)."""
    return json_text(figures, indent=2) + "\n"


def as_tables(world: World, figures: Figures, title: str) -> list[Table]:
    """Make the tables for the terminal: an overview, the reward, and the uses of actions."""
    overview = Table(title=title, box=None, show_header=False, title_justify="left", title_style="bold")
    count = figures["episodes"]
    general: Rows = [
        ("episodes", f"{count:,}"),
        ("return", f"{interval(figures['return'])}, median {figures['return']['median']:.2f}"),
        ("length", interval(figures["length"], ".1f")),
        ("endings", shares(figures["endings"], count)),
    ]
    for row in (*score_of(world).rows(general, figures), ("prices", prices_text(figures["prices"]))):
        overview.add_row(*row)

    reward = Table("component", "per episode", box=None)
    for name, value in figures["reward"].items():
        if value["mean"] or value["low"] or value["high"]:
            reward.add_row(name, interval(value, ".3f"))

    caption = "opening: the action became possible; taken at once: in that very step. Brackets: 95% intervals."
    uses = Table("action", "uses per episode", "openings", "taken at once", box=None, caption=caption)
    uses.caption_justify = "left"
    for name, use in figures["actions"].items():
        if use["openings"]:
            uses.add_row(name, interval(use["uses"], ".3f"), f"{use['openings']:,}", percent(use["at_once"]))
    return [overview, reward, uses]


def _use(episodes: Sequence[Episode], action: int, taken: Figures) -> Figures:
    openings = sum(episode.openings[action] for episode in episodes)
    return {
        "uses": taken,
        "openings": openings,
        "at_once": share(sum(episode.at_once[action] for episode in episodes), openings),
    }


def means(columns: Mapping[str, ArrayLike]) -> dict[str, dict[str, float]]:
    """Return the mean of each column, all of one length, with its interval by ``rlparity.io.intervals``."""
    found = mean_intervals(np.stack([np.asarray(values, np.float64) for values in columns.values()], axis=1))
    ends = "mean", "low", "high"
    return {name: dict(zip(ends, each, strict=True)) for name, each in zip(columns, found, strict=True)}


def mean(values: ArrayLike) -> dict[str, float]:
    """Return the mean of values with its interval, as ``means`` does."""
    return means({"": values})[""]


def share(count: int, total: int) -> dict[str, float]:
    """Return a binomial share with Wilson's interval; NaN in [0, 1] for a total of 0."""
    if not total:
        return {"mean": math.nan, "low": 0.0, "high": 1.0}
    part = count / total
    centre = (part + _Z**2 / (2 * total)) / (1 + _Z**2 / total)
    margin = _Z * math.sqrt(part * (1 - part) / total + _Z**2 / (4 * total**2)) / (1 + _Z**2 / total)
    return {"mean": part, "low": max(0.0, centre - margin), "high": min(1.0, centre + margin)}


def interval(value: dict[str, float], style: str = ".2f") -> str:
    """Format a mean and its interval, such as ``1.50 [1.20, 1.80]``, or ``1.50 [–, –]`` without an interval."""
    low, high = (format(value[end], style) if math.isfinite(value[end]) else "–" for end in ("low", "high"))
    return f"{value['mean']:{style}} [{low}, {high}]"


def percent(value: dict[str, float]) -> str:
    """Format a share and its interval."""
    return interval(value, ".1%")


def shares(counts: dict[str, int], total: int) -> str:
    """Format counts as shares of a total, such as ``died 90.0%, won 10.0%``."""
    return ", ".join(f"{name} {count / total:.1%}" for name, count in counts.items()) or "–"
