"""Prices: the numbers of a world's reward that may be changed when an engine is opened."""

import argparse
import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from rlparity.errors import UsageError, quoted
from rlparity.io.arguments import Parser
from rlparity.io.safe_read import read_toml, refused
from rlparity.world import PriceValues, World


def price_values(world: World) -> PriceValues:
    """The prices that the engines of ``world`` are opened with."""
    return world.price_values or tuple(price.default for price in world.prices)


def prices_in_reward(world: World) -> dict[str, float]:
    """The prices that the engines of ``world`` are opened with, by name, in reward."""
    pairs = zip(world.prices, price_values(world), strict=True)
    return {price.name: float(value * world.unit) for price, value in pairs}


def changed_prices(world: World) -> dict[str, float]:
    """Prices of ``world`` that are not the game's own, by name, in reward."""
    own = {price.name for price, value in zip(world.prices, price_values(world), strict=True) if value == price.default}
    return {name: value for name, value in prices_in_reward(world).items() if name not in own}


def prices_text(prices: Mapping[str, float]) -> str:
    """Format changed prices for people to read."""
    return ", ".join(f"{name} {value:.9g}" for name, value in prices.items()) or "the game's own"


def prices_note(prices: Mapping[str, float]) -> str:
    """End of a caption that lists the changed prices; empty where there are none."""
    return f", prices {prices_text(prices)}" if prices else ""


def draw_prices(world: World, seed: int, share: float = 1.0) -> World:
    """Draw a world's prices from ``seed``, for a ``share`` of all seeds, unless the world was given prices already.

    Each price is its default with probability 0.5, 0 with probability 0.1, and otherwise uniform in its range.
    """
    rng = np.random.default_rng([seed, len(world.prices)])
    if world.price_values is not None or not world.prices or rng.random() >= share:
        return world
    drawn = ((price.default, 0, int(rng.integers(price.low, price.high + 1))) for price in world.prices)
    values = tuple(int(rng.choice(values, p=(0.5, 0.1, 0.4))) for values in drawn)
    return replace(world, price_values=values)


def read_prices(words: Iterable[str], path: Path | None) -> dict[str, object]:
    """Read the prices of ``--price NAME=VALUE``, which override those in the TOML file of ``--prices``.

    Raises UsageError where a word or the file cannot be read; ``World.with_prices`` checks names and values.
    """
    prices: dict[str, object] = {}
    if path is not None:
        with refused(path, "file of prices", "give the path of a TOML file", "give lines such as kills = 0.4"):
            prices |= read_toml(path)
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise UsageError(f"--price takes NAME=VALUE, such as kills=0.4, got {quoted(word)}.")
        prices[name.strip()] = value
    return prices


def add_price_flags(parser: Parser, world: Callable[[], World] | None = None) -> None:
    """Add ``--price`` and ``--prices``, which ``priced`` reads. world: whose prices the help names."""
    meaning = "Numbers of the reward that you can change, by name"
    group = parser.add_argument_group("prices of the reward", f"{meaning}.")

    def name_them() -> None:
        assert world is not None
        with contextlib.suppress(ImportError):  # an extra is missing: show help without the names
            group.description = f"{meaning}: {', '.join(price.name for price in world().prices) or 'it has none'}."

    if world is not None:
        parser.before_help = name_them  # importing a world takes a while
    text = "change one price, in units of reward; repeatable; overrides --prices"
    group.add_argument("--price", action="append", default=[], metavar="NAME=VALUE", help=text)
    text = "TOML file of prices, with lines such as kills = 0.4"
    group.add_argument("--prices", type=Path, default=None, metavar="FILE", help=text)


def price_flags(prices: Mapping[str, float]) -> list[str]:
    """Command-line words that set these prices."""
    return [word for name, value in prices.items() for word in ("--price", f"{name}={value}")]


def priced(world: World, options: argparse.Namespace) -> World:
    """The world with the prices of the command line. Raises UsageError as ``read_prices`` and ``World.with_prices``."""
    return world.with_prices(read_prices(options.price, options.prices))
