"""Export trained policies as files for other programs, with metadata and a model card, a page in Markdown."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rlparity import World
from rlparity.core.prices import prices_in_reward
from rlparity.errors import UsageError
from rlworldkit.agents.agent import Agent
from rlworldkit.agents.numpy_network import Floats, NumpyNetwork
from rlworldkit.agents.onnx_policy import WORLD
from rlworldkit.ppo.params import flat_params
from rlworldkit.runs.folder import CONFIG, PRICES, saved_prices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rlparity.viewer.page import Curve
    from rlworldkit.program import Program

FORMATS = ONNX, SAFETENSORS, NPZ = "onnx", "safetensors", "npz"


def exported(agent: Agent, kind: str, program: Program, world: World) -> tuple[bytes, dict[str, str]]:
    """Export the policy of an agent as a file of one of the ``FORMATS``; return its content and metadata.

    ``safetensors`` and ``npz`` hold the parameters; an ``npz`` has its metadata in the comment of the zip archive.
    Raises UsageError for an agent without parameters, and for a network that cannot be written as ONNX.
    """
    if agent.network is None:
        raise UsageError(f"{agent.path} cannot be exported: give what it was exported from.")
    network = agent.network()
    metadata = _metadata(network, agent.settings(), agent.path, program, world)
    if kind == ONNX:
        return _onnx(network, metadata, world), metadata
    arrays = {name: np.ascontiguousarray(each, np.float32) for name, each in flat_params(network.params)}
    if kind == SAFETENSORS:
        from safetensors.numpy import save

        return save(arrays, metadata), metadata
    archive, comment = io.BytesIO(), json.dumps(metadata).encode()
    if len(comment) >= 2**16:
        raise UsageError("The metadata is too long for an .npz file: give --format safetensors.")
    np.savez(archive, allow_pickle=False, **arrays)
    with zipfile.ZipFile(archive, "a") as file:
        file.comment = comment
    return archive.getvalue(), metadata


def _metadata(
    network: NumpyNetwork, settings: Mapping[str, Any], path: Path, program: Program, world: World
) -> dict[str, str]:
    """Metadata of a policy's file, by name: texts, and JSON for other values."""
    world = world.with_prices(saved_prices(settings, path.parent / CONFIG))
    observation: dict[str, Any] = {"shape": world.observation_shape, "dtype": "float32"}
    if world.observation_label:
        observation["labels"] = [world.observation_label(place) for place in np.ndindex(world.observation_shape)]
    values = {
        WORLD: world.name,
        "rules_version": world.rules_version,
        "observation": observation,
        "actions": world.actions,
        "prices": prices_in_reward(world) if settings else {},  # unknown without settings
        "network": network.architecture._asdict(),
        "provenance": {
            "file": path.name,
            "exported_by": f"{program.name} {program.version}",
            "settings": {name: value for name, value in settings.items() if name != PRICES},
        },
    }
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}


def _onnx(network: NumpyNetwork, metadata: Mapping[str, str], world: World) -> bytes:
    """Graph from ``observation`` and ``mask`` to ``logits``, -inf where the mask is False, ``action`` and ``value``.

    The action is the likeliest valid one, the first of several. There is no value if the critic read more than the
    observation.
    """
    from onnx import helper

    from rlworldkit.export.trace import trace

    def graph(observation: Floats, mask: NDArray[np.bool_]) -> dict[str, Any]:
        logits, value = network(observation)
        masked = np.where(mask, logits, np.float32(-np.inf))
        outputs = {"logits": masked, "action": masked.argmax(axis=1)}
        return outputs if network.architecture.num_privileges else {**outputs, "value": value}

    observation = np.zeros((2, *world.observation_shape), np.float32)
    try:
        model = trace(graph, {"observation": observation, "mask": np.ones((2, len(world.actions)), np.bool_)})
    except (TypeError, ValueError) as error:
        raise UsageError(f"The network {network.architecture.name} cannot be written as ONNX: {error}.") from error
    helper.set_model_props(model, dict(metadata))
    return model.SerializeToString()


def model_card(
    file: Path, metadata: Mapping[str, str], curves: Sequence[Curve], picture: str | None, commands: Sequence[str]
) -> str:
    """Format the page of a policy in ``file``: what it is, how to use it, how it was trained, and its limits.

    curves: those of its run. picture: the file of the run's learning curve, beside the page. commands: those that
    export and evaluate the policy.
    """
    told = {name: json.loads(metadata[name]) for name in ("observation", "actions", "network", "prices", "provenance")}
    game = f"{metadata['world']} under version {metadata['rules_version']} of the rules"
    shape, actions = ", ".join(map(str, told["observation"]["shape"])), told["actions"]
    shown = [curve for curve in curves if curve.name.startswith(("train/", "stats/"))]
    metrics = [f"| {curve.name} | {curve.steps[-1]:,} | {curve.values[-1]:.6g} |" for curve in shown]
    table = ["| metric | at step | last value |", "| --- | --- | --- |", *metrics]
    return f"""# {file.name}: a policy for {metadata["world"]}

| | |
| --- | --- |
| plays | {game} |
| from | `{told["provenance"]["file"]}`, exported by {told["provenance"]["exported_by"]} |
| network | {", ".join(f"{name} {value}" for name, value in told["network"].items())} |
| observation | float32 (batch, {shape}), whose numbers the file's metadata names |
| actions | {len(actions)}: {", ".join(actions)} |
| prices of the reward | {", ".join(f"{name} {value:g}" for name, value in told["prices"].items()) or "not known"} |

## Use

{_use(file, shape, len(actions))}

```bash
{chr(10).join(commands)}
```

## Training

{chr(10).join(table) if metrics else "The folder of the agent holds no metrics."}

{f"![Learning curve]({picture})" if picture else ""}

```json
{json.dumps(told["provenance"]["settings"], indent=2)}
```

## Limits

- It plays {game}; other versions give other games.
- Metrics are those of training, whose actions are drawn. The command above measures it in games of its own.
- Logits differ from those of the trainer by rounding, and so may choices between actions as good as equal.
- It was trained for the prices above. Under others it plays on as it was trained.
"""


def _use(file: Path, shape: str, num_actions: int) -> str:
    """Text that tells how to use a policy in ``file``."""
    if file.suffix != f".{ONNX}":
        return "The file holds the parameters alone, in float32, by the names of the layers."
    return f"""```python
import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession("{file.name}")
observation = np.zeros((1, {shape}), np.float32)  # as the engines give it
mask = np.ones((1, {num_actions}), bool)  # which actions are valid
logits, action = session.run(["logits", "action"], {{"observation": observation, "mask": mask}})
```

`logits` are -inf for invalid actions, `action` is the likeliest valid one, and the first axis a batch of any length."""
