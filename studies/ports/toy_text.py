"""Draws of Gymnasium's toy_text that lead to what a port shows, so that its rules can be compared without its draws."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlparity.adapters.single import Outcome


def follow(env: Any, action: int, seen: Outcome) -> Any:
    """A generator of the draw that leads to the state and reward which the port shows, as far as one does."""
    ways = env.P[env.s][action]
    told = int(seen.observation), seen.reward
    # who falls off a cliff and who runs into a wall may be in the same cell afterwards
    chosen = max(range(len(ways)), key=lambda i: (ways[i][1] == told[0], ways[i][2] == told[1]))
    drawn = sum(way[0] for way in ways[:chosen]) + ways[chosen][0] / 2
    return SimpleNamespace(random=lambda: drawn)


def deal(env: Any, action: int, seen: Outcome) -> Any:
    """A generator of the card that leads to the player's sum which the port shows, or of cards to its reward."""
    from gymnasium.envs.toy_text import blackjack

    rules: Any = blackjack  # whose functions have no types

    if action:
        total = int(seen.observation[0])
        return cards_of(next((card for card in range(1, 11) if rules.sum_hand([*env.player, card]) == total), 10))
    for attempt in range(1000):  # the dealer's second card and those to come are seen by nobody
        rng = np.random.default_rng(attempt)
        hand = [env.dealer[0], draw(rng)]
        while rules.sum_hand(hand) < 17:
            hand.append(draw(rng))
        wins = rules.is_natural(env.player) and not rules.is_natural(hand)
        if (1.0 if wins else rules.cmp(rules.score(env.player), rules.score(hand))) == seen.reward:
            break
    env.dealer = hand[:2]
    return cards_of(*hand[2:])


def draw(rng: np.random.Generator) -> int:
    """A card as Gymnasium counts it."""
    return min(10, int(rng.integers(1, 14)))


def cards_of(*cards: int) -> Any:
    """A generator that deals these cards."""
    rest = iter(cards)
    return SimpleNamespace(choice=lambda deck: next(rest))


def state_of(name: str, kind: Callable[[Any], Any]) -> Callable[[Any, Any], None]:
    """Puts a game into a state, which is the attribute of this name, as a first observation tells it."""
    return lambda env, shown: setattr(env, name, kind(shown))


def place_hands(env: Any, shown: Any) -> None:
    """Two cards of the player that count what is shown; the dealer's first one."""
    total, dealer, ace = map(int, shown)
    env.player = [1, total - 11] if ace else [min(10, total - 2), max(2, total - 10)]
    env.dealer = [dealer, 10]
