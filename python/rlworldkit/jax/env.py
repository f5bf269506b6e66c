"""The contract between a world written in JAX and everything that plays it: ``JaxEnv``."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from rlparity import State as StateDict
from rlparity import World
from rlparity.errors import UsageError
from rlworldkit.jax.batching import is_one_game, run_rarely
from rlworldkit.jax.int64_pair import Int64Pair
from rlworldkit.jax.marks import Marks
from rlworldkit.jax.threefry import trainer_seeds

if TYPE_CHECKING:
    from flax import linen as nn

# Pytrees of arrays whose structure only the world itself knows.
State = Any
Compact = Any

Encoder = Callable[..., "nn.Module"]
"""``encoder(dtype=…, name=…)`` makes a module that maps observations to the input of the first hidden layer.

That layer is ``nn.Dense`` unless the encoder has an attribute ``first_layer``: a module class with the parameters of
``nn.Dense`` that is called with the encoder's output and whether the samples are sorted by ``JaxEnv.sort_key``.
An attribute ``symmetry``, a `rlworldkit.ppo.symmetry.Symmetry`, turns the observations before the encoder reads them.
"""


class StepOutput(NamedTuple):
    """The result of one step of one game.

    ``final`` is the state before auto-reset replaces an ended game by the next one. It is complete where the episode
    ended; in a game that goes on, only the parts that ``metrics`` and ``info`` read need to be valid.
    """

    state: State  # of the next game where the episode ended and the step resets automatically
    reward: Array  # float32
    components: Array  # (components,), multiples of ``component_unit``
    terminated: Array  # bool
    truncated: Array  # bool; where terminated is also set, nothing is bootstrapped
    final: State
    events: Mapping[str, Array] = {}  # bool


class StepMetrics(NamedTuple):
    """Metrics of a step by name: of ``means`` the trainer reports the mean (of flags: the share), else the maximum."""

    means: Mapping[str, Array] = {}
    maxima: Mapping[str, Array] = {}


class JaxEnv(ABC):
    """A world's JAX engine: one game as pure functions that can be jitted and vmapped.

    The harness rlparity, the environments, the evaluation and the trainer are all made from one such object
    (``rlworldkit.jax.engine.JaxEngine`` plays it as a ``rlparity.BatchEngine``). States carry no float observations:
    rollouts store ``compact`` observations, and ``expand`` makes floats of them inside the policy and the loss.

    Required are ``reset``, ``step``, ``next_game`` and ``observe``; ``seed``, ``to_dict`` and ``from_dict`` for the
    harness and for environments; ``mask`` where actions can be invalid. Everything else has a default.

    ``class Mine(JaxEnv, world=WORLD)`` takes from a ``rlparity.World`` what the class does not state itself: name and
    rules' version, numbers and names of actions, components, events and marks. The class states its prices, as every
    engine does. A class without a world states all of these; the trainer treats it the same.

    Attributes:
        name: name of the world with all its settings; it identifies checkpoints and cached programs.
        rules_version: changes whenever the same seed and actions may give another game; stored in checkpoints.
        num_actions: number of actions.
        observation_shape: shape of one observation.
        low, high: range of the numbers of an observation.
        components: names of the reward components.
        component_unit: reward of one unit of a component.
        prices: prices of the reward, int32 (prices,), in the order of the world's ``rlparity.World`` and in units of
            the components. Compiled programs take them as an argument (``with_prices``); ``step`` reads them from here.
        events: names of the events of a step, in the order of the world's ``rlparity.World``.
        counted_events: events that the trainer counts in each episode; empty: it reports no single episodes.
        marks: names of the rule marks (``rlworldkit.jax.marks``), in the order of the world's ``rlparity.World``.
        phase_names: names of the phases that ``phases`` returns, in the order of a step; empty: it is not implemented.
        can_truncate: whether the world itself truncates episodes.
        levels: number of levels that ``level`` distinguishes, for the curriculum archive and ``--advantage levels``;
            0: none.
        num_privileges: size of the last axis of ``privileges``; 0: there are none.
        packages: Python packages or modules whose sources determine what is computed. If given, traced programs are
            cached on disk (``rlworldkit.jax.trace_cache``).
    """

    name: str
    rules_version: str = "1"
    num_actions: int
    observation_shape: tuple[int, ...]
    low: float = float("-inf")
    high: float = float("inf")
    components: tuple[str, ...] = ()
    component_unit: float = 1.0
    prices: Array | NDArray[np.int32] = np.zeros(0, np.int32)
    events: tuple[str, ...] = ()
    counted_events: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    phase_names: tuple[str, ...] = ()
    can_truncate: bool = False
    levels: int = 0
    num_privileges: int = 0
    packages: tuple[str, ...] = ()

    def __init_subclass__(cls, *, world: World | None = None) -> None:
        super().__init_subclass__()
        if world is None:
            return
        low, high = world.observation_range
        names = {"name": world.name, "rules_version": world.rules_version, "components": world.components}
        sizes = {"num_actions": len(world.actions), "observation_shape": world.observation_shape}
        events = {"events": world.events, "counted_events": world.counted_events, "marks": tuple(world.marks)}
        reward = {"component_unit": world.component_unit, "low": low, "high": high}
        for name, value in {**names, **sizes, **events, **reward}.items():
            if name not in cls.__dict__:
                setattr(cls, name, value)

    def with_prices(self, prices: Array | NDArray[np.int32]) -> Self:
        """Return the world with these prices, int32 (prices,), which may be traced."""
        env = copy(self)
        env.prices = prices
        return env

    @abstractmethod
    def reset(self, seed: Array) -> State:
        """Start a game from ``seed``, uint32 (2,): low and high word."""

    @abstractmethod
    def step(self, state: State, action: Array) -> StepOutput:
        """Play one action (int32) without restarting: ``state`` and ``final`` of the output are the same."""

    @abstractmethod
    def next_game(self, state: State) -> State:
        """Start the game that follows this one by the world's auto-reset rule."""

    @abstractmethod
    def observe(self, state: State) -> Array:
        """The observation, float32 of ``observation_shape``."""

    def seed(self, state: State) -> Array:
        """The seed of the game's random words, uint32 (2,): low and high word. Needed by ``JaxEngine``."""
        raise NotImplementedError

    def mask(self, state: State) -> Array:
        """The valid actions, bool (actions,); by default all."""
        return jnp.ones(self.num_actions, bool)

    def step_autoreset(self, state: State, action: Array, truncate: Array | None = None) -> StepOutput:
        """Play one action and replace a game that ended by the next one.

        ``truncate`` (bool) truncates the episode unless it terminates. Override it where one pass can do both.
        """
        step = self.step(state, action)
        if truncate is not None:
            step = step._replace(truncated=step.truncated | (truncate & ~step.terminated))
        ended = step.terminated | step.truncated
        if is_one_game():
            return step._replace(state=run_rarely(ended, partial(self.next_game, step.final), step.final))
        following = self.next_game(step.final)
        state = jax.tree.map(lambda new, old: jnp.where(ended, new, old), following, step.final)
        return step._replace(state=state)

    def compact(self, state: State) -> Compact:
        """The observation as a small pytree of arrays, as rollouts store it."""
        return self.observe(state)

    def expand(self, compact: Compact) -> Array:
        """Observations, float32 (..., *observation_shape), from compact ones with any leading axes."""
        return compact

    def sort_key(self, compact: Compact) -> Array | None:
        """A key, int32 (...), by which minibatches are sorted for encoders that profit from it; None: unsorted."""
        return None

    def reward(self, components: Array) -> Array:
        """The reward, float32, of components (components,). Override it where exact rounding matters."""
        return components.sum().astype(jnp.float32) * jnp.float32(self.component_unit)

    def to_dict(self, state: State) -> StateDict:
        """The complete state of one game (numpy leaves) as JSON values."""
        raise NotImplementedError

    def from_dict(self, state: StateDict) -> State:
        """The state (numpy leaves) of a ``to_dict``; raises StateRefused if the rules forbid it."""
        raise NotImplementedError

    def arrays(self, state: State) -> Mapping[str, Array | Int64Pair] | None:
        """The complete state for ``rlparity.BatchEngine.state_arrays``; None: the state is available only as a dict."""
        return None

    def facts(self, state: State) -> tuple[Array | Int64Pair, ...]:
        """The facts of the world's ``rlparity.World``, in its order: all of one dtype, or all 64-bit numbers."""
        return ()

    def phases(self, state: State, action: Array) -> Mapping[str, tuple[Array, State, Marks]]:
        """The phases of ``step`` by name: whether each happened (bool), the state after it, and ``words_so_far()``.

        For debuggers. A world that does not record its random words (``EventDraws.note``) has none to list.
        """
        raise NotImplementedError

    def info(self, step: StepOutput) -> dict[str, Array]:
        """The info of a step in a Gymnax-style environment, besides reward and end."""
        return dict(step.events)

    def networks(self) -> Mapping[str, Encoder | None]:
        """The networks of ``--network``: encoders by name, None for the flattened observation."""
        return {"mlp": None}

    def privileges(self, compact: Compact) -> Array | None:
        """Inputs of the critic only, in training (``--privileged-critic``): float32 (..., num_privileges).

        They are computed from compact observations, with any leading axes, which may hold more than ``expand`` shows.
        """
        return None

    def metrics(self, step: StepOutput, action: Array) -> StepMetrics:
        """Metrics of a step besides reward, components, returns and lengths."""
        return StepMetrics()

    def curricula(self) -> Mapping[str, Callable[[Array], State]]:
        """Curricula by name: each makes the first state of a game from a seed, as ``reset`` does."""
        return {}

    def level(self, state: State) -> Array:
        """The level of a game, int32 below ``levels``."""
        return jnp.int32(0)

    def reseed(self, state: State, seed: Array) -> State:
        """The same state with all future draws from ``seed``, uint32 (2,); for search and the curriculum archive.

        Raises UsageError in a world that does not implement it.
        """
        raise UsageError(f"{self.name} cannot be reseeded, which search and the curriculum archive need.")

    def initial_seeds(self, seed: int, num_games: int) -> Array:
        """The seeds, uint32 (num_games, 2), from which a trainer with ``seed`` starts its games."""
        return trainer_seeds(seed, num_games)

    @property
    def observation_size(self) -> int:
        """Number of values of an observation."""
        return math.prod(self.observation_shape)
