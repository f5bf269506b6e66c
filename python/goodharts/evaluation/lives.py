"""Continuous survival (G6): agents live, die and respawn for a number of steps, and every life is recorded (G11).

A game depends on the seed and its number alone. The engine guarantees this for the world, and addressed words for
sampled actions; but matrix products round differently in batches of another size, which can change a network's
likeliest action. So games are always played in full batches of one size, and the surplus games of the last batch are
dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import Event

import numpy as np
import torch
from numpy.typing import NDArray

from goodharts.config import Config
from goodharts.evaluation.report import LIFE, EvaluationResult, Lives, figures
from goodharts.models import Model, numbers_of, training_of
from goodharts.rules import VERSION, Mode
from goodharts.world import evaluation_world, game_seeds
from rlparity import World
from rlparity.core.prices import prices_text
from rlworldkit.agents.agent import DEFAULT, DRAWN, LIKELIEST, Agent, AgentPlayer, Choice, Player
from rlworldkit.agents.reader import RANDOM
from rlworldkit.envs.episodes import Episodes

CPU_BATCH, GPU_BATCH = 128, 4096
"""Games of a batch: enough for matrix products at full speed, and few enough for the cache of a CPU."""
_REPORTED = 64
"""Steps between two calls of ``advanced``."""


class _Cancelled(Exception):
    """Raised to end a batch after another batch failed or the user interrupted."""


def evaluate(
    mode: Mode,
    agent: Agent,
    config: Config,
    device: torch.device,
    *,
    choice: Choice = DEFAULT,
    advanced: Callable[[int], None] = lambda steps: None,
) -> EvaluationResult:
    """Evaluate an agent in a mode by continuous survival, with the settings of [evaluation] (G6, G11).

    choice: how it chooses its actions, unless it plays at random.
    advanced: called with the number of steps that were played, from any thread. Raises UsageError where the world in
    which the agent was trained is impossible.
    """
    is_chance, (trained, progress) = agent.path == Path(RANDOM), training_of(agent)
    how, numbers, training = config.evaluation, numbers_of(trained, config), Config().over(trained, "The model")
    choice = Choice(DRAWN, choice.player_seed) if is_chance else choice
    is_deterministic, prices = choice.how == LIKELIEST or choice.search is not None, training.changed_prices(mode.name)
    world, searcher = evaluation_world(mode, numbers, device), None
    batch, threads = (CPU_BATCH, None) if device.type == "cpu" else (GPU_BATCH, 1)
    if isinstance(agent.judge, Model):
        agent.judge.policy.to(device)
    if choice.search is not None:
        from goodharts.env import env_of
        from rlworldkit.agents.search import searcher_of

        env = env_of(mode, numbers, True).with_prices(np.array(training.price_values(mode.name), np.int32))
        searcher = searcher_of(world, env, agent, choice, following=True)
        # no surplus games, which only make rounding the same: a search does not depend on it, and is slow
        batch, threads = min(how.games, CPU_BATCH), 1
    player = AgentPlayer(agent, choice, searcher)
    lives = play(world, player, how.games, how.steps, seed=how.seed, batch=batch, threads=threads, advanced=advanced)
    return EvaluationResult(
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


def play(
    world: World,
    player: Player,
    games: int,
    steps: int,
    *,
    seed: int = 0,
    batch: int = CPU_BATCH,
    threads: int | None = None,
    advanced: Callable[[int], None] = lambda steps: None,
) -> Lives:
    """Play games 0 … ``games`` − 1 of a seed (G10) for ``steps`` steps each, and return their lives.

    On one machine the lives of a game are the same, bit for bit, for any number of games and threads.

    world: an ``evaluation_world``. player: its ``steps`` count over all lives of a game. batch: games side by side.
    threads: batches side by side; None: as many as torch has threads. advanced: called with the number of steps that
    were played, from any thread.
    """
    batches = -(-games // batch)
    keys = game_seeds(seed, batches * batch).reshape(batches, batch)
    is_stopped = Event()

    def lives_of(number: int) -> Lives:
        def report(steps: int) -> None:
            if is_stopped.is_set():
                raise _Cancelled
            advanced(steps * min(batch, games - number * batch))

        with closing(Episodes(world, batch, engine="torch")) as episodes:
            lives = _lives(episodes, player, keys[number], steps, report)
        lives["game"] += number * batch
        return lives

    with _exact() as cores, ThreadPoolExecutor(threads or cores) as pool:
        parts = [pool.submit(lives_of, number) for number in range(batches)]
        try:
            for part in as_completed(parts):  # in this order, so that the first failure is raised first
                part.result()
        except BaseException:
            is_stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    lives = np.concatenate([part.result() for part in parts])
    lives = lives[lives["game"] < games]
    return lives[np.argsort(lives["game"], kind="stable")]


@contextmanager
def _exact() -> Iterator[int]:
    """Make torch compute reproducibly within this context; yields its number of threads from before.

    On a CPU each operation gets one thread: batches side by side use the cores better than small operations that are
    split, and the number of cores does not change the rounding. On a GPU the choice of convolutions does not depend on
    their measured speed, and TF32 is off.
    """
    threads, precision = torch.get_num_threads(), torch.get_float32_matmul_precision()
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
            yield threads
    finally:
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision(precision)


def _lives(
    episodes: Episodes, player: Player, keys: NDArray[np.uint64], steps: int, report: Callable[[int], None]
) -> Lives:
    """Play games with these keys (n,), and return their lives in the order in which they ended."""
    games, ended = np.arange(len(keys)), list[Lives]()
    episodes.start(games, keys)
    born_with = episodes.facts[0, 0]

    def end(rows: NDArray[np.intp], is_dead: bool) -> None:
        """Record the lives in these rows (k,), which ended in death or are cut off; called before any respawn."""
        lives, counts = np.empty(len(rows), LIFE), episodes.statistics.of(rows)
        lives["game"], lives["steps"], lives["died"] = rows, counts.steps, is_dead
        lives["food"], lives["poison"] = counts.events.T
        lives["energy"] = episodes.facts[rows, 0] - born_with
        ended.append(lives)

    for number in range(steps):
        episodes.begin_step(player(episodes.observation, episodes.mask, keys, np.full(len(keys), number)))
        dead = np.flatnonzero(episodes.finish_step().terminated)
        if len(dead):
            end(dead, is_dead=True)
            episodes.start(dead, in_place=True)
        if (number + 1) % _REPORTED == 0 or number + 1 == steps:
            report(number % _REPORTED + 1)
    end(np.flatnonzero(episodes.statistics.steps), is_dead=False)  # not the new lives after deaths in the last step
    return np.concatenate(ended)
