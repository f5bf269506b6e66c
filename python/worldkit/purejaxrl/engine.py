"""A ``TrainEnv`` as the harness and the environments play it: ``TrainEnvGames``, for ``worldkit.jaxkit.engine``."""

from abc import abstractmethod
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import Array

from worldkit.jaxkit.batching import choose
from worldkit.jaxkit.engine import Fired, JaxGames, Shown, Stepped
from worldkit.purejaxrl.train_env import State, TrainEnv, TrainStep


class TrainEnvGames(JaxGames):
    """The games of ``env``. A world adds where the seed of a state is, and how a state becomes a dict and back.

    ``events`` are those of a step, in the order in which the world's ``parity.World`` names them.
    """

    def __init__(self, env: TrainEnv, events: Sequence[str] = ()) -> None:
        self._env, self._events = env, tuple(events)

    @abstractmethod
    def seed_of(self, state: State) -> Array:
        """The seed, uint32 (2,), low word first, from which one game draws."""

    def blank(self, games: int) -> State:
        one = jax.eval_shape(self._env.reset, jnp.zeros(2, jnp.uint32))
        return jax.tree.map(lambda leaf: jnp.zeros((games, *leaf.shape), leaf.dtype), one)

    def reset(self, state: State, seeds: Array, wanted: Array) -> tuple[State, Fired]:
        return choose(wanted, jax.vmap(self._env.reset)(seeds), state), None

    def restart(self, state: State, wanted: Array) -> tuple[State, Fired]:
        return choose(wanted, jax.vmap(self._env.restart)(state), state), None

    def step(self, state: State, actions: Array) -> tuple[State, Stepped, Fired]:
        step: TrainStep = jax.vmap(self._env.play)(state, actions)
        return step.final, self._told(step), None

    def step_restarting(self, state: State, actions: Array) -> tuple[State, Stepped, Fired]:
        step: TrainStep = jax.vmap(self._env.step)(state, actions)
        return step.state, self._told(step), None

    def show(self, state: State) -> tuple[Shown, Fired]:
        env = self._env
        return Shown(jax.vmap(env.observe)(state), jax.vmap(env.mask)(state), jax.vmap(self.seed_of)(state)), None

    def _told(self, step: TrainStep) -> Stepped:
        truncated = step.truncated if self._env.can_truncate else None
        bits = [step.events[name].astype(jnp.uint32) << bit for bit, name in enumerate(self._events)]
        events = sum(bits, start=jnp.uint32(0)) if bits else None
        return Stepped(step.components, step.reward, step.terminated, truncated, None, events)
