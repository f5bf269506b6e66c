"""One evaluation: somebody's lives, and the figures that they come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from goodharts.agents import Judge, Trained, numbers_of, training_of
from goodharts.config import Config
from goodharts.evaluation.figures import figures
from goodharts.evaluation.lives import CPU_BATCH, GPU_BATCH, play
from goodharts.rules import VERSION, Mode, Numbers
from goodharts.world import evaluation_world
from rlparity.core.prices import prices_text
from rlworldkit.agents.agent import Agent, AgentPlayer
from rlworldkit.agents.choice import DEFAULT, DRAWN, LIKELIEST, Choice
from rlworldkit.agents.reader import RANDOM

if TYPE_CHECKING:
    from rlparity import BatchEngine
    from rlworldkit.agents.agent import Player


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

    choice: how it chooses its actions, unless it plays by chance; it looks ahead on the JAX engine.
    advanced: called with the number of steps that were played, from any thread. Raises UsageError where the world that
    it was trained in is impossible.
    """
    is_chance, (trained, progress) = agent.path == Path(RANDOM), training_of(agent)
    how, numbers = config.evaluation, numbers_of(trained, config)
    prices = Config().over(trained, "The model").changed_prices(mode.name)
    search = None if is_chance else choice.search
    is_deterministic = not is_chance and (choice.how == LIKELIEST or search is not None)
    world = evaluation_world(mode, numbers, device)
    batch, threads = (CPU_BATCH, None) if device.type == "cpu" else (GPU_BATCH, 1)
    if search is not None:
        # nobody need wait for games that are not asked for: a search takes what is likely, not what rounding decides
        open_engine, player_on = world.engines["jax"], searcher_of(mode, agent, trained, numbers, choice)
        batch, threads = min(how.games, CPU_BATCH), 1
    else:
        if isinstance(agent.judge, Judge):
            agent.judge.to(device)
        player = AgentPlayer(agent, Choice(LIKELIEST if is_deterministic else DRAWN, choice.player_seed))
        open_engine, player_on = world.engines["torch"], lambda engine: player
    lives = play(
        open_engine, player_on, how.games, how.steps, seed=how.seed, batch=batch, threads=threads, advanced=advanced
    )
    return Evaluation(
        player=RANDOM if is_chance else mode.name,
        rules=VERSION,
        model=None if is_chance else progress,
        settings={
            **{name: getattr(how, name) for name in ("games", "steps", "seed")},
            "deterministic": is_deterministic,
            "device": device.type,
            **({"search": str(search)} if search else {}),
            **({"prices": prices_text(prices)} if prices else {}),
        },
        world=asdict(numbers),
        figures=figures(lives),
    )


def searcher_of(
    mode: Mode, agent: Agent, trained: Trained, numbers: Numbers, choice: Choice
) -> Callable[[BatchEngine], Player]:
    """An agent with a search on top, on a JAX engine whose games are the ones that are played."""
    from goodharts.env import env_of
    from rlworldkit.agents.search import Search, discount_of, judge_of, search_program
    from rlworldkit.jax.engine import JaxEngine
    from rlworldkit.threefry import seed_pairs

    config = Config().over(trained, "The model")
    env = env_of(mode, numbers, True).with_prices(np.array(config.price_values(mode.name), np.int32))
    assert choice.search is not None
    search = Search(*choice.search, discount_of(agent))
    program = search_program(env, *judge_of(agent, env), search, choice.player_seed)

    def player_on(engine: BatchEngine) -> Player:
        assert isinstance(engine, JaxEngine)
        return lambda observations, masks, seeds, steps: np.asarray(
            program(engine.states, seed_pairs(seeds), steps, masks)
        )

    return player_on
