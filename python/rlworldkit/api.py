"""Make, train and evaluate a world by its name: what ``import rlworldkit`` offers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from rlparity import World
from rlparity.core.prices import changed_prices
from rlparity.engines.registry import load_world
from rlparity.errors import UsageError
from rlparity.io.console import open_console
from rlworldkit.agents.agent import DRAWN, LIKELIEST, Choice
from rlworldkit.extras import install_package
from rlworldkit.jax.engine_backend import jax_env_of
from rlworldkit.jax.xla import enable_compilation_cache, prefer_wide_vectors
from rlworldkit.ppo.config import CPU, TrainConfig, auto_scale_for_batch_size, get_device_config, preset_of
from rlworldkit.program import train_config_of
from rlworldkit.runs.folder import PRICES, run_folder
from rlworldkit.score import score_of
from rlworldkit.settings import validate_values

if TYPE_CHECKING:
    from rlworldkit.envs.gym_env import WorldEnv
    from rlworldkit.envs.vector_env import WorldVectorEnv
    from rlworldkit.runs.run import TrainResult
    from rlworldkit.score import Figures


@overload
def make(world: str | World, *, num_envs: int, **options: Any) -> WorldVectorEnv: ...


@overload
def make(world: str | World, *, num_envs: None = None, **options: Any) -> WorldEnv: ...


def make(world: str | World, *, num_envs: int | None = None, **options: Any) -> WorldEnv | WorldVectorEnv:
    """Make an environment of a world for Gymnasium: one game, or many in one engine.

    Args:
        world: the name that a package registers, ``module:attribute`` of a `rlparity.World`, or the value itself.
        num_envs: the number of games of a vector environment; None: an environment of one game.
        options: arguments of `WorldEnv` (``engine``, ``render_mode``, ``max_episode_steps``, ``prices``, …), or of
            `WorldVectorEnv`.

    Raises:
        UsageError: the world is unknown, an option is invalid, or a package is missing.
        EngineError: the engine cannot start.
    """
    world = load_world(world)
    try:
        from rlworldkit.envs.gym_env import WorldEnv
        from rlworldkit.envs.vector_env import WorldVectorEnv
    except ModuleNotFoundError as error:
        raise UsageError(f"make needs {error.name}: run `{install_package(error.name)}`.") from error
    return WorldEnv(world, **options) if num_envs is None else WorldVectorEnv(world, num_envs, **options)


def train(
    world: str | World,
    *,
    preset: str | None = None,
    prices: Mapping[str, object] = {},
    folder: str | Path | None = None,
    quiet: bool = False,
    **settings: Any,
) -> TrainResult:
    """Train an agent on the world's JAX engine with masked PPO, as the command ``train`` does.

    Args:
        world: as in `make`.
        preset: the name of a preset of the world; ``settings`` override its values.
        prices: prices of the reward that override the world's own, by name.
        folder: the folder of the new run, for checkpoints, metrics and a learning curve; None: nothing is written.
        quiet: show no progress.
        settings: fields of the world's `rlworldkit.ppo.config.TrainConfig`, such as ``seed`` and ``total_timesteps``.

    Returns:
        The run: pass it to `evaluate` as the agent; ``files`` lists the last checkpoint and the agent's file.

    Raises:
        UsageError: the world is unknown, or a setting, a price or the folder is invalid.
        ParityError: training failed.
    """
    world = load_world(world).with_prices(prices)
    kind = train_config_of(world)
    settings = validate_values(kind, settings, "train")

    def config_on(platform: str) -> TrainConfig:
        values = {**preset_of(kind, preset, platform), **settings}
        return auto_scale_for_batch_size(kind(**values), explicit=values).validated()

    config_on(CPU)  # before anything imports JAX, so that a mistake is reported at once
    _prepare_jax(world)
    config = config_on(get_device_config().platform)
    notes = {PRICES: changed_prices(world)}
    env, milestone = jax_env_of(world), score_of(world).milestone
    from rlworldkit.ppo.training import train as train_run
    from rlworldkit.runs.run import Run

    path = None if folder is None else Path(folder).absolute()
    if path is not None:
        run_folder(path.parent, "folder", world.name, config.seed, path.name)
    run = Run(path, title=f"{world.title}, masked PPO", console=open_console(quiet=quiet), milestone=milestone)
    return train_run(config, env, run, notes=notes)


def evaluate(
    world: str | World,
    agent: str | Path | TrainResult,
    *,
    games: int = 1000,
    seed: int = 0,
    engine: str = "jax",
    choose: str = DRAWN,
    player_seed: int = 0,
    max_steps: int = 5000,
    num_envs: int = 256,
    prices: Mapping[str, object] = {},
) -> Figures:
    """Let an agent play whole episodes, and return the figures that the command ``evaluate --json`` writes.

    Args:
        world: as in `make`.
        agent: the result of `train`, the file of an agent, the folder of a run, the name of an agent or a player
            that comes with the world, or ``random``.
        games: the number of episodes.
        seed: the seed of the first episode; the next episodes have the seeds that follow.
        engine: one of the world's engines.
        choose: ``drawn`` samples actions with ``player_seed``; ``likeliest`` takes the most probable ones.
        player_seed: the seed for drawing actions.
        max_steps: the number of steps after which episodes are truncated.
        num_envs: the number of games that run in parallel; it does not change the figures.
        prices: prices of the reward that override the world's own, by name.

    Returns:
        Plain values by name. Means and shares are ``{"mean", "low", "high"}`` with a 95% interval.

    Raises:
        UsageError: the world, the agent or the engine is unknown, or a price is invalid.
        EngineError: the engine cannot start, or fails.
    """
    world = load_world(world).with_prices(prices)
    if games < 1 or num_envs < 1:
        raise UsageError(f"games and num_envs must be at least 1, got {games} and {num_envs}.")
    if choose not in (DRAWN, LIKELIEST):
        raise UsageError(f"choose must be {DRAWN} or {LIKELIEST}, got {choose!r}.")
    _prepare_jax(world)
    from rlworldkit.agents.agent import AgentPlayer
    from rlworldkit.agents.reader import agent_of_params, read_agent
    from rlworldkit.evaluation.play import play_episodes
    from rlworldkit.evaluation.report import summary

    if isinstance(agent, str | Path):
        found = read_agent(world, agent)
    else:
        found = agent_of_params(world, agent.params, Path("This run"))
    player = AgentPlayer(found, Choice(choose, player_seed))
    episodes = play_episodes(world, player, seed, games, num_envs=num_envs, engine=engine, max_steps=max_steps)
    return summary(world, episodes)


def _prepare_jax(world: World) -> None:
    """Set up JAX as the commands do, where it is not imported yet."""
    prefer_wide_vectors()
    enable_compilation_cache(world.name)
