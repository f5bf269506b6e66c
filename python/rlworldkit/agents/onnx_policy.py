"""Reader of policies in ONNX files of any origin, which onnxruntime computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from rlparity import World
from rlparity.errors import UsageError, quoted
from rlparity.io.safe_read import MIB, Unreadable, is_object, json_of, read_bytes, refused
from rlworldkit.agents.agent import Masks
from rlworldkit.agents.numpy_network import Floats
from rlworldkit.agents.onnx_process import OnnxProcess
from rlworldkit.runs.folder import read_saved_config

LIMIT = 512 * MIB
"""The largest file that is read, in bytes."""
WORLD = "world"
"""Metadata key with the name of the policy's world."""
_OTHER = "give an .onnx policy such as `export` writes"


def read_onnx(path: Path, world: World) -> Callable[[Floats, Masks], tuple[Floats, Floats]]:
    """Read a policy: observations (n, *shape) and masks (n, actions) to logits (n, actions) and values (n,).

    The graph takes observations, float32 (batch, *shape), and may take a mask, bool (batch, actions). It returns
    logits, float32 (batch, actions), and maybe a ``value``, float32 (batch,) or (batch, 1); without it values are NaN.

    Raises UsageError with one sentence for any other file: too large, with data in other files, of other shapes, of
    another world, or in need of more memory or time than an ``OnnxProcess`` has.
    """
    content, metadata = _read(path)
    if metadata.get(WORLD, world.name) != world.name:
        named = quoted(metadata[WORLD])
        raise UsageError(f"{path} is a policy of {named}, not of {world.name}: give one of this world.")
    with _refused(path):
        process = OnnxProcess(content)
        seen, mask, outputs = _ports(process.ports, world)

    def policy(observations: Floats, masks: Masks) -> tuple[Floats, Floats]:
        given = {seen: np.ascontiguousarray(observations, np.float32), **dict.fromkeys(mask, masks)}
        with _refused(path):
            logits, *values = process.run(outputs, given)
            is_short = any(value.size != len(observations) for value in values)
            if is_short or logits.shape != masks.shape or not np.isfinite(logits[masks]).all():
                raise Unreadable("its logits are not finite, or too few")
        return logits, values[0].reshape(-1) if values else np.full(len(observations), np.nan, np.float32)

    policy(np.zeros((2, *world.observation_shape), np.float32), np.ones((2, len(world.actions)), np.bool_))
    return policy


def onnx_metadata(path: Path) -> dict[str, str]:
    """Read the metadata of a policy's file; raises UsageError as ``read_onnx``."""
    return _read(path)[1]


def onnx_settings(path: Path) -> dict[str, Any]:
    """Read the training settings from a file's metadata, else from its folder; raises UsageError as ``read_onnx``."""
    with _refused(path):
        provenance = json_of(onnx_metadata(path).get("provenance", "{}").encode())
    settings = provenance.get("settings") if is_object(provenance) else None
    return settings if is_object(settings) and settings else read_saved_config(path.parent)


def _read(path: Path) -> tuple[bytes, dict[str, str]]:
    """Read a file's content and metadata, and check that it needs no other files."""
    import onnx

    with _refused(path):
        content = read_bytes(path, LIMIT)
        try:
            model = onnx.load_model_from_string(content)
        except Exception:  # protobuf's, which depends on its implementation
            raise Unreadable("it is no ONNX model, or a damaged one") from None
        if _has_external_data(model):
            raise Unreadable("it keeps data in other files")
        return content, {entry.key: entry.value for entry in model.metadata_props}


def _has_external_data(message: Any) -> bool:  # noqa: ANN401 - of protobuf, which reads none nested over 100 deep
    """Whether a message, or a message nested in it, keeps data in other files."""
    if getattr(message, "external_data", ()) or getattr(message, "data_location", 0):
        return True
    nested = (value for field, value in message.ListFields() if field.message_type)
    lists = ((value,) if hasattr(value, "ListFields") else value for value in nested)
    return any(_has_external_data(each) for values in lists for each in values)


def _refused(path: Path) -> AbstractContextManager[None]:
    return refused(path, "policy in ONNX", _OTHER, _OTHER)


def _ports(ports: Mapping[str, list[Any]], world: World) -> tuple[str, list[str], Sequence[str]]:
    """Find the inputs for observations and for a mask, and the outputs; raises Unreadable if they do not fit."""
    floats, actions = "tensor(float)", [len(world.actions)]
    inputs, outputs = ports["inputs"], ports["outputs"]
    if any(not shape or isinstance(shape[0], int) for _, _, shape in inputs):
        raise Unreadable("the first axis of its inputs is not a batch of any length")
    seen = [name for name, kind, shape in inputs if (kind, shape[1:]) == (floats, list(world.observation_shape))]
    masks = [name for name, kind, shape in inputs if (kind, shape[1:]) == ("tensor(bool)", actions)]
    if len(seen) != 1 or len(masks) > 1 or len(inputs) != len(seen) + len(masks):
        shape = ", ".join(map(str, ("batch", *world.observation_shape)))
        raise Unreadable(
            f"its inputs are not float32 ({shape}), and perhaps a mask, bool (batch, {actions[0]}), and no other"
        )
    logits = [name for name, kind, shape in outputs if kind == floats and shape[1:] == actions]
    if not logits:
        raise Unreadable(f"it has no output of logits, float32 (batch, {actions[0]})")
    is_value = [(name, kind) == ("value", floats) and shape[1:] in ([], [1]) for name, kind, shape in outputs]
    return seen[0], masks, ["logits" if "logits" in logits else logits[0], *(["value"] if any(is_value) else [])]
