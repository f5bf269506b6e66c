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
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv

from rlparity import BatchStep, EngineError, EngineOptions, UsageError, World
from rlworldkit.agents.agent import AgentPlayer, Choice
from rlworldkit.agents.reader import read_agent
from rlworldkit.envs.gym_env import WorldEnv
from rlworldkit.envs.sb3_vec_env import WorldVecEnv
from rlworldkit.envs.vector_env import WorldVectorEnv
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.evaluation.report import as_tables, summary
from rlworldkit.score import Score
from tests.played import assert_same, choose
from tests.rlworldkit.side_by_side import played_alike, played_alike_in_sb3

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
    score=lambda: Score(statistics=lambda counts: dict(zip(("most_hp", "most_baskets"), counts.maxima.T, strict=True))),
)


ORCHARD_IN_JAX = replace(ORCHARD, engines={"jax": ORCHARD.engines["jax"]})


def first_valid(env: Any) -> NDArray[np.intp]:  # noqa: ANN401 - any environment of many games
    return np.asarray(env.action_masks()).argmax(axis=1)


def test_facts_events_and_the_worlds_own_truncation_reach_the_infos() -> None:
    env = WorldEnv(WORLD)
    rng = np.random.default_rng(0)
    endings, happened = set(), set()
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        assert env.observation_space.contains(observation)
        facts, steps, over = [(info["hp"], info["baskets"])], 0, False
        while not over:
            _, _, terminated, truncated, info = env.step(choose(info["action_mask"][None], rng)[0])
            steps, over = steps + 1, terminated or truncated
            facts.append((info["hp"], info["baskets"]))
            assert ("picked" in info) == (info["reward_breakdown"]["fruit"] > 0)
            assert ("stung" in info) == (info["reward_breakdown"]["sting"] < 0)
            happened |= {"picked", "stung"} & info.keys()
        stats = info["episode_stats"]
        assert (stats["most_hp"], stats["most_baskets"]) == tuple(map(max, zip(*facts, strict=True)))
        assert stats["steps"] == steps
        assert sum(stats["actions"].values()) == steps <= DUSK
        assert stats["return"] == pytest.approx(sum(stats["reward_breakdown"].values()))
        endings.add((terminated, truncated))
    assert endings == {(True, False), (False, True)}
    assert happened == {"picked", "stung"}


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("world", [WORLD, ORCHARD_IN_JAX], ids=["evening", "jax"])
def test_many_games_say_what_each_alone_says(world: World, mode: AutoresetMode) -> None:
    native = WorldVectorEnv(world, GAMES, autoreset_mode=mode)
    alone = SyncVectorEnv([lambda: WorldEnv(world)] * GAMES, autoreset_mode=mode)
    assert native.metadata["autoreset_mode"] is alone.metadata["autoreset_mode"] is mode
    assert (native.observation_space, native.action_space) == (alone.observation_space, alone.action_space)
    cut = sum(said[3].sum() for said in played_alike(native, alone, 60, wrong=0.05))
    assert (cut > 0) == (world is WORLD)


@pytest.mark.parametrize("shape", [(4, 4, 2), ()])
def test_observations_of_any_shape_are_played_and_learned_from(shape: tuple[int, ...]) -> None:
    class ShapedEngine(PlanesEngine):
        def observe(self) -> NDArray[np.float32]:
            return super().observe()[:, 2 : 2 + math.prod(shape)].reshape(-1, *shape)

    own = replace(ORCHARD, title="Unregistered", score=None)
    world = replace(own, engines={"shaped": ShapedEngine}, observation_shape=shape, observation_range=(0.0, 1.0))
    native = WorldVectorEnv(world, GAMES, autoreset_mode=AutoresetMode.SAME_STEP)
    alone = SyncVectorEnv([lambda: WorldEnv(world)] * GAMES, autoreset_mode=AutoresetMode.SAME_STEP)
    assert len(list(played_alike(native, alone, 20))) == 20
    single = WorldEnv(world).reset(seed=3)[0]
    assert (type(single), single.shape) == (np.ndarray, shape)

    many = WorldVecEnv(world, GAMES, seed=3)
    seen = many.reset()
    assert many.get_attr("spec") == [None] * GAMES
    np.testing.assert_array_equal(seen[0].reshape(shape), single)
    model = MaskablePPO("MlpPolicy", many, n_steps=32, batch_size=32, n_epochs=1, device="cpu").learn(128)
    assert model.predict(seen)[0].shape == (GAMES,)


