"""These tests need the Swift engine: they are skipped, aloud, where it is not built, and fail there in CI."""

import os
from collections.abc import Iterator

import numpy as np
import pytest

from hackmatrix.swift_env import SwiftEngineError, SwiftGames


@pytest.fixture(scope="session")
def swift_built() -> None:
    """The Swift engine can be started."""
    try:
        SwiftGames(np.zeros(1, np.uint64)).close()
    except SwiftEngineError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


@pytest.fixture
def one_game(swift_built: None) -> Iterator[SwiftGames]:
    """One game of the Swift engine."""
    with SwiftGames(np.zeros(1, np.uint64)) as games:
        yield games
