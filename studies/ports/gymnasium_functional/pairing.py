"""Environments of Gymnasium, and its functional ones in JAX: Blackjack, CliffWalking and CartPole."""

from functools import cache
from typing import Any

import gymnasium
import jax
import numpy as np
from gymnasium.envs.phys2d.cartpole import CartPoleFunctional, CartPoleParams
from gymnasium.envs.tabular import blackjack

from rlparity import Tolerance
from rlparity.adapters import GymGame, Outcome, Pairing, SingleGame

RULES: Any = CartPoleFunctional()
RULES.transform(jax.jit)
ROUNDING = Tolerance(ulps=64, absolute=1e-4, any_dtype=True, reason="float32 and float64")


@cache
def cards(seed: int, turn: int) -> list[int]:
    """The cards that the JAX version deals in a turn; turn 0 is the start, with those of the player first."""
    key, random_card = jax.random.PRNGKey(seed), getattr(blackjack, "random_card")  # noqa: B009 - it has no types
    for _ in range(turn):
        key = jax.random.split(key)[1]
    drawn = jax.lax.scan(lambda key, _: random_card(key)[::-1], jax.random.split(key)[0], length=21)[1]
    return [*map(int, drawn)]


class Blackjack(SingleGame):
    """Gymnasium's Blackjack, dealt the cards of the JAX version."""

    def begin(self, seed: int) -> Any:
        env: Any = gymnasium.make("Blackjack-v1").unwrapped
        env.reset(seed=seed)
        self._env, self._seed, self._turn, env.np_random = env, seed, 0, self
        first = cards(seed, 0)
        env.player, env.dealer = first[:2], first[2:4]
        return np.array(env._get_obs(), np.int32)

    def choice(self, _: Any) -> int:
        """The next card."""
        return next(self._cards)

    def act(self, action: int) -> Outcome:
        self._turn += 1
        self._cards = iter(cards(self._seed, self._turn))
        seen, *answers, _ = self._env.step(action)
        return Outcome(np.array(seen, np.int32), *answers)


class Cliff(SingleGame):
    """CliffWalking; the JAX version takes and shows arrays of one number."""

    def __init__(self, name: str) -> None:
        self._env = gymnasium.make(name)

    def begin(self, seed: int) -> Any:
        return np.ravel(self._env.reset(seed=seed)[0])

    def act(self, action: int) -> Outcome:
        seen, reward, *ends, _ = self._env.step(np.array([action]) if self._env.action_space.shape else action)
        return Outcome(np.ravel(seen), float(reward), *ends)


class Carts(SingleGame):
    """Two carts, until one of them was put back: of that step, the other one's part is compared.

    is_alone: each cart is moved by itself; otherwise both are moved in ``CartPoleJaxVectorEnv``.
    """

    def __init__(self, is_alone: bool) -> None:
        self._is_alone = is_alone

    def begin(self, seed: int) -> Any:
        # anew, since its reset leaves carts that had fallen to be put back once more
        self._both = gymnasium.make_vec("phys2d/CartPole-v1", 2, vectorization_mode="vector_entry_point")
        self._seen, self._over = np.array(self._both.reset(seed=seed)[0]), np.zeros(2, bool)
        return self._seen

    def act(self, action: int) -> Outcome:
        ways, over = np.array([action % 2, action // 2]), self._over
        if self._is_alone:
            self._seen = np.array([RULES.transition(*game) for game in zip(self._seen, ways, strict=True)])
            self._over = np.array([RULES.terminal(state, None) for state in self._seen])
        else:
            seen, _, self._over, *_ = self._both.step(ways)
            self._seen, self._over = np.array(seen), np.array(self._over)
        return Outcome(np.where(over[:, None], 0, self._seen).astype(np.float32), 0.0, bool(over.any()), False)


class Pole(SingleGame):
    """CartPole with the rewards of Sutton and Barto, in the start that the functional one draws."""

    def __init__(self, is_functional: bool) -> None:
        self._is_functional = is_functional
        self._state: Any = None
        self._params = CartPoleParams(polemass_length=0.05, sutton_barto_reward=True)
        self._env: Any = gymnasium.make("CartPole-v1", sutton_barto_reward=True).unwrapped

    def begin(self, seed: int) -> Any:
        self._env.reset(seed=seed)
        self._env.state = self._state = np.array(RULES.initial(jax.random.key(seed)))
        return self._state

    def act(self, action: int) -> Outcome:
        if not self._is_functional:
            seen, reward, terminated, *_ = self._env.step(action)
            return Outcome(np.array(seen, np.float32), float(reward), terminated, False)
        after = RULES.transition(self._state, action, None, self._params)
        reward = float(RULES.reward(self._state, action, after, None, self._params))
        self._state = np.array(after)
        return Outcome(self._state, reward, bool(RULES.terminal(after, None, self._params)), False)


def paired(name: str, games: dict[str, Any], actions: str, shape: tuple[int, ...], **options: Any) -> Any:
    """The world of two games."""
    return Pairing(f"functional-{name}", games, tuple(actions.split()), shape, **options).world()


CLIFFS = {"gymnasium": lambda: Cliff("CliffWalking-v1"), "functional": lambda: Cliff("tabular/CliffWalking-v0")}
TABULAR = {"gymnasium": Blackjack, "functional": lambda: GymGame(lambda: gymnasium.make("tabular/Blackjack-v0"))}
POLES = {"gymnasium": lambda: Pole(False), "functional": lambda: Pole(True)}
BLACKJACK = paired("blackjack", TABULAR, "stick hit", (3,))
CLIFF_WALKING = paired("cliff-walking", CLIFFS, "up right down left", (1,), draws=False)
CARTS = paired(
    "carts",
    {"gymnasium": lambda: Carts(True), "functional": lambda: Carts(False)},
    "both-left right-left left-right both-right",
    (2, 4),
    tolerances={"observation": ROUNDING},
)
SUTTON_AND_BARTO = paired("sutton-and-barto", POLES, "left right", (4,), tolerances={"observation": ROUNDING})
