"""Vector environments: the native one gives what Gymnasium's own give, on either engine."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from hackmatrix.gym_env import HackMatrixEnv, HackMatrixVectorEnv
from rlparity.errors import UsageError
from tests.played import assert_same, choose

GAMES = 5
"""As wide for the JAX engine as one game, for which other tests have compiled it."""
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]
VectorEnv = gym.vector.VectorEnv[Any, Any, Any]


def play(left: VectorEnv, right: VectorEnv, steps: int, wrong: float = 0.02) -> int:
    """Play the same games in both and compare all they say; returns how many ended."""
    rng = np.random.default_rng(3)
    said, heard = left.reset(seed=11), right.reset(seed=11)
    assert_same(list(said), list(heard))
    mask, ended = said[1]["action_mask"], 0
    for _ in range(steps):
        actions = choose(mask, rng, wrong)
        said_now, heard_now = left.step(actions), right.step(actions)
        for one, other in zip(said_now, heard_now, strict=True):
            assert_same(one, other)
        mask = said_now[4]["action_mask"]
        ended += int((said_now[2] | said_now[3]).sum())
    return ended


@pytest.mark.parametrize("mode", MODES)
def test_the_native_one_equals_gymnasiums_own(swift_built: None, mode: AutoresetMode) -> None:
    native = HackMatrixVectorEnv(GAMES, autoreset_mode=mode)
    own = SyncVectorEnv([HackMatrixEnv] * GAMES, autoreset_mode=mode)
    assert native.metadata["autoreset_mode"] == own.metadata["autoreset_mode"]
    assert native.observation_space == own.observation_space
    assert native.action_space == own.action_space
    assert play(native, own, 150) > 15
    for made in (native, own):
        made.close()


def test_the_native_one_is_the_same_on_the_jax_engine(swift_built: None) -> None:
    envs = [
        HackMatrixVectorEnv(GAMES, autoreset_mode=AutoresetMode.SAME_STEP, engine=name) for name in ("swift", "jax")
    ]
    assert play(envs[0], envs[1], 150) > 15
    for made in envs:
        made.close()


def test_games_that_wait_for_their_reset(swift_built: None) -> None:
    env = HackMatrixVectorEnv(3, autoreset_mode=AutoresetMode.DISABLED)
    _, infos = env.reset(seed=[1, 2, 3])
    actions = infos["action_mask"].argmax(axis=1)
    actions[1] = int(infos["action_mask"][1].argmin())
    _, _, terminated, _, infos = env.step(actions)
    assert terminated.tolist() == [False, True, False]
    with pytest.raises(UsageError, match=r"games \[1\] have ended"):
        env.step(actions)
    before = infos["seed"]
    seen = env.get_states()
    _, infos = env.reset(options={"reset_mask": terminated})
    assert infos["_seed"].tolist() == [False, True, False]
    after = env.get_states()
    assert after[1]["seed"] not in before.tolist()
    assert (after[0], after[2]) == (seen[0], seen[2])
    env.step(env.action_masks().argmax(axis=1))
    env.close()


def test_what_was_handed_out_stays_as_it_was(swift_built: None) -> None:
    env = HackMatrixVectorEnv(2)
    first, infos = env.reset(seed=0)
    kept = {name: part.copy() for name, part in first.items()}
    mask = infos["action_mask"].copy()
    env.step(mask.argmax(axis=1))
    env.reset(options={"reset_mask": np.array([True, False])})
    assert_same(dict(first), kept)
    np.testing.assert_array_equal(infos["action_mask"], mask)
    env.close()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: HackMatrixVectorEnv(0), "at least one game"),
        (lambda: HackMatrixVectorEnv(2, autoreset_mode="Never"), "no autoreset mode 'Never'"),
        (lambda: HackMatrixVectorEnv(2).reset(seed=[1, 2, 3]), "one seed for each of 2 games, not 3"),
        (lambda: HackMatrixVectorEnv(2).reset(options={"reset_mask": [True, False]}), "must be a bool array"),
    ],
)
def test_mistakes_are_one_sentence(swift_built: None, call: Any, sentence: str) -> None:  # noqa: ANN401
    with pytest.raises(UsageError, match=sentence):
        call()
