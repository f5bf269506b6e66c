"""Policies in ONNX of anybody: those of this world play, and of all others one sentence says what is wrong."""

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
from rlworldkit.agents import onnx_policy
from rlworldkit.agents.onnx_policy import read_onnx
from rlworldkit.agents.read import read_agent
from rlworldkit.export.trace import trace

(SIZE,), ACTIONS = WORLD.observation_shape, len(WORLD.actions)
KERNEL = np.random.default_rng(0).normal(size=(SIZE, ACTIONS)).astype(np.float32)


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


def all_valid(seen: NDArray[np.float32]) -> NDArray[np.bool_]:
    return np.ones((len(seen), ACTIONS), np.bool_)


def elsewhere() -> onnx.TensorProto:
    tensor = numpy_helper.from_array(KERNEL, "kernel")
    onnx.external_data_helper.set_external_data(tensor, "/etc/passwd")
    tensor.ClearField("raw_data")
    return tensor


def endless() -> bytes:
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"])],
        "body",
        [port("turn", kind=TensorProto.INT64), port("go", kind=TensorProto.BOOL)],
        [port("on", kind=TensorProto.BOOL)],
    )
    loop = helper.make_node("Loop", ["", "yes"], [], body=body)
    inside = helper.make_graph([loop], "inside", [], [])
    choice = helper.make_node("If", ["yes"], [], then_branch=inside, else_branch=inside)
    yes = numpy_helper.from_array(np.array(True), "yes")
    return model([choice, helper.make_node("MatMul", ["obs", "kernel"], ["scores"])], constants=[yes])


def node(operator: str, *inputs: str, **attributes: Any) -> list[onnx.NodeProto]:  # noqa: ANN401 - ONNX's
    return [helper.make_node(operator, inputs, ["scores"], **attributes)]


def test_a_linear_policy_of_somebody_else_plays(tmp_path: Path) -> None:
    path = tmp_path / "theirs.onnx"
    path.write_bytes(model())
    seen = np.random.default_rng(1).random((5, SIZE)).astype(np.float32)
    logits, values = read_agent(WORLD, path)(seen, all_valid(seen))
    np.testing.assert_allclose(logits, seen @ KERNEL, rtol=1e-5)
    assert np.isnan(values).all(), "it has none"


FUNCTION = helper.make_function("theirs", "F", ["x"], ["y"], node("Identity", "x"), [helper.make_opsetid("", 17)])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (lambda: b"not a model", "it is no ONNX model, or a damaged one"),
        (lambda: model()[:-200], "it is no ONNX model, or a damaged one"),
        (lambda: model(node("Sort", "obs", domain="theirs")), "its operator 'Sort' of 'theirs' is none of ONNX's own"),
        (lambda: model(constants=[elsewhere()]), "it keeps data in other files"),
        (lambda: model(node("Constant", value=elsewhere())), "it keeps data in other files"),
        (endless, "it has a 'If', which chooses or repeats what is computed"),
        (lambda: model(functions=[FUNCTION]), "it has sparse tensors or functions"),
        (lambda: model(node("Nonsense", "obs")), "its operator 'Nonsense' is none of ONNX's own"),
        (lambda: model().replace(b"scores", b"\xffcores"), "onnxruntime does not take it"),
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


def constant(name: str, *values: float, kind: type = np.int64) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, kind), name)


def packed() -> onnx.TensorProto:
    """Numbers of eight bytes that are stored in one each."""
    return onnx.TensorProto(name="many", dims=[2**23], data_type=TensorProto.INT64, int64_data=bytes(2**23))


Operators = list[tuple[str, str, dict[str, Any]]]
"""Each with its ports, ``inputs -> outputs``, and its attributes."""


def hostile(nodes: Operators, *constants: onnx.TensorProto, zeros: tuple[int, ...] = (3000, 3000)) -> bytes:
    """A small file: a linear policy beside operators, which begin with ``x``, so many zeros."""
    made = [helper.make_node("ConstantOfShape", ["shape"], ["x"])]
    for operator, ports, attributes in nodes:
        inputs, _, outputs = ports.partition(" -> ")
        made.append(helper.make_node(operator, inputs.split(), outputs.split(), **attributes))
    zero = helper.make_node("ReduceSum", [made[-1].output[0]], ["zero"], keepdims=0)
    scores = [
        helper.make_node("MatMul", ["obs", "kernel"], ["sum"]),
        helper.make_node("Add", ["sum", "zero"], ["scores"]),
    ]
    return model(
        [*made, zero, *scores],
        constants=[numpy_helper.from_array(KERNEL, "kernel"), constant("shape", *zeros), *constants],
    )


def one(operator: str, ports: str, **attributes: Any) -> Operators:  # noqa: ANN401 - ONNX's
    return [(operator, ports, attributes)]


def chain(operator: str, length: int, **attributes: Any) -> Operators:  # noqa: ANN401 - ONNX's
    """An operator on two of what the one before gives, so many times."""
    names = ["x", *(f"x{number}" for number in range(length))]
    return [(operator, f"{a} {a} -> {b}", attributes) for a, b in pairwise(names)]


def weights(*shape: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.zeros(shape, np.float32), "w")


