"""Arguments of an environment, from a policy or a person: taken for what they mean, or refused in one sentence."""

import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from orchard import WORLD
from orchard.plain import PlainEngine

from rlparity import BatchStep, UsageError
from rlworldkit.envs.gym_env import WorldEnv
from rlworldkit.envs.sb3_vec_env import WorldVecEnv
from rlworldkit.envs.vector_env import WorldVectorEnv
from tests.rlworldkit.side_by_side import played_alike

GAMES, REST = 3, WORLD.actions.index("rest")
NO_ACTIONS: list[Any] = [None, "5", float("nan"), float("inf"), 1.5, -1, 6, 10**30, 1j, frozenset(), [], {}]
NO_ACTIONS += [[REST, None]]


@contextmanager
def refused_in_one_sentence(*parts: str) -> Iterator[None]:
    with pytest.raises(UsageError) as caught:
        yield
    said = str(caught.value)
    assert said.endswith(".")
    assert "\n" not in said
    assert all(part in said for part in parts), said


@pytest.mark.parametrize("action", NO_ACTIONS, ids=repr)
def test_environments_say_what_an_action_is(action: Any) -> None:  # noqa: ANN401 - anything but an action
    env = WorldEnv(WORLD)
    env.reset(seed=0)
    with refused_in_one_sentence("an action is a whole number from 0 to 5, not "):
        env.step(action)
    env.step(REST)
    wrongs: list[Any] = [action, [REST, action, REST], np.array([REST, action, REST], dtype=object)]
    for many in (WorldVectorEnv(WORLD, GAMES), WorldVecEnv(WORLD, GAMES)):
        many.reset()
        for wrong in wrongs:
            with refused_in_one_sentence("one action for each of 3 games, a whole number from 0 to 5"):
                many.step(wrong)
        many.step(np.full(GAMES, REST))


def test_a_state_may_hold_numpy_s_numbers_lists_and_flags() -> None:
    env = WorldEnv(WORLD)
    env.reset(seed=7)
    state = env.get_state()
    in_numpy: dict[str, Any] = {name: np.int64(state[name]) for name in ("walker", "wasp", "hp", "score", "turn")}
    in_numpy["seed"] = np.uint64(state["seed"])
    in_numpy["apples"] = tuple({name: np.uint8(value) for name, value in apple.items()} for apple in state["apples"])
    env.reset(seed=8)
    env.reset(options={"state": in_numpy})
    assert env.get_state() == state
    assert all(type(value) is int for name, value in env.get_state().items() if name != "apples")


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (5, "a state is a dict of JSON values, as get_state gives it, but state is of type int"),
        ([], "a state is a dict of JSON values, as get_state gives it, but state is of type list"),
        ({"seed": {1, 2}}, "state.seed is of type set"),
        ({"apples": [{"cell": 1j}]}, "state.apples[0].cell is of type complex"),
        ({1: 2}, "state.1 has a name of type int"),
    ],
)
def test_what_is_no_state_is_named(state: Any, sentence: str) -> None:  # noqa: ANN401 - anything but a state
    env = WorldEnv(WORLD)
    env.reset(seed=0)
    with refused_in_one_sentence(sentence):
        env.reset(options={"state": state})
    env.step(REST)


class _SlowEngine(PlainEngine):
    """Waits in its step until it may go on."""

    stepping, may_go_on = threading.Event(), threading.Event()

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        self.stepping.set()
        assert self.may_go_on.wait(30)
        return super().step(actions)


def test_a_second_thread_is_told_that_the_first_is_playing() -> None:
    slow = replace(WORLD, engines={"slow": _SlowEngine})
    env = WorldVectorEnv(slow, GAMES)
    env.reset(seed=0)
    player = threading.Thread(target=lambda: env.step([REST] * GAMES))
    player.start()
    assert _SlowEngine.stepping.wait(30)
    for interfere in (lambda: env.step([REST] * GAMES), env.reset, env.get_states):
        with refused_in_one_sentence("another thread is playing in this environment: give each thread its own"):
            interfere()
    _SlowEngine.may_go_on.set()
    player.join()
    assert [state["turn"] for state in env.get_states()] == [1] * GAMES


