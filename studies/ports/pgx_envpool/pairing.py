"""Board games of pgx, and those of EnvPool in C++, as black boxes: what both players see, masks, rewards and ends."""

from functools import cache, partial
from itertools import count
from typing import Any

import jax.numpy as jnp
import numpy as np
import pgx
from pools import pooled

from rlparity import Tolerance, World
from rlparity.adapters import Outcome, Pairing, PytreeGame, SingleGame


class Port(SingleGame):
    """EnvPool's game."""

    def __init__(self, name: str) -> None:
        self._name = name

    def begin(self, seed: int) -> Any:
        self._pool = pooled(self._name, seed)
        return self._shown(*self._pool.reset())

    def _shown(self, observation: Any, infos: Any) -> Any:
        self._mask = np.array(infos["legal_action_mask"][0])
        return {"seen": observation.astype(np.float32), "player": np.int32(infos["current_player"][0])}

    def mask(self) -> Any:
        return self._mask

    def act(self, action: int) -> Outcome:
        observation, reward, terminated, truncated, infos = self._pool.step(np.array([action], np.int32))
        return Outcome(self._shown(observation, infos), np.array(reward), bool(terminated[0]), bool(truncated[0]))


@cache
def functions(name: str) -> tuple[Any, ...]:
    """Reset, step and mask of a game."""
    env: Any = pgx.make(name)  # type: ignore[arg-type, unused-ignore]

    def shown(state: Any) -> Any:
        seen = jnp.stack([env.observe(state, jnp.int32(player)) for player in range(2)])
        return {"seen": seen.astype(jnp.float32), "player": state.current_player}, state

    def step(_: Any, state: Any, action: Any) -> Any:
        after = env.step(state, action)
        return *shown(after), after.rewards, after.terminated, after.truncated

    return lambda key: shown(env.init(key)), step, None, lambda state: state.legal_action_mask


class Original(PytreeGame):
    """pgx's game, in which the player begins who does in EnvPool's."""

    def __init__(self, name: str, theirs: str) -> None:
        super().__init__(*functions(name))
        self._theirs = theirs

    def begin(self, seed: int) -> Any:
        first = pooled(self._theirs, seed).reset()[1]["current_player"][0]
        begin = super().begin
        return next(shown for shown in map(begin, count()) if shown["player"] == first)


def world(name: str, theirs: str, actions: int, shape: tuple[int, ...]) -> World:
    """A game of both."""
    return Pairing(
        name=name,
        games={"pgx": partial(Original, name, theirs), "envpool": partial(Port, theirs)},
        actions=tuple(map(str, range(actions))),
        observation_shape={"seen": (2, *shape), "player": ()},
        players=2,
        tolerances={"observation.seen": Tolerance(absolute=1e-6, reason="float32")},
        draws=None,
        accept=("no game is truncated",),
    ).world()


TIC_TAC_TOE = world("tic_tac_toe", "TicTacToe-v1", 9, (3, 3, 2))
CONNECT_FOUR = world("connect_four", "ConnectFour-v1", 7, (6, 7, 2))
HEX = world("hex", "Hex-v1", 122, (11, 11, 4))
OTHELLO = world("othello", "Othello-v1", 65, (8, 8, 2))
GO = world("go_9x9", "Go9x9-v1", 82, (9, 9, 17))
GARDNER_CHESS = world("gardner_chess", "GardnerChess-v1", 1225, (5, 5, 115))
ANIMAL_SHOGI = world("animal_shogi", "AnimalShogi-v1", 132, (4, 3, 194))
SHOGI = world("shogi", "Shogi-v1", 2187, (9, 9, 119))
