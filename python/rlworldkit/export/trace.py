"""Trace a function of numpy arrays as an ONNX graph.

The function is called once with arrays that record what is done to them, by numpy's own protocols. So the networks that
are written in numpy are exported as they stand. Axis 0 of every array is the batch, whose length the graph leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import ArrayLike, DTypeLike, NDArray
from onnx import helper, numpy_helper
from onnx.utils import Extractor

OPSET = 18
"""Version of ONNX's operators; onnxruntime has had it since 1.14."""
_IR_VERSION = 8
"""That of the releases which brought the opset."""
_BATCH = "batch"
_UFUNCS: Mapping[np.ufunc, str] = {
    np.add: "Add",
    np.subtract: "Sub",
    np.multiply: "Mul",
    np.true_divide: "Div",
    np.matmul: "MatMul",
    np.maximum: "Max",
    np.equal: "Equal",
    np.absolute: "Abs",
    np.sign: "Sign",
    np.rint: "Round",
    np.tanh: "Tanh",
    np.exp: "Exp",
}


def trace(function: Callable[..., Mapping[str, Any]], inputs: Mapping[str, NDArray[Any]]) -> onnx.ModelProto:
    """Return the graph of ``function``, which takes arrays by these names and returns arrays by name.

    inputs: an example of each, all of one length. Raises TypeError where the function uses what is not traced, and
    ValueError where it mixes the rows of a batch.
    """
    graph = _Graph(len(next(iter(inputs.values()))))
    outputs = function(**{name: TracedArray(graph, name, value) for name, value in inputs.items()})
    for name, output in outputs.items():
        graph.nodes.append(helper.make_node("Identity", [output.name], [name]))
    graph_proto = helper.make_graph(
        graph.nodes,
        "policy",
        [_value_info(name, value) for name, value in inputs.items()],
        [_value_info(name, output.value) for name, output in outputs.items()],
        graph.constants,
    )
    model = helper.make_model(graph_proto, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=_IR_VERSION)
    model = Extractor(model).extract_model([*inputs], [*outputs])  # without what only other outputs would need
    onnx.checker.check_model(model, full_check=True)
    return model


def _value_info(name: str, value: NDArray[Any]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), (_BATCH, *value.shape[1:]))


class _Graph:
    """Nodes and constants so far. batch: length of the example."""

    def __init__(self, batch: int) -> None:
        self.batch = batch
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: ArrayLike, dtype: DTypeLike = np.int64) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, dtype, order="C"), name))
        return name

    def add(self, operator: str, value: NDArray[Any], *inputs: str, **attributes: Any) -> TracedArray:  # noqa: ANN401 - ONNX's
        if value.shape[:1] != (self.batch,):
            raise ValueError(f"{operator} mixes the rows of a batch")
        if value.dtype == np.float64:  # of constants in double precision, which become those of their operands' type
            value = value.astype(np.float32)
        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return TracedArray(self, name, value)


class TracedArray(NDArrayOperatorsMixin):
    """An array of a graph: its name there, and its value in the example."""

    def __init__(self, graph: _Graph, name: str, value: NDArray[Any]) -> None:
        self.graph, self.name, self.value = graph, name, value
        self.shape, self.ndim, self.dtype = value.shape, value.ndim, value.dtype

    def __len__(self) -> int:
        return len(self.value)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:  # noqa: ANN401 - numpy's
        if ufunc is np.expm1:
            return np.exp(self) - 1
        if method != "__call__" or options or ufunc not in _UFUNCS:
            return NotImplemented
        return self.graph.add(_UFUNCS[ufunc], ufunc(*map(_value, inputs)), *self._names(inputs))

    def __array_function__(self, function: Any, types: Any, given: tuple[Any, ...], options: dict[str, Any]) -> Any:  # noqa: ANN401 - numpy's
        if function is np.concatenate:
            arrays, axis = given[0], options["axis"]
            value = np.concatenate([_value(array) for array in arrays], axis=axis)
            return self.graph.add("Concat", value, *self._names(arrays), axis=axis)
        if function is np.pad and not options:
            array, widths = given
            pads = self.graph.constant(np.array(widths).T.ravel())
            return self.graph.add("Pad", np.pad(array.value, widths), array.name, pads)
        if function is np.where and len(given) == 3:
            condition, one, other = given
            names = condition.name, *_first_traced((one, other))._names((one, other))
            return self.graph.add("Where", np.where(*map(_value, given)), *names)
        return NotImplemented

    def __getitem__(self, index: Any) -> TracedArray:  # noqa: ANN401 - numpy's
        index = index if isinstance(index, tuple) else (index,)
        if Ellipsis in index:
            place = index.index(Ellipsis)
            index = index[:place] + (slice(None),) * (self.ndim - len(index) + 1) + index[place + 1 :]
        out = self
        for axis, each in reversed([*enumerate(index)]):  # a number takes its axis away
            if each != slice(None):
                places = np.arange(self.shape[axis])[each]
                value = out.value.take(places, axis=axis)
                out = self.graph.add("Gather", value, out.name, self.graph.constant(places), axis=axis)
        return out

    def reshape(self, *shape: int) -> TracedArray:
        """As numpy's; the first axis stays the batch."""
        value = self.value.reshape(*shape)
        return self.graph.add("Reshape", value, self.name, self.graph.constant((0, *value.shape[1:])))  # 0: as it is

    def transpose(self, *axes: int) -> TracedArray:
        """As numpy's."""
        return self.graph.add("Transpose", self.value.transpose(*axes), self.name, perm=axes)

    def astype(self, dtype: DTypeLike) -> TracedArray:
        """As numpy's."""
        value = self.value.astype(dtype)
        return self.graph.add("Cast", value, self.name, to=helper.np_dtype_to_tensor_dtype(value.dtype))

    def max(self, axis: int, keepdims: bool = False) -> TracedArray:
        """As numpy's."""
        value = self.value.max(axis=axis, keepdims=keepdims)
        return self.graph.add("ReduceMax", value, self.name, self.graph.constant([axis]), keepdims=int(keepdims))

    def sum(self, axis: int, keepdims: bool = False) -> TracedArray:
        """As numpy's."""
        value = self.value.sum(axis=axis, keepdims=keepdims)
        return self.graph.add("ReduceSum", value, self.name, self.graph.constant([axis]), keepdims=int(keepdims))

    def argmax(self, axis: int) -> TracedArray:
        """As numpy's: the first of several."""
        return self.graph.add("ArgMax", self.value.argmax(axis=axis), self.name, axis=axis, keepdims=0)

    def _names(self, inputs: Any) -> list[str]:  # noqa: ANN401 - numpy's
        """Names of arrays; those that are not traced become constants of the type of one that is."""
        dtype = _first_traced(inputs).dtype
        return [each.name if isinstance(each, TracedArray) else self.graph.constant(each, dtype) for each in inputs]


def _value(array: Any) -> Any:  # noqa: ANN401 - numpy's
    return array.value if isinstance(array, TracedArray) else array


def _first_traced(inputs: Any) -> TracedArray:  # noqa: ANN401 - numpy's
    return next(each for each in inputs if isinstance(each, TracedArray))
