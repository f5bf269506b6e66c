"""Reader of agents from files of every kind, by path, by name or from the folder of a run.

The module is cheap to import, so that a world's module can make an ``AgentReader`` with its own additions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity import World
from rlparity.errors import ParityError, UsageError
from rlworldkit.agents.agent import Agent, agent_of_logits, uniform
from rlworldkit.agents.numpy_network import Floats, NumpyEncoder, NumpyNetwork
from rlworldkit.extras import install_package
from rlworldkit.ppo.params import Params, load_params, misfit, other_actions, params_of_checkpoint, trained_files
from rlworldkit.runs.folder import read_saved_config
from rlworldkit.sb3.model_file import timesteps_of

PARAMS, CHECKPOINT, MODEL, ONNX = ".npz", ".pkl", ".zip", ".onnx"
RANDOM = "random"
"""Name of the player that draws valid actions uniformly."""


@dataclass(frozen=True)
class AgentReader:
    """A world's additions to the readers of agents, as its ``World.read_agent``.

    networks: the numpy encoders of its networks, by name.
    files: readers of its own kinds of files, by suffix.
    players: its own players by name, each a function of observations and masks that returns logits.
    """

    networks: Callable[[], Mapping[str, NumpyEncoder | None]] = lambda: {"mlp": None}
    files: Mapping[str, Callable[[World, Path], Agent]] = field(default_factory=dict)
    players: Mapping[str, Callable[[NDArray[Any], NDArray[np.bool_]], Floats]] = field(default_factory=dict)

    def __call__(self, world: World, path: Path) -> Agent:
        """Read an agent; see ``read_agent``."""
        return read_agent(world, path)


def reader_of(world: World) -> AgentReader:
    """Return a world's ``AgentReader``, or one without additions."""
    return world.read_agent if isinstance(world.read_agent, AgentReader) else AgentReader()


def read_agent(world: World, name: str | Path, **how: Any) -> Agent:  # noqa: ANN401 - as read_file has them
    """Read the agent of this name, in this file, or the furthest trained usable one in this folder of a run.

    A file or folder takes precedence over an agent that comes with the world under the same name. Raises ParityError,
    with one sentence, if no agent can be used. how: options of ``read_file``.
    """
    if str(name) == RANDOM:
        return agent_of_logits(RANDOM, uniform)
    if logits_of := reader_of(world).players.get(str(name)):
        return agent_of_logits(str(name), logits_of)
    found = first_agent(world, agent_files(world, Path(name)), **how)
    if found is None:
        raise UsageError(f"There is no agent in {name}: name the folder of a run, or {agents_text(world)}.")
    return found


def first_agent(world: World, paths: Iterable[Path], **how: Any) -> Agent | None:  # noqa: ANN401 - as read_file
    """Read the agent in the first of these files that has one; None if there are no files.

    Skipped files are named on standard error; if all files fail, the ParityError of the first is raised.
    """
    faults: list[ParityError] = []
    for path in paths:
        try:
            agent = read_file(world, path, **how)
        except ParityError as fault:
            faults.append(fault)
            continue
        for passed in faults:
            print(f"Passed over: {passed}", file=sys.stderr)
        return agent
    if faults:
        raise faults[0]
    return None


def agent_files(world: World, path: Path) -> Sequence[Path]:
    """List the file of this name, or the agents in the folder of a run, the furthest trained first.

    A folder's agents are parameters and checkpoints of `train`, else models of `train-sb3`, else the world's own.
    """
    path = world.agent_at(path)
    if not os.path.isdir(path):  # pathlib's own raises for a name that no file can have
        return [path]
    trained = [file for file in trained_files(path) if file.parent == path]
    models = sorted(path.glob(f"*{MODEL}"), key=lambda file: (timesteps_of(file), file.name), reverse=True)
    own = (path / file.name for file in world.agents.values())
    return trained or models or [file for file in own if file.exists()][:1]


def agents_text(world: World) -> str:
    """Describe the kinds and names of agents, for messages."""
    files = "params_*.npz", "checkpoint_*.pkl", *(f"*{kind}" for kind in (ONNX, *reader_of(world).files))
    named = [f"`{name}`" for name in (*world.agents, *player_names(world))]
    kinds = ", ".join([*files, "a MaskablePPO .zip", "the folder of a run", *named[:-1]])
    return f"{kinds} or {named[-1]}"


def player_names(world: World) -> Sequence[str]:
    """List the names of players without a file."""
    return (*reader_of(world).players, RANDOM)


def is_agent(world: World, path: Path) -> bool:
    """Whether a file has a suffix of agents."""
    return path.suffix in (PARAMS, CHECKPOINT, MODEL, ONNX, *reader_of(world).files)


def read_file(
    world: World, path: Path, *, hidden_dim: int | None = None, num_layers: int | None = None, trust: bool = False
) -> Agent:
    """Read the agent in a file.

    hidden_dim, num_layers: required width and number of the hidden layers; None: any. trust: allow a model of
    MaskablePPO to be unpickled, which can run arbitrary code. Raises ParityError if the file cannot be read, or has no
    agent of this world or of these sizes.
    """
    sizes = hidden_dim, num_layers
    if not is_agent(world, path):
        raise UsageError(f"{path} is no agent: give {agents_text(world)}.")
    if path.suffix in (PARAMS, CHECKPOINT):
        is_whole = path.suffix == CHECKPOINT
        params = params_of_checkpoint(path, world.name, world.rules_version) if is_whole else load_params(path)
        agent = agent_of_params(world, params, path)
        assert agent.network is not None
        found = agent.network().architecture
        if any(size not in (None, has) for size, has in zip(sizes, (found.hidden_dim, found.num_layers), strict=True)):
            raise UsageError(
                f"{path} holds a network of --hidden-dim {found.hidden_dim} and --num-layers {found.num_layers}: "
                "give these, or leave both out."
            )
        return agent
    if sizes != (None, None):
        raise UsageError("--hidden-dim and --num-layers are for params_*.npz and checkpoint_*.pkl: leave them out.")
    if path.suffix == ONNX:
        from rlworldkit.agents.onnx_policy import onnx_settings, read_onnx  # it starts processes

        return Agent(read_onnx(path, world), path, settings=partial(onnx_settings, path))
    if path.suffix == MODEL:
        if any(find_spec(name) is None for name in ("stable_baselines3", "sb3_contrib")):
            raise UsageError(f"{path} needs Stable-Baselines3: run `{install_package('sb3_contrib')}`.")
        from rlworldkit.agents.masked_ppo import read_masked_ppo  # torch takes seconds

        return read_masked_ppo(world, path, trust)
    return reader_of(world).files[path.suffix](world, path)


def agent_of_params(world: World, params: Params, path: Path) -> Agent:
    """Make the agent of parameters from the file ``path``; raises ParityError if they do not fit this world."""
    network = NumpyNetwork(params, reader_of(world).networks())
    try:
        logits, _ = network(np.zeros((1, *world.observation_shape), np.float32))
    except ValueError as error:
        raise misfit(path) from error
    if logits.shape[1] != len(world.actions):
        raise other_actions(path, len(world.actions))
    return Agent(
        lambda seen, masks: network(seen), path, lambda: network, settings=lambda: read_saved_config(path.parent)
    )
