"""What a sweep looks for: a metric of training, or a figure of the trained agents."""

from dataclasses import replace
from typing import Any

from parity.errors import UsageError, unknown
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.evaluation.players import RANDOM, player_of
from rlworldkit.evaluation.report import summary
from rlworldkit.game import Game
from rlworldkit.ppo.loop import metric_names
from rlworldkit.sweep.options import EVALUATE, SweepOptions
from rlworldkit.sweep.space import Sweep

_MAX_STEPS, _GAMES = 5000, 256
"""As ``evaluate`` has them."""


def check_objective(game: Game, sweep: Sweep) -> None:
    """Raises UsageError for an objective that no run has."""
    objective = sweep.options.objective
    if objective.startswith(EVALUATE):
        figure_of(game, sweep.options, RANDOM, max_steps=1)
        return
    assert game.train_env is not None
    config = replace(sweep.kind(**sweep.settings), num_envs=8, num_steps=8, num_minibatches=1)
    if objective not in (known := metric_names(config, game.train_env())):
        raise UsageError(
            f"No run has the objective {unknown(objective, known)}: take {', '.join(known)} or {EVALUATE}return."
        )


def figure_of(game: Game, options: SweepOptions, agent: str, max_steps: int = _MAX_STEPS) -> float:
    """The objective, a figure of ``evaluate --json``, of an agent at the game's own prices; its mean if it has one.

    Raises UsageError where there is no such number.
    """
    if game.evaluation is None:
        raise UsageError(f"{game.name} has no evaluate: take a metric of training as the objective.")
    spec = game.evaluation()
    player = player_of(spec, agent, deterministic=False, seed=0)
    episodes = play_episodes(spec, player, 0, options.episodes, engine="jax", num_envs=_GAMES, max_steps=max_steps)
    figures: dict[str, Any] = summary(spec, episodes)
    found: Any = figures
    for key in options.objective.removeprefix(EVALUATE).split("/"):
        found = found.get(key) if isinstance(found, dict) else None
    found = found.get("mean") if isinstance(found, dict) else found
    if not isinstance(found, (int, float)):
        known = ", ".join(EVALUATE + key for key, each in figures.items() if isinstance(each, dict) and "mean" in each)
        raise UsageError(f"No agent has the objective {unknown(options.objective, [])}: take one of {known}.")
    return float(found)
