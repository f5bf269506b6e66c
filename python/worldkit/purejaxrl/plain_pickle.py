"""Pickles that hold nothing but plain values and arrays, and whose reading executes nothing.

A pickle can name any function and have it called. What is written here needs no name at all: dicts, lists, strings,
numbers and bytes, an array being its dtype, its shape and its bytes. The reader knows only the operations that these
need, so that a file can neither call anything nor ask for more memory than it takes itself.
"""

import pickle
import pickletools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parity.reading import shown

_ARRAY = "__array__"


class NotPlain(Exception):
    """The bytes are no pickle of plain values."""


def dumps(value: Any) -> bytes:  # noqa: ANN401 - a tree of plain values and arrays
    """The bytes of a tree of dicts, lists, plain values and numpy arrays; raises TypeError for anything else."""
    return pickle.dumps(_plain(value), protocol=4)


def loads(data: bytes) -> Any:  # noqa: ANN401 - a tree of plain values and arrays
    """The tree that ``dumps`` was given; raises NotPlain for anything else, and never executes anything.

    Arrays are views of the bytes read, which are read-only.
    """
    try:
        return _with_arrays(_tree(data))
    except NotPlain:
        raise
    except RecursionError:
        raise NotPlain("it is nested too deeply") from None
    except Exception as error:  # damaged pickles fail in every way there is
        raise NotPlain(f"it is damaged ({type(error).__name__})") from error


def _tree(data: bytes) -> Any:  # noqa: ANN401 - a tree of plain values
    """What a pickle stands for: the part of pickle's stack machine that plain values need."""
    stack: list[Any] = []
    marks: list[int] = []
    memo: list[Any] = []
    argument: Any
    for opcode, argument, _ in pickletools.genops(data):
        name = opcode.name
        if name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _LITERALS:
            stack.append(argument)
        elif name in _CONTAINERS:
            stack.append(_CONTAINERS[name]())
        elif name == "MARK":
            marks.append(len(stack))
        elif name == "MEMOIZE":
            memo.append(stack[-1])
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(_shared(memo[argument]))
        elif name in ("APPEND", "APPENDS", "SETITEM", "SETITEMS"):
            single = {"APPEND": 1, "SETITEM": 2}.get(name)
            start = marks.pop() if single is None else len(stack) - single
            items = stack[start:]
            del stack[start:]
            _fill(stack[-1], items)
        elif name not in _FRAMING:
            raise NotPlain(_refusal(name, argument, stack))
    (tree,) = stack
    return tree


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_CONTAINERS: dict[str, type] = {"EMPTY_DICT": dict, "EMPTY_LIST": list}
_LITERALS = {"BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT"}
_LITERALS |= {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "SHORT_BINBYTES", "BINBYTES", "BINBYTES8"}
_FRAMING = {"PROTO", "FRAME", "STOP"}


def _fill(container: Any, items: list[Any]) -> None:  # noqa: ANN401 - a dict or a list
    if isinstance(container, list):
        container.extend(items)
        return
    for key, value in zip(items[::2], items[1::2], strict=True):
        if type(key) is not str or key in container:
            raise NotPlain(f"it names {shown(key)} twice" if type(key) is str else "a name in it is no text")
        container[key] = value


def _shared(value: Any) -> Any:  # noqa: ANN401 - a plain value
    if isinstance(value, (dict, list)):
        raise NotPlain("it holds one object in several places")  # a few of these stand for billions
    return value


def _refusal(operation: str, argument: Any, stack: list[Any]) -> str:  # noqa: ANN401 - as pickletools gives it
    """Why an operation is refused, by the name that it asks for where it asks for one."""
    asked = {"GLOBAL": str(argument).replace(" ", "."), "STACK_GLOBAL": ".".join(map(str, stack[-2:]))}
    if operation in asked:
        return f"it names {shown(asked[operation])[1:-1]}, and only plain values are accepted"
    return f"it needs pickle's operation {operation}, and only plain values are accepted"


def _plain(value: Any) -> Any:  # noqa: ANN401 - a tree
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return {_ARRAY: value.dtype.str, "shape": list(value.shape), "data": np.ascontiguousarray(value).tobytes()}
    if value is None or type(value) in (bool, int, float, str, bytes):
        return value
    raise TypeError(f"{type(value).__name__} is no plain value")


def _with_arrays(value: Any) -> Any:  # noqa: ANN401 - a tree
    if isinstance(value, list):
        return [_with_arrays(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _ARRAY not in value:
        return {key: _with_arrays(item) for key, item in value.items()}
    dtype = np.dtype(value[_ARRAY])
    if dtype.hasobject:
        raise NotPlain("an array of it holds objects")
    array: NDArray[Any] = np.frombuffer(value["data"], dtype).reshape(value["shape"])
    return array
