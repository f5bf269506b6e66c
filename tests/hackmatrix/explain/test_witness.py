"""Over many games every reading is worth, to the thousandth, what the engine paid."""

from collections import Counter

from hackmatrix.explain.readings import READINGS, Prices, readings_of
from hackmatrix.rules import COMPONENTS
from hackmatrix.world import WORLD

from .corpus import paid_steps


def test_W_every_component_is_its_reading(prices: Prices) -> None:
    engine = WORLD.engines["swift"](64)
    times: Counter[str] = Counter()
    for paid in paid_steps(engine, steps=60, seed=3):
        worth = tuple(reading.value for reading in readings_of(paid.step, prices))
        assert worth == paid.values, (paid.step, dict(zip(READINGS, worth, strict=True)))
        for name, value in zip(COMPONENTS, worth, strict=True):
            times[name] += value != 0
            times[f"UNDO {name}"] += value != 0 and paid.step.undone
    engine.close()
    assert min(times[name] for name in COMPONENTS) >= 3, times
    assert min(times[f"UNDO {name}"] for name in ("kills", "data_siphon", "distance_shaping")) >= 3, times
