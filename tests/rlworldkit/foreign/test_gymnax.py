"""Gymnax's interface of a world, as the installed gymnax's own environment, and to trainers written for it."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnax.environments import environment, spaces
from gymnax.wrappers.purerl import LogEnvState, LogWrapper
from jax import Array
from orchard import WORLD as ORCHARD
from orchard.env import OrchardJaxEnv
from orchard.in_jax import PICK, REST, Orchard

from rlparity.errors import UsageError
from rlworldkit.envs.gymnax_adapter import GymnaxAdapter
from rlworldkit.envs.gymnax_style import EnvState, GymnaxStyle
from rlworldkit.envs.vector_env import WorldVectorEnv
from rlworldkit.jax.env import JaxEnv, StepOutput
from tests.rlworldkit.foreign.purejaxrl_ppo import CONFIG, make_train

WORLD = OrchardJaxEnv()
NUM_GAMES = 32
NUM_STEPS = 30
LIMIT = 5


class Played(NamedTuple):
    """A batch of games played at random; leaves have leading axes (steps, games)."""

    action: Array
    obs: Array
    reward: Array
    done: Array
    info: dict[str, Any]


def play(max_steps: int | None) -> Played:
    env = GymnaxStyle(WORLD, max_steps)

    def step(state: EnvState, key: Array) -> tuple[EnvState, Any]:
        mask = jax.vmap(env.get_action_mask)(state)
        actions = jax.random.categorical(key, jnp.where(mask, 0.0, -jnp.inf))
        # A few invalid actions, which end an episode too.
        actions = jnp.where(jax.random.bernoulli(key, 0.03, actions.shape), mask.argmin(axis=-1), actions)
        obs, after, reward, done, info = jax.vmap(env.step, in_axes=(None, 0, 0))(key, state, actions)
        return after, Played(actions, obs, reward, done, info)

    start = jax.vmap(env.reset_from_seed)(WORLD.initial_seeds(11, NUM_GAMES))
    keys = jax.random.split(jax.random.key(5), NUM_STEPS)
    played: Played = jax.jit(lambda start, keys: jax.lax.scan(step, start, keys)[1])(start, keys)
    return jax.tree.map(np.asarray, played)


@pytest.mark.parametrize("limit", [None, LIMIT])
def test_games_are_those_that_the_plain_engine_plays_for_gymnasium(limit: int | None) -> None:
    """Each is followed by the one with the next seed; one that ends by itself at the limit is not cut off, too."""
    played, mode = play(limit), AutoresetMode.SAME_STEP
    env = WorldVectorEnv(ORCHARD, NUM_GAMES, engine="plain", max_episode_steps=limit, autoreset_mode=mode)
    env.reset(seed=[int(low) | int(high) << 32 for low, high in WORLD.initial_seeds(11, NUM_GAMES)])
    flags = set[tuple[bool, bool]]()
    for number in range(NUM_STEPS):
        _, obs, reward, done, info = jax.tree.map(lambda leaf, number=number: leaf[number], played)
        wanted, earned, terminated, truncated, said = env.step(np.asarray(played.action[number]))
        final = wanted.copy()
        for game in np.flatnonzero(done):
            final[game] = said["final_obs"][game]
        flags |= {*zip(terminated.tolist(), truncated.tolist(), strict=True)}
        pairs = [(obs, wanted), (done, terminated | truncated), (info["action_mask"], said["action_mask"])]
        pairs += [(info["terminated"], terminated), (info["truncated"], truncated & ~terminated)]
        pairs += [(info["terminal_observation"], final), (reward, earned)]
        pairs += [(sum(info["reward_breakdown"].values()), earned)]
        for mine, theirs in pairs:
            assert mine.dtype in (np.float32, np.bool_)
            np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)
    assert {*played.info["reward_breakdown"]} == {"step", "fruit", "sting"}
    assert flags == {(False, False), (True, False)} | ({(False, True), (True, True)} if limit else set())


def seeds_of(state: EnvState) -> Array:
    return jnp.stack(state.game.seed, axis=-1)


def test_reset_draws_the_seed_from_the_key() -> None:
    env, key = GymnaxStyle(WORLD), jax.random.key(7)
    reset = jax.jit(env.reset)
    obs, state = reset(key, env.default_params)
    np.testing.assert_array_equal(obs, env.observe(state))
    _, same = reset(key)
    _, other = reset(jax.random.fold_in(key, 1), env.default_params)
    assert seeds_of(state).tolist() == seeds_of(same).tolist() != seeds_of(other).tolist()


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="max_steps must be at least 1, got 0"):
        GymnaxStyle(WORLD, max_steps=0)


def test_unused_observations_are_never_computed() -> None:
    """JAX drops the float observations of a scan over ``step`` whose caller uses rewards alone."""
    env = GymnaxStyle(WORLD)
    start = jax.eval_shape(jax.vmap(env.reset_from_seed), env.env.initial_seeds(0, 4))
    for kept, has_observations in ((slice(1, 3), False), (slice(1, None, -1), True)):

        def step(state: EnvState, _: None, kept: slice = kept) -> tuple[EnvState, Array]:
            stepped: Any = jax.vmap(env.step, in_axes=(None, 0, None))(jax.random.key(7), state, jnp.int32(0))
            return stepped[kept]

        program = jax.jit(lambda state, step=step: jax.lax.scan(step, state, length=3)).lower(start)
        assert ("4x34xf32" in program.as_text()) is has_observations


LONG_GAME = 9
"""The seed of a game in which nobody is stung twice within the limit."""


@pytest.fixture(scope="module")
def adapted() -> GymnaxAdapter:
    return GymnaxAdapter(GymnaxStyle(OrchardJaxEnv(), LIMIT))


@pytest.mark.long
def test_its_six_values_are_the_wrappers_five_and_gymnax_adds_up_episodes_by_them(adapted: GymnaxAdapter) -> None:
    style, logging, params = adapted._env, LogWrapper(adapted), adapted.default_params

    def step(state: LogEnvState, key: Array) -> tuple[LogEnvState, Any]:
        mask = jax.vmap(style.get_action_mask)(state.env_state)
        actions, keys = jax.random.categorical(key, jnp.where(mask, 0.0, -jnp.inf)), jax.random.split(key, NUM_GAMES)
        plain = jax.vmap(style.step, in_axes=(0, 0, 0, None))(keys, state.env_state, actions, params)
        obs, state, *rest = jax.vmap(logging.step, in_axes=(0, 0, 0, None))(keys, state, actions, params)
        return state, (plain, (obs, state.env_state, *rest))

    obs, state = jax.vmap(logging.reset, in_axes=(0, None))(jax.random.split(jax.random.key(1), NUM_GAMES), params)
    assert obs.shape == (NUM_GAMES, 34)
    _, records = jax.lax.scan(step, state, jax.random.split(jax.random.key(2), NUM_STEPS))
    (obs, state, reward, done, told), six = jax.tree.map(np.asarray, records)
    info = six[5]
    assert told.pop("terminated").any()
    assert told.pop("truncated").any()
    final = told.pop("terminal_observation")
    five = obs, state, reward, done, {**told, "final_observation": final}
    mine = *six[:3], six[3] | six[4], {name: info[name] for name in five[4]}
    jax.tree.map(np.testing.assert_array_equal, mine, five)
    assert not (six[3] & six[4]).any()

    np.testing.assert_array_equal(info["returned_episode"], done)
    returns, lengths = np.zeros(NUM_GAMES), np.zeros(NUM_GAMES, int)
    for number, ended in enumerate(done):
        returns, lengths = returns + reward[number], lengths + 1
        np.testing.assert_allclose(info["returned_episode_returns"][number][ended], returns[ended], rtol=1e-5)
        np.testing.assert_array_equal(info["returned_episode_lengths"][number][ended], lengths[ended])
        returns[ended], lengths[ended] = 0, 0
    assert done.sum() > NUM_GAMES


class Unmasked(OrchardJaxEnv):
    """A world that truncates by itself after two turns, and in which every action is always valid."""

    mask = JaxEnv.mask

    def step(self, state: Orchard, action: Array) -> StepOutput:
        step = super().step(state, action)
        return step._replace(truncated=~step.terminated & (step.final.turn >= 2))


@cache
def adapter_of(world: type[OrchardJaxEnv]) -> tuple[GymnaxAdapter, Callable[[Array], EnvState], Callable[..., Any]]:
    """The adapter of a world, and its two compiled programs."""
    env = GymnaxAdapter(GymnaxStyle(world(), LIMIT))
    return env, jax.jit(env._env.reset_from_seed), jax.jit(env.step_env)


@pytest.mark.parametrize(
    ("world", "actions", "ends"),
    [
        (OrchardJaxEnv, [PICK], [(True, False)]),  # an invalid action ends a game whose mask is not empty
        (OrchardJaxEnv, [REST] * LIMIT, [(False, False)] * (LIMIT - 1) + [(False, True)]),
        (Unmasked, [REST, REST], [(False, False), (False, True)]),
        (Unmasked, [PICK], [(True, False)]),
    ],
)
def test_a_state_tells_how_its_episode_ended_whatever_its_mask_and_is_not_reset(
    world: type[OrchardJaxEnv], actions: list[int], ends: list[tuple[bool, bool]]
) -> None:
    env, reset, step = adapter_of(world)
    params = env.default_params
    state = reset(jnp.array([LONG_GAME, 0], jnp.uint32))
    assert env.discount(state, params) == 1
    for steps, (action, (terminated, truncated)) in enumerate(zip(actions, ends, strict=True), start=1):
        obs, state, _, told, _ = step(jax.random.key(0), state, action, params)
        assert bool(told) == bool(env.is_terminated(state, params)) == terminated
        assert bool(env.is_truncated(state, params)) == truncated
        assert env.discount(state, params) == (0 if terminated else 1)
        assert env.get_action_mask(state).any()
        assert (int(state.steps), int(state.game.seed[0])) == (steps, LONG_GAME)
        np.testing.assert_array_equal(obs, env.get_obs(state))


DOORS = 6


class Doors(JaxEnv):
    """Six doors of which two are shut, as an observation tells: each open one pays 1, and a shut one ends the game."""

    name = "doors"
    num_actions = DOORS
    observation_shape = (DOORS,)
    low, high = 0.0, 1.0
    components = ("passed",)

    def reset(self, seed: Array) -> Array:
        return seed

    def step(self, state: Array, action: Array) -> StepOutput:
        passes = self.mask(state)[action]
        after, components = state * jnp.uint32(1664525) + jnp.uint32(1013904223), passes[None].astype(jnp.int32)
        return StepOutput(after, self.reward(components), components, ~passes, jnp.bool_(False), after)

    def next_game(self, state: Array) -> Array:
        return state + 1

    def observe(self, state: Array) -> Array:
        return self.mask(state).astype(jnp.float32)

    def mask(self, state: Array) -> Array:
        return jnp.arange(DOORS) % 3 != (state[0] >> 16) % 3


@pytest.fixture(scope="module")
def paid() -> GymnaxStyle:
    """Games that this limit cuts unless a shut door ends them."""
    return GymnaxStyle(Doors(), LIMIT)


def test_the_limit_of_the_params_is_the_one_that_holds(paid: GymnaxStyle) -> None:
    step = jax.jit(paid.step)
    for limit in (1, 2):
        params = paid.default_params.replace(max_steps_in_episode=limit)
        _, state = paid.reset(jax.random.key(3), params)
        ends = []
        for _ in range(limit):
            action = jnp.argmax(paid.get_action_mask(state))
            _, state, _, done, info = step(jax.random.key(0), state, action, params)
            ends.append((bool(done), bool(info["truncated"])))
        assert ends == [(False, False)] * (limit - 1) + [(True, True)]


def test_environment_and_spaces_are_gymnaxs(paid: GymnaxStyle) -> None:
    adapted = GymnaxAdapter(paid)
    assert isinstance(adapted, environment.Environment)
    assert (adapted.name, adapted.num_actions) == ("doors", DOORS)
    for env in (paid, adapted):
        actions, observations = env.action_space(env.default_params), env.observation_space(env.default_params)
        assert isinstance(actions, spaces.Discrete)
        assert isinstance(observations, spaces.Box)
        assert (actions.n, observations.shape) == (DOORS, (DOORS,))
        assert (observations.low, observations.high) == (0.0, 1.0)


def test_a_step_of_the_adapter_tells_the_mask_of_the_state_that_it_returns(paid: GymnaxStyle) -> None:
    adapted, key = GymnaxAdapter(paid), jax.random.key(1)
    _, state = adapted.reset(key, adapted.default_params)
    for _ in range(2 * LIMIT):
        action = jnp.argmax(adapted.get_action_mask(state))
        _, state, *_, info = adapted.step(key, state, action, adapted.default_params)
        np.testing.assert_array_equal(info["action_mask"], paid.env.mask(state.game))
        assert info["action_mask"].any()


def test_purejaxrls_interface_is_enough_to_play_episodes(paid: GymnaxStyle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gymnax, "make", lambda name: (paid, paid.default_params))
    short = {**CONFIG, "TOTAL_TIMESTEPS": 1024}
    metrics = jax.tree.map(np.asarray, jax.jit(make_train(short))(jax.random.key(0))["metrics"])
    ended, lengths = metrics["returned_episode"], metrics["returned_episode_lengths"]
    assert ended.shape == (1, 16, 64)
    assert set(lengths[ended]) == set(range(1, LIMIT + 1))


SETTINGS: dict[str, dict[str, Any]] = {
    "PPO": {"num_steps": 16, "num_minibatches": 4, "num_epochs": 4, "agent_kwargs": {"hidden_layer_sizes": (16,)}},
    "DQN": {"buffer_size": 2048, "fill_buffer": 1024, "batch_size": 64, "target_update_freq": 256},
}


@pytest.mark.long
@pytest.mark.parametrize(("name", "steps", "rate"), [("PPO", 16_384, 1e-2), ("DQN", 32_768, 1e-3)])
def test_rejax_learns_without_a_mask_what_is_valid(name: str, steps: int, rate: float, paid: GymnaxStyle) -> None:
    rejax = pytest.importorskip("rejax", reason="rejax is not installed: pip install rejax")
    algorithm = getattr(rejax, name).create(
        env=paid,
        num_envs=64,
        total_timesteps=steps,
        eval_freq=steps,
        learning_rate=rate,
        skip_initial_evaluation=True,
        **SETTINGS[name],
    )
    _, (lengths, returns) = jax.jit(algorithm.train)(jax.random.key(0))
    assert lengths.shape == returns.shape == (1, 128)
    assert lengths.max() <= LIMIT
    # one action in three is invalid: whoever does not know which plays 2.7 steps
    assert lengths.mean() > 4.5
    assert returns.mean() > 0.95 * lengths.mean()
