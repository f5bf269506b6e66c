"""Trained policies as files for other programs, and what such a file says of itself."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from parity.errors import UsageError
from parity.prices import prices_in_reward, with_prices
from rlworldkit.evaluation.onnx_policy import WORLD
from rlworldkit.ppo.numpy_network import Floats, NumpyNetwork
from rlworldkit.ppo.params import flat_params
from rlworldkit.runs.folder import CONFIG
from rlworldkit.runs.saved_config import PRICES, read_saved_config, saved_prices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rlworldkit.game import Game
    from rlworldkit.watch.spec import ViewSpec

ONNX, SAFETENSORS, NPZ = "onnx", "safetensors", "npz"
FORMATS = (ONNX, SAFETENSORS, NPZ)
_LONGEST_COMMENT = 2**16 - 1


@runtime_checkable
class ExportableAgent(Protocol):
    """An agent of a world's own that can be exported."""

    def export_network(self) -> tuple[NumpyNetwork, Mapping[str, Any]]:
        """Its network, and the settings of its training with those ``prices`` that were not the game's own."""


class Policy(NamedTuple):
    """A policy to export. settings: of its training, as far as they are known. file: where it comes from."""

    network: NumpyNetwork
    settings: Mapping[str, Any]
    file: Path


def policy_of(agent: object, path: Path) -> Policy:
    """The policy of an agent and its file; raises UsageError for one of another library."""
    if isinstance(agent, NumpyNetwork):
        return Policy(agent, read_saved_config(path.parent), path)
    if not isinstance(agent, ExportableAgent):
        raise UsageError(f"{path} cannot be exported: give what it was exported from.")
    return Policy(*agent.export_network(), path)


def metadata_of(policy: Policy, game: Game, view: ViewSpec) -> dict[str, str]:
    """What a file says of its policy: texts, or JSON where a value is no text.

    Its world, the version of its rules, the observation's layout, the actions' names, the prices in reward of its
    training, the network's architecture, and where it comes from.
    """
    world = with_prices(view.world, saved_prices(policy.settings, policy.file.parent / CONFIG))
    observation: dict[str, Any] = {"shape": world.observation_shape, "dtype": "float32"}
    if world.observation_label:
        observation["labels"] = [world.observation_label(place) for place in np.ndindex(world.observation_shape)]
    settings = {name: value for name, value in policy.settings.items() if name != PRICES}
    values = {
        WORLD: world.name,
        "rules_version": view.rules_version,
        "observation": observation,
        "actions": world.actions,
        "prices": prices_in_reward(world) if policy.settings else {},  # a lone file does not tell them
        "network": policy.network.architecture._asdict(),
        "provenance": {"file": policy.file.name, "exported_by": f"{game.name} {game.version}", "settings": settings},
    }
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}


def content_of(policy: Policy, kind: str, metadata: Mapping[str, str], view: ViewSpec) -> bytes:
    """The file of a policy in one of the ``FORMATS``.

    ``safetensors`` and ``npz`` hold the parameters; the metadata of the latter is the zip archive's comment. Raises
    UsageError for a network that cannot be written as ONNX.
    """
    arrays = {name: np.ascontiguousarray(each, np.float32) for name, each in flat_params(policy.network.params)}
    if kind == ONNX:
        return _onnx(policy.network, metadata, view)
    if kind == SAFETENSORS:
        from safetensors.numpy import save

        return save(arrays, dict(metadata))
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, **arrays)
    with zipfile.ZipFile(archive, "a") as file:
        file.comment = json.dumps(metadata).encode()
        if len(file.comment) > _LONGEST_COMMENT:
            raise UsageError("The metadata is too long for an .npz file: give --format safetensors.")
    return archive.getvalue()


def _onnx(network: NumpyNetwork, metadata: Mapping[str, str], view: ViewSpec) -> bytes:
    """A graph of ``observation`` and ``mask`` to ``logits``, -inf where the mask is False, ``action`` and ``value``.

    The action is the likeliest valid one, the first of several. There is no value where a critic knew more than the
    observation.
    """
    from onnx import helper

    from rlworldkit.export.trace import trace

    def graph(observation: Floats, mask: NDArray[np.bool_]) -> dict[str, Any]:
        logits, value = network(observation)
        masked = np.where(mask, logits, np.float32(-np.inf))
        outputs = {"logits": masked, "action": masked.argmax(axis=1)}
        return outputs if network.architecture.num_privileges else {**outputs, "value": value}

    world = view.world
    example = np.zeros((2, *world.observation_shape), np.float32), np.ones((2, len(world.actions)), np.bool_)
    try:
        model = trace(graph, dict(zip(("observation", "mask"), example, strict=True)))
    except (TypeError, ValueError) as error:
        raise UsageError(f"The network {network.architecture.name} cannot be written as ONNX: {error}.") from error
    helper.set_model_props(model, dict(metadata))
    return model.SerializeToString()
