"""The Swift engine for tests that ask it directly."""

from collections.abc import Iterator

import pytest

from hackmatrix.swift_env import SwiftEngine


@pytest.fixture
def one_game(swift_built: None) -> Iterator[SwiftEngine]:
    with SwiftEngine(1) as engine:
        yield engine
