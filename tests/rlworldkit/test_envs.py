"""Environments and evaluation: facts, events, truncation and failure of a world."""

import math
import pickle
from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray
from orchard.planes import PlanesEngine
from orchard.world import WORLD as ORCHARD
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

from rlparity import BatchStep, EngineError, EngineOptions, UsageError
from rlworldkit.agents.agent import AgentPlayer
from rlworldkit.agents.choice import Choice
from rlworldkit.agents.read import read_agent
from rlworldkit.bench import lockstep
from rlworldkit.envs.gym_env import WorldEnv
from rlworldkit.envs.sb3_vec_env import WorldVecEnv
from rlworldkit.envs.statistics import Statistics
from rlworldkit.envs.vector_env import WorldVectorEnv
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.evaluation.report import as_tables, summary
from rlworldkit.score import Score
from tests.played import assert_same, choose
from tests.rlworldkit.side_by_side import played_alike

DUSK, GAMES = 12, 4
PICKED, STUNG = 1, 2


class EveningEngine(PlanesEngine):
    """Orchard until dusk, which truncates; it reports hp and score in quarters, and says what happened."""

    fails: Iterator[bool] = iter(())

    def __init__(self, games: int, options: EngineOptions = EngineOptions()) -> None:
        super().__init__(games, options)
        assert options.packed

    def facts(self) -> NDArray[np.float32]:
        return np.stack([self.hp, self.score / 4], axis=1).astype(np.float32)

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        if next(self.fails, False):
            raise EngineError("the ladder broke.")
        step = super().step(actions)
        events = PICKED * (step.components[:, 1] > 0) + STUNG * (step.components[:, 2] < 0)
        truncated = (self.turn >= DUSK) & ~step.terminated
        return replace(step, truncated=truncated, facts=self.facts(), events=events.astype(np.uint32))


WORLD = replace(
    ORCHARD,
    name="evening",
    jax=None,
    engines={"evening": EveningEngine},
    facts=("hp", "baskets"),
    events=("picked", "stung"),
    home=f"{__name__}:WORLD",
    score=lambda: Score(statistics=lambda counts: {"most_baskets": counts.maxima[:, 1]}),
)


def first_valid(env: Any) -> NDArray[np.intp]:  # noqa: ANN401 - any environment of many games
    return np.asarray(env.action_masks()).argmax(axis=1)


def test_facts_events_and_the_worlds_own_truncation_reach_the_infos() -> None:
    env = WorldEnv(WORLD)
    rng = np.random.default_rng(0)
    endings, happened = set(), set()
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        assert env.observation_space.contains(observation)
        baskets, steps, over = [info["baskets"]], 0, False
        while not over:
            _, _, terminated, truncated, info = env.step(choose(info["action_mask"][None], rng)[0])
            steps, over = steps + 1, terminated or truncated
            baskets.append(info["baskets"])
            assert ("picked" in info) == (info["reward_breakdown"]["fruit"] > 0)
            assert ("stung" in info) == (info["reward_breakdown"]["sting"] < 0)
            happened |= {"picked", "stung"} & info.keys()
        stats = info["episode_stats"]
        assert (stats["steps"], stats["most_baskets"]) == (steps, max(baskets))
        assert sum(stats["actions"].values()) == steps <= DUSK
        assert stats["return"] == pytest.approx(sum(stats["reward_breakdown"].values()))
        endings.add((terminated, truncated))
    assert endings == {(True, False), (False, True)}
    assert happened == {"picked", "stung"}


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_many_games_say_what_each_alone_says(mode: AutoresetMode) -> None:
    native = WorldVectorEnv(WORLD, GAMES, autoreset_mode=mode)
    alone = SyncVectorEnv([lambda: WorldEnv(WORLD)] * GAMES, autoreset_mode=mode)
    assert sum(said[3].sum() for said in played_alike(native, alone, 40)) > 0


