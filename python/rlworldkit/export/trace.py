"""Trace a function of numpy arrays as an ONNX graph.

The function is called once with arrays that record the operations on them, through numpy's own protocols. So networks
written in numpy need no changes. Axis 0 of every array is the batch, whose length is dynamic in the graph.
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
"""Version of the file format of the ONNX releases that introduced the opset."""
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

    inputs: an example of each array, all of one length. Raises TypeError if the function uses an operation that is not
    traced, and ValueError if it mixes the rows of a batch.
    """
    graph = _Graph(len(next(iter(inputs.values()))))
    outputs = function(**{name: TracedArray(graph, name, value) for name, value in inputs.items()})
    graph.nodes += (helper.make_node("Identity", [output.name], [name]) for name, output in outputs.items())

    def ports(values: Mapping[str, Any]) -> list[onnx.ValueInfoProto]:
        types = ((name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in values.items())
        return [helper.make_tensor_value_info(name, kind, ("batch", *shape[1:])) for name, kind, shape in types]

    made = helper.make_graph(graph.nodes, "policy", ports(inputs), ports(outputs), graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=_IR_VERSION)
    model = Extractor(model).extract_model([*inputs], [*outputs])  # drops nodes that no output needs
    onnx.checker.check_model(model, full_check=True)
    return model


class _Graph:
    """Nodes and constants of a graph so far. batch: length of the example."""

    def __init__(self, batch: int) -> None:
        self.batch = batch
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def name_of(self, value: TracedArray | ArrayLike, dtype: DTypeLike = np.int64) -> str:
        """Get the name of a traced array, or add a constant of this type and get its name."""
        if isinstance(value, TracedArray):
            return value.name
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, dtype, order="C"), name))
        return name


class TracedArray(NDArrayOperatorsMixin):
    """Array that records operations: its name in the graph, and its value in the example. Its methods are numpy's."""

    def __init__(self, graph: _Graph, name: str, value: NDArray[Any]) -> None:
        self.graph, self.name, self.value = graph, name, value
        self.shape, self.ndim, self.dtype = value.shape, value.ndim, value.dtype

    def __len__(self) -> int:
        return len(self.value)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc is np.expm1:
            return np.exp(self) - 1
        if method != "__call__" or options or ufunc not in _UFUNCS:
            return NotImplemented
        return self._add(_UFUNCS[ufunc], inputs, ufunc(*map(_value, inputs)))

    def __array_function__(self, function: Any, types: Any, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if function is np.concatenate:
            return self._add("Concat", given[0], np.concatenate([*map(_value, given[0])], **options), **options)
        if function is np.pad and not options:
            return self._add("Pad", given[:1], np.pad(*map(_value, given)), np.array(given[1]).T.ravel())
        if function is np.where and len(given) == 3:
            return self._add("Where", given, np.where(*map(_value, given)))
        return NotImplemented

    def __getitem__(self, index: Any) -> TracedArray:
        index = index if isinstance(index, tuple) else (index,)
        if Ellipsis in index:
            place = index.index(Ellipsis)
            index = index[:place] + (slice(None),) * (self.ndim - len(index) + 1) + index[place + 1 :]
        out = self
        for axis, each in reversed([*enumerate(index)]):  # a number removes its axis
            if each != slice(None):
                places = np.arange(self.shape[axis])[each]
                out = out._add("Gather", [out], out.value.take(places, axis=axis), places, axis=axis)
        return out

    def reshape(self, *shape: int) -> TracedArray:
        value = self.value.reshape(*shape)
        return self._add("Reshape", [self], value, (0, *value.shape[1:]))  # 0 keeps the batch's length

    def transpose(self, *axes: int) -> TracedArray:
        return self._add("Transpose", [self], self.value.transpose(*axes), perm=axes)

    def astype(self, dtype: DTypeLike) -> TracedArray:
        value = self.value.astype(dtype)
        return self._add("Cast", [self], value, to=helper.np_dtype_to_tensor_dtype(value.dtype))

    def max(self, axis: int, keepdims: bool = False) -> TracedArray:
        return self._add("ReduceMax", [self], self.value.max(axis, keepdims=keepdims), [axis], keepdims=int(keepdims))

    def sum(self, axis: int, keepdims: bool = False) -> TracedArray:
        return self._add("ReduceSum", [self], self.value.sum(axis, keepdims=keepdims), [axis], keepdims=int(keepdims))

    def argmax(self, axis: int) -> TracedArray:
        return self._add("ArgMax", [self], self.value.argmax(axis=axis), axis=axis, keepdims=0)

    def _add(
        self, operator: str, inputs: Any, value: NDArray[Any], *numbers: ArrayLike, **attributes: Any
    ) -> TracedArray:
        """Add an operator on arrays and whole numbers; return its output, with its ``value`` in the example.

        Untraced ``inputs`` become constants of the type of the traced ones.
        """
        if value.shape[:1] != (self.graph.batch,):
            raise ValueError(f"{operator} mixes the rows of a batch")
        if value.dtype == np.float64:  # from constants in double precision
            value = value.astype(np.float32)
        *_, dtype = (each.dtype for each in inputs if isinstance(each, TracedArray))
        names = [*(self.graph.name_of(each, dtype) for each in inputs), *map(self.graph.name_of, numbers)]
        name = f"{operator}_{len(self.graph.nodes)}"
        self.graph.nodes.append(helper.make_node(operator, names, [name], **attributes))
        return TracedArray(self.graph, name, value)


def _value(array: Any) -> Any:
    return array.value if isinstance(array, TracedArray) else array
