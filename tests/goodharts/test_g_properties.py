"""What holds in every game, whatever is done in it (G1-G7, G9, G12), over starts that play seldom reaches."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reading_worlds import PAIRED
from single_games import cell_at, open_game

from goodharts.rules import ACTIONS, COMPONENTS, MODES, NUM_CELLS, SIZE
from goodharts.torch_env import random
from goodharts.torch_env.env import Games
from goodharts.torch_env.random import game_keys
from goodharts.world.starts import STARTS
from parity import State

reproducible = settings(
    derandomize=True, database=None, deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow]
)
actions = st.integers(0, len(ACTIONS) - 1)
seeds = st.integers(0, 2**64 - 1)


@st.composite
def starts(draw: st.DrawFn) -> State:
    """Made states of every kind but those whose lists alone take long to check."""
    name = draw(st.sampled_from([name for name in STARTS if name not in ("crowded", "thick")]))
    return STARTS[name](np.random.default_rng(draw(st.integers(0, 2**32 - 1))))


@reproducible
@given(starts(), st.lists(actions, min_size=1, max_size=12), st.sampled_from(sorted(MODES)))
def test_a_step_keeps_its_books(state: State, chosen: list[int], mode: str) -> None:
    with open_game("torch", mode) as game:
        game.set_state(state)
        for action in chosen:
            before = game.get_state()
            step = game.step(action)
            after = game.get_state()
            earned = dict(zip(COMPONENTS, step.components.tolist(), strict=True))
            # what is eaten reappears: counts are constant, and the agent's cell is empty
            assert [len(after[kind]) for kind in ("food", "poison")] == [before["foodCount"], before["poisonCount"]]
            assert all(after[name] == before[name] for name in ("foodCount", "poisonCount", "key"))
            here = cell_at(after["x"], after["y"])
            assert here not in after["food"]
            assert here not in after["poison"]
            # a king's move around the torus
            moved = [(after[axis] - before[axis] + 1) % SIZE - 1 for axis in ("x", "y")]
            assert max(map(abs, moved)) == 1
            # what was in the cell decides on energy, events and components
            ate = [here in before[kind] for kind in ("food", "poison")]
            assert [earned[kind] != 0 for kind in ("food", "poison")] == ate
            spent = 0 if mode == "proxy" else 1000 * ate[0] - 2000 * ate[1] - 10
            assert after["energy"] - before["energy"] == spent
            assert step.terminated == (mode != "proxy" and after["energy"] <= 0)
            assert step.truncated == (after["steps"] >= 512)
            assert step.events == ate[0] + 2 * ate[1] + 4 * step.terminated
            assert step.facts == (after["energy"], after["steps"])
            assert (after["steps"], after["event"]) == (before["steps"] + 1, (before["event"] + 1) % 2**32)
            assert step.reward == float(np.float32(min(max(sum(earned.values()), -2_000_000), 2_000_000) / 100_000))


@reproducible
@given(seeds, st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))
def test_the_grid_looks_the_same_from_everywhere(seed: int, dx: int, dy: int) -> None:
    with open_game("torch") as game:
        seen = game.reset(seed)
        state = game.get_state()
        shifted = dict(state)
        for kind in ("food", "poison"):
            shifted[kind] = sorted(cell_at(cell % SIZE + dx, cell // SIZE + dy) for cell in state[kind])
        shifted |= {"x": (state["x"] + dx) % SIZE, "y": (state["y"] + dy) % SIZE}
        np.testing.assert_array_equal(game.set_state(shifted), seen)


@settings(reproducible, max_examples=6)
@given(st.integers(1, 5000), st.integers(0, 2**32 - 1))
def test_words_drawn_ahead_are_those_drawn_alone(games: int, event: int) -> None:
    """G10: an address has its word, whatever is drawn beside it."""
    played = Games(MODES["ground_truth"], games)
    played.state.key[:] = game_keys(event, games)
    played.state.event[:] = event
    rows = torch.arange(games)
    ahead = played._places_ahead(rows, 4) - rows[:, None] * NUM_CELLS
    pair = random.address(random.REAPPEAR, 1, played.device)
    for step in range(len(ahead)):
        alone = random.words(played.state.key, played.state.event + 1 + step, pair)
        assert torch.equal(ahead[step], random.cell(alone))


@pytest.mark.parametrize("games", [1, 9])
def test_a_restart_in_the_step_is_a_step_and_a_restart(games: int) -> None:
    world = PAIRED["ground_truth_handhold"]
    one, other = (world.engines["torch"](games) for _ in range(2))
    slots, rng = np.arange(games), np.random.default_rng(0)
    for engine in (one, other):
        engine.reset(world.game_seeds(3, games), slots)
    for _ in range(40):
        chosen = rng.integers(8, size=games).astype(np.int32)
        at_once, apart = one.step_restarting(chosen), other.step(chosen)
        seen = apart.observation.copy()
        ended = np.flatnonzero(apart.ended)
        if ended.size:
            seen[ended] = other.restart(ended)
        np.testing.assert_array_equal(at_once.observation, seen)
        for name in ("components", "reward", "terminated", "truncated", "facts", "events"):
            np.testing.assert_array_equal(getattr(at_once, name), getattr(apart, name))
    assert one.get_state(slots) == other.get_state(slots)
