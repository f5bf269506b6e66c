"""Agents to watch: trained parameters, a checkpoint or a model of MaskablePPO, as functions of observations."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlparity import World
from rlparity.errors import ParityError, UsageError
from rlworldkit.evaluation.onnx_policy import ONNX, read_onnx
from rlworldkit.ppo.numpy_network import Floats, NumpyNetwork
from rlworldkit.ppo.params import load_params, misfit, other_actions, params_of_checkpoint, trained_files
from rlworldkit.runs.saved_config import read_saved_config
from rlworldkit.sb3.model_file import timesteps_of
from rlworldkit.show import Agent, show_of

PARAMS, CHECKPOINT, MODEL = ".npz", ".pkl", ".zip"
KINDS = f"params_*.npz, checkpoint_*.pkl, *{ONNX}"


def load_agent(
    world: World,
    path: Path,
    *,
    hidden_dim: int | None = None,
    num_layers: int | None = None,
    trust: bool = False,
) -> Agent:
    """The agent in ``params_*.npz``, ``checkpoint_*.pkl``, ``.onnx``, a ``.zip`` of MaskablePPO, or a world's own file.

    hidden_dim, num_layers: width and number that the hidden layers must have; None: as the file has them. trust: let a
    model of MaskablePPO execute what it likes. Raises ParityError where the file cannot be read, or is no agent of this
    game or of these sizes.
    """
    show = show_of(world)
    if path.suffix in (MODEL, ONNX, *show.readers):
        if hidden_dim is not None or num_layers is not None:
            raise UsageError("--hidden-dim and --num-layers are for params_*.npz and checkpoint_*.pkl: leave them out.")
        if path.suffix == ONNX:
            return read_onnx(path, world)
        return MaskablePPOAgent(world, path, trust) if path.suffix == MODEL else show.readers[path.suffix](path)
    if path.suffix == PARAMS:
        params = load_params(path)
    elif path.suffix == CHECKPOINT:
        params = params_of_checkpoint(path, world.name, world.rules_version)
    else:
        kinds = ", ".join((KINDS, *(f"*{kind}" for kind in show.readers)))
        raise UsageError(f"{path} is no agent that can be watched: give {kinds}, or the .zip of a MaskablePPO model.")
    network = NumpyNetwork(params, show.networks)
    try:
        logits, _ = network(np.zeros((1, *world.observation_shape), np.float32))
    except ValueError as error:
        raise misfit(path) from error
    if logits.shape[1] != len(world.actions):
        raise other_actions(path, len(world.actions))
    found = network.architecture
    if hidden_dim not in (None, found.hidden_dim) or num_layers not in (None, found.num_layers):
        raise UsageError(
            f"{path} holds a network of --hidden-dim {found.hidden_dim} and --num-layers {found.num_layers}: "
            "give these, or leave both out."
        )
    return network


def agents_of(folder: Path) -> Sequence[Path]:
    """The agents of a run, the furthest first: parameters and checkpoints of `train`, or else models of `train-sb3`."""
    found = [path for path in trained_files(folder) if path.parent == folder]
    return found or sorted(folder.glob(f"*{MODEL}"), key=lambda path: (timesteps_of(path), path.name), reverse=True)


def first_good_agent(world: World, paths: Iterable[Path], **how: Any) -> tuple[Path, Agent] | None:  # noqa: ANN401
    """The first of these files that holds an agent, and the agent; None where there are no files.

    Files that were passed over are named on standard error; raises the ParityError of the first where all are bad.
    """
    faults: list[ParityError] = []
    for path in paths:
        try:
            agent = load_agent(world, path, **how)
        except ParityError as fault:
            faults.append(fault)
            continue
        for passed in faults:
            print(f"Passed over: {passed}", file=sys.stderr)
        return path, agent
    if faults:
        raise faults[0]
    return None


class MaskablePPOAgent:
    """The agent of a model of MaskablePPO."""

    def __init__(self, world: World, path: Path, trust: bool) -> None:
        from rlworldkit.envs.spaces import action_space, observation_space
        from rlworldkit.sb3.models import load_model  # torch takes seconds

        self._world, self._path = world, path
        self._model = load_model(path, world, "cpu", trust=trust)
        spaces = observation_space(world), action_space(world)
        if (self._model.observation_space, self._model.action_space) != spaces:
            raise UsageError(f"{path} is a model of another game: name one that plays {world.title}.")
        self._model.policy.set_training_mode(False)

    def __call__(self, observations: Floats) -> tuple[Floats, Floats]:
        """Logits (n, actions) and values (n,)."""
        import torch

        policy: Any = self._model.policy
        with torch.no_grad():
            seen = policy.obs_to_tensor(self._world.split(observations))[0]
            logits = policy.get_distribution(seen).distribution.logits
            return logits.numpy(), policy.predict_values(seen)[:, 0].numpy()

    def export_network(self) -> tuple[NumpyNetwork, dict[str, Any]]:
        """The network in numpy, and the settings of its run (``rlworldkit.export.policy.ExportableAgent``)."""
        from rlworldkit.sb3.network import network_of

        return network_of(self._model, self._world), read_saved_config(self._path.parent)
