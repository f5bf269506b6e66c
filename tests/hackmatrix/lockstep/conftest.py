"""The Swift engine for tests that ask it directly."""

from collections.abc import Iterator

import numpy as np
import pytest

from hackmatrix.swift_env import SwiftGames


@pytest.fixture
def one_game(swift_built: None) -> Iterator[SwiftGames]:
    with SwiftGames(np.zeros(1, np.uint64)) as games:
        yield games
