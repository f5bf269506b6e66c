"""The script that teaches an agent to siphon programs: what it insists on is learned, the rest stays as it was."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import teach_programs
from teach_programs import INSISTENCE, Lesson, Lessons

from hackmatrix.jax_training import HackMatrixJaxEnv
from hackmatrix.networks import NETWORKS
from hackmatrix.rules import NUM_PROGRAMS, OBSERVATION_SIZE, SIPHON
from hackmatrix.train_config import CENTRED
from worldkit.purejaxrl.networks import make_network


def test_a_taught_agent_siphons_what_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"GAMES": 32, "STEPS": 16, "MINIBATCHES": 4, "LEARNING_RATE": 1e-2}.items():
        monkeypatch.setattr(teach_programs, name, value)
    env = HackMatrixJaxEnv()
    network = make_network(CENTRED, NETWORKS[CENTRED], env.num_actions, 32, 1)
    params = network.init(jax.random.key(0), jnp.zeros((1, OBSERVATION_SIZE)))
    lessons = Lessons(network, params, jnp.ones(NUM_PROGRAMS, bool))
    games = jax.vmap(env.reset)(env.initial_seeds(0, 32))
    played, learned = jax.jit(lessons.played), jax.jit(lessons.learned)
    memory = lessons.optimizer.init(params)

    def siphons(lesson: Lesson) -> tuple[float, float]:
        """How likely the agent is to siphon where it is told to, and elsewhere where it can."""
        logits, _ = lessons.judged(params, env.expand(lesson.seen).reshape(-1, OBSERVATION_SIZE))
        mask, told = (leaf.reshape(len(logits), -1) for leaf in (lesson.mask, lesson.policy))
        likely = jax.nn.softmax(jnp.where(mask, logits, -jnp.inf))[:, SIPHON]
        is_told = told[:, SIPHON] >= INSISTENCE
        return likely[is_told].mean().item(), likely[~is_told & mask[:, SIPHON]].mean().item()

    _, lesson = played(params, games, jax.random.key(1))
    told_before, elsewhere_before = siphons(lesson)
    for number in range(60):
        params, memory, loss = learned(params, memory, lesson, jax.random.key(number))
    assert np.isfinite(loss)
    told, elsewhere = siphons(lesson)
    assert told_before < 0.5
    assert told > 0.75
    assert elsewhere == pytest.approx(elsewhere_before, abs=0.1)
