"""Read policies in ONNX files, of whatever origin, and compute them with onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlparity import World
from rlparity.errors import UsageError, quoted
from rlparity.io.safe_read import MIB, Unreadable, read_bytes
from rlworldkit.agents.choice import Masks
from rlworldkit.agents.numpy_network import Floats

ONNX = ".onnx"
LIMIT = 512 * MIB
"""The largest file that is read, in bytes."""
WORLD = "world"
"""The entry of the metadata that names the policy's world."""


def read_onnx(path: Path, world: World) -> Callable[[Floats, Masks], tuple[Floats, Floats]]:
    """The policy in a file: observations (n, *shape) and masks (n, actions) to logits (n, actions) and values (n,).

    The graph takes observations, float32 (batch, *shape), and may take a mask, bool (batch, actions). It gives logits,
    float32 (batch, actions), and may give a ``value``, float32 (batch,) or (batch, 1); without it values are NaN.

    Raises UsageError with one sentence for anything else: a larger file, operators that are not ONNX's own, graphs
    within the graph, functions, sparse tensors, data in other files, other shapes, a policy that names another world,
    or what `onnx_size` refuses, for a batch of any length.
    """
    import onnxruntime

    from rlworldkit.agents.onnx_size import GraphSize

    content, model, metadata = _read(path)
    if metadata.get(WORLD, world.name) != world.name:
        named = quoted(metadata[WORLD])
        raise UsageError(f"{path} is a policy of {named}, not of {world.name}: give one of this world.")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised; onnxruntime would print them, too
    try:
        size = GraphSize(model, content)
        # without fallback: trying again it would print why, and fail again
        how = {"providers": ["CPUExecutionProvider"], "enable_fallback": 0}
        session = onnxruntime.InferenceSession(content, options, **how)
        seen, mask, outputs = _ports(session, world)
    except Unreadable as fault:
        raise _refusal(path, fault) from None
    except Exception as error:  # onnxruntime's errors have no base of their own
        raise _refusal(path, f"onnxruntime does not take it ({type(error).__name__})") from None

    def policy(observations: Floats, masks: Masks) -> tuple[Floats, Floats]:
        given = {seen: np.ascontiguousarray(observations, np.float32), **dict.fromkeys(mask, masks)}
        try:
            size.check(len(observations))
            logits, *values = session.run(outputs, given)
        except Unreadable as fault:
            raise _refusal(path, fault) from None
        except Exception as error:
            raise _refusal(path, f"onnxruntime cannot compute it ({type(error).__name__})") from None
        is_short = any(value.size != len(observations) for value in values)
        if is_short or logits.shape != masks.shape or not np.isfinite(logits[masks]).all():
            raise _refusal(path, "its logits are not finite, or too few")
        return logits, values[0].reshape(-1) if values else np.full(len(observations), np.nan, np.float32)

    policy(np.zeros((2, *world.observation_shape), np.float32), np.ones((2, len(world.actions)), np.bool_))
    return policy


def onnx_metadata(path: Path) -> dict[str, str]:
    """What a file says of its policy; raises UsageError as ``read_onnx``."""
    return _read(path)[2]


def _read(path: Path) -> tuple[bytes, Any, dict[str, str]]:
    """The content of a file, its model and its metadata, once nothing in it could do more than a policy does."""
    import onnx

    try:
        content = read_bytes(path, LIMIT)
        model = onnx.load_model_from_string(content)
        fault = next(_faults(model), None)
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist; give the path of an .onnx policy.") from None
    except Unreadable as error:
        raise _refusal(path, error) from None
    except Exception:  # protobuf's, of whichever of its implementations
        raise _refusal(path, "it is no ONNX model, or a damaged one") from None
    if fault:
        raise _refusal(path, fault)
    return content, model, {entry.key: entry.value for entry in model.metadata_props}


def _refusal(path: Path, fault: object) -> UsageError:
    return UsageError(f"{path} cannot be used: {fault}; give an .onnx policy such as `export` writes.")


def _faults(message: Any) -> Iterator[str]:  # noqa: ANN401 - of protobuf
    """What a message and all that it holds must not have; protobuf reads none nested more than a hundred deep."""
    import onnx

    if isinstance(message, onnx.NodeProto) and message.domain not in ("", "ai.onnx"):
        yield f"its operator {quoted(message.op_type)} of {quoted(message.domain)} is none of ONNX's own"
    elif isinstance(message, onnx.TensorProto) and (message.external_data or message.data_location):
        yield "it keeps data in other files"
    elif isinstance(message, onnx.SparseTensorProto | onnx.FunctionProto):
        yield "it has sparse tensors or functions"
    for field, value in message.ListFields():
        if field.message_type:
            for each in (value,) if hasattr(value, "ListFields") else value:
                yield from _faults(each)


def _ports(session: Any, world: World) -> tuple[str, list[str], Sequence[str]]:  # noqa: ANN401 - onnxruntime's
    """Names of the inputs for observations and for a mask, and of the outputs; raises Unreadable for others."""
    floats, actions = "tensor(float)", [len(world.actions)]
    inputs, outputs = session.get_inputs(), session.get_outputs()
    if any(not port.shape or isinstance(port.shape[0], int) for port in inputs):
        raise Unreadable("the first axis of its inputs is not a batch of any length")
    seen = [port.name for port in inputs if (port.type, port.shape[1:]) == (floats, list(world.observation_shape))]
    masks = [port.name for port in inputs if (port.type, port.shape[1:]) == ("tensor(bool)", actions)]
    if len(seen) != 1 or len(masks) > 1 or len(inputs) != len(seen) + len(masks):
        shape = ", ".join(map(str, ("batch", *world.observation_shape)))
        raise Unreadable(
            f"its inputs are not float32 ({shape}), and perhaps a mask, bool (batch, {actions[0]}), and no other"
        )
    logits = [port.name for port in outputs if port.type == floats and port.shape[1:] == actions]
    if not logits:
        raise Unreadable(f"it has no output of logits, float32 (batch, {actions[0]})")
    is_value = [(port.name, port.type) == ("value", floats) and port.shape[1:] in ([], [1]) for port in outputs]
    return seen[0], masks, ["logits" if "logits" in logits else logits[0], *(["value"] if any(is_value) else [])]
