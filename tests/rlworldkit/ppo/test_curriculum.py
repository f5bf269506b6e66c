"""Curricula: which games begin elsewhere, what an archive keeps and gives, and that nothing else changes."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import Array
from orchard.in_jax import Orchard

from rlparity.errors import UsageError
from rlworldkit.ppo import curriculum
from rlworldkit.ppo.checkpoints import LoopState
from rlworldkit.ppo.config import ARCHIVE, TrainConfig
from rlworldkit.ppo.curriculum import BANDS, SLOTS, Archive, EpisodeState
from rlworldkit.ppo.state import init_runner

from .conftest import LEVELLED, SMALL
from .orchards import LEVELS, RESEEDED, Levelled, PackedOrchard

NATURAL = LEVELLED.natural_games
archived: Callable[[Archive, EpisodeState, Array], Archive] = jax.jit(partial(curriculum.archived, Levelled()))
drawn: Callable[[Archive, Array], EpisodeState] = jax.jit(partial(curriculum.drawn, count=6000))
Run = tuple[LoopState, list[Mapping[str, float]]]


@cache
def begin(config: TrainConfig) -> Callable[..., EpisodeState]:
    return jax.jit(partial(curriculum.begin, config, Levelled(), None))


@cache
def games(count: int) -> Orchard:
    env = Levelled()
    begun: Orchard = jax.jit(jax.vmap(env.reset))(env.initial_seeds(0, count))
    return begun


class TestArchive:
    def archive(self, written: dict[int, list[float]] = {}) -> Archive:  # noqa: B006 - never changed
        """An archive of games that are numbers, and whose returns are those of ``written`` by kinds."""
        kinds = BANDS * LEVELS
        returns = np.zeros((kinds, SLOTS), np.float32)
        counts = np.zeros(kinds, np.int32)
        for kind, values in written.items():
            returns[kind, : len(values)], counts[kind] = values, len(values)
        games = jnp.arange(kinds * SLOTS)
        return Archive(EpisodeState(games, games, jnp.asarray(returns.ravel())), jnp.asarray(counts))

    def of(self, numbers: Any, returns: Any) -> EpisodeState:  # noqa: ANN401 - arrays
        numbers = jnp.asarray(numbers, jnp.int32)
        return EpisodeState(numbers, numbers, jnp.asarray(returns, jnp.float32))

    def test_a_state_goes_to_its_level_and_to_the_better_or_the_worse_half(self) -> None:
        archive = self.archive({2: [1.0], 3: [4.0]})  # level 1, mean 2.5
        after = archived(archive, self.of([1001, 1002], [2.4, 2.5]), jnp.array([1, 1]))
        assert after.written.tolist() == [0, 0, 2, 2, 0, 0, 0, 0]
        assert after.kept.games[2 * SLOTS + 1] == 1001
        assert after.kept.games[3 * SLOTS + 1] == 1002

    def test_the_newest_states_stay(self) -> None:
        archive = self.archive()
        for number in range(SLOTS + 3):
            archive = archived(archive, self.of([1000 + number], [5.0]), jnp.array([0]))
        kept = sorted(archive.kept.games[SLOTS : 2 * SLOTS].tolist())
        assert kept == [1000 + number for number in range(3, SLOTS + 3)]
        assert archive.written[1] == SLOTS + 3

    @settings(deadline=None, max_examples=20)
    @given(levels=st.lists(st.integers(0, 1), min_size=80, max_size=80))
    def test_many_at_once_are_as_one_after_another(self, levels: list[int]) -> None:
        """With returns above every mean, so that the half does not depend on the order."""
        numbers, returns = np.arange(80) + 1000, np.arange(80) + 1.0
        at_once = archived(self.archive(), self.of(numbers, returns), jnp.asarray(levels))
        single = self.archive()
        for number, back, level in zip(numbers, returns, levels, strict=True):
            single = archived(single, self.of([number], [back]), jnp.array([level]))
        jax.tree.map(np.testing.assert_array_equal, at_once, single)

    def test_every_kind_is_drawn_as_often_and_nothing_of_empty_ones(self, key: Array) -> None:
        archive = self.archive({0: [0.0] * SLOTS, 5: [0.0] * 2, 7: [0.0]})
        kinds, slots = np.divmod(np.asarray(drawn(archive, key).games), SLOTS)
        assert set(kinds) == {0, 5, 7}
        assert all(abs((kinds == kind).mean() - 1 / 3) < 0.03 for kind in (0, 5, 7))
        assert set(slots[kinds == 0]) == set(range(SLOTS))
        assert set(slots[kinds == 5]) == {0, 1}

    def test_after_more_than_all_slots_were_written_all_are_drawn(self, key: Array) -> None:
        archive = self.archive({3: [0.0]})._replace(written=jnp.zeros(8, jnp.int32).at[3].set(1000))
        assert set(np.asarray(drawn(archive, key).games)) == {3 * SLOTS + n for n in range(SLOTS)}


class TestBeginning:
    def begun(
        self, config: TrainConfig, archive: Archive | None, ended: Array, key: Array
    ) -> tuple[EpisodeState, EpisodeState]:
        zeros = jnp.zeros(config.num_envs)
        new = EpisodeState(games(config.num_envs), zeros.astype(jnp.int32), zeros)
        return new, begin(config)(archive, new, ended, key)

    def test_only_the_curriculums_games_that_ended_begin_elsewhere(self, key: Array) -> None:
        config = dataclasses.replace(LEVELLED, curriculum="late")
        ended = jnp.arange(16) % 2 == 0
        _, begun = self.begun(config, None, ended, key)
        assert (begun.games.score == 99).tolist() == [game >= NATURAL and game % 2 == 0 for game in range(16)]

    def test_several_curricula_have_every_other_game_each(self, key: Array) -> None:
        config = dataclasses.replace(LEVELLED, curriculum="archive+late")
        one = jax.tree.map(lambda leaf: leaf[-1:], games(16))
        empty = curriculum.empty_archive(config, Levelled(), one)
        assert empty is not None
        archive = archived(empty, EpisodeState(one, jnp.array([5]), jnp.array([2.5])), jnp.array([1]))
        _, begun = self.begun(config, archive, jnp.ones(16, bool), key)
        assert begun.steps[NATURAL:].tolist() == [5, 0, 5, 0]
        assert (begun.games.score == 99)[NATURAL:].tolist() == [False, True, False, True]

    def test_without_anything_archived_they_begin_anew(self, key: Array) -> None:
        empty = curriculum.empty_archive(LEVELLED, Levelled(), games(16))
        new, begun = self.begun(LEVELLED, empty, jnp.ones(16, bool), key)
        jax.tree.map(np.testing.assert_array_equal, begun, new)

    def test_archived_states_have_another_future_every_time(self, key: Array) -> None:
        one = jax.tree.map(lambda leaf: leaf[-1:], games(16))
        empty = curriculum.empty_archive(LEVELLED, Levelled(), one)
        assert empty is not None
        reached = EpisodeState(one, jnp.array([5]), jnp.array([2.5]))
        archive = archived(empty, reached, jnp.array([1]))
        _, begun = self.begun(LEVELLED, archive, jnp.ones(16, bool), key)
        mine = slice(NATURAL, None)
        assert begun.steps[mine].tolist() == [5] * 4
        assert begun.returns[mine].tolist() == [2.5] * 4
        seeds = {tuple(seed) for seed in np.stack(begun.games.seed, axis=-1)[mine].tolist()}
        assert len(seeds) == 4
        assert tuple(np.stack(one.seed, axis=-1)[0].tolist()) not in seeds


def test_a_run_plays_on_from_what_it_has_archived(levelled_run: Run) -> None:
    """Turns count the steps since the natural beginning; the length of an episode goes on from the archive too."""
    runner = levelled_run[0].runner
    assert runner.archive is not None
    assert (runner.archive.written > 0).sum() > 2
    np.testing.assert_array_equal(runner.env_state.turn, runner.episode_steps)
    natural, other = np.split(np.asarray(runner.env_state.score), [NATURAL])
    assert (natural < RESEEDED).all()
    assert (other >= RESEEDED).any()
    filled = (np.arange(SLOTS) < np.asarray(runner.archive.written)[:, None]).ravel()
    levels = np.minimum(np.asarray(runner.archive.kept.games.turn) // 2, LEVELS - 1)
    assert (levels == np.arange(len(filled)) // (BANDS * SLOTS))[filled].all()


def test_metrics_are_of_natural_games_alone(levelled_run: Run) -> None:
    """Every step but an invalid one costs 10 thousandths, and no action is invalid."""
    for row in levelled_run[1]:
        assert row["reward/step"] == pytest.approx(-0.01)
        assert row["stats/best_score"] < RESEEDED


def test_without_a_curriculum_nothing_is_archived_and_all_games_are_natural() -> None:
    assert curriculum.empty_archive(SMALL, Levelled(), games(1)) is None
    assert SMALL.natural_games == SMALL.num_envs


def test_a_curriculum_that_leaves_no_natural_game_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="curriculum_share must leave at least one of 16 games"):
        dataclasses.replace(LEVELLED, curriculum_share=1.0).validated()
    assert dataclasses.replace(SMALL, curriculum_share=1.0).validated().natural_games == 16


def test_a_curriculum_that_the_world_does_not_have_is_named() -> None:
    for unknown in (ARCHIVE, "late"):
        with pytest.raises(UsageError, match=f"curriculum must be none, got {unknown}"):
            init_runner(dataclasses.replace(SMALL, curriculum=unknown), PackedOrchard())
    for unknown in ("early", "archive+early", "late+none"):
        with pytest.raises(UsageError, match=rf"curriculum must be none or archive or late, got {re.escape(unknown)}"):
            init_runner(dataclasses.replace(SMALL, curriculum=unknown), Levelled())
