"""One evaluation: somebody's lives, and the figures that they come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from goodharts.agents import Judge, numbers_of, training_of
from goodharts.config import Config
from goodharts.evaluation.figures import figures
from goodharts.evaluation.lives import CPU_BATCH, GPU_BATCH, play
from goodharts.rules import VERSION, Mode
from goodharts.world import evaluation_world
from rlparity.core.prices import prices_text
from rlworldkit.agents.agent import Agent, AgentPlayer
from rlworldkit.agents.choice import DEFAULT, DRAWN, LIKELIEST, Choice
from rlworldkit.agents.reader import RANDOM


@dataclass(frozen=True)
class Evaluation:
    """Result of an evaluation, in plain values.

    player: a mode, or ``random``. rules: their version. model: ``update`` and ``timesteps`` of the model; None: chance.
    settings: how it was played, and those prices of the model's training that were not the game's own, as a text.
    world: its numbers (G9). figures: as ``figures.figures`` gives them.
    """

    player: str
    rules: str
    model: Mapping[str, int] | None
    settings: Mapping[str, Any]
    world: Mapping[str, int]
    figures: Mapping[str, Any]


def evaluate(
    mode: Mode,
    agent: Agent,
    config: Config,
    device: torch.device,
    *,
    choice: Choice = DEFAULT,
    advanced: Callable[[int], None] = lambda steps: None,
) -> Evaluation:
    """Let an agent live on in a mode, as [evaluation] of the configuration says (G6, G11).

    choice: how it chooses its actions, unless it plays by chance.
    advanced: called with the number of steps that were played, from any thread. Raises UsageError where the world that
    it was trained in is impossible.
    """
    is_chance, (trained, progress) = agent.path == Path(RANDOM), training_of(agent)
    how, numbers, training = config.evaluation, numbers_of(trained, config), Config().over(trained, "The model")
    choice = Choice(DRAWN, choice.player_seed) if is_chance else choice
    is_deterministic, prices = choice.how == LIKELIEST or choice.search is not None, training.changed_prices(mode.name)
    world, searcher = evaluation_world(mode, numbers, device), None
    batch, threads = (CPU_BATCH, None) if device.type == "cpu" else (GPU_BATCH, 1)
    if isinstance(agent.judge, Judge):
        agent.judge.to(device)
    if choice.search is not None:
        from goodharts.env import env_of
        from rlworldkit.agents.search import searcher_of

        env = env_of(mode, numbers, True).with_prices(np.array(training.price_values(mode.name), np.int32))
        searcher = searcher_of(world, env, agent, choice, following=True)
        # nobody need wait for games that are not asked for: a search takes what is likely, not what rounding decides
        batch, threads = min(how.games, CPU_BATCH), 1
    player = AgentPlayer(agent, choice, searcher)
    lives = play(
        world.engines["torch"],
        player,
        how.games,
        how.steps,
        seed=how.seed,
        batch=batch,
        threads=threads,
        advanced=advanced,
    )
    return Evaluation(
        player=RANDOM if is_chance else mode.name,
        rules=VERSION,
        model=None if is_chance else progress,
        settings={
            **{name: getattr(how, name) for name in ("games", "steps", "seed")},
            "deterministic": is_deterministic,
            "device": device.type,
            **({"search": str(choice.search)} if choice.search else {}),
            **({"prices": prices_text(prices)} if prices else {}),
        },
        world=asdict(numbers),
        figures=figures(lives),
    )
