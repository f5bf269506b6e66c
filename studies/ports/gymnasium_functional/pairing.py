"""Environments of Gymnasium, and its functional ones in JAX: Blackjack, CliffWalking and CartPole."""

from functools import cache, partial
from operator import attrgetter
from typing import Any

import jax
import numpy as np
from gymnasium import make, make_vec, spaces, wrappers
from gymnasium.envs.phys2d.cartpole import CartPoleFunctional, CartPoleParams
from gymnasium.envs.tabular import blackjack

from rlparity import Tolerance
from rlparity.adapters import GymGame, Outcome, Pairing, SingleGame, functional_game, starts_of

RULES: Any = CartPoleFunctional()
RULES.transform(jax.jit)
START = starts_of(RULES.initial)
ROUNDING = {"observation": Tolerance(ulps=64, absolute=1e-4, any_dtype=True, reason="float32 and float64")}


@cache
def cards(seed: int, turn: int) -> list[int]:
    """The cards that the JAX version deals in a turn; turn 0 is the start, with those of the player first."""
    key, random_card = jax.random.PRNGKey(seed), getattr(blackjack, "random_card")  # noqa: B009 - it has no types
    for _ in range(turn):
        key = jax.random.split(key)[1]
    drawn = jax.lax.scan(lambda key, _: random_card(key)[::-1], jax.random.split(key)[0], length=21)[1]
    return [*map(int, drawn)]


class Cards:
    """Stands in for the generator of Gymnasium's Blackjack, which deals to the dealer first."""

    def begin(self, seed: int, turn: int) -> None:
        """Deal what the JAX version deals in a turn."""
        dealt = cards(seed, turn)
        self._next = iter(dealt if turn else dealt[2:4] + dealt[:2] + dealt[4:])

    def choice(self, _: Any) -> int:
        """The next card."""
        return next(self._next)


class Carts(SingleGame):
    """Two carts, until one of them was put back: of that step, the other one's part is compared.

    is_alone: each cart is moved by itself; otherwise both are moved in ``CartPoleJaxVectorEnv``.
    """

    def __init__(self, is_alone: bool) -> None:
        self._is_alone = is_alone

    def begin(self, seed: int) -> Any:
        # anew, since its reset leaves carts that had fallen to be put back once more
        self._both = make_vec("phys2d/CartPole-v1", 2, vectorization_mode="vector_entry_point")
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


def functional_cliff() -> Any:
    """CliffWalking in JAX, which takes and shows arrays of one number."""
    return wrappers.TransformAction(make("tabular/CliffWalking-v0"), np.atleast_1d, spaces.Discrete(4))


def paired(name: str, actions: str, original: Any, functional: Any, **options: Any) -> Any:
    """The world of two games."""
    games = {"gymnasium": original, "functional": functional}
    return Pairing(f"functional-{name}", games, tuple(actions.split()), **options).world()


DEALT = partial(GymGame, partial(make, "Blackjack-v1"), generator=Cards(), show=partial(np.array, dtype=np.int32))
BLACKJACK = paired("blackjack", "stick hit", DEALT, partial(GymGame, partial(make, "tabular/Blackjack-v0")))
CLIFFS = [partial(GymGame, each, show=np.ravel) for each in (partial(make, "CliffWalking-v1"), functional_cliff)]
CLIFF_WALKING = paired("cliff-walking", "up right down left", *CLIFFS, draws=False, accept=("infos are left out",))
WAYS = "both-left right-left left-right both-right"
CARTS = paired("carts", WAYS, partial(Carts, True), partial(Carts, False), tolerances=ROUNDING)
BEGIN: Any = {"start": lambda seed: {"state": START(seed)}, "observe": attrgetter("state"), "float32": True}
SUTTON = partial(GymGame, partial(make, "CartPole-v1", sutton_barto_reward=True), **BEGIN)
FUNCTIONAL = functional_game(RULES, CartPoleParams(polemass_length=0.05, sutton_barto_reward=True), observe=None)
SUTTON_AND_BARTO = paired("sutton-and-barto", "left right", SUTTON, FUNCTIONAL, tolerances=ROUNDING)
