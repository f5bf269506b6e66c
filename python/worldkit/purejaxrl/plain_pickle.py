"""Pickles that hold nothing but plain values and arrays, and whose reading executes nothing.

A pickle can name any function and have it called. What is written here needs no name at all: dicts, lists, strings,
numbers and bytes, an array being its dtype, its shape and its bytes. The reader refuses whatever names anything.
"""

import io
import pickle
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

_ARRAY = "__array__"


class NotPlain(Exception):
    """The bytes are no pickle of plain values."""


def dumps(value: Any) -> bytes:  # noqa: ANN401 - a tree of plain values and arrays
    """The bytes of a tree of dicts, lists, plain values and numpy arrays; raises TypeError for anything else."""
    return pickle.dumps(_plain(value), protocol=4)


def loads(data: bytes) -> Any:  # noqa: ANN401 - a tree of plain values and arrays
    """The tree that ``dumps`` was given; raises NotPlain for anything else, and never executes anything."""
    try:
        return _with_arrays(_Reader(io.BytesIO(data)).load())
    except NotPlain:
        raise
    except Exception as error:  # damaged pickles fail in every way there is
        raise NotPlain(f"it is damaged ({type(error).__name__})") from error


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise NotPlain(f"it names {module}.{name}, and only plain values are accepted")

    def persistent_load(self, pid: object) -> NoReturn:
        raise NotPlain("it refers to objects outside of itself")


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
    array: NDArray[Any] = np.frombuffer(value["data"], dtype).reshape(value["shape"]).copy()
    return array
