"""Who is watched: trained parameters, a checkpoint or a model of MaskablePPO, as a function of what is seen."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hackmatrix.plain_networks import PLAIN_NETWORKS
from hackmatrix.rules import NUM_ACTIONS, OBSERVATION_SIZE, VERSION
from parity.errors import ParityError, UsageError
from worldkit.purejaxrl.params import load_params, misfit, other_actions, params_of_checkpoint, trained_files
from worldkit.purejaxrl.plain_network import Floats, PlainNetwork
from worldkit.sb3.model_file import timesteps_of

Agent = Callable[[Floats], tuple[Floats, Floats]]
"""Observations float32 (n, 1545) → logits float32 (n, 28), before any mask, and values float32 (n,)."""

PARAMS, CHECKPOINT, MODEL = ".npz", ".pkl", ".zip"
_KINDS = "give params_*.npz, checkpoint_*.pkl, or the .zip of a MaskablePPO model"


def load_agent(
    path: Path, *, hidden_dim: int | None = None, num_layers: int | None = None, trust: bool = False
) -> Agent:
    """The agent in a file.

    Args:
        path: ``params_*.npz``, ``checkpoint_*.pkl`` or a model of MaskablePPO, ``.zip``.
        hidden_dim: how wide the hidden layers are said to be; None: as the file has it.
        num_layers: how many they are said to be; None: as the file has it.
        trust: let a model of MaskablePPO execute what it likes.

    Raises:
        ParityError: the file cannot be read, or is no agent of this game or of these sizes.
    """
    if path.suffix == MODEL:
        if hidden_dim is not None or num_layers is not None:
            raise UsageError("--hidden-dim and --num-layers are for params_*.npz and checkpoint_*.pkl: leave them out.")
        return _of_maskable_ppo(path, trust)
    if path.suffix == PARAMS:
        params = load_params(path)
    elif path.suffix == CHECKPOINT:
        params = params_of_checkpoint(path, "hackmatrix", VERSION)
    else:
        raise UsageError(f"{path} is no agent that can be watched: {_KINDS}.")
    network = PlainNetwork(params, PLAIN_NETWORKS)
    _check_fits(path, network)
    _check_sizes(path, network, hidden_dim, num_layers)
    return network


def latest_agent(folder: Path, **how: Any) -> tuple[Path, Agent, list[ParityError]]:  # noqa: ANN401 - as load_agent has them
    """The furthest good agent of the run that began last in ``folder``, its file, and what was wrong with others.

    Raises UsageError where there is none.
    """
    found = first_good_agent(trained_files(folder), **how)
    if found is None:
        raise UsageError(
            f"There is no params_*.npz or checkpoint_*.pkl in {folder}: name a file, or train an agent first."
        )
    return found


def agents_of(folder: Path) -> Sequence[Path]:
    """The agents of a run, the furthest first: parameters and checkpoints of `train`, or else models of `train-sb3`."""
    found = [path for path in trained_files(folder) if path.parent == folder]
    return found or sorted(folder.glob(f"*{MODEL}"), key=lambda path: (timesteps_of(path), path.name), reverse=True)


def first_good_agent(paths: Iterable[Path], **how: Any) -> tuple[Path, Agent, list[ParityError]] | None:  # noqa: ANN401 - as load_agent has them
    """The first of these files that holds an agent, the agent, and what was wrong with the files before it.

    None where there are no files; raises the ParityError of the first one where all are bad.
    """
    faults: list[ParityError] = []
    for path in paths:
        try:
            return path, load_agent(path, **how), faults
        except ParityError as fault:
            faults.append(fault)
    if faults:
        raise faults[0]
    return None


def _check_fits(path: Path, network: PlainNetwork) -> None:
    try:
        logits, _ = network(np.zeros((1, OBSERVATION_SIZE), np.float32))
    except ValueError as error:
        raise misfit(path) from error
    if logits.shape[1] != NUM_ACTIONS:
        raise other_actions(path, NUM_ACTIONS)


def _check_sizes(path: Path, network: PlainNetwork, hidden_dim: int | None, num_layers: int | None) -> None:
    found = network.architecture
    if hidden_dim not in (None, found.hidden_dim) or num_layers not in (None, found.num_layers):
        raise UsageError(
            f"{path} holds a network of --hidden-dim {found.hidden_dim} and --num-layers {found.num_layers}: "
            "give these, or leave both out."
        )


def _of_maskable_ppo(path: Path, trust: bool) -> Agent:
    import torch

    from hackmatrix.env_spec import ENV_SPEC, split
    from worldkit.sb3.models import load_model

    model = load_model(path, device="cpu", trust=trust)
    if (model.observation_space, model.action_space) != (ENV_SPEC.observation_space(), ENV_SPEC.action_space()):
        raise UsageError(f"{path} is a model of another game: name one that plays HackMatrix.")
    policy: Any = model.policy
    policy.set_training_mode(False)

    def agent(observations: NDArray[np.float32]) -> tuple[Floats, Floats]:
        with torch.no_grad():
            seen = policy.obs_to_tensor(split(observations))[0]
            logits = policy.get_distribution(seen).distribution.logits
            return logits.numpy(), policy.predict_values(seen)[:, 0].numpy()

    return agent
