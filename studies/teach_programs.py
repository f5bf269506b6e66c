"""Teach a trained agent to siphon some programs wherever they come within reach, and to play on as it did.

    python studies/teach_programs.py PARAMS TAUGHT --programs COL,ROW [--total-timesteps N] [--seed N]

The agent plays, with what it has learned so far. Of every step it is told what it did before, and to siphon where the
cross (S1) holds a program of these that it does not own. TAUGHT, a params_*.npz file, is what ``hackmatrix train
--init-from`` goes on with: whether this pays is for the training to find out.
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped]
from jax import Array
from shared.programs import new_within_reach, programs_of, wanted_of

from hackmatrix.jax_env import State
from hackmatrix.jax_training import HackMatrixJaxEnv
from hackmatrix.rules import SIPHON
from hackmatrix.world import WORLD
from parity.arguments import ALL_STEPS, SEED, Parser
from parity.errors import ParityError
from rlworldkit.cli.outputs import fail
from rlworldkit.jax.xla import enable_compilation_cache
from rlworldkit.ppo.networks import ActorCritic, load_network
from rlworldkit.ppo.params import Params, save_params
from rlworldkit.ppo.value_heads import symlog

GAMES, STEPS, MINIBATCHES = 256, 64, 16
LEARNING_RATE = 3e-4
INSISTENCE = 0.9
"""The probability of the siphon that is taught; 1 would leave nothing to try afterwards."""


class Lesson(NamedTuple):
    """Training samples: observations, masks, and targets of policy and value."""

    seen: Array  # compact observations
    mask: Array  # bool (..., 28)
    policy: Array  # float32 (..., 28), probabilities
    value: Array  # float32 (...)


class Lessons:
    """Compiled functions of a training that begins with ``params``."""

    def __init__(self, network: ActorCritic, params: Params, wanted: Array) -> None:
        self.env = HackMatrixJaxEnv()
        self.network, self.before, self.wanted = network, params, wanted
        self.optimizer = optax.adam(LEARNING_RATE)

    def played(self, params: Params, games: State, key: Array) -> tuple[State, Lesson]:
        """``STEPS`` steps of all games, and a lesson of each, (steps, games)."""

        def step(games: State, key: Array) -> tuple[State, Lesson]:
            lesson = self.lesson_of(games)
            logits, _ = self.judged(params, self.env.expand(lesson.seen))
            actions = jax.random.categorical(key, jnp.where(lesson.mask, logits, -jnp.inf)).astype(jnp.int32)
            return jax.vmap(self.env.step_autoreset)(games, actions).state, lesson

        return jax.lax.scan(step, games, jax.random.split(key, STEPS))

    def judged(self, params: Params, observations: Array) -> tuple[Array, Array]:
        """Logits, (n, 28), and values, (n,), of observations (n, 1545)."""
        judged: Any = self.network.apply(params, observations)
        return judged[0], judged[1]

    def lesson_of(self, games: State) -> Lesson:
        """Target probabilities: the agent's own, and the siphon where it gives a wanted program."""
        seen, mask = jax.vmap(self.env.compact)(games), jax.vmap(self.env.mask)(games)
        observations = self.env.expand(seen)
        logits, value = self.judged(self.before, observations)
        policy = jax.nn.softmax(jnp.where(mask, logits, -jnp.inf))
        siphons = mask[:, SIPHON] & (new_within_reach(observations) & self.wanted).any(axis=1)
        insisting = INSISTENCE * jax.nn.one_hot(SIPHON, mask.shape[1]) + (1 - INSISTENCE) * policy
        return Lesson(seen, mask, jnp.where(siphons[:, None], insisting, policy), value)

    def loss(self, params: Params, lesson: Lesson) -> Array:
        """Cross-entropy of the policy, and the squared error of the value's symmetric logarithm."""
        logits, value = self.judged(params, self.env.expand(lesson.seen))
        log_policy = jax.nn.log_softmax(jnp.where(lesson.mask, logits, -1e9))
        wrong = jnp.square(symlog(value, jnp) - symlog(lesson.value, jnp))
        return (wrong - (lesson.policy * log_policy).sum(axis=-1)).mean()

    def learned(
        self, params: Params, memory: optax.OptState, lessons: Lesson, key: Array
    ) -> tuple[Params, optax.OptState, Array]:
        """One epoch over the samples in ``MINIBATCHES`` minibatches; returns the mean loss."""
        order = jax.random.permutation(key, GAMES * STEPS).reshape(MINIBATCHES, -1)
        flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), lessons)

        def step(carry: tuple[Params, optax.OptState], part: Array) -> tuple[tuple[Params, optax.OptState], Array]:
            params, memory = carry
            loss, slope = jax.value_and_grad(self.loss)(params, jax.tree.map(lambda leaf: leaf[part], flat))
            change, memory = self.optimizer.update(slope, memory, params)
            return (optax.apply_updates(params, change), memory), loss

        (params, memory), losses = jax.lax.scan(step, (params, memory), order)
        return params, memory, losses.mean()


def main() -> None:
    """Train, print the progress, and write the parameters."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("params", type=Path, help="a params_*.npz file, or an agent that comes with the game")
    parser.add_argument("taught", type=Path, help="the file to write")
    parser.add_argument("--programs", type=programs_of, required=True, help="what to go for, with commas between")
    parser.add_argument("--total-timesteps", type=ALL_STEPS, default=2_000_000)
    parser.add_argument("--seed", type=SEED, default=0)
    args = parser.parse_args()
    enable_compilation_cache("hackmatrix")
    try:
        params = teach(WORLD.agent_at(args.params), args.programs, args.total_timesteps, args.seed)
    except ParityError as error:
        fail(error)
    save_params(args.taught, params)


def teach(path: Path, names: list[str], timesteps: int, seed: int) -> Params:
    """The parameters after so many steps of all games."""
    network, before = load_network(path, HackMatrixJaxEnv())
    lessons = Lessons(network, before, jnp.asarray(wanted_of(names)))
    env, key = lessons.env, jax.random.key(seed)
    games = jax.jit(jax.vmap(env.reset))(env.initial_seeds(seed, GAMES))
    played, learned = jax.jit(lessons.played), jax.jit(lessons.learned)
    params, memory = before, lessons.optimizer.init(before)
    rounds = max(1, timesteps // (GAMES * STEPS))
    for number in range(rounds):
        to_play, to_learn = jax.random.split(jax.random.fold_in(key, number))
        games, lesson = played(params, games, to_play)
        params, memory, loss = learned(params, memory, lesson, to_learn)
        if (number + 1) % 10 == 0 or number + 1 == rounds:
            print(f"{(number + 1) * GAMES * STEPS:,} steps  loss {loss:.4f}", flush=True)
    return params


if __name__ == "__main__":
    main()