def test_stable_baselines_tells_truncation_from_the_end_as_over_single_games() -> None:
    native, alone = WorldVecEnv(WORLD, GAMES), DummyVecEnv([lambda: WorldEnv(WORLD)] * GAMES)
    limits = set()
    for _, _, dones, infos in played_alike_in_sb3(native, alone, 150, wrong=0.05):
        limits |= {infos[game]["TimeLimit.truncated"] for game in np.flatnonzero(dones)}
    assert limits == {False, True}


def test_stable_baselines_has_masks_pictures_and_no_other_method_of_single_games() -> None:
    env = WorldVecEnv(WORLD, 2, seed=0)
    env.reset()
    assert is_masking_supported(env)
    np.testing.assert_array_equal(get_action_masks(env), env.action_masks())
    assert env.get_attr("render_mode") == ["rgb_array"] * 2
    assert [np.asarray(image).shape for image in env.get_images()] == [(608, 848, 3)] * 2  # the board
    with pytest.raises(AttributeError, match="no method 'fly'"):
        env.env_method("fly")


def test_games_that_wait_for_their_reset_are_named_and_only_those_of_the_mask_are_reset() -> None:
    env = WorldVectorEnv(ORCHARD, 3, autoreset_mode=AutoresetMode.DISABLED)
    _, infos = env.reset(seed=[1, 2, 3])
    actions = infos["action_mask"].argmax(axis=1)
    actions[1] = infos["action_mask"][1].argmin()
    _, _, terminated, _, infos = env.step(actions)
    assert terminated.tolist() == [False, True, False]
    with pytest.raises(UsageError, match=r"games \[1\] have ended"):
        env.step(actions)
    seen = env.get_states()
    _, infos = env.reset(options={"reset_mask": terminated})
    assert infos["_seed"].tolist() == [False, True, False]
    after = env.get_states()
    assert after[1]["seed"] not in (1, 2, 3)
    assert (after[0], after[2]) == (seen[0], seen[2])


def test_what_was_handed_out_stays_as_it_was() -> None:
    env = WorldVectorEnv(WORLD, 2)
    first, infos = env.reset(seed=0)
    kept = [first.copy(), {name: value.copy() for name, value in infos.items()}]
    env.step(first_valid(env))
    env.reset(options={"reset_mask": np.array([True, False])})
    assert_same([first, infos], kept)


def test_infos_hold_no_unsigned_words_and_the_seed_is_not_lost() -> None:
    def leaves(tree: Any) -> list[Any]:  # noqa: ANN401 - a tree
        return [leaf for value in tree.values() for leaf in leaves(value)] if isinstance(tree, dict) else [tree]

    env, envs, high = WorldEnv(WORLD), WorldVectorEnv(WORLD, 2), 2**64 - 3
    (_, info), (_, infos) = env.reset(seed=high), envs.reset(seed=high)
    assert info["seed"] % 2**64 == high
    assert (infos["seed"].dtype, infos["seed"].tolist()) == (np.dtype(np.int64), [-3, -2])
    for said in (info, infos, env.step(5)[4], envs.step([5, 5])[4]):
        assert np.uint64 not in {np.asarray(leaf).dtype.type for leaf in leaves(said)}


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
    told = [(info["TimeLimit.truncated"], info["engine_restarted"], info["episode_stats"]["steps"]) for info in infos]
    assert told == [(True, "the ladder broke.", 1)] * 2
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
