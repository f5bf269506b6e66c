"""Every directed test runs twice: on the JAX engine, and on the Swift engine where it is built."""

import pytest
from hypothesis import settings

from .engines import ENGINES, Engine


def pytest_configure(config: pytest.Config) -> None:
    """Give every property more examples where the long tests run too."""
    examples = 10 if config.option.markexpr else 30
    settings.register_profile("reproducible", derandomize=True, database=None, deadline=None, max_examples=examples)
    settings.load_profile("reproducible")


@pytest.fixture(scope="session", params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> Engine:
    """The engine under test; its compiled functions are shared by the whole session."""
    if request.param == "swift":
        request.getfixturevalue("swift_built")
    return ENGINES[request.param]
