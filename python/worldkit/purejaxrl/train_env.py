"""What the trainer in JAX needs of a world: the contract ``TrainEnv``.

Methods work on one game and are jit- and vmap-able; the trainer batches them. States carry the game, never float
observations: a rollout keeps what ``compact`` gives, and ``expand`` makes floats of it inside the policy and the loss.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from parity.errors import UsageError
from worldkit.jaxkit.threefry import trainer_seeds

if TYPE_CHECKING:
    from flax import linen as nn

# Pytrees of arrays whose inside is the world's own affair.
State = Any
Compact = Any

Encoder = Callable[..., "nn.Module"]
"""``encoder(dtype=…, name=…)`` is a module that lays an observation out before the first hidden layer.

It gives an array (..., features), or something that multiplies itself with that layer's kernel (`networks.Laid`).
"""


class TrainStep(NamedTuple):
    """What one step of one game gave.

    ``final`` is the state before a game that ended was replaced by the next one. It is complete where the episode
    ended; in a game that goes on only what ``TrainEnv.metrics`` and ``TrainEnv.info`` read of it must be.
    """

    state: State  # of the next game where the episode ended
    reward: Array  # float32
    components: Array  # (components,), multiples of the world's unit
    terminated: Array  # bool
    truncated: Array  # bool; never together with terminated
    final: State
    events: Mapping[str, Array] = {}  # bool


class StepMetrics(NamedTuple):
    """What one step of one game adds to the metrics of a run, by their names.

    means: their mean over all steps is shown, so a flag gives a share. maxima: their largest value is.
    """

    means: Mapping[str, Array] = {}
    maxima: Mapping[str, Array] = {}


class TrainEnv(ABC):
    """A world as the trainer sees it. A world subclasses this; what has a default here is optional.

    Attributes:
        name: the world's, in checkpoints.
        rules_version: changes whenever the same seed and actions may give another game; checkpoints keep it.
        num_actions: how many actions there are.
        observation_shape: of what ``expand`` gives for one game.
        low, high: the range of an observation's numbers.
        components: names of the reward components.
        component_unit: what one unit of a component is worth in reward.
        can_truncate: whether the world itself ever truncates an episode. Where nothing does, the trainer leaves the
            value of last observations out.
        networks: the networks to choose from, by name: the encoder before the hidden layers, None to read the
            observation flat. ``--network`` is `mlp` unless the world's settings say otherwise.
        levels: how many levels there are, of which ``level`` tells a game's; 0 where nobody has said. A curriculum
            keeps states by them.
        starts: other ways to begin a game, by the names of their curricula: each makes a state of a seed as ``reset``
            does.
        packages: those whose sources say what this world computes. Where they are named, the traced trainer is kept
            from one run to the next (`worldkit.jaxkit.trace_cache`); worlds of one class must then be the same.
    """

    name: str
    rules_version: str = "1"
    num_actions: int
    observation_shape: tuple[int, ...]
    low: float = float("-inf")
    high: float = float("inf")
    components: tuple[str, ...] = ()
    component_unit: float = 1.0
    can_truncate: bool = False
    networks: Mapping[str, Encoder | None] = {"mlp": None}
    levels: int = 0
    starts: Mapping[str, Callable[[Array], State]] = {}
    packages: tuple[str, ...] = ()

    @abstractmethod
    def reset(self, seed: Array) -> State:
        """A new game of ``seed``, uint32 (2,): low and high word."""

    @abstractmethod
    def play(self, state: State, action: Array) -> TrainStep:
        """Play one action (int32) and replace nothing: ``state`` and ``final`` are the same."""

    @abstractmethod
    def restart(self, state: State) -> State:
        """The game that follows this one by the world's auto-reset rule."""

    def step(self, state: State, action: Array, truncate: Array | None = None) -> TrainStep:
        """As ``play``, and a game that ends is replaced by the next one at once.

        ``truncate`` (bool) ends an episode from outside that does not terminate by itself; None never does. A world
        that can do both in one pass overrides this.
        """
        step = self.play(state, action)
        if truncate is not None:
            step = step._replace(truncated=step.truncated | (truncate & ~step.terminated))
        ended = step.terminated | step.truncated
        following = self.restart(step.final)
        state = jax.tree.map(lambda new, old: jnp.where(ended, new, old), following, step.final)
        return step._replace(state=state)

    @abstractmethod
    def observe(self, state: State) -> Array:
        """The observation, float32 of ``observation_shape``."""

    def mask(self, state: State) -> Array:
        """The valid actions, bool (actions,); all of them unless a world says otherwise."""
        return jnp.ones(self.num_actions, bool)

    def compact(self, state: State) -> Compact:
        """The observation as a small pytree of arrays, which rollouts keep."""
        return self.observe(state)

    def expand(self, compact: Compact) -> Array:
        """The observations, float32 (..., *observation_shape), of compact ones with any leading axes."""
        return compact

    def likeness(self, compact: Compact) -> Array | None:
        """What makes observations alike to this world's encoders, int32 (...), of compact ones with any leading axes.

        Where samples are learned from, those that are alike lie side by side (`networks.Laid`). None: nothing does.
        """
        return None

    def reseeded(self, state: State, seed: Array) -> State:
        """The same present with another future: all that is yet to be drawn comes of ``seed``, uint32 (2,), alone.

        A search plays on from such states, and so does a curriculum. Raises UsageError in a world that has not told
        how.
        """
        raise UsageError(
            f"{self.name} does not say how its chance is drawn anew, which searches and the curriculum archive need."
        )

    def level(self, state: State) -> Array:
        """How far a game has come, int32 below ``levels``; to be overridden where there are any."""
        return jnp.int32(0)

    def reward(self, components: Array) -> Array:
        """The reward, float32, of components (components,); override it where its last bit matters."""
        return components.sum().astype(jnp.float32) * jnp.float32(self.component_unit)

    def metrics(self, step: TrainStep, action: Array) -> StepMetrics:
        """What a step adds to the metrics beside reward, components, returns and lengths."""
        return StepMetrics()

    def told(self, step: TrainStep) -> Any:  # noqa: ANN401 - a tree
        """What a rollout keeps of a step beside what is learned from, as a small pytree of arrays; None is nothing."""
        return None

    def info(self, step: TrainStep) -> dict[str, Array]:
        """What a Gymnax-style environment says of a step beside reward and end."""
        return dict(step.events)

    def initial_seeds(self, seed: int, num_games: int) -> Array:
        """The seeds, uint32 (num_games, 2), from which a trainer with ``seed`` starts its games."""
        return trainer_seeds(seed, num_games)

    @property
    def observation_size(self) -> int:
        """How many numbers an observation has."""
        size = 1
        for length in self.observation_shape:
            size *= length
        return size
