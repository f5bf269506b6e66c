"""Games of a debugging session as traces and as tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from pprint import pformat

from parity.atomic_write import write_text
from parity.debug.timeline import Moment
from parity.errors import UsageError
from parity.finding import rules_in_play, shrunk_report
from parity.pair import Pair
from parity.prices import changed_prices
from parity.registry import is_module, registered
from parity.replay import Divergence
from parity.trace import Case, Trace, write_trace
from parity.world import World

_TEST = '''"""A game that was saved by the debugger: the engines must agree at each of its steps."""

from parity.testing import assert_case
from parity.trace import Case

CASE = {case}
COMPONENTS = {components}
PRICES = {prices}


def test_engines_agree() -> None:
    assert_case({world!r}, {engines!r}, CASE, components=COMPONENTS, prices=PRICES)
'''


def save_trace(
    pair: Pair, spec: str, case: Case, moments: Sequence[Moment], path: Path, shrink_seconds: float | None
) -> Trace:
    """Write a case, whose moments are known, as a trace, shrunk where a time for it is given; returns it."""
    last = moments[-1]
    trace = Trace(
        world=spec,
        engines=pair.names,
        case=case,
        differences=last.differences,
        rules=rules_in_play(pair.world, last),
        prices=changed_prices(pair.world),
    )
    if shrink_seconds is not None:
        first = next((number for number, moment in enumerate(moments) if moment.differences), None)
        if first is None:
            raise UsageError("the engines agree up to this step: go to one at which they differ, or save it unshrunk.")
        divergence = Divergence(case.prefix(first), moments[first].differences)
        trace = shrunk_report(pair, spec, divergence, shrink_seconds, "").trace
    write_trace(trace, path)
    return trace


def write_test(
    world: World, spec: str, engines: tuple[str, str], case: Case, components: Mapping[str, int | float], path: Path
) -> None:
    """Write a case as a test of pytest; raises UsageError where a test could not import the world."""
    if not is_module(spec) and spec not in registered():
        raise UsageError(f"a test cannot import the world '{spec}': open the session with its module:attribute.")
    values = {"case": case, "components": dict(components) or None, "prices": changed_prices(world)}
    texts = {name: pformat(value, width=100, sort_dicts=False) for name, value in values.items()}
    write_text(path, _TEST.format(**texts, world=spec, engines=engines))
