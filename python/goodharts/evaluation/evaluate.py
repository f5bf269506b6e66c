"""One evaluation: somebody's lives, and the figures that they come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from goodharts.agents import agent_of, numbers_of
from goodharts.config import Config
from goodharts.evaluation import RANDOM
from goodharts.evaluation.figures import figures
from goodharts.evaluation.lives import CPU_BATCH, GPU_BATCH, play
from goodharts.models import Model
from goodharts.onnx_model import OnnxModel
from goodharts.rules import DEFAULT_MODE, MODES, VERSION, Numbers
from goodharts.world import evaluation_world
from rlparity.core.prices import prices_text
from rlworldkit.agents.agent import AgentPlayer, agent_of_logits, uniform
from rlworldkit.agents.choice import DEFAULT, DRAWN, LIKELIEST, Choice

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
    model: Model | OnnxModel | None,
    config: Config,
    device: torch.device,
    *,
    choice: Choice = DEFAULT,
    advanced: Callable[[int], None] = lambda steps: None,
) -> Evaluation:
    """Let a model live on, or chance where it is None, as [evaluation] of the configuration says (G6, G11).

    choice: how a model chooses its actions; it looks ahead on the JAX engine.
    advanced: called with the number of steps that were played, from any thread. Raises UsageError where the world that
    the model was trained in is impossible.
    """
    how, numbers = config.evaluation, numbers_of(model, config)
    mode = MODES[model.mode if model else DEFAULT_MODE]
    prices = Config().over(model.config, "The model").changed_prices(model.mode) if model else {}
    search = choice.search if model else None
    is_deterministic = model is not None and (choice.how == LIKELIEST or search is not None)
    world = evaluation_world(mode, numbers, device)
    batch, threads = (CPU_BATCH, None) if device.type == "cpu" else (GPU_BATCH, 1)
    if model is not None and search is not None:
        # nobody need wait for games that are not asked for: a search takes what is likely, not what rounding decides
        open_engine, player_on = world.engines["jax"], searcher_of(model, numbers, choice)
        batch, threads = min(how.games, CPU_BATCH), 1
    else:
        agent = agent_of(model, device) if model else agent_of_logits(RANDOM, uniform)
        player = AgentPlayer(agent, Choice(LIKELIEST if is_deterministic else DRAWN, choice.player_seed))
        open_engine, player_on = world.engines["torch"], lambda engine: player
    lives = play(
        open_engine, player_on, how.games, how.steps, seed=how.seed, batch=batch, threads=threads, advanced=advanced
    )
    return Evaluation(
        player=model.mode if model else RANDOM,
        rules=VERSION,
        model={"update": model.update, "timesteps": model.timesteps} if model else None,
        settings={
            **{name: getattr(how, name) for name in ("games", "steps", "seed")},
            "deterministic": is_deterministic,
            "device": device.type,
            **({"search": str(search)} if model and search else {}),
            **({"prices": prices_text(prices)} if prices else {}),
        },
        world=asdict(numbers),
        figures=figures(lives),
    )


def searcher_of(model: Model | OnnxModel, numbers: Numbers, choice: Choice) -> Callable[[BatchEngine], Player]:
    """The model with a search on top, on a JAX engine whose games are the ones that are played."""
    from goodharts.env import env_of
    from rlworldkit.agents.search import Search, judge_of, search_program
    from rlworldkit.jax.engine import JaxEngine
    from rlworldkit.threefry import seed_pairs

    config = Config().over(model.config, "The model")
    prices = np.array(config.price_values(model.mode), np.int32)
    env = env_of(MODES[model.mode], numbers, True).with_prices(prices)
    assert choice.search is not None
    search = Search(*choice.search, config.training.gamma)
    program = search_program(env, *judge_of(agent_of(model), env), search, choice.player_seed)

    def player_on(engine: BatchEngine) -> Player:
        assert isinstance(engine, JaxEngine)
        return lambda observations, masks, seeds, steps: np.asarray(
            program(engine.states, seed_pairs(seeds), steps, masks)
        )

    return player_on
