"""What the game adds to the report: how far episodes came, and beside whom the player died."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hackmatrix.explain.transition import around, place_of
from hackmatrix.rules import WON_STAGE
from parity import State
from worldkit.evaluation.report import interval, mean, percent, share, shares
from worldkit.evaluation.spec import Episode, Figures, Rows

WON, DIED, INVALID = "won", "died", "invalid"


def notes(ending: str, state: State) -> Mapping[str, Any]:
    """The enemies beside a player who died: their types, sorted, each once, and whether a siphon brought one.

    Who of them attacked takes the state before the last step (``explain.ending``), which an evaluation does not read.
    """
    near = around(place_of(state["player"]))
    beside = [enemy for enemy in state["enemies"] if place_of(enemy) in near] if ending == DIED else []
    return {
        "died_beside": tuple(sorted({enemy["type"] for enemy in beside})),
        "died_beside_siphon_enemy": any(enemy["spawnedFromSiphon"] for enemy in beside),
    }


def figures(general: Figures, episodes: Sequence[Episode]) -> Figures:
    """The general figures, with stages, wins and deaths among them."""
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
    """The lines of the overview."""
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
