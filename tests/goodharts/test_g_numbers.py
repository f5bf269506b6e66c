"""The world's numbers in a configuration, and the sentence for impossible ones (G9)."""

from dataclasses import asdict
from typing import Any

import pytest
from reading.game import PUBLISHED

from goodharts.rules import DEFAULT_NUMBERS, MOST_ITEMS, Numbers
from rlparity import UsageError


def test_G9_the_defaults_are_the_published_numbers() -> None:
    assert asdict(DEFAULT_NUMBERS) == asdict(PUBLISHED)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"start_energy": 0}, "start_energy must be a whole number from 1 to 10,000,000, not 0."),
        ({"step_energy": -1}, "step_energy must be a whole number from 0 to 10,000,000, not -1."),
        ({"food_energy": 1.5}, "food_energy must be a whole number from -10,000,000 to 10,000,000, not 1.5."),
        ({"poison_interest": True}, "poison_interest must be a whole number"),
        ({"reward_clip": -1}, "reward_clip must be a whole number from 0 to 1,000,000,000, not -1."),
        ({"max_steps": 0}, "max_steps must be a whole number from 1 to"),
        ({"min_food": 5, "max_food": 4}, "min_food is 5 and max_food 4: the least must not be above the most."),
        ({"min_poison": 300}, "min_poison is 300 and max_poison 256"),
        (
            {"max_food": 12_000, "max_poison": 4001},
            "max_food and max_poison are 16,001 together: a grid is given at most 16,000 items.",
        ),
        ({"evaluation_food": 16_000}, "evaluation_food and evaluation_poison are 16,128 together"),
        ({"evaluation_poison": -1}, "evaluation_poison must be a whole number from 0 to 16,000, not -1."),
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
