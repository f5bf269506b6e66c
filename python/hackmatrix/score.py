"""Statistics of HackMatrix episodes for training and evaluation: ``SCORE``, its metrics and figures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hackmatrix import rules
from hackmatrix.cells import around, place_of
from hackmatrix.rules import ACTIONS, SIPHON, WON_STAGE
from rlparity import State
from rlworldkit.evaluation.report import interval, mean, percent, share, shares
from rlworldkit.runs.sinks import Milestone
from rlworldkit.score import Counts, Episode, Figures, Rows, Score, Summary

WON, DIED, INVALID = "won", "died", "invalid"
HIGHEST_STAGE = "stats/highest_stage"
MILESTONE = Milestone(
    HIGHEST_STAGE,
    name="highest stage",
    title=f"Highest stage in any game ({WON_STAGE}: game won)",
    unit="stage",
    least=1,
    most=WON_STAGE,
)


def action_share(kind: str) -> str:
    """Name of the metric for the share of actions of one kind."""
    return f"actions/{kind}_frac"


def statistics(counts: Counts) -> Summary:
    """``actions`` by kind, ``programs_used`` by name, and ``highest_stage`` (9 is a game won)."""
    moves, programs = counts.actions[:, : rules.SIPHON], counts.actions[:, rules.FIRST_PROGRAM :]
    kinds = (moves.sum(axis=1), counts.actions[:, rules.SIPHON], programs.sum(axis=1))
    return {
        "actions": dict(zip(rules.ACTION_KINDS, kinds, strict=True)),
        "programs_used": dict(zip(rules.PROGRAMS, programs.T, strict=True)),
        "highest_stage": counts.maxima[:, rules.FACTS.index("stage")],
    }


def metrics(summaries: Sequence[Summary]) -> dict[str, float]:
    """Metrics of the actions and stages of episodes.

    ``actions/*_frac``: share of moves, siphons and programs. ``programs/*``: uses of each program in an episode.
    ``stats/highest_stage``: the highest stage of all these episodes (9: won).
    """
    counts = {kind: sum(summary["actions"][kind] for summary in summaries) for kind in rules.ACTION_KINDS}
    used = {name: [summary["programs_used"][name] for summary in summaries] for name in rules.PROGRAMS}
    return {
        **{f"programs/{name}": float(np.mean(counts)) for name, counts in used.items()},
        **{action_share(kind): count / sum(counts.values()) for kind, count in counts.items()},
        HIGHEST_STAGE: max(summary["highest_stage"] for summary in summaries),
    }


def notes(ending: str, state: State) -> Mapping[str, Any]:
    """The enemies beside a player who died: their types, sorted, each once, and whether one came from a siphon.

    To know which attacked takes the state before the last step (``explain.transition``), which evaluations do not read.
    """
    near = around(place_of(state["player"]))
    beside = [enemy for enemy in state["enemies"] if place_of(enemy) in near] if ending == DIED else []
    return {
        "died_beside": tuple(sorted({enemy["type"] for enemy in beside})),
        "died_beside_siphon_enemy": any(enemy["spawnedFromSiphon"] for enemy in beside),
    }


def figures(general: Figures, episodes: Sequence[Episode]) -> Figures:
    """Extend the general figures with stages, wins and deaths."""
    died = [episode for episode in episodes if episode.ending == DIED]
    beside = Counter(" and ".join(episode.notes["died_beside"]) or "nobody" for episode in died)
    highest = [episode.stats["highest_stage"] for episode in episodes]
    stages = Counter(highest)
    return {
        **{name: general[name] for name in ("episodes", "return", "length")},
        "highest_stage": mean(highest),
        "win_rate": share(general["endings"].get(WON, 0), len(episodes)),
        "endings": general["endings"],
        "died_beside": dict(beside.most_common()),
        "died_beside_siphon_enemy": sum(episode.notes["died_beside_siphon_enemy"] for episode in episodes),
        "stages": {str(stage): stages[stage] for stage in sorted(stages)},
        **{name: general[name] for name in ("reward", "actions")},
    }


def rows(general: Rows, figures: Figures) -> Rows:
    """Rows of the overview: name and text."""
    *before, endings = general
    count = figures["episodes"]
    return [
        *before,
        ("highest stage", f"{interval(figures['highest_stage'])} ({WON_STAGE}: won)"),
        ("won", percent(figures["win_rate"])),
        endings,
        ("died beside", shares(figures["died_beside"], count)),
        ("died beside an enemy from a siphon", f"{figures['died_beside_siphon_enemy'] / count:.1%}"),
        ("stages", shares(figures["stages"], count)),
    ]


SCORE = Score(
    endings={"victory": WON, "death": DIED, "invalid_action": INVALID},
    statistics=statistics,
    metrics=metrics,
    milestone=MILESTONE,
    notes=notes,
    actions=ACTIONS[SIPHON:],
    figures=figures,
    rows=rows,
)
