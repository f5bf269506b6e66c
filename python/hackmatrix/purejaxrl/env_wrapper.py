"""The JAX engine as a Gymnax-style environment with auto-reset and an optional time limit (C4, R6).

All methods work on one game; batch them with ``jax.vmap``. States carry the game, never float
observations: what a caller does not use of a step, XLA removes.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh

from hackmatrix import jax_env
from hackmatrix.purejaxrl import parallel
from parity.errors import UsageError

# Pytrees of arrays whose inside is the engine's own affair.
GameState = Any
StepResult = Any
CompactObservation = Any


class Engine(Protocol):
    """What the wrapper needs of an engine, for one game; the module ``hackmatrix.jax_env`` is one."""

    @property
    def NUM_ACTIONS(self) -> int:
        """28."""

    @property
    def OBSERVATION_SIZE(self) -> int:
        """1545."""

    @property
    def REWARD_NAMES(self) -> Sequence[str]:
        """The components in the order of table W."""

    def reset(self, seed: Array, /) -> GameState:
        """A new game from a seed, uint32 (2,)."""

    def step_auto_reset(
        self, state: GameState, action: Array, truncate: Array | None = None, /
    ) -> tuple[GameState, StepResult, GameState]:
        """The next state, what the step gave, and the state before a finished game was replaced."""

    def mask(self, state: GameState, /) -> Array:
        """The valid actions, bool (28,)."""

    def observe(self, state: GameState, /) -> Array:
        """The observation, float32 (1545,)."""

    def compact(self, state: GameState, /) -> CompactObservation:
        """The observation's values in few words."""

    def expand(self, compact_obs: CompactObservation, /) -> Array:
        """The observation from those words, with any leading axes."""

    def reward(self, components: Array, /) -> Array:
        """The float reward of components, int32 (15,)."""

    def trainer_seeds(self, seed: Array, num_games: int, /) -> Array:
        """The seeds of a trainer's games, uint32 (games, 2)."""

    def seed_pair(self, seed: int, /) -> np.ndarray:
        """A 64-bit seed as uint32 (2,)."""


class EnvParams(NamedTuple):
    """Parameters of the environment in Gymnax's sense: the game has none."""


class EnvState(NamedTuple):
    """One game in progress: the engine's state and the steps played in this episode (int32)."""

    game: GameState
    steps: Array


class StepOutcome(NamedTuple):
    """What a step did, before an auto-reset replaced the game where it ended.

    ``final_game`` is complete where the episode ended. In a game that goes on, ``final_game.now``
    holds the facts after the step (stage, score, hp), but a stage just reached is only in ``state``.
    """

    state: EnvState
    reward: Array  # float32
    components: Array  # int32 (15,), thousandths (W)
    terminated: Array  # bool (C4)
    truncated: Array  # bool; never together with terminated
    episode_steps: Array  # int32, this one included
    final_game: GameState
    events: dict[str, Array]  # bool: stage_complete, death, victory, invalid_action


