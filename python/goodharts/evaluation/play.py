"""Continuous survival (G6): agents live, die and respawn for a number of steps, and every life is kept (G11).

A game's course depends on the seed and its number alone. The engine sees to that for the world, and addressed words for
actions that are drawn; but matrix products round otherwise in batches of another size, and a network's likeliest action
may be another one then. So games are always played in full crews of one size, and those of the last crew that nobody
asked for are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from threading import Event

import torch
from torch import Tensor

from goodharts.evaluation.lives import Lives, joined
from goodharts.evaluation.players import Player, action_keys, chances, drawn, likeliest
from goodharts.rules import DEFAULT_NUMBERS, FOOD, POISON, Numbers
from goodharts.torch_env.env import Games
from goodharts.torch_env.random import game_keys

CPU_CREW, GPU_CREW = 128, 4096
"""Games of a crew: enough for matrix products at full speed, and on a CPU few enough for its cache."""
_BLOCK = 64
"""Steps whose chances are drawn in one go."""


class _Stopped(Exception):
    """Another crew failed, or the person gave up."""


def play(
    player: Player,
    games: int,
    steps: int,
    *,
    seed: int = 0,
    deterministic: bool = False,
    numbers: Numbers = DEFAULT_NUMBERS,
    device: torch.device = torch.device("cpu"),  # noqa: B008 - a constant
    advanced: Callable[[int], None] = lambda steps: None,
) -> Lives:
    """The lives of games 0 … ``games`` − 1 of a seed, each played for ``steps`` steps.

    On one machine they are the same, bit for bit, however many games and threads there are.

    Args:
        player: who plays.
        games: how many.
        steps: of each.
        seed: of the games (G10), and of the actions.
        deterministic: take the likeliest actions; otherwise they are drawn.
        numbers: of the world.
        device: where everything is computed; the player must be there.
        advanced: told of steps that were played, from any thread.
    """
    crew = CPU_CREW if device.type == "cpu" else GPU_CREW
    crews = -(-games // crew)
    keys = game_keys(seed, crews * crew).to(device)
    is_stopped = Event()

    def lives_of(number: int) -> Lives:
        def told(steps: int) -> None:
            if is_stopped.is_set():
                raise _Stopped
            advanced(steps * min(crew, games - number * crew))

        own = keys[number * crew : (number + 1) * crew]
        world = Games(player.mode, crew, numbers=numbers, device=device, evaluating=True)
        return _lives(player, world, own, number * crew, steps, deterministic, told)

    with _exact() as threads, ThreadPoolExecutor(threads if device.type == "cpu" else 1) as pool:
        parts = [pool.submit(lives_of, number) for number in range(crews)]
        try:
            for part in as_completed(parts):  # so that the first to fail is seen first
                part.result()
        except BaseException:
            is_stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return joined([part.result() for part in parts]).of_first(games).in_order()


@contextmanager
def _exact() -> Iterator[int]:
    """Let torch compute the same again in the same way; gives the threads that it had.

    On a CPU each operation gets one thread: crews side by side use the others better than parts of small operations do,
    and how many there are rounds nothing differently then. On a GPU no convolution is chosen by how fast it is today,
    and nothing is computed in TF32.
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


@torch.inference_mode()
def _lives(
    player: Player,
    games: Games,
    keys: Tensor,
    first_game: int,
    steps: int,
    deterministic: bool,
    told: Callable[[int], None],
) -> Lives:
    """The lives of games with these keys, int32 (n, 2), in the order in which they ended."""
    log = _Log(games, first_game)
    seen = games.start(keys)
    own_keys = action_keys(keys)
    for first_step in range(0, steps, _BLOCK):
        block = min(_BLOCK, steps - first_step)
        decisive = None if deterministic else chances(own_keys, first_step, block)
        for step in range(block):
            logits = player.logits(seen)
            outcome = games.step(likeliest(logits) if decisive is None else drawn(logits, decisive[step]))
            seen = outcome.codes
            log.eat(outcome.eaten)
            dead = outcome.terminated.nonzero()[:, 0]
            if len(dead):
                log.end(dead, died=True)
                seen[dead] = games.respawn(dead)
        told(block)
    # Who died in the last step has begun no new life.
    log.end(games.state.steps.nonzero()[:, 0], died=False)
    return log.lives()


class _Log:
    """What the current lives ate, and a column for each life that ended."""

    def __init__(self, games: Games, first_game: int) -> None:
        self._games, self._first_game = games, first_game
        self._eaten = torch.zeros((2, games.games), dtype=torch.int64, device=games.device)
        self._kinds = torch.tensor([[FOOD], [POISON]], device=games.device)
        self._ended: list[Tensor] = []

    def eat(self, eaten: Tensor) -> None:
        """Count what was eaten in a step, a code (n,)."""
        self._eaten += eaten == self._kinds

    def end(self, rows: Tensor, died: bool) -> None:
        """The lives in these rows (k,) are over, or are left as they are; to be called before anybody respawns."""
        state = self._games.state
        gained = state.energy[rows] - self._games.numbers.start_energy
        how = torch.full_like(rows, died)
        self._ended.append(
            torch.stack((rows + self._first_game, state.steps[rows], *self._eaten[:, rows], gained, how))
        )
        self._eaten[:, rows] = 0

    def lives(self) -> Lives:
        """All of them, in the order in which they ended."""
        game, steps, food, poison, energy, died = torch.cat(self._ended, dim=1).cpu().numpy()
        return Lives(game, steps, food, poison, energy, died.astype(bool))
