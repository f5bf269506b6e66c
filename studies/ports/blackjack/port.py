"""Blackjack of Gymnasium as pure functions of JAX, with the options ``sab`` and ``natural``."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

DECK = jnp.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10])
MOST_CARDS = 22
"""Of a hand: 21 aces, and the card that is too much."""


class Blackjack(NamedTuple):
    """A game; hands are cards in the order in which they came, int32 (MOST_CARDS,), and zeros."""

    dealer: Array
    player: Array


def card(draws: Any, index: Any) -> Array:
    """The card that a word of the turn draws."""
    return DECK[draws.integers(0, len(DECK), index)]


def add(hand: Array, drawn: Array) -> Array:
    """The hand with another card."""
    return hand.at[jnp.count_nonzero(hand)].set(drawn)


def usable_ace(hand: Array) -> Array:
    """An ace counts as 11 without going above 21."""
    return (hand == 1).any() & (hand.sum() + 10 <= 21)


def total(hand: Array) -> Array:
    """What a hand counts."""
    return hand.sum() + 10 * usable_ace(hand)


def score(hand: Array) -> Array:
    """What a hand counts at the end: 0 above 21."""
    return jnp.where(total(hand) > 21, 0, total(hand))


def is_natural(hand: Array) -> Array:
    """An ace and a ten, and no third card."""
    return (jnp.count_nonzero(hand) == 2) & (hand == 1).any() & (hand == 10).any()


def observe(game: Blackjack) -> tuple[Array, Array, Array]:
    """What the player's hand counts, the dealer's first card, and whether an ace of the player's is usable."""
    return total(game.player), game.dealer[0], usable_ace(game.player).astype(jnp.int32)


def reset(draws: Any) -> tuple[Any, Blackjack]:
    """A game; its words are 0 and 1 for the dealer, 2 and 3 for the player."""
    nothing = jnp.zeros((2, MOST_CARDS), jnp.int32)
    game = Blackjack(*nothing.at[:, :2].set(card(draws, jnp.arange(4)).reshape(2, 2)))
    return observe(game), game


def play_dealer(draws: Any, hand: Array) -> Array:
    """The dealer's hand once it counts 17; its cards are the words from 0 on."""

    def draw(drawn: tuple[Array, Array]) -> tuple[Array, Array]:
        count, hand = drawn
        return count + 1, add(hand, card(draws, count))

    return jax.lax.while_loop(lambda drawn: total(drawn[1]) < 17, draw, (jnp.uint32(0), hand))[1]


def step(draws: Any, game: Blackjack, action: Array, sab: bool, natural: bool) -> tuple[Any, Blackjack, Array, Array]:
    """Hit (1), whose card is the word 0, or stick (0)."""
    hits = action == 1
    player = jnp.where(hits, add(game.player, card(draws, 0)), game.player)
    dealer = jnp.where(hits, game.dealer, play_dealer(draws, game.dealer))
    result = jnp.sign(score(player) - score(dealer)).astype(jnp.float32)
    if sab:
        result = jnp.where(is_natural(player) & ~is_natural(dealer), 1.0, result)
    elif natural:
        result = jnp.where(is_natural(player) & (result == 1), 1.5, result)
    is_bust = total(player) > 21
    game = Blackjack(dealer, player)
    return observe(game), game, jnp.where(hits, jnp.where(is_bust, -1.0, 0.0), result), ~hits | is_bust
