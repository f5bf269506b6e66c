"""Worldkit's tools for worlds in JAX: the engine, its marks, addressed words and JAX without jit."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from jax.extend.random import threefry_2x32
from numpy.typing import NDArray
from orchard.env import OrchardJaxEnv
from orchard.in_jax import Orchard

from rlparity import Draw, Phase
from rlparity.threefry import seed_pair, seed_pairs
from rlworldkit.jax.batching import batch_native, computed_once, repeat, run_if, where_wanted, while_loop
from rlworldkit.jax.engine import JaxEngine
from rlworldkit.jax.engine_backend import AUTO, NATIVE, VARIABLE, on_backend
from rlworldkit.jax.env import StepOutput
from rlworldkit.jax.marks import Marks, collecting, mark, packed, words_so_far
from rlworldkit.jax.native import cpu
from rlworldkit.jax.threefry import EventDraws, Seed, below, next_seed, trainer_seeds


class MarkedOrchard(OrchardJaxEnv):
    """Orchard with three marks: of each game that begins, of each step, and of each look."""

    marks = ("start", "step", "look")

    def reset(self, seed: Array) -> Orchard:
        mark("start", lambda: jnp.bool_(True))
        return super().reset(seed)

    def step(self, state: Orchard, action: Array) -> StepOutput:
        mark("step", lambda: jnp.bool_(True))
        return super().step(state, action)

    def observe(self, state: Orchard) -> Array:
        mark("look", lambda: jnp.bool_(True))
        return super().observe(state)

    def compact(self, state: Orchard) -> Array:
        """Without a mark, so that a translated program has none to count."""
        return super().observe(state)


ENV = MarkedOrchard()


def play(engine: JaxEngine, steps: int = 12) -> list[NDArray[Any]]:
    """Play some games; observations, masks, seeds and results, step by step."""
    slots = np.arange(engine.games)
    seen = [engine.reset(np.arange(engine.games, dtype=np.uint64), slots), engine.mask(), engine.seeds()]
    for number in range(steps):
        step = engine.step_restarting(np.full(engine.games, number % engine.mask().shape[1], np.int32))
        seen += [step.observation, step.components, step.reward, step.terminated, engine.mask(), engine.seeds()]
    return seen


@pytest.mark.parametrize("games", [7, 300])
def test_a_game_is_the_same_among_any_number_of_others(games: int) -> None:
    for alone, together in zip(play(JaxEngine(8, ENV)), play(JaxEngine(games, ENV)), strict=True):
        assert len(together) == games
        shared = min(8, games)
        np.testing.assert_array_equal(together[:shared], alone[:shared])


@pytest.mark.parametrize("games", [3, 300])
def test_marks_count_in_the_games_asked_for_and_in_no_copies(games: int) -> None:
    engine = JaxEngine(games, ENV, marks=True)
    some = np.array([0, games - 1])
    engine.reset(np.array([4, 5], np.uint64), some)
    np.testing.assert_array_equal(engine.marks(), [2, 0, 2])
    engine.step(np.zeros(games, np.int32))
    np.testing.assert_array_equal(engine.marks(), [2, games, 2 + games])
    engine.set_state(engine.get_state(some[:1]), some[1:])
    np.testing.assert_array_equal(engine.marks(), [2, games, 3 + games])


GAMES = jnp.arange(5)
NAMES = ("walked", "fell", "rose")


def marking(games: Array) -> Array:
    """The games as they are; the mark fires in those above 2."""
    mark("fell", lambda: games > 2)
    return games


def through_while_loop() -> Array:
    def body(state: tuple[Array, Array]) -> tuple[Array, Array]:
        turn, games = state
        mark("fell", lambda: (games > 2) & (turn == 1))
        return turn + 1, games

    return while_loop(lambda state: state[0] < 3, body, (jnp.int32(0), GAMES))[1]


def through_repeat() -> Array:
    def body(turn: Array, games: Array) -> Array:
        mark("fell", lambda: (games > 2) & (turn == 0))
        return games

    return repeat(2, body, GAMES)


THROUGH: dict[str, Callable[[], Array]] = {
    "computed_once": lambda: computed_once(jnp.any(GAMES > 0), marking, GAMES),
    "run_if": lambda: run_if(jnp.any(GAMES > 0), lambda: marking(GAMES), GAMES),
    "while_loop": through_while_loop,
    "repeat": through_repeat,
    "where_wanted": lambda: where_wanted(GAMES > 1, marking, GAMES, GAMES, chunk=2),
}


@pytest.mark.parametrize("through", THROUGH.values(), ids=THROUGH)
def test_marks_come_out_of_loops_and_conditionals(through: Callable[[], Array]) -> None:
    out, marks = jax.jit(collecting(through))()
    np.testing.assert_array_equal(out, GAMES)
    assert marks["fell"].tolist() == [False, False, False, True, True]
    np.testing.assert_array_equal(through(), GAMES)


def test_a_mark_that_is_set_twice_fired_where_either_said_so() -> None:
    def twice() -> None:
        mark("fell", lambda: GAMES == 0)
        mark("fell", lambda: GAMES == 4)

    assert collecting(twice)()[1]["fell"].tolist() == [True, False, False, False, True]


def test_packed_marks_keep_the_order_of_their_names_and_others_are_refused() -> None:
    marks = {"rose": jnp.array([True, False]), "walked": jnp.array([False, True])}
    assert packed(marks, NAMES, (2,)).tolist() == [[False, False, True], [True, False, False]]
    with pytest.raises(ValueError, match="flew"):
        packed({"flew": jnp.array(True)}, NAMES, ())


SEEDS = [0, 1, 7, 2**32 - 1, 2**32, 2**53, 2**64 - 1, 81985529216486895]


def split(seed: int) -> list[int]:
    """Low and high word."""
    return [seed & 0xFFFFFFFF, seed >> 32]


def output(seed: int, counter: tuple[int, int]) -> list[int]:
    """Both words of one output, by JAX's own generator."""
    key, block = jnp.array(split(seed), jnp.uint32), jnp.array(counter, jnp.uint32)
    return np.asarray(threefry_2x32(key, block)).tolist()


