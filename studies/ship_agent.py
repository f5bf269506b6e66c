"""Make a trained agent one that comes with the package: its parameters in half precision, and its run's settings.

    python studies/ship_agent.py PARAMS_OR_RUN [--name best]

PARAMS_OR_RUN is a params_*.npz file or the folder of a run, of which the furthest is taken. The agent of this name is
replaced. It is read in single precision again, rounded to three digits or so.
"""

import argparse
from pathlib import Path
from typing import Any

import jax
import numpy as np

from hackmatrix.agents import AGENTS, BEST
from hackmatrix.train_config import TrainConfig
from hackmatrix.world import WORLD
from rlparity.errors import ParityError, UsageError
from rlparity.io.arguments import Parser
from rlparity.io.atomic_write import write_whole
from rlparity.io.strict_json import json_text
from rlworldkit.agents.reader import PARAMS, agent_files, read_agent
from rlworldkit.cli.outputs import fail
from rlworldkit.ppo.params import Params, load_params, save_params
from rlworldkit.runs.folder import CONFIG, read_saved_config
from rlworldkit.settings import saved_settings


def main() -> None:
    """Read the command line, write the files, and print their paths and sizes."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", type=Path, metavar="PARAMS_OR_RUN", help="a params_*.npz file, or a run's folder")
    parser.add_argument("--name", choices=tuple(AGENTS), default=BEST, help=f"what it is called (default {BEST})")
    args = parser.parse_args()
    try:
        files = ship(args.agent, AGENTS[args.name])
    except ParityError as error:
        fail(error)
    for path in files:
        print(f"Written: {path} ({path.stat().st_size:,} bytes)")


def ship(agent: Path, target: Path) -> tuple[Path, Path]:
    """Write the agent to ``target`` and its run's settings beside it; return both paths.

    Raises ParityError where there is no agent, or where a number is too large for half precision.
    """
    path = _params_of(agent)
    read_agent(WORLD, path)  # check that the agent plays this game
    settings = {
        "params": path.name,
        **saved_settings(TrainConfig, read_saved_config(path.parent), path.parent / CONFIG),
    }
    target.parent.mkdir(exist_ok=True)
    save_params(target, in_half_precision(load_params(path)))
    config = target.with_name(CONFIG)
    write_whole(config, (json_text(settings, indent=2) + "\n").encode())
    return target, config


def in_half_precision(params: Params) -> Params:
    """Convert a tree of arrays to float16; raises UsageError where a number does not fit."""
    if any(np.abs(leaf).max(initial=0) > np.finfo(np.float16).max for leaf in jax.tree.leaves(params)):
        raise UsageError("These parameters hold numbers that are too large for half precision: ship another agent.")
    halved: Any = jax.tree.map(lambda leaf: np.asarray(leaf, np.float16), params)
    return halved


def _params_of(agent: Path) -> Path:
    """Return the file itself, or the latest parameters of a run; raises UsageError where its folder has none."""
    if not agent.is_dir():
        return agent
    found = next((path for path in agent_files(WORLD, agent) if path.suffix == PARAMS), None)
    if found is None:
        raise UsageError(f"There is no params_*.npz in {agent}: name the folder of a run, or a file.")
    return found


if __name__ == "__main__":
    main()
