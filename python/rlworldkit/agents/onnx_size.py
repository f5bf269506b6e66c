"""Bound what an ONNX graph needs in memory and time, from its shapes alone, before any of it is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping

import onnx
from onnx import helper, numpy_helper, shape_inference

from rlparity.errors import quoted
from rlparity.io.safe_read import MIB, Unreadable

Shape = tuple[int, ...]
Sizes = dict[str, tuple[Shape, int]]
"""The shape of each tensor and the bytes of one element."""

BYTES_OF_ROW = 16 * MIB
"""All tensors together may take this much for each observation, beside four times the file."""
OPERATIONS_OF_ROW = 2**30
"""Multiply-adds of all operators together, for each observation."""
MAX_NODES = 10_000
_MAX_INTEGER = 2**31
"""Sizes made of larger numbers could exceed 64 bits, and seem small. A ``Slice`` may end at such a number."""
_MAX_LENGTHS = 2**20
"""Axes of all tensors together, and elements of vectors from which shapes are made."""
_LINEAR = (
    " Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh BatchNormalization BitShift Cast CastLike Ceil Celu "
    "Clip Concat Constant ConstantOfShape Cos Cosh CumSum DepthToSpace DequantizeLinear Div Dropout Elu Equal Erf Exp "
    "Expand EyeLike Flatten Floor Gather GatherElements GatherND Gelu GlobalAveragePool GlobalMaxPool Greater "
    "GreaterOrEqual HardSigmoid HardSwish Hardmax Identity InstanceNormalization IsInf IsNaN LayerNormalization "
    "LeakyRelu Less LessOrEqual Log LogSoftmax Max Mean Min Mish Mod Mul Neg Not OneHot Or PRelu Pad Pow "
    "QuantizeLinear RMSNormalization Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax "
    "ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Round ScatterElements ScatterND Selu "
    "Shape Sigmoid Sign Sin Sinh Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Swish "
    "Tan Tanh ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Where Xor "
)
"""Operators whose work is that of reading their inputs and writing their outputs."""
_PRODUCTS = ("MatMul", "Gemm", "MatMulInteger", "QLinearMatMul")
_CONVOLUTIONS = ("Conv", "ConvTranspose", "ConvInteger", "QLinearConv")
_POOLS = ("AveragePool", "LpPool", "MaxPool")
_LENGTHENING = ("Gather", "GatherND", "OneHot", "Unsqueeze")
"""Linear operators whose outputs can have more axes than any of their inputs."""


class GraphSize:
    """The size of a model's graph for batches of any length. content: the whole file.

    Raises Unreadable, with half a sentence, where the graph can need more than a policy does or its sizes are not known
    beforehand.
    """

    def __init__(self, model: onnx.ModelProto, content: bytes) -> None:
        self._model, self._content_bytes, self._checked = model, len(content), 0
        graph = model.graph
        if len(graph.node) > MAX_NODES:
            raise Unreadable(f"it has {len(graph.node):,} operators, more than {MAX_NODES:,}")
        self._constants = {tensor.name: tensor for tensor in graph.initializer}
        for node in graph.node:
            _check_operator(node)
            if node.op_type == "Constant" and node.attribute[0].HasField("t"):
                self._constants[node.output[0]] = node.attribute[0].t
        self._check_bytes(
            {name: (tuple(each.dims), _bytes_of(each.data_type)) for name, each in self._constants.items()}, 1
        )
        wide = {name for name, tensor in self._constants.items() if _is_wide(tensor)}
        if any(node.op_type != "Slice" and wide.intersection(node.input) for node in graph.node):
            raise Unreadable(f"it has sizes beyond {_MAX_INTEGER:,}")
        # what a file says of its own shapes could be untrue
        del graph.value_info[:]
        for port in graph.output:
            port.type.tensor_type.ClearField("shape")
        inputs = [port for port in graph.input if port.name not in self._constants]
        del graph.input[:]
        graph.input.extend(inputs)
        model.ir_version = max(model.ir_version, 4)  # since then constants need not be inputs
        self.check(1)

    def check(self, batch: int) -> None:
        """Raises Unreadable where a batch of this length needs more than so many observations may."""
        if batch <= self._checked:
            return
        for with_values in (False, True):  # the second time follow sizes that the graph itself computes
            self._check_lengths(with_values=with_values)
            sizes = self._sizes(batch, with_values=with_values)
            self._check_bytes(sizes, batch)
            nodes = self._model.graph.node
            unknown = [name for node in nodes for name in (*node.input, *node.output) if name and name not in sizes]
            if not unknown:
                break
        else:
            raise Unreadable(f"the size of its {quoted(unknown[0])} is only known while it runs")
        work = sum(_operations(node, sizes) for node in nodes)
        if work > batch * OPERATIONS_OF_ROW:
            raise Unreadable(f"it takes {work:.1e} multiply-adds for {batch} observations, more than a policy needs")
        self._checked = batch

    def _check_bytes(self, sizes: Sizes, batch: int) -> None:
        in_memory = sum(math.prod(shape) * of_one for shape, of_one in sizes.values())
        if in_memory > 4 * self._content_bytes + batch * BYTES_OF_ROW:
            used = f"{in_memory // MIB:,} MiB"
            raise Unreadable(f"its tensors take {used} for {batch} observations, more than a policy needs")

    def _check_lengths(self, *, with_values: bool) -> None:
        """Raises Unreadable where shapes may be too long to infer. with_values: what vectors hold is inferred, too."""
        lengths = {port.name: len(port.type.tensor_type.shape.dim) for port in self._model.graph.input}
        for name, tensor in self._constants.items():
            is_shape = tensor.data_type in (onnx.TensorProto.INT32, onnx.TensorProto.INT64)
            lengths[name] = max(len(tensor.dims), math.prod(tensor.dims) if is_shape else 0)
        total = 0
        for node in self._model.graph.node:
            operator, given = node.op_type, [lengths.get(name, 0) for name in node.input]
            is_known = _is_linear(operator) or operator in (*_PRODUCTS, *_CONVOLUTIONS, *_POOLS)
            is_joined = operator in _LENGTHENING or not is_known or (with_values and operator == "Concat")
            more = sum(len(attribute.ints) + len(attribute.s) for attribute in node.attribute)
            length = more + (sum(given) if is_joined else max(given, default=0))
            lengths |= dict.fromkeys(node.output, length)
            total += length * len(node.output)
            if total > _MAX_LENGTHS:
                raise Unreadable("its tensors have too many axes")

    def _sizes(self, batch: int, *, with_values: bool) -> Sizes:
        """The sizes that can be told."""
        for port in self._model.graph.input:
            if port.type.tensor_type.shape.dim:
                port.type.tensor_type.shape.dim[0].dim_value = batch
        try:
            graph = shape_inference.infer_shapes(
                self._model, check_type=True, strict_mode=True, data_prop=with_values
            ).graph
        except Exception as error:  # of C++, with several lines
            raise Unreadable(f"its sizes cannot be told ({type(error).__name__})") from None
        sizes = {tensor.name: (tuple(tensor.dims), _bytes_of(tensor.data_type)) for tensor in graph.initializer}
        for value in (*graph.input, *graph.value_info, *graph.output):
            kind = value.type.tensor_type
            is_known = all(dim.HasField("dim_value") and dim.dim_value >= 0 for dim in kind.shape.dim)
            if kind.HasField("shape") and is_known:
                shape = tuple(dim.dim_value for dim in kind.shape.dim)
                sizes.setdefault(value.name, (shape, _bytes_of(kind.elem_type)))
        return sizes


def _check_operator(node: onnx.NodeProto) -> None:
    if not onnx.defs.has(node.op_type):
        raise Unreadable(f"its operator {quoted(node.op_type)} is none of ONNX's own")
    for attribute in node.attribute:
        if attribute.HasField("g") or attribute.graphs:
            raise Unreadable(f"it has a {quoted(node.op_type)}, which chooses or repeats what is computed")
        if any(abs(number) > _MAX_INTEGER for number in (attribute.i, *attribute.ints)):
            raise Unreadable(f"it has sizes beyond {_MAX_INTEGER:,}")
    if node.op_type == "Einsum" and len(node.input) > 2:
        raise Unreadable("it has an Einsum of more than two tensors")


def _is_wide(tensor: onnx.TensorProto) -> bool:
    if tensor.data_type not in (onnx.TensorProto.INT64, onnx.TensorProto.UINT64):
        return False
    if len(tensor.int64_data) + len(tensor.uint64_data) > math.prod(tensor.dims):
        raise Unreadable("it has a constant that holds more than its shape says")
    values = numpy_helper.to_array(tensor)
    return bool(((values > _MAX_INTEGER) | (values < -_MAX_INTEGER)).any())


def _bytes_of(kind: int) -> int:
    if kind == onnx.TensorProto.STRING:
        raise Unreadable("it has tensors of text")
    return int(helper.tensor_dtype_to_np_dtype(kind).itemsize)


def _is_linear(operator: str) -> bool:
    return f" {operator} " in _LINEAR


def _operations(node: onnx.NodeProto, sizes: Mapping[str, tuple[Shape, int]]) -> int:
    """An upper bound of the multiply-adds of an operator."""
    inputs, outputs = ([sizes[name][0] for name in names if name] for names in (node.input, node.output))
    read, written = sum(map(math.prod, inputs)), sum(map(math.prod, outputs))
    of_attributes = {attribute.name: attribute for attribute in node.attribute}
    match node.op_type:
        case operator if operator in _PRODUCTS:
            is_turned = "transA" in of_attributes and of_attributes["transA"].i
            return read + written * inputs[0][0 if is_turned else -1]
        case operator if operator in _CONVOLUTIONS:
            kernel = max(inputs[1:], key=math.prod)
            return max(math.prod(inputs[0]), written) * math.prod(kernel[1:])
        case operator if operator in _POOLS:
            return read + written * math.prod(of_attributes["kernel_shape"].ints)
        case "LSTM" | "GRU" | "RNN":
            return math.prod(inputs[0][:2]) * sum(map(math.prod, inputs[1:3]))
        case "Einsum" if b"." not in (equation := of_attributes["equation"].s):
            terms = equation.replace(b" ", b"").partition(b"->")[0].split(b",")
            lengths = {
                letter: length for pair in zip(terms, inputs, strict=True) for letter, length in zip(*pair, strict=True)
            }
            return math.prod(lengths.values())
        case operator:
            return read + written if _is_linear(operator) else (read + written) ** 2