@pytest.mark.parametrize("shape", [(4, 4, 2), ()])
def test_observations_of_any_shape_are_played_and_learned_from(shape: tuple[int, ...]) -> None:
    class ShapedEngine(PlanesEngine):
        def observe(self) -> NDArray[np.float32]:
            return super().observe()[:, 2 : 2 + math.prod(shape)].reshape(-1, *shape)

    world = replace(
        ORCHARD, engines={"shaped": ShapedEngine}, observation_shape=shape, observation_range=(0.0, 1.0), score=None
    )
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        native = WorldVectorEnv(world, GAMES, autoreset_mode=mode)
        alone = SyncVectorEnv([lambda: WorldEnv(world)] * GAMES, autoreset_mode=mode)
        assert len(list(played_alike(native, alone, 20))) == 20
    single = WorldEnv(world).reset(seed=3)[0]
    assert (type(single), single.shape) == (np.ndarray, shape)

    many = WorldVecEnv(world, GAMES, seed=3)
    seen = many.reset()
    np.testing.assert_array_equal(seen[0].reshape(shape), single)
    model = MaskablePPO("MlpPolicy", many, n_steps=32, batch_size=32, n_epochs=1, device="cpu").learn(128)
    assert model.predict(seen)[0].shape == (GAMES,)


def test_stable_baselines_tells_truncation_from_the_end_as_over_single_games() -> None:
    native, alone = WorldVecEnv(WORLD, GAMES, seed=3), DummyVecEnv([lambda: WorldEnv(WORLD)] * GAMES)
    alone.seed(3)
    assert_same(native.reset(), alone.reset())
    rng, limits = np.random.default_rng(0), set()
    returns, lengths = np.zeros(GAMES), np.zeros(GAMES, int)
    for _ in range(40):
        actions = choose(native.action_masks(), rng)
        (seen, rewards, dones, infos), (seen_alone, rewards_alone, dones_alone, infos_alone) = (
            env.step(actions) for env in (native, alone)
        )
        assert_same([seen, dones], [seen_alone, dones_alone])
        np.testing.assert_array_equal(rewards, rewards_alone)
        returns, lengths = returns + rewards, lengths + 1
        for game in np.flatnonzero(dones):
            limits.add(infos[game]["TimeLimit.truncated"])
            as_monitor_tells = {"r": pytest.approx(returns[game]), "l": lengths[game], "t": 0.0}
            assert infos[game].pop("episode") == as_monitor_tells
            returns[game] = lengths[game] = 0
        assert_same(infos, infos_alone)
    assert limits == {False, True}
    assert [np.asarray(image).shape for image in native.get_images()] == [(608, 848, 3)] * GAMES  # the board


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_an_engine_that_fails_is_started_again_once_it_has_played(
    mode: AutoresetMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = WorldVectorEnv(WORLD, GAMES, restart=True, autoreset_mode=mode)
    env.reset(seed=0)
    env.step(first_valid(env))
    monkeypatch.setattr(EveningEngine, "fails", iter([True]))
    _, rewards, terminated, truncated, infos = env.step(first_valid(env))
    assert truncated.all()
    assert not rewards.any()
    assert not terminated.any()
    said = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
    assert said["engine_restarted"].tolist() == ["the ladder broke."] * GAMES
    assert said["episode_stats"]["steps"].tolist() == [1] * GAMES
    env.step(first_valid(env))
    _, rewards, _, truncated, infos = env.step(first_valid(env))
    assert rewards.all()
    assert not truncated.any()
    assert "engine_restarted" not in infos
    monkeypatch.setattr(EveningEngine, "fails", repeat(True))
    assert env.step(first_valid(env))[3].all()  # lost with the engine, which has not played when it fails again
    with pytest.raises(EngineError, match="the ladder broke"):
        env.step(first_valid(env))


def test_one_game_whose_engine_fails_is_truncated_says_why_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    env = WorldEnv(WORLD, restart=True)
    env.reset(seed=0)
    env.step(5)
    monkeypatch.setattr(EveningEngine, "fails", iter([True]))
    _, reward, terminated, truncated, info = env.step(5)
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["engine_restarted"], info["episode_stats"]["steps"]) == ("the ladder broke.", 1)
    assert "engine_restarted" not in env.reset()[1]
    assert not env.step(5)[3]
    monkeypatch.setattr(EveningEngine, "fails", iter([True]))
    strict = WorldEnv(WORLD)
    strict.reset(seed=0)
    with pytest.raises(EngineError, match="the ladder broke"):
        strict.step(5)


