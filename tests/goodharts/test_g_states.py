"""States that ``set_state`` takes, and the sentence for each that it refuses (G13)."""

from typing import Any

import pytest
from single_games import ENGINES, cell_at, full, made, open_game, open_games

from goodharts.rules import MOST_ITEMS, NUM_CELLS, Numbers, refuse_impossible
from rlparity import State, StateRefused, UsageError

STATE = made(food=[(1, 0), (3, 3)], poison=[(0, 1)])
FOOD, (POISON,) = STATE["food"], STATE["poison"]
AGENT = cell_at(50, 60)
ALL_BUT_ONE = [cell for cell in range(NUM_CELLS) if cell != AGENT]

REFUSED: dict[str, tuple[Any, str]] = {
    "no object": ([1, 2], "a state must be an object with named fields, not list."),
    "a field is missing": ({name: STATE[name] for name in STATE if name != "key"}, "the state has no key: give all of"),
    "an unknown field": ({**STATE, "hp": 1}, "the state has an unknown field 'hp': give"),
    "no list": ({**STATE, "food": 3}, "food must be a list of cells, not 3."),
    "a cell off the grid": ({**STATE, "food": [3, NUM_CELLS]}, "food[1] must be a whole number in 0 … 16383"),
    "a cell that is no number": ({**STATE, "poison": ["3"]}, "poison[0] must be a whole number in 0 … 16383, not '3'."),
    "cells out of order": ({**STATE, "food": FOOD[::-1]}, f"food[1] is {FOOD[0]} after {FOOD[1]}: cells stand in"),
    "a cell twice": ({**STATE, "food": [FOOD[0]] * 2}, f"food[1] is {FOOD[0]} after {FOOD[0]}: cells stand in"),
    "x off the grid": ({**STATE, "x": 128}, "x must be a whole number in 0 … 127, not 128."),
    "y off the grid": ({**STATE, "y": -1}, "y must be a whole number in 0 … 127, not -1."),
    "y that is true": ({**STATE, "y": True}, "y must be a whole number in 0 … 127, not True."),
    "energy that is a fraction": ({**STATE, "energy": 1.0}, "energy must be a whole number in"),
    "energy past 64 bits": ({**STATE, "energy": 2**63}, "energy must be a whole number in"),
    "energy below 64 bits": ({**STATE, "energy": -(2**63) - 1}, "energy must be a whole number in"),
    "steps below 0": ({**STATE, "steps": -1}, "steps must be a whole number in 0 …"),
    "steps past 63 bits": ({**STATE, "steps": 2**63}, "steps must be a whole number in 0 …"),
    "an event that is no word": ({**STATE, "event": 2**32}, "event must be a whole number in 0 … 4294967295"),
    "a key of one word": ({**STATE, "key": [1]}, "key must be two 32-bit words, not [1]."),
    "a key past 32 bits": ({**STATE, "key": [0, 2**32]}, "key[1] must be a whole number in 0 … 4294967295"),
    "another count of food": ({**STATE, "foodCount": 3}, "foodCount is 3, but there are 2: what is eaten reappears"),
    "another count of poison": ({**STATE, "poisonCount": 0}, "poisonCount is 0, but there are 1: what is eaten"),
    "more food than cells": ({**STATE, "foodCount": NUM_CELLS}, "foodCount must be a whole number in 0 … 16383"),
    "poison below 0": ({**STATE, "poisonCount": -1}, "poisonCount must be a whole number in 0 … 16383"),
    "more poison than cells": ({**STATE, "poisonCount": NUM_CELLS}, "poisonCount must be a whole number in 0 … 16383"),
    "a cell with both": ({**STATE, "poison": FOOD[:1]}, f"cell {FOOD[0]} holds food and poison: a cell holds one"),
    "food under the agent": ({**STATE, "food": [AGENT, FOOD[1]]}, f"the agent's cell {AGENT} must be empty"),
    "poison under the agent": ({**STATE, "poison": [AGENT]}, f"the agent's cell {AGENT} must be empty"),
}


@pytest.mark.parametrize(("state", "said"), REFUSED.values(), ids=REFUSED)
def test_G13_a_state_that_no_game_can_have_is_refused_in_one_sentence(state: Any, said: str) -> None:  # noqa: ANN401 - whatever it is
    with pytest.raises(StateRefused) as refused:
        refuse_impossible(state)
    assert str(refused.value).startswith(said)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("engine", ["torch", "jax"])
def test_G13_of_several_states_an_engine_takes_all_or_none(engine: str) -> None:
    games = open_games(engine, 3)
    games.reset(1)
    before = games.get_state()
    with pytest.raises(StateRefused, match="x must be a whole number"):
        games.set_state([STATE, {**STATE, "x": 128}, STATE])
    assert games.get_state() == before


TAKEN: dict[str, State] = {
    "an empty grid": made(),
    "every cell but the agent's": full(made(food=[(1, 0)])),
    "poison in every cell but the agent's": full(made()),
    "food in every cell but the agent's": {**made(), "food": ALL_BUT_ONE, "foodCount": NUM_CELLS - 1},
    "a life that is over": {**STATE, "energy": -1010, "steps": 700},
    "more steps than the event counts, once that has wrapped": {**STATE, "steps": 9, "event": 3},
    "the ends of the ranges": {
        **STATE,
        "energy": -(2**63),
        "steps": 2**63 - 1,
        "event": 2**32 - 1,
        "key": [2**32 - 1] * 2,
    },
}


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("engine", ENGINES)
def test_G13_what_is_taken_is_given_back(engine: str, name: str) -> None:
    with open_game(engine) as game:
        game.set_state(TAKEN[name])
        assert game.get_state() == TAKEN[name]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"min_food": 5, "max_food": 4}, "min_food is 5 and max_food 4: the least must not be above the most."),
        ({"min_poison": 300}, "min_poison is 300 and max_poison 256"),
        (
            {"max_food": 12_000, "max_poison": 4001},
            "max_food and max_poison are 16,001 together: a grid is given at most 16,000 items.",
        ),
        ({"evaluation_food": 16_000}, "evaluation_food and evaluation_poison are 16,128 together"),
    ],
    ids=str,
)
def test_G9_numbers_of_which_no_game_can_be_made_are_refused(numbers: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        Numbers(**numbers)
    assert str(refused.value).startswith(said)
    assert str(refused.value).isprintable()


def test_G3_the_ends_of_the_ranges_are_taken() -> None:
    assert Numbers(min_food=0, max_food=MOST_ITEMS, min_poison=0, max_poison=0).most_items(evaluating=False) == 16_000
    assert Numbers(evaluation_food=0, evaluation_poison=0).most_items(evaluating=True) == 0
