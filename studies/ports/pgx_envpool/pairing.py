"""Board games of pgx, and those of EnvPool in C++, as black boxes: what both players see, masks, rewards and ends."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rlparity import Tolerance, World
from rlparity.adapters import Outcome, Pairing, SingleGame

Shown = dict[str, Any]


def pooled(name: str, seed: int) -> Any:
    """A pool of one game."""
    import envpool

    return envpool.make(name, env_type="gymnasium", num_envs=1, seed=seed)


class Port(SingleGame):
    """EnvPool's game."""

    def __init__(self, name: str) -> None:
        self._name = name

    def begin(self, seed: int) -> Shown:
        self._pool = pooled(self._name, seed)
        return self._shown(*self._pool.reset())

    def _shown(self, observation: Any, infos: Mapping[str, Any]) -> Shown:
        self._mask = infos["legal_action_mask"][0]
        return {"seen": observation.astype(np.float32), "player": np.int32(infos["current_player"][0])}

    def mask(self) -> ArrayLike:
        return np.array(self._mask)

    def act(self, action: int) -> Outcome:
        observation, reward, terminated, truncated, infos = self._pool.step(np.array([action], np.int32))
        return Outcome(self._shown(observation, infos), np.array(reward), bool(terminated[0]), bool(truncated[0]))


@cache
def functions(name: str) -> tuple[Any, ...]:
    """Compiled start, step and view of a game."""
    import jax
    import jax.numpy as jnp
    import pgx

    env: Any = pgx.make(name)  # type: ignore[arg-type, unused-ignore]

    def shown(state: Any) -> Shown:
        seen = jnp.stack([env.observe(state, jnp.int32(player)) for player in range(2)])
        return {"seen": seen.astype(jnp.float32), "player": state.current_player}

    return jax.jit(env.init), jax.jit(env.step), jax.jit(shown)


class Original(SingleGame):
    """pgx's game, in which the player begins who does in EnvPool's."""

    def __init__(self, name: str, theirs: str) -> None:
        (self._init, self._step, self._look), self._theirs = functions(name), theirs

    def begin(self, seed: int) -> Shown:
        import jax

        first, key = pooled(self._theirs, seed).reset()[1]["current_player"][0], 0
        while (state := self._init(jax.random.key(key))).current_player != first:
            key += 1
        self._state = state
        return jax.device_get(self._look(state))

    def mask(self) -> ArrayLike:
        return np.asarray(self._state.legal_action_mask)

    def act(self, action: int) -> Outcome:
        import jax

        self._state = state = self._step(self._state, action)
        ends = bool(state.terminated), bool(state.truncated)
        return Outcome(jax.device_get(self._look(state)), np.asarray(state.rewards), *ends)


def world(name: str, theirs: str, actions: int, shape: tuple[int, ...]) -> World:
    """A game of both."""
    return Pairing(
        name=name,
        games={"pgx": lambda: Original(name, theirs), "envpool": lambda: Port(theirs)},
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
CHESS = world("chess", "Chess-v1", 4672, (8, 8, 119))
GARDNER_CHESS = world("gardner_chess", "GardnerChess-v1", 1225, (5, 5, 115))
ANIMAL_SHOGI = world("animal_shogi", "AnimalShogi-v1", 132, (4, 3, 194))
SHOGI = world("shogi", "Shogi-v1", 2187, (9, 9, 119))
