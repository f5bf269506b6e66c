"""The third witness: over many games every reading is worth, to the thousandth, what the engines paid."""

from collections import Counter
from collections.abc import Iterable

from hackmatrix.explain.readings import READINGS, Prices, readings_of
from hackmatrix.rules import COMPONENTS
from hackmatrix.world import WORLD
from parity import BatchEngine

from .corpus import Paid, paid_steps


def check(paid: Iterable[Paid], prices: Prices) -> Counter[str]:
    """How often each component was paid, and by UNDO; fails where a reading is worth something else."""
    times: Counter[str] = Counter()
    for step in paid:
        worth = [reading.value for reading in readings_of(step.step, prices)]
        for values in step.values:
            assert worth == list(values), (step, dict(zip(READINGS, worth, strict=True)))
        for name, value in zip(COMPONENTS, worth, strict=True):
            times[name] += value != 0
            times[f"UNDO {name}"] += value != 0 and step.step.undone
    return times


def test_W_every_component_of_the_swift_engine_is_its_reading(prices: Prices) -> None:
    engine = WORLD.engines["swift"](64)
    times = check(paid_steps([engine], steps=60, seed=3), prices)
    engine.close()
    assert min(times[name] for name in COMPONENTS) >= 3, times
    assert min(times[f"UNDO {name}"] for name in ("kills", "data_siphon", "distance_shaping")) >= 3, times


def test_W_every_component_of_both_engines_is_its_reading(swift: BatchEngine, jax: BatchEngine, prices: Prices) -> None:
    times = check(paid_steps([swift, jax], steps=200, seed=11), prices)
    assert sum(times[name] > 0 for name in COMPONENTS) >= 11, times