def test_threads_may_take_turns_but_not_disturb_a_step_that_another_began() -> None:
    def in_a_thread(call: Callable[[], object]) -> None:
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()

    env = WorldVectorEnv(WORLD, GAMES)
    in_a_thread(lambda: env.reset(seed=0))
    in_a_thread(lambda: env.step([REST] * GAMES))
    assert [state["turn"] for state in env.get_states()] == [1] * GAMES
    assert pickle.loads(pickle.dumps(env)).get_states() == env.get_states()
    in_a_thread(lambda: env.step_async([REST] * GAMES))
    with refused_in_one_sentence("another thread is playing in this environment"):
        env.step_async([REST] * GAMES)


LIMIT, STEPS = 4, 150
HERE = "Orchard-v0"
"""Names its module, so that the processes of an AsyncVectorEnv find it too."""


@pytest.mark.parametrize("reset", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("mode", ["sync", pytest.param("async", marks=pytest.mark.long)])
def test_games_end_at_the_limit_before_it_and_by_both_in_any_vector_environment(mode: Any, reset: Any) -> None:  # noqa: ANN401
    native = gym.make_vec(HERE, 2 * GAMES, "vector_entry_point", max_episode_steps=LIMIT, autoreset_mode=reset)
    others = gym.make_vec(HERE, 2 * GAMES, mode, vector_kwargs={"autoreset_mode": reset}, max_episode_steps=LIMIT)
    steps = list(played_alike(native, others, STEPS))
    flags = {pair for _, _, terminated, truncated, _ in steps for pair in zip(terminated, truncated, strict=True)}
    assert flags == {(False, False), (True, False), (False, True), (True, True)}


def test_the_limit_is_that_of_the_innermost_gym_make_and_of_no_other_call() -> None:
    def steps_until_truncated(env: Any) -> int | None:  # noqa: ANN401 - with or without wrappers
        _, info = env.reset(seed=0)
        for step in range(1, 4):
            _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            assert not terminated
            assert ("episode_stats" in info) == truncated
            if truncated:
                return step
        return None

    assert steps_until_truncated(gym.make(HERE, max_episode_steps=2)) == 2
    assert steps_until_truncated(gym.make(HERE)) is None
    assert steps_until_truncated(gym.make(HERE, max_episode_steps=-1)) is None
    assert steps_until_truncated(WorldEnv(WORLD)) is None
    assert steps_until_truncated(WorldEnv(WORLD, max_episode_steps=3)) == 3
    registered = gym.spec("Orchard-v0")
    registered.max_episode_steps = 1
    try:
        assert steps_until_truncated(gym.make(HERE)) == 1
        assert steps_until_truncated(gym.make(HERE, max_episode_steps=2)) == 2
    finally:
        registered.max_episode_steps = None


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: WorldEnv(WORLD, max_episode_steps=0),
            "max_episode_steps must be at least 1, not 0; leave it out",
        ),
        (lambda: WorldEnv(WORLD, "teletext"), "no render mode 'teletext': choose one of ansi, rgb_array, human"),
        (lambda: WorldEnv(WORLD, engine="torch"), "no engine 'torch': choose plain or jax or planes"),
        (lambda: WorldEnv(WORLD).reset(seed=-1), "a seed is a whole number from 0 to 2**64"),
        (lambda: WorldEnv(WORLD).reset(seed=1 << 64), ", not 18446744073709551616."),
        (lambda: WorldVectorEnv(WORLD, 0), "at least one game"),
        (lambda: WorldVectorEnv(WORLD, 2, autoreset_mode="Never"), "no autoreset mode 'Never'"),
        (lambda: WorldVectorEnv(WORLD, 2).reset(seed=[1, 2, 3]), "one seed for each of 2 games, not 3"),
        (lambda: WorldVectorEnv(WORLD, 2).reset(options={"reset_mask": [True, False]}), "must be a bool array"),
    ],
)
def test_mistakes_are_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with refused_in_one_sentence(sentence):
        call()


def test_every_environment_draws_from_spaces_of_its_own() -> None:
    one, other = WorldEnv(WORLD), WorldEnv(WORLD)
    one.action_space.seed(5)
    other.action_space.seed(5)
    assert [one.action_space.sample() for _ in range(20)] == [other.action_space.sample() for _ in range(20)]
