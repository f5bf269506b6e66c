"""The tape of Swift that comes with the world: the JAX engine is held to it on machines without Swift too.

After a change of the rules, delete the folder and record it anew, in the root of the checkout:
rlparity record --world hackmatrix --tape python/hackmatrix/tape --source directed --games 8 --steps 120 --seed 3
--states --marks
"""

from pathlib import Path

import pytest

import hackmatrix.world
from hackmatrix.rules import MARKS, RULES
from rlparity.engines.tape import read_tape
from rlparity.testing import assert_lockstep

FOLDER = Path(hackmatrix.world.__file__).parent / "tape"


@pytest.mark.long
def test_jax_plays_as_swift_did(tmp_path: Path) -> None:
    outcome = assert_lockstep("hackmatrix", (f"tape:{FOLDER}", "jax"), coverage=1, trace=tmp_path / "trace.json")
    assert outcome.steps == 8 * 120


def test_swift_plays_as_it_did(swift_built: None, tmp_path: Path) -> None:
    assert_lockstep("hackmatrix", (f"tape:{FOLDER}", "swift"), trace=tmp_path / "trace.json")


def test_the_tape_has_the_states_and_meets_every_rule() -> None:
    tape = read_tape(FOLDER)
    assert (tape.engine, tape.unknown) == ("swift", frozenset())
    *_, last = tape.play()
    counts = zip(MARKS.values(), last.readings["marks"].tolist(), strict=True)
    assert {rule for rule, count in counts if count} == set(RULES)