def test_stable_baselines_sees_truncated_episodes_where_an_engine_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    env = WorldVecEnv(WORLD, 2, restart=True, seed=5)
    env.reset()
    first = [info["seed"] for info in env.reset_infos]
    env.reset()
    assert first == [5, 6], "a seed is for the next reset alone"
    assert all(info["seed"] not in first for info in env.reset_infos)
    env.step(first_valid(env))
    monkeypatch.setattr(EveningEngine, "fails", iter([True]))
    _, _, dones, infos = env.step(first_valid(env))
    assert dones.all()
    assert all(info["TimeLimit.truncated"] and "engine_restarted" in info for info in infos)
    assert not env.step(first_valid(env))[2].any()


def test_an_environment_is_pickled_with_the_name_of_its_world_not_with_the_world() -> None:
    env = WorldEnv(WORLD)
    env.reset(seed=1)
    twin = pickle.loads(pickle.dumps(env))
    assert twin.world is WORLD
    assert_same(list(env.step(5)), list(twin.step(5)))


def test_an_evaluation_names_endings_by_event() -> None:
    score = Score(endings={"stung": "stung at last"}, actions=("pick", "rest"))
    world = replace(WORLD, score=lambda: score)
    episodes = play_episodes(world, AgentPlayer(read_agent(world, "random")), 0, 60, num_envs=7)
    figures = summary(world, episodes)
    assert set(figures["endings"]) == {"stung at last", "truncated"}
    nameless = play_episodes(WORLD, AgentPlayer(read_agent(world, "random")), 0, 9, num_envs=3)
    assert {episode.ending for episode in nameless} == {"terminated", "truncated"}
    assert all(episode.stats["steps"] == DUSK for episode in episodes if episode.ending == "truncated")
    assert list(figures["actions"]) == ["pick", "rest"]
    uses = [episode.uses[WORLD.actions.index("pick")] for episode in episodes]
    assert figures["actions"]["pick"]["uses"]["mean"] == pytest.approx(np.mean(uses))
    assert as_tables(world, figures, "evening")[0].row_count == 5
    with pytest.raises(UsageError, match=r"wasp is no agent: give .* or `random`"):
        read_agent(world, "wasp")


def test_the_last_seed_is_followed_by_the_first() -> None:
    world = WORLD
    player = AgentPlayer(read_agent(world, "random"), Choice(player_seed=2**32 - 1))
    episodes = play_episodes(world, player, 2**64 - 2, 5, num_envs=2)
    assert [episode.seed for episode in episodes] == [2**64 - 2, 2**64 - 1, 0, 1, 2]
    assert episodes[3:] == play_episodes(world, player, 1, 2, num_envs=1)


def test_lockstep_of_one_engine_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="world 'evening' has one engine only: lockstep needs two"):
        lockstep.measure(WORLD, 2, 1)


def test_the_highest_of_a_fact_is_kept_when_it_falls() -> None:
    statistics = Statistics(components=1, actions=2, facts=np.array([[3], [3]]))
    for fact in (7, 1):
        nothing = np.zeros((2, 1), np.int32)
        statistics.add(
            np.zeros(2, np.int32), nothing, np.array([[fact], [fact - 1]]), np.ones(2, bool), np.zeros(2, np.uint32)
        )
    assert statistics.of(np.arange(2)).maxima.tolist() == [[7], [6]]
