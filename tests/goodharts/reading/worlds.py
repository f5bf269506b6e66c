"""The worlds of Goodharts with one more engine, the reading, to hold both others to.

In this folder's parent: ``parity run --world reading.worlds:GROUND_TRUTH``, and so on for the other modes.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

from goodharts.rules import MODES, Mode
from goodharts.world import WORLDS
from parity import MutationBench, World
from parity.mutants import read_mutants

from .engine import Reading

_HERE = Path(__file__).resolve().parent
_PYTHON = _HERE.parents[2] / "python"


def _bench(mode: Mode) -> MutationBench:
    """The faults that show in a mode."""
    tables = "world", mode.rewarded_for, "mortal" if mode.is_mortal else "frozen"
    planted = (read_mutants(_HERE / "mutants" / f"{table}.toml", "goodharts/torch_env/") for table in tables)
    return MutationBench(
        engine="torch",
        reference="reading",
        source=_PYTHON,
        mutants=tuple(mutant for mutants in planted for mutant in mutants),
        environment=lambda copy: {"PYTHONPATH": f"{copy}:{_HERE.parent}", "OMP_NUM_THREADS": "1"},
    )


def _with_reading(mode: Mode) -> World:
    world = WORLDS[mode.name]
    engines = {**world.engines, "reading": partial(Reading, mode.name)}
    return replace(world, engines=engines, benches=(_bench(mode), *world.benches))


PAIRED = {name: _with_reading(mode) for name, mode in MODES.items()}
ALONE = replace(WORLDS["proxy"], engines={"torch": WORLDS["proxy"].engines["torch"]}, benches=())
"""A world of one engine."""
GROUND_TRUTH = PAIRED["ground_truth"]
GROUND_TRUTH_BLINDED = PAIRED["ground_truth_blinded"]
PROXY_MORTAL = PAIRED["proxy_mortal"]
PROXY = PAIRED["proxy"]
GROUND_TRUTH_HANDHOLD = PAIRED["ground_truth_handhold"]