TENSORS = r"its tensors take [\d,]+ MiB for 1 observations, more than a policy needs"
WORK = r"it takes \d\.\de\+\d+ multiply-adds for 1 observations, more than a policy needs"
AXES, SIZES = "its tensors have too many axes", "it has sizes beyond"
UNKNOWN = "the size of its '.*' is only known while it runs"
LENGTH = one("Shape", "x -> s") + one("ConstantOfShape", "s -> x0") + chain("Concat", 40, axis=0)[1:]
POOL = one("MaxPool", "x -> y", kernel_shape=[900] * 2, pads=[500] * 4)
SCALES = constant("none", kind=np.float32), constant("by", 1, 1, 1e5, 1e5, kind=np.float32)


@pytest.mark.parametrize(
    ("nodes", "constants", "zeros", "sentence"),
    [
        ([], (), (2**20, 2**12), TENSORS),
        ([], (packed(),), (1,), TENSORS),
        (one("Identity", "x -> y") * 10_001, (), (1,), "it has 10,00. operators, more than 10,000"),
        (chain("Concat", 30, axis=0), (), (1,), TENSORS),
        (chain("MatMul", 60), (), (1200, 1200), f"{WORK}|{TENSORS}"),
        (chain("Gather", 60), (), (1,), AXES),
        (LENGTH, (), (1,), AXES),
        (one("MatMul", "x x -> y"), (), (1100, 1100), WORK),
        (one("Gemm", "x x -> y", transA=1), (), (1100, 1100), WORK),
        (one("Expand", "x to -> y"), (constant("to", 10**6, 10**7),), (1, 1), TENSORS),
        (one("Tile", "x by -> y"), (constant("by", 10**5, 10**5),), (1, 1), TENSORS),
        (one("Tile", "x by -> y"), (constant("by", 2**62 + 1, 1),), (4, 1), SIZES),
        (one("Pad", "x by -> y"), (constant("by", 10**5, 10**5, 1, 1),), (1, 1), TENSORS),
        (one("Pad", "x by -> y"), (constant("by", 2**63 - 1, 2**63 - 1),), (5,), SIZES),
        (one("Resize", "x none by -> y"), SCALES, (1, 1, 1, 1), TENSORS),
        (one("Conv", "x w -> y", pads=[300] * 4), (weights(1, 1, 300, 300),), (1, 1, 9, 9), WORK),
        (one("ConvTranspose", "x w -> y", strides=[10**5] * 2), (weights(1, 1, 3, 3),), (1, 1, 9, 9), TENSORS),
        (POOL, (), (1, 1, 1000, 1000), WORK),
        (one("Einsum", "x x -> y", equation="ij,kj->ik"), (), (1100, 1100), WORK),
        (one("Einsum", "x x x -> y", equation="i,j,k->ijk"), (), (10,), "it has an Einsum of more than two"),
        (one("Det", "x -> y"), (), (500, 500), WORK),
        (one("NonZero", "obs -> z") + one("Cast", "z -> y", to=1), (), (1,), UNKNOWN),
    ],
    ids=lambda part: f"{len(part)} {part[-1][0]}" if isinstance(part, list) and part else "",
)
def test_what_needs_more_than_a_policy_is_refused_before_any_of_it_is_computed(
    nodes: Operators,
    constants: tuple[onnx.TensorProto, ...],
    zeros: tuple[int, ...],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "theirs.onnx"
    path.write_bytes(hostile(nodes, *constants, zeros=zeros))
    monkeypatch.setattr("onnxruntime.InferenceSession", lambda *_, **how: pytest.fail("it was given to onnxruntime"))
    with pytest.raises(UsageError, match=f"{path} cannot be used: (?:{sentence})[^;]*; give an .onnx policy"):
        read_onnx(path, WORLD)


def test_a_graph_whose_size_grows_faster_than_its_batch_is_refused_at_the_batch_that_is_too_much(
    tmp_path: Path,
) -> None:
    """The batch's length to the fourth power, of which a shape is made as other exporters make shapes."""
    nodes = [
        helper.make_node("Shape", ["obs"], ["sizes"]),
        helper.make_node("Gather", ["sizes", "first"], ["batch"]),
        helper.make_node("Concat", ["batch"] * 4, ["many"], axis=0),
        helper.make_node("Expand", ["one", "many"], ["zeros"]),
        helper.make_node("ReduceSum", ["zeros"], ["zero"], keepdims=0),
        helper.make_node("MatMul", ["obs", "kernel"], ["sum"]),
        helper.make_node("Add", ["sum", "zero"], ["scores"]),
    ]
    constants = [numpy_helper.from_array(KERNEL, "kernel"), constant("first", 0), constant("one", 0, kind=np.float32)]
    path = tmp_path / "theirs.onnx"
    path.write_bytes(model(nodes, constants=constants))
    policy = read_onnx(path, WORLD)
    seen = np.ones((1000, SIZE), np.float32)
    np.testing.assert_allclose(policy(seen[:20], all_valid(seen[:20]))[0], seen[:20] @ KERNEL, rtol=1e-5)
    with pytest.raises(
        UsageError, match="its tensors take 3,814,697 MiB for 1000 observations, more than a policy needs"
    ):
        policy(seen, all_valid(seen))


def test_no_file_and_one_that_is_too_large_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "theirs.onnx"
    with pytest.raises(UsageError, match="does not exist; give the path of an"):
        read_onnx(path, WORLD)
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
