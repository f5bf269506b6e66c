"""``HackMatrix-v0``, made by Gymnasium."""

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

import hackmatrix  # noqa: F401 - registers HackMatrix-v0


@pytest.fixture
def env(swift_built: None) -> Iterator[gym.Env[Any, Any]]:
    made = gym.make("HackMatrix-v0")
    yield made
    made.close()
