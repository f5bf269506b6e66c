"""``bench peers``: environments of others in the loop of this kit."""

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from toy_world.adapter import OrchardJaxEnv

from parity.errors import ParityError
from worldkit.bench import env, peers, timing, train
from worldkit.bench.peers import PEERS, Peer, PeerEnv
from worldkit.bench.timing import Program
from worldkit.jaxkit.env import JaxEnv
from worldkit.purejaxrl.config import TrainConfig
from worldkit.purejaxrl.update import init_runner, make_train

CONFIG = TrainConfig(num_envs=4, num_steps=8, hidden_dim=8, num_layers=1)
LENGTH = 3


def counting(name: str = "counting") -> PeerEnv:
    """Shows the number of steps played as a board, and ends and restarts after the third, which earns 1."""

    def shown(played: jax.Array) -> jax.Array:
        return jnp.full((2, 2), played, jnp.uint8)

    def reset(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.int32(0), shown(jnp.int32(0))

    def step(key: jax.Array, played: jax.Array, action: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
        done = played + 1 == LENGTH
        after = jnp.where(done, 0, played + 1)
        return after, shown(after), done.astype(jnp.int32), done

    return PeerEnv(name, 2, reset, step, lambda played: jnp.array([True, False]))


def missing(name: str) -> PeerEnv:
    raise ModuleNotFoundError("No module named 'chess'", name="chess")


def broken(name: str) -> PeerEnv:
    raise AttributeError("module 'jax' has no attribute 'sharp_bits'\nand more")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Programs that do nothing, and the worlds that they were asked for."""
    asked: list[str] = []

    def compiled(kind: str) -> Callable[[JaxEnv, Any], Program[int]]:
        def make(world: JaxEnv, how: object) -> Program[int]:
            asked.append(f"{kind} {world.name}")
            return Program(lambda carry: carry, 0, 1.0, 2.0, 3)

        return make

    monkeypatch.setattr(timing, "SECONDS_PER_SAMPLE", 1e-5)
    monkeypatch.setattr(env, "compiled", compiled("env"))
    monkeypatch.setattr(train, "compiled", compiled("train"))
    return asked


def test_a_peer_is_played_as_it_plays_and_restarts_by_itself() -> None:
    peer = counting()
    state = peer.reset(jnp.array([5, 0], jnp.uint32))
    ended, rewards, shown = [], [], [np.asarray(peer.observe(state))]
    for _ in range(LENGTH + 1):
        step = peer.step(state, jnp.int32(0))
        state = step.state
        ended.append(bool(step.terminated))
        rewards.append(float(step.reward))
        shown.append(np.asarray(peer.observe(state)))
    assert ended == [False, False, True, False]
    assert rewards == [0.0, 0.0, 1.0, 0.0]
    np.testing.assert_array_equal(shown, np.array([[0] * 4, [1] * 4, [2] * 4, [0] * 4, [1] * 4], np.float32))
    assert shown[0].dtype == np.float32
    assert peer.mask(state).tolist() == [True, False]


def test_every_step_of_a_peer_draws_from_a_key_of_its_own() -> None:
    peer = counting()
    first = peer.reset(jnp.array([5, 0], jnp.uint32))
    second = peer.step(first, jnp.int32(0)).state
    assert not (jax.random.key_data(first.key) == jax.random.key_data(second.key)).all()


def test_the_trainer_takes_a_peer() -> None:
    peer = counting()
    runner = jax.eval_shape(lambda: init_runner(CONFIG, peer))
    after, stats = jax.eval_shape(make_train(CONFIG, peer), runner, jnp.int32(1))
    assert jax.tree.map(jnp.shape, after) == jax.tree.map(jnp.shape, runner)
    assert stats.rollout.component_sums.shape == (CONFIG.log_interval, 0)


def test_each_peer_is_measured_beside_this_world_which_is_compiled_once(
    at_once: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    played, trained = Peer("a", "games", "A", counting), Peer("b", "games", "B", counting, is_trained=True)
    monkeypatch.setattr(peers, "PEERS", (played, trained))
    records = list(peers.measure(OrchardJaxEnv(), CONFIG, 2))
    assert [record.name for record in records] == [
        name.format(what, peer)
        for what, peer in (("env", "a"), ("env", "b"), ("train", "b"))
        for name in ("{}_steps_per_second_beside_{}", "{}_steps_per_second_of_{}", "{}_share_of_{}")
    ]
    assert at_once == ["env A", "env orchard", "env B", "train B", "train orchard"]


def test_what_is_missing_or_does_not_suit_this_jax_is_left_out_with_a_sentence(
    at_once: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = (missing, broken, counting)
    monkeypatch.setattr(peers, "PEERS", [Peer(which.__name__, "games", "A game", which) for which in opened])
    assert len(list(peers.measure(OrchardJaxEnv(), CONFIG, 1))) == 3
    assert capsys.readouterr().err.splitlines() == [
        "leaving out A game of games: it needs chess, which is not installed.",
        "leaving out A game of games: AttributeError: module 'jax' has no attribute 'sharp_bits'",
    ]


def test_without_any_peer_there_is_nothing_to_measure(at_once: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "PEERS", [Peer("a", "games", "A game", missing)])
    with pytest.raises(ParityError, match=r"There is no peer to measure: install games\."):
        list(peers.measure(OrchardJaxEnv(), CONFIG, 1))


@pytest.mark.long
@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_the_peers_are_played_and_trained(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec(peer.package) is None:
        pytest.skip(f"{peer.package} is not installed.")
    monkeypatch.setattr(peers, "PEERS", (replace(peer),))
    records = list(peers.measure(OrchardJaxEnv(), CONFIG, 1))
    assert len(records) == (6 if peer.is_trained else 3)
    assert all(record.value > 0 for record in records)
