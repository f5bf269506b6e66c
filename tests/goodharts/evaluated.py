"""Small untrained models, and lives and evaluations made by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from goodharts.architecture import NetworkConfig, NetworkKind
from goodharts.config import Config
from goodharts.evaluation.lives import evaluate
from goodharts.evaluation.report import LIFE, EvaluationResult, Lives, figures
from goodharts.models import Model, write_model
from goodharts.rules import DEFAULT_MODE, MODES
from goodharts.torch_networks import ActorCritic
from rlworldkit.agents.agent import DEFAULT, Choice, agent_of_logits, uniform
from rlworldkit.agents.reader import RANDOM

SMALL = Config().over({"evaluation": {"games": 12, "steps": 40}}, "a test")


def small_model(
    mode: str = "proxy", seed: int = 0, kind: NetworkKind = "mlp", privileged: bool = True, **config: dict[str, Any]
) -> Model:
    """An untrained model with firm opinions."""
    torch.manual_seed(seed)
    policy = ActorCritic(NetworkConfig(kind, hidden=32, privileged=privileged))
    nn.init.orthogonal_(policy.policy.weight, 20.0)
    return Model(mode, config, update=7, timesteps=4000, policy=policy.eval())


def write_models(folder: Path, *modes: str) -> None:
    folder.mkdir(exist_ok=True)
    for seed, mode in enumerate(modes):
        write_model(folder / f"ppo_{mode}.pth", small_model(mode, seed))


def lives_of(*rows: tuple[int, int, int, int, bool]) -> Lives:
    """Lives from their game, steps, food, poison, and whether they ended in death."""
    return np.array(
        [
            (game, steps, food, poison, 1000 * food - 2000 * poison - 10 * steps, died)
            for game, steps, food, poison, died in rows
        ],
        LIFE,
    )


def evaluated(model: Model | None, choice: Choice = DEFAULT, config: Config = SMALL) -> EvaluationResult:
    agent = model.agent() if model else agent_of_logits(RANDOM, uniform)
    mode = MODES[model.mode if model else DEFAULT_MODE]
    return evaluate(mode, agent, config, torch.device("cpu"), choice=choice)


def evaluation_by_hand(player: str = "proxy") -> EvaluationResult:
    """Two games of 40 steps with two lives each."""
    lives = lives_of((0, 10, 3, 1, True), (0, 30, 0, 0, True), (1, 20, 0, 2, True), (1, 20, 1, 0, False))
    settings = {"games": 2, "steps": 40, "seed": 0, "deterministic": True, "device": "cpu"}
    return EvaluationResult(player, "1", {"update": 1, "timesteps": 2}, settings, {}, figures(lives))
