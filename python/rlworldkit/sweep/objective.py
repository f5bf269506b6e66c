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

_LENGTH = {"total_timesteps", "num_envs", "num_steps"}
"""Settings that decide how many steps a trial takes."""


def check_objective(game: Game, sweep: Sweep) -> None:
    """Raises UsageError for an objective that no run has, and for a budget that is less than a trial takes."""
    options, config = sweep.options, sweep.kind(**sweep.settings_of({}))
    if options.is_played:
        figure_of(game, options, RANDOM, max_steps=1)
    elif game.train_env is not None:
        known = metric_names(replace(config, num_envs=8, num_steps=8, num_minibatches=1), game.train_env())
        if options.objective not in known:
            listed = ", ".join(known)
            raise UsageError(
                f"No run has the objective {unknown(options.objective, known)}: take {listed} or {EVALUATE}return."
            )
    steps = config.num_updates * config.batch_size * options.seeds
    if options.steps and steps > options.steps and not sweep.space.keys() & _LENGTH:
        raise UsageError(
            f"A trial takes {steps:,} steps, more than the {options.steps:,} of the sweep: give more --steps, or fewer "
            "total_timesteps."
        )


def figure_of(game: Game, options: SweepOptions, agent: str, max_steps: int = 5000) -> float:
    """The objective, a figure of ``evaluate --json``, of an agent at the game's own prices; its mean if it has one.

    Raises UsageError where there is no such number.
    """
    if game.evaluation is None:
        raise UsageError(f"{game.name} has no evaluate: take a metric of training as the objective.")
    spec = game.evaluation()
    player = player_of(spec, agent, deterministic=False, seed=0)
    episodes = play_episodes(spec, player, 0, options.episodes, engine="jax", num_envs=256, max_steps=max_steps)
    figures: dict[str, Any] = summary(spec, episodes)
    found: Any = figures
    for key in options.objective.removeprefix(EVALUATE).split("/"):
        found = found.get(key) if isinstance(found, dict) else None
    found = found.get("mean") if isinstance(found, dict) else found
    if not isinstance(found, (int, float)):
        known = ", ".join(EVALUATE + key for key, each in figures.items() if isinstance(each, dict) and "mean" in each)
        raise UsageError(f"No agent has the objective {unknown(options.objective, [])}: take one of {known}.")
    return float(found)