class DrawingOrchard(OrchardJaxEnv):
    """Orchard that draws the even ones of eight words, and where it rests the last of four others."""

    phase_names = ("walk", "rest", "never")

    def phases(self, state: Orchard, action: Array) -> dict[str, tuple[Array, Orchard, Marks]]:
        draws = EventDraws(Seed(*state.seed), state.turn.astype(jnp.uint32) + 7)

        def walk(index: Array, _: Array) -> Array:
            word = draws.word(1, index)
            draws.note("WALK", 8, index.astype(jnp.uint32), word, lambda: word % 2 == 0)
            return index

        def rest(draws: EventDraws) -> Array:
            words, indices = draws.words(2, 4), jnp.arange(4, dtype=jnp.uint32)[:, None]
            draws.note("REST", 4, indices, words, lambda: indices == 3)
            return draws.event_number

        def rests(wanted: Array, draws: EventDraws) -> Array:
            return where_wanted(wanted, rest, draws, draws.event_number, chunk=1)

        repeat(8, walk, jnp.int32(0))
        walked = words_so_far()
        batch_native(rests)(action == 5, draws)
        yes, no = jnp.bool_(True), jnp.bool_(False)
        return {
            "walk": (yes, state, walked),
            "rest": (yes, state, words_so_far()),
            "never": (no, state, words_so_far()),
        }


def test_a_debugger_is_told_which_words_each_phase_draws() -> None:
    engine = JaxEngine(1, DrawingOrchard())
    engine.reset(np.array([9], np.uint64), np.zeros(1, np.intp))
    (state,) = engine.get_state(np.zeros(1, np.intp))
    walked = [(index, output(9, (7, (1 << 16) + index // 2))[index % 2]) for index in range(8)]
    walk = [Draw((7, "WALK", index), word) for index, word in walked if word % 2 == 0]
    assert 0 < len(walk) < 8
    rest = Draw((7, "REST", 3), output(9, (7, (2 << 16) + 1))[1])
    for action, rests in ((0, ()), (5, (rest,))):
        phases = engine.phases(state, np.array([action], np.int32))
        assert phases == (Phase("walk", state, tuple(walk)), Phase("rest", state, rests))


def test_a_harness_is_told_which_lines_make_what_differs() -> None:
    engine, slots = JaxEngine(1, ENV), np.zeros(1, np.intp)
    engine.reset(np.array([9], np.uint64), slots)
    (before,) = engine.get_state(slots)
    before["hp"] = 1
    engine.set_state([before], slots)
    engine.step(np.array([5], np.int32))
    (own,) = engine.get_state(slots)
    for hp, field, expected in ((1, "state.hp", "hp"), (2, "components[sting]", "stung = valid")):
        path, line = engine.origins(before, np.array([5], np.int32), (own, {**own, "hp": hp}), [field])[0]
        assert path.name == "in_jax.py"
        assert path.read_text().splitlines()[line - 1].strip().startswith(expected)


def test_a_word_has_one_address_however_it_is_asked_for() -> None:
    draws = EventDraws(Seed(*map(jnp.uint32, split(SEEDS[-1]))), jnp.uint32(5))
    expected = [output(SEEDS[-1], (5, (9 << 16) + index // 2))[index % 2] for index in range(12, 18)]
    assert [int(draws.word(9, index)) for index in range(12, 18)] == expected
    assert draws.words(9, 6, group=2).tolist() == expected


def test_an_integer_below_n_is_exact() -> None:
    words = jnp.array([0, 2**32 - 1, 2**31, 214748364, 214748365], jnp.uint32)
    assert below(words, 20).tolist() == [0, 19, 10, 0, 1]
    assert [int(below(jnp.uint32(2**32 - 1), n)) for n in range(1, 37)] == list(range(36))


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_of_more_than_64_bits_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match=r"outside 0\.\.2\*\*64-1"):
        seed_pair(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_seeds_are_pairs_of_words_and_others_follow_from_them(seed: int) -> None:
    made, games = seed_pair(seed), trainer_seeds(seed, 5)
    assert made.dtype == np.uint32
    assert games.dtype == jnp.uint32
    assert made.tolist() == split(seed)
    assert seed_pairs(np.array([seed, 1], np.uint64)).tolist() == [split(seed), [1, 0]]
    assert [int(word) for word in next_seed(Seed(*map(jnp.uint32, split(seed))))] == output(seed, (2**32 - 1, 0))
    assert games.tolist() == [output(seed, (2**32 - 1, 1 + game)) for game in range(5)]


def test_without_a_compiler_nothing_changes_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.setattr(cpu, "fault", lambda: "no C compiler is found: install one, name it in CC")
    monkeypatch.setenv(VARIABLE, AUTO)
    env = OrchardJaxEnv()
    assert on_backend(env) is env
    said = refused("train", "--no-wandb", "--engine-backend", NATIVE)
    assert "no C compiler is found" in said
    assert "choose --engine-backend xla" in said
    monkeypatch.setenv(VARIABLE, "fast")
    assert VARIABLE in refused("train", "--no-wandb")
