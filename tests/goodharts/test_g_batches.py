"""A game's life is its own: at any width, in any slot, on any device, and however many words are drawn ahead (G10)."""

from dataclasses import asdict
from types import ModuleType

import pytest
import torch
from reading import game as reading
from reading.engine import state_of
from reading.game import Game
from torch import Tensor

from goodharts.rules import MODES, Numbers
from goodharts.torch_env import env, placement, state_dict
from goodharts.torch_env.env import Games
from goodharts.torch_env.random import game_keys
from parity import State

STEPS = 150
KEYS = game_keys(42, 40)
ACTIONS = torch.randint(0, 8, (STEPS, len(KEYS)), generator=torch.Generator().manual_seed(0))
HANDHOLD = MODES["ground_truth_handhold"]


def lives(
    chosen: list[int], device: str = "cpu", *, evaluating: bool = False, numbers: Numbers | None = None
) -> tuple[list[State], Tensor, Tensor]:
    """States at last, components and everything seen (steps, games, …) of games of the run, side by side."""
    games = Games(HANDHOLD, len(chosen), numbers=numbers or Numbers(), device=device, evaluating=evaluating)
    seen = [games.start(KEYS[chosen].to(device))]
    earned = []
    for actions in ACTIONS[:, chosen].to(device):
        outcome = games.step(actions)
        codes = outcome.codes
        ended = (outcome.terminated | outcome.truncated).nonzero()[:, 0]
        if len(ended):
            codes[ended] = games.respawn(ended) if evaluating else games.restart(ended)
        seen.append(codes)
        earned.append(outcome.components)
    return state_dict.to_dicts(games.state), torch.stack(earned).cpu(), torch.stack(seen).cpu()


def same(one: tuple[list[State], Tensor, Tensor], other: tuple[list[State], Tensor, Tensor]) -> bool:
    return one[0] == other[0] and torch.equal(one[1], other[1]) and torch.equal(one[2], other[2])


def part(whole: tuple[list[State], Tensor, Tensor], chosen: list[int]) -> tuple[list[State], Tensor, Tensor]:
    states, earned, seen = whole
    return [states[game] for game in chosen], earned[:, chosen], seen[:, chosen]


@pytest.mark.parametrize("evaluating", [False, True])
@pytest.mark.parametrize("chosen", [[7], [39, 3, 7], list(range(20, 40))], ids=lambda chosen: f"{len(chosen)}-games")
def test_G10_a_game_is_the_same_at_any_width_and_in_any_slot(chosen: list[int], evaluating: bool) -> None:
    whole = lives(list(range(40)), evaluating=evaluating)
    assert same(part(whole, chosen), lives(chosen, evaluating=evaluating))


@pytest.mark.skipif(
    not torch.cuda.is_available(), reason="there is no GPU here: the engine is compared on the CPU only"
)
@pytest.mark.parametrize("evaluating", [False, True])
def test_G10_a_game_is_the_same_on_a_gpu(evaluating: bool) -> None:
    everyone = list(range(40))
    assert same(lives(everyone, evaluating=evaluating), lives(everyone, "cuda", evaluating=evaluating))


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (env, "_WORDS_AHEAD", 1),
        (env, "_WORDS_AHEAD", 300),
        (env, "_MOST_STEPS_AHEAD", 7),
        (env, "_STARTED_AT_ONCE", 1),
        (placement, "_pairs_expected", lambda items: 5),
    ],
)
def test_G3_G10_how_much_is_drawn_in_one_go_changes_nothing(
    module: ModuleType, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = list(range(9))
    usual = lives(chosen)
    monkeypatch.setattr(module, name, value)
    assert same(usual, lives(chosen))


@pytest.mark.parametrize(
    "numbers",
    [
        Numbers(min_food=0, max_food=0, min_poison=0, max_poison=1),
        Numbers(min_food=2000, max_food=2100, min_poison=900, max_poison=900),
        Numbers(start_energy=30, step_energy=0, food_energy=-20, poison_energy=7, max_steps=9),
        Numbers(food_interest=250, poison_interest=-4000, reward_clip=900, death_price=123_456_789),
    ],
    ids=["empty", "many", "upside-down", "prices"],
)
@pytest.mark.parametrize("mode", ["ground_truth", "proxy", "ground_truth_handhold"])
def test_G9_other_numbers_than_the_published_ones(mode: str, numbers: Numbers) -> None:
    play_beside_the_reading(mode, numbers, steps=25, evaluating=False)


def test_G3_so_many_items_that_most_draws_hit_some() -> None:
    numbers = Numbers(min_food=8000, max_food=8000, min_poison=8000, max_poison=8000)
    play_beside_the_reading("ground_truth", numbers, steps=2, evaluating=False)


@pytest.mark.parametrize("mode", ["ground_truth", "proxy"])
def test_G6_an_evaluation_goes_on_on_the_same_grid(mode: str) -> None:
    numbers = Numbers(start_energy=50, evaluation_food=3, evaluation_poison=3000)
    respawned = play_beside_the_reading(mode, numbers, steps=60, evaluating=True)
    assert respawned > 3


def test_G6_who_finds_no_empty_cell_respawns_in_the_lowest() -> None:
    game, games = beside("ground_truth", Numbers(), evaluating=True)
    agent = 128 * game.y + game.x
    free = [cell for cell in (5, 6, 16_000) if cell != agent]
    game.grid = bytearray(0 if cell in (agent, *free) else 2 for cell in range(128 * 128))
    games.state.grid[0] = torch.tensor(list(game.grid), dtype=torch.int8)
    game.respawn()
    games.respawn(torch.tensor([0]))
    assert (game.x, game.y) == (5, 0) == (int(games.state.x[0]), int(games.state.y[0]))


def beside(mode: str, numbers: Numbers, *, evaluating: bool) -> tuple[Game, Games]:
    """The same game on the reading and on the engine."""
    low, high = (int(word) & 0xFFFFFFFF for word in KEYS[0])
    game = Game(mode, (low, high), reading.Numbers(**asdict(numbers)), evaluating)
    game.start()
    games = Games(MODES[mode], 1, numbers=numbers, evaluating=evaluating)
    games.start(KEYS[:1])
    return game, games


def play_beside_the_reading(mode: str, numbers: Numbers, *, steps: int, evaluating: bool) -> int:
    """Holds the engine to the reading; how many episodes or lives ended."""
    game, games = beside(mode, numbers, evaluating=evaluating)
    ended = 0
    for action in ACTIONS[:steps, 0].tolist():
        expected, observed = game.step(action), games.step(torch.tensor([action]))
        assert observed.components[0].tolist() == list(expected.components)
        assert round(float(observed.reward[0]) * 100_000) == expected.reward
        assert (bool(observed.terminated), bool(observed.truncated)) == (expected.terminated, expected.truncated)
        if expected.terminated or expected.truncated:
            ended += 1
            for each, first in ((game, ()), (games, (torch.tensor([0]),))):
                (each.respawn if evaluating else each.restart)(*first)
        assert state_dict.to_dicts(games.state) == [state_of(game)]
    return ended
