"""``EnvSpec``: what an environment needs to know of a world beyond ``rlparity.World``."""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rlparity import State, World
from rlparity.core.prices import changed_prices, with_prices
from rlparity.engine import Array
from rlworldkit.envs.statistics import Counts, Summary

if TYPE_CHECKING:
    from gymnasium import spaces


@cache
def _as_fraction(unit: float) -> Fraction:
    """Return the fraction that a unit stands for: 1 of 100,000 for 1e-5, whose own reciprocal is a little less."""
    return Fraction(unit).limit_denominator(10**9)


@dataclass(frozen=True)
class EnvSpec:
    """A world as environments show it. Only ``world`` and ``id`` are required; drawing functions import lazily.

    world: the world; its first engine is the default.
    id: what Gymnasium calls the environment, such as ``Orchard-v0``.
    make_space: a new space of the observations that ``split`` gives; by default an unbounded Box of the world's shape.
    split: observations of the world (…, *shape) as the environment shows them, with the same leading axes; an array or
        a dict of arrays, which may be views; by default as they are.
    counted_events: the world's events that are counted in each episode, for ``own_statistics``.
    own_statistics: what the world adds to ``info["episode_stats"]``, or puts in place of what stands there.
    episode_metrics: what a trainer logs of the episodes that ended in a rollout, by their ``episode_stats``, besides
        return, length and components.
    text: a state as text, for the render mode ``ansi``.
    picture: a state as uint8 (height, width, 3), for ``rgb_array``, and for ``human`` in a window.
    frames_per_second: the pace of windows and videos.
    home: ``module:attribute`` where this value stands. Environments that are pickled name it; without a home they
        carry the whole world with them, which must then be picklable.
    """

    world: World
    id: str
    make_space: "Callable[[], spaces.Space[Any]] | None" = None
    split: Callable[[Array], Any] = np.asarray
    counted_events: tuple[str, ...] = ()
    own_statistics: Callable[[Counts], Summary] | None = None
    episode_metrics: Callable[[Sequence[Summary]], dict[str, float]] = lambda summaries: {}
    text: Callable[[State], str] | None = None
    picture: Callable[[State], NDArray[np.uint8]] | None = None
    frames_per_second: int = 4
    home: str | None = None

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if self.home is not None:
            return _found_at, (self.home, changed_prices(self.world))
        return EnvSpec, tuple(getattr(self, field.name) for field in fields(self))

    def with_prices(self, prices: Mapping[str, object]) -> "EnvSpec":
        """The same with some prices of the reward changed, by name; raises UsageError for a wrong one."""
        return replace(self, world=with_prices(self.world, prices)) if prices else self

    @property
    def title(self) -> str:
        """The name of the world: its ``id`` without the version."""
        return self.id.rpartition("-v")[0] or self.id

    @property
    def render_modes(self) -> tuple[str, ...]:
        """The render modes that the world can draw for."""
        drawn = {"ansi": self.text, "rgb_array": self.picture, "human": self.picture}
        return tuple(mode for mode, draw in drawn.items() if draw is not None)

    @property
    def metadata(self) -> dict[str, Any]:
        """Gymnasium's metadata of an environment, or its class."""
        return {"render_modes": list(self.render_modes), "render_fps": self.frames_per_second}

    def observation_space(self) -> Any:  # noqa: ANN401 - Gymnasium's Dict is no space of dicts to the type checker
        """A new space of one game's observations: a space draws from a generator of its own, so none is shared."""
        from gymnasium import spaces

        if self.make_space is not None:
            return self.make_space()
        return spaces.Box(-np.inf, np.inf, self.world.observation_shape, np.float32)

    def action_space(self) -> "spaces.Discrete[np.int64]":
        """A new space of the world's actions."""
        from gymnasium import spaces

        return spaces.Discrete(len(self.world.actions))

    def in_rewards(self, components: Array) -> NDArray[np.float64]:
        """Components in units of the reward: divided, so that a thousand thousandths are exactly 1."""
        unit = _as_fraction(self.world.component_unit)
        whole = components if unit.numerator == 1 else components * unit.numerator
        return whole / unit.denominator

    def summary(self, counts: Counts) -> Summary:
        """The ``info["episode_stats"]`` of the episodes counted; every leaf is an array (k,).

        ``return`` and ``reward_breakdown`` (by component) in units of the reward, ``actions`` (uses by name),
        ``steps``, and what the world says itself.
        """
        general = {
            "return": self.in_rewards(counts.components.sum(axis=1)),
            "reward_breakdown": dict(zip(self.world.components, self.in_rewards(counts.components).T, strict=True)),
            "actions": dict(zip(self.world.actions, counts.actions.T, strict=True)),
            "steps": counts.steps,
        }
        return general if self.own_statistics is None else {**general, **self.own_statistics(counts)}


def _found_at(home: str, prices: Mapping[str, object]) -> EnvSpec:
    """The value that stands at ``home``, with other prices."""
    spec: EnvSpec = pkgutil.resolve_name(home)
    return spec.with_prices(prices)