class HackMatrixGymnax:
    """HackMatrix with Gymnax's interface: ``reset``, ``step`` and ``get_action_mask``.

    ``max_steps`` truncates an episode after that many steps; None never does, and costs nothing.
    A finished episode is replaced at once by a new game whose seed follows from the old one (R6).
    ``mesh`` is where ``over_games`` splits the games; None: one device has them all.
    """

    def __init__(self, max_steps: int | None = None, engine: Engine = jax_env, mesh: Mesh | None = None) -> None:
        if max_steps is not None and max_steps < 1:
            raise UsageError(f"max_steps must be at least 1, got {max_steps}; leave it out for no limit.")
        self.max_steps = max_steps
        self.mesh = mesh
        self._engine = engine

    def over_games(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method of one game over all games, each device playing its own."""
        return parallel.over_games(method, self.mesh)

    @property
    def default_params(self) -> EnvParams:
        """The (empty) parameters that ``reset`` and ``step`` take."""
        return EnvParams()

    @property
    def reward_names(self) -> tuple[str, ...]:
        """The 15 reward components, in the order of table W."""
        return tuple(self._engine.REWARD_NAMES)

    @property
    def num_actions(self) -> int:
        """28 (M)."""
        return self._engine.NUM_ACTIONS

    @property
    def observation_size(self) -> int:
        """1545 (O)."""
        return self._engine.OBSERVATION_SIZE

    def reset(self, key: Array, params: EnvParams | None = None) -> tuple[Array, EnvState]:
        """Start a game whose seed is drawn from ``key``; returns (float32 (1545,), state)."""
        state = self.reset_from_seed(jax.random.bits(key, (2,), jnp.uint32))
        return self.observe(state), state

    def reset_from_seed(self, seed: Array) -> EnvState:
        """Start the game of ``seed``, uint32 (2,): low and high word (R1)."""
        return EnvState(self._engine.reset(seed), jnp.int32(0))

    def initial_seeds(self, seed: int, num_games: int) -> Array:
        """The seeds, uint32 (num_games, 2), from which a trainer with ``seed`` starts its games (R6)."""
        return self._engine.trainer_seeds(jnp.asarray(self._engine.seed_pair(seed)), num_games)

    def step(
        self, key: Array, state: EnvState, action: Array, params: EnvParams | None = None
    ) -> tuple[Array, EnvState, Array, Array, dict[str, Any]]:
        """Play one action; returns (obs, state, reward, done, info), auto-reset included.

        ``key`` is unused: the game draws from its own seed (R1). ``obs`` and ``state`` are those of
        the next game where the episode ended. ``info`` speaks of the step itself:
        ``reward_breakdown`` (15 float32 by name, reward units), ``stage``, ``score``, ``hp``,
        ``terminated``, ``truncated``, ``stage_complete``, ``death``, ``victory``,
        ``invalid_action``, and ``terminal_observation``, float32 (1545,): what the episode itself
        shows after the action, which is ``obs`` unless the episode ended.
        """
        outcome = self.step_compact(state, action)
        now = outcome.final_game.now
        components = jax.vmap(self._engine.reward)(jnp.diag(outcome.components))
        done = outcome.terminated | outcome.truncated
        obs = self.observe(outcome.state)
        info = {
            "reward_breakdown": dict(zip(self.reward_names, components, strict=True)),
            "stage": now.stage,
            "score": now.score,
            "hp": now.hp,
            "terminated": outcome.terminated,
            "truncated": outcome.truncated,
            "terminal_observation": jnp.where(done, self._engine.observe(outcome.final_game), obs),
            **outcome.events,
        }
        return obs, outcome.state, outcome.reward, done, info

    def step_compact(self, state: EnvState, action: Array) -> StepOutcome:
        """Play one action as ``step`` does, without observing anything."""
        steps = state.steps + 1
        at_limit = None if self.max_steps is None else steps >= self.max_steps
        game, result, final_game = self._engine.step_auto_reset(state.game, action, at_limit)
        terminated = result.terminated
        truncated = jnp.zeros_like(terminated) if at_limit is None else at_limit & ~terminated
        return StepOutcome(
            state=EnvState(game, jnp.where(terminated | truncated, 0, steps)),
            reward=self._engine.reward(result.components),
            components=result.components,
            terminated=terminated,
            truncated=truncated,
            episode_steps=steps,
            final_game=final_game,
            events={
                "stage_complete": result.stage_complete,
                "death": result.death,
                "victory": result.victory,
                "invalid_action": result.invalid_action,
            },
        )

    def get_action_mask(self, state: EnvState) -> Array:
        """The valid actions (M), bool (28,)."""
        return self._engine.mask(state.game)

    def observe(self, state: EnvState) -> Array:
        """The observation (O), float32 (1545,)."""
        return self._engine.observe(state.game)

    def compact(self, state: EnvState) -> CompactObservation:
        """The observation's values as a small pytree of integers; ``expand`` gives them back."""
        return self.compact_game(state.game)

    def compact_game(self, game: GameState) -> CompactObservation:
        """``compact`` of a bare engine state, such as ``StepOutcome.final_game``."""
        return self._engine.compact(game)

    def expand(self, compact_obs: CompactObservation) -> Array:
        """Float32 (..., 1545) of compact observations with any leading axes."""
        return self._engine.expand(compact_obs)
