"""Policies in ONNX of anybody: those of this world play, and of all others one sentence says what is wrong."""

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from orchard import WORLD

from rlparity.errors import UsageError
from rlworldkit.agents import onnx_policy, onnx_process
from rlworldkit.agents.onnx_policy import read_onnx
from rlworldkit.agents.reader import read_agent
from rlworldkit.export.trace import trace

(SIZE,), ACTIONS = WORLD.observation_shape, len(WORLD.actions)
KERNEL = np.random.default_rng(0).normal(size=(SIZE, ACTIONS)).astype(np.float32)


LINEAR = [
    helper.make_node("MatMul", ["obs", "kernel"], ["sum"]),
    helper.make_node("Add", ["sum", "zero"], ["scores"]),
]


def port(name: str, *shape: int | str | None, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def model(
    nodes: list[onnx.NodeProto] | None = None,
    inputs: list[onnx.ValueInfoProto] | None = None,
    outputs: list[onnx.ValueInfoProto] | None = None,
    constants: list[onnx.TensorProto] | None = None,
    metadata: dict[str, str] | None = None,
    **more: Any,  # noqa: ANN401 - of any kind
) -> bytes:
    """A linear policy as another exporter would write it: names of its own, no mask, no metadata."""
    graph = helper.make_graph(
        nodes or [helper.make_node("MatMul", ["obs", "kernel"], ["scores"])],
        "theirs",
        inputs or [port("obs", "N", SIZE)],
        outputs or [port("scores", "N", ACTIONS)],
        constants or [numpy_helper.from_array(KERNEL, "kernel")],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("theirs", 1)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=8, **more)
    helper.set_model_props(made, metadata or {})
    return made.SerializeToString()


TOO_MUCH = r"onnxruntime (cannot use it|needs more than 60 s or 512 MiB)"


def all_valid(seen: NDArray[np.float32]) -> NDArray[np.bool_]:
    return np.ones((len(seen), ACTIONS), np.bool_)


def elsewhere() -> onnx.TensorProto:
    tensor = numpy_helper.from_array(KERNEL, "kernel")
    onnx.external_data_helper.set_external_data(tensor, "/etc/passwd")
    tensor.ClearField("raw_data")
    return tensor


def endless() -> bytes:
    """A loop that goes on for ever, before what is linear."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Identity", ["so_far"], ["further"])],
        "body",
        [port("turn", kind=TensorProto.INT64), port("go", kind=TensorProto.BOOL), port("so_far", "N", SIZE)],
        [port("on", kind=TensorProto.BOOL), port("further", "N", SIZE)],
    )
    loop = helper.make_node("Loop", ["", "yes", "obs"], ["seen"], body=body)
    constants = [numpy_helper.from_array(KERNEL, "kernel"), numpy_helper.from_array(np.array(True), "yes")]
    return model([loop, helper.make_node("MatMul", ["seen", "kernel"], ["scores"])], constants=constants)


def node(operator: str, *inputs: str, **attributes: Any) -> list[onnx.NodeProto]:  # noqa: ANN401 - ONNX's
    return [helper.make_node(operator, inputs, ["scores"], **attributes)]


def test_a_linear_policy_of_somebody_else_plays(tmp_path: Path) -> None:
    path = tmp_path / "theirs.onnx"
    path.write_bytes(model())
    seen = np.random.default_rng(1).random((5, SIZE)).astype(np.float32)
    logits, values = read_agent(WORLD, path)(seen, all_valid(seen))
    np.testing.assert_allclose(logits, seen @ KERNEL, rtol=1e-5)
    assert np.isnan(values).all(), "it has none"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (lambda: model()[:-200], "it is no ONNX model, or a damaged one"),
        (lambda: model(node("Sort", "obs", domain="theirs")), "onnxruntime cannot use it"),
        (lambda: model(constants=[elsewhere()]), "it keeps data in other files"),
        (lambda: model(node("Constant", value=elsewhere())), "it keeps data in other files"),
        (lambda: model().replace(b"scores", b"\xffcores"), "onnxruntime cannot use it"),
        (lambda: model(inputs=[port("obs", 1, SIZE)]), "the first axis of its inputs is not a batch of any length"),
        (lambda: model(inputs=[port("obs", "N", SIZE), port("noise", "N", 1)]), "its inputs are not float32"),
        (
            lambda: model(
                node("MatMul", "obs", "half"),
                [port("obs", "N", SIZE + 1)],
                constants=[numpy_helper.from_array(np.ones((SIZE + 1, ACTIONS), np.float32), "half")],
            ),
            f"its inputs are not float32 \\(batch, {SIZE}\\), and perhaps a mask",
        ),
        (
            lambda: model(
                outputs=[port("scores", "N", 1)], constants=[numpy_helper.from_array(KERNEL[:, :1], "kernel")]
            ),
            f"it has no output of logits, float32 \\(batch, {ACTIONS}\\)",
        ),
        (lambda: model(constants=[numpy_helper.from_array(KERNEL * np.nan, "kernel")]), "its logits are not finite"),
        (lambda: model(metadata={"world": "chess"}), "is a policy of 'chess', not of orchard: give one of this world"),
    ],
)
def test_whatever_is_no_policy_of_this_world_is_one_sentence(
    content: Callable[[], bytes], sentence: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "theirs.onnx"
    path.write_bytes(content())
    with pytest.raises(UsageError, match=sentence) as caught:
        read_onnx(path, WORLD)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert capfd.readouterr() == ("", ""), "onnxruntime prints nothing beside it"


def greedy(doublings: int) -> bytes:
    """A small file: a linear policy beside a tensor of 4 KiB that is joined with itself so many times."""
    names = [f"x{number}" for number in range(doublings + 1)]
    return model(
        [
            helper.make_node("ConstantOfShape", ["shape"], names[:1]),
            *(helper.make_node("Concat", [one, one], [other], axis=0) for one, other in pairwise(names)),
            helper.make_node("ReduceSum", names[-1:], ["zero"], keepdims=0),
            *LINEAR,
        ],
        constants=[numpy_helper.from_array(KERNEL, "kernel"), numpy_helper.from_array(np.array([1024]), "shape")],
    )


def growing() -> bytes:
    """A tensor of the batch's length to the fourth power."""
    return model(
        [
            helper.make_node("Shape", ["obs"], ["sizes"]),
            helper.make_node("Gather", ["sizes", "first"], ["batch"]),
            helper.make_node("Concat", ["batch"] * 4, ["many"], axis=0),
            helper.make_node("ConstantOfShape", ["many"], ["zeros"]),
            helper.make_node("ReduceSum", ["zeros"], ["zero"], keepdims=0),
            *LINEAR,
        ],
        constants=[numpy_helper.from_array(KERNEL, "kernel"), numpy_helper.from_array(np.array([0]), "first")],
    )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems hold no process to its memory")
def test_what_needs_more_memory_than_a_policy_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_process, "MEMORY", 2**29)
    path = tmp_path / "theirs.onnx"
    path.write_bytes(greedy(30))
    with pytest.raises(UsageError, match=TOO_MUCH):
        read_onnx(path, WORLD)
    path.write_bytes(growing())
    policy = read_onnx(path, WORLD)
    seen = np.ones((1000, SIZE), np.float32)
    np.testing.assert_allclose(policy(seen[:20], all_valid(seen[:20]))[0], seen[:20] @ KERNEL, rtol=1e-5)
    with pytest.raises(UsageError, match=TOO_MUCH):
        policy(seen, all_valid(seen))


def test_what_needs_more_time_than_a_policy_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "theirs.onnx"
    path.write_bytes(endless())
    monkeypatch.setattr(onnx_process, "SECONDS", 1.0)
    with pytest.raises(UsageError, match="onnxruntime needs more than 1 s or 4,096 MiB for it: give an"):
        read_onnx(path, WORLD)


def test_a_file_that_is_too_large_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "theirs.onnx"
    path.write_bytes(model())
    monkeypatch.setattr(onnx_policy, "LIMIT", 100)
    with pytest.raises(UsageError, match="it is larger than"):
        read_onnx(path, WORLD)


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: {"y": np.sin(x)}, TypeError),
        (lambda x: {"y": np.sort(x)}, TypeError),
        (lambda x: {"y": x.reshape(-1)}, ValueError),
        (lambda x: {"y": x[:1]}, ValueError),
    ],
)
def test_what_the_trace_does_not_know_is_refused(
    function: Callable[[NDArray[Any]], dict[str, Any]], error: type[Exception]
) -> None:
    with pytest.raises(error):
        trace(function, {"x": np.ones((2, 3), np.float32)})
