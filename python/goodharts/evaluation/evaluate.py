"""One evaluation: somebody's lives, and the figures that they come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch

from goodharts.config import Config
from goodharts.evaluation import RANDOM
from goodharts.evaluation.figures import figures
from goodharts.evaluation.play import play
from goodharts.evaluation.players import random_player, trained_player
from goodharts.models import Model
from goodharts.rules import VERSION, Numbers


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation found, in plain values.

    player: a mode, or ``random``. rules: their version. model: ``update`` and ``timesteps`` of the model; None: chance.
    settings: how it was played. world: its numbers (G9). figures: as ``figures.figures`` gives them.
    """

    player: str
    rules: str
    model: Mapping[str, int] | None
    settings: Mapping[str, Any]
    world: Mapping[str, int]
    figures: Mapping[str, Any]


def evaluate(
    model: Model | None,
    config: Config,
    device: torch.device,
    *,
    deterministic: bool = False,
    advanced: Callable[[int], None] = lambda steps: None,
) -> Evaluation:
    """Let a model live on, or chance where it is None, as [evaluation] of the configuration says (G6, G11).

    deterministic: a model takes its likeliest actions. advanced: told of steps that were played, from any thread.
    Raises UsageError where the world that the model was trained in is impossible.
    """
    how, numbers = config.evaluation, world_of(model, config)
    player = trained_player(model, device, numbers) if model else random_player()
    is_deterministic = deterministic and model is not None
    lives = play(
        player,
        how.games,
        how.steps,
        seed=how.seed,
        deterministic=is_deterministic,
        numbers=numbers,
        device=device,
        advanced=advanced,
    )
    return Evaluation(
        player=model.mode if model else RANDOM,
        rules=VERSION,
        model={"update": model.update, "timesteps": model.timesteps} if model else None,
        settings={
            "games": how.games,
            "steps": how.steps,
            "seed": how.seed,
            "deterministic": is_deterministic,
            "device": device.type,
        },
        world=asdict(numbers),
        figures=figures(lives),
    )


def world_of(model: Model | None, config: Config) -> Numbers:
    """The world that a model was trained in, with the counts of an evaluation that the configuration says."""
    trained_in = {"world": model.config["world"]} if model and "world" in model.config else {}
    return config.over(trained_in, "The model").validated().numbers()
