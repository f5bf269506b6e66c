"""Chapter R: addressed random draws, and games that they make reproducible."""

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hackmatrix import jax_env
from rlworldkit.jax import threefry as kit_threefry
from rlworldkit.jax.threefry import Seed

from .builders import SIPHON, UP, state
from .engines import JAX, Engine
from .movers import coming, daemon, virus
from .randomness import below, next_seed, threefry, word
from .tables import ACTION

KNOWN: dict[str, Any] = json.loads((Path(__file__).parent / "known-answers.json").read_text())
SEEDS = [0, 1, 7, 2**32 - 1, 2**32, 2**53, 2**64 - 1, 81985529216486895]


def test_R1_known_games_are_replayed_whole(engine: Engine) -> None:
    games = KNOWN["games"]
    now = engine.resets([int(game["seed"]) for game in games])
    assert now == [game["first"] for game in games]
    for step in range(max(len(game["actions"]) for game in games)):
        going = [number for number, game in enumerate(games) if step < len(game["actions"])]
        played = engine.plays([now[number] for number in going], [games[number]["actions"][step] for number in going])
        for number, outcome in zip(going, played, strict=True):
            assert [*outcome.components.values()] == games[number]["components"][step], f"game {number}, step {step}"
            now[number] = outcome.state
    assert now == [game["last"] for game in games]


def test_R2_an_unused_word_shifts_nothing(engine: Engine) -> None:
    # A second spawn and a second mover draw words of their own and leave the others' as they are.
    fields: dict[str, Any] = {"player": (0, 0), "seed": 9}
    alone = engine.play(state(daemon(4, 4), **fields, pendingSiphonTransmissions=1), UP).state
    more = engine.play(state(daemon(4, 4), daemon(4, 5), **fields, pendingSiphonTransmissions=2), UP).state
    assert alone["enemies"][0] in more["enemies"]
    assert alone["transmissions"][0] in more["transmissions"]


def test_R2_draws_depend_on_the_event_number_not_on_the_history(engine: Engine) -> None:
    early, late = (engine.play(state(virus(5, 5), exit=(0, 5), seed=4, eventNumber=7, turn=n), UP) for n in (0, 3))
    assert early["enemies"] == late["enemies"]


def test_R3_every_valid_action_adds_1_and_draws_with_the_new_number(engine: Engine) -> None:
    start = state(owned="siph+", credits=5, eventNumber=10)
    for actions, number in (([UP], 11), ([ACTION["siph+"], UP], 12), ([SIPHON], 10)):  # the last is invalid
        assert engine.play(start, *actions)["eventNumber"] == number


def test_R3_the_event_number_wraps_at_32_bits(engine: Engine) -> None:
    start = state(coming("virus", 5, 0), pendingSiphonTransmissions=1, seed=6, eventNumber=2**32 - 1)
    wrapped = engine.play(start, UP).state
    assert wrapped["eventNumber"] == 0
    hidden = set(range(36)) - {18 + c for c in range(6)} - {6 * r + 2 for r in range(6)} - {30}
    cell = min(hidden, key=lambda cell: word(6, 0, 16, cell))
    made = [entry for entry in wrapped["transmissions"] if entry["spawnedFromSiphon"]]
    assert [6 * entry["row"] + entry["col"] for entry in made] == [cell]


@pytest.mark.parametrize(
    ("key", "counter", "words"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_R4_the_published_known_answers_of_Threefry(
    key: tuple[int, int], counter: tuple[int, int], words: tuple[int, int]
) -> None:
    assert threefry(key, counter) == words


@pytest.mark.parametrize("known", KNOWN["words"], ids=lambda known: f"site{known['site']}-index{known['index']}")
def test_R4_known_words(known: dict[str, Any]) -> None:
    assert word(int(known["seed"]), known["event"], known["site"], known["index"]) == known["word"]


def test_R5_integer_below_n_is_exact() -> None:
    assert [below(drawn, 20) for drawn in (0, 2**32 - 1, 2**31, 214748364, 214748365)] == [0, 19, 10, 0, 1]
    assert max(below(2**32 - 1, n) - (n - 1) for n in range(1, 37)) == 0


def test_R6_the_next_seed() -> None:
    words = jnp.array([(seed & 0xFFFFFFFF, seed >> 32) for seed in SEEDS], jnp.uint32)
    following = [threefry((seed & 0xFFFFFFFF, seed >> 32), (2**32 - 1, 0)) for seed in SEEDS]
    assert np.stack(kit_threefry.next_seed(Seed(*words.T)), axis=1).tolist() == [[*pair] for pair in following]
    assert [*map(next_seed, SEEDS)] == [low | high << 32 for low, high in following]


@pytest.mark.long  # a program of its own
def test_R6_auto_reset_goes_on_with_the_next_seed_where_a_game_ends_or_is_cut_off() -> None:
    dying = state(daemon(0, 1), player=(0, 0), hp=1, owned="wait", energy=1, seed=77, eventNumber=5)
    living, doorstep = state(seed=78), {"player": (4, 5), "exit": (5, 5), "seed": 79}
    starts = [dying, living, living, state(**doorstep), state(**doorstep, stage=8), living]
    actions = [ACTION["wait"], UP, UP, UP, UP, SIPHON]
    cut = np.array([False, False, True, True, False, False])
    games = jax.tree.map(lambda *leaves: np.stack(leaves), *map(jax_env.set_state, starts))
    played = jax.jit(jax.vmap(jax_env.step_auto_reset))(games, np.array(actions, np.int32), cut)
    for number, (start, action) in enumerate(zip(starts, actions, strict=True)):
        after, _, final = jax.tree.map(lambda leaf, number=number: leaf[number], played)
        expected = JAX.play(start, action)
        assert jax_env.get_state(final) == expected.state
        follows = JAX.reset(next_seed(start["seed"])) if expected.terminated or cut[number] else expected.state
        assert jax_env.get_state(after) == follows
