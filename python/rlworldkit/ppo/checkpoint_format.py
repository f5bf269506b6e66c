"""Checkpoint file format: pickled plain values and arrays with a checksum, which reading never executes.

A pickle can name any function and have it called. These files name none: they hold dicts, lists, strings, numbers and
bytes, and an array is stored as dtype, shape and bytes. The reader accepts only the opcodes that these need, so that
a file can neither call a function nor allocate more memory than its own size. This module does not import JAX.
"""

import hashlib
import pickle
import pickletools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.errors import QUOTED_LENGTH, quoted
from rlparity.io.safe_read import GIB, Unreadable, is_object, read_bytes

FORMAT_VERSION = 1
LIMIT = 4 * GIB
"""Size of the largest checkpoint that is read, in bytes."""
MISSING = "give the path of a checkpoint_*.pkl file"
NETWORK = ".train_state"
"""Prefix of the names of the leaves of network and optimizer."""
DEVIATION = f"{NETWORK}.value_scale.deviation"
"""The name of the leaf by which a ``popart`` head divides returns."""

_ARRAY = "__array__"


def pack(payload: dict[str, Any], world: str) -> bytes:
    """Serialize a checkpoint: its payload, a tree of plain values and arrays, with a checksum."""
    data = dumps(payload)
    checksum = hashlib.sha256(data).hexdigest()
    return dumps({"format": f"{world} checkpoint", "version": FORMAT_VERSION, "sha256": checksum, "payload": data})


def read_payload(path: Path, world: str | None) -> Any:  # noqa: ANN401 - a tree of plain values and arrays
    """Read the payload of ``pack``, of this world or, if None, of any. Raises as ``safe_read.read_bytes`` does."""
    content = loads(read_bytes(path, LIMIT))
    kind, version, payload, checksum = (
        content.get(name) if is_object(content) else None for name in ("format", "version", "payload", "sha256")
    )
    if not isinstance(kind, str) or (world is not None and kind != f"{world} checkpoint"):
        raise Unreadable(f"it is a pickle of something else than a run of {world or 'any world'}")
    if type(version) is not int or version != FORMAT_VERSION:
        raise Unreadable(f"its format is version {quoted(version)} and not {FORMAT_VERSION}")
    if not isinstance(payload, bytes) or hashlib.sha256(payload).hexdigest() != str(checksum):
        raise Unreadable("its checksum is wrong")
    return loads(payload)


def part(payload: Any, name: str) -> Any:  # noqa: ANN401 - a tree of plain values
    """Look up a part of a payload by name; raises Unreadable if it is missing."""
    if not is_object(payload) or name not in payload:
        raise Unreadable(f"it lacks {name!r}")
    return payload[name]


def rules_version_of(payload: Any) -> str:  # noqa: ANN401 - a tree of plain values
    """Version of the rules that a run was trained under: a short, printable text, which messages can quote."""
    version = part(payload, "rules_version")
    if not isinstance(version, str) or not version.isprintable() or len(version) > QUOTED_LENGTH:
        raise Unreadable(f"its rules_version is {quoted(version)}")
    return version


def runner_of(payload: Any) -> dict[str, NDArray[Any]]:  # noqa: ANN401 - a tree of plain values
    """Leaves of a run by name: numeric arrays, which are finite in network and optimizer."""
    runner = part(payload, "runner")
    if not is_object(runner) or not all(map(is_numeric, runner.values())):
        raise Unreadable("its runner is no object of arrays of numbers")
    for name, leaf in runner.items():
        if name.startswith(NETWORK) and leaf.dtype.kind == "f" and not np.isfinite(leaf).all():
            raise Unreadable(f"its {quoted(name)[1:-1]} contains NaN or infinity")
    if not np.all(runner.get(DEVIATION, np.ones(())) > 0):
        raise Unreadable("the scale of its values is not above 0")
    return runner


def is_numeric(value: object) -> bool:
    """True for an array of numbers or booleans."""
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf"


def dumps(value: Any) -> bytes:  # noqa: ANN401 - a tree of plain values and arrays
    """Pickle a tree of dicts, lists, plain values and numpy arrays; raises TypeError for anything else."""
    return pickle.dumps(_without_arrays(value), protocol=4)


def loads(data: bytes) -> Any:  # noqa: ANN401 - a tree of plain values and arrays
    """Restore a tree that ``dumps`` pickled; raises Unreadable for other data, and never executes anything.

    Arrays are read-only views of the bytes.
    """
    try:
        return _with_arrays(_unpickled(data))
    except Unreadable:
        raise
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except Exception as error:  # a damaged pickle can raise any exception
        raise Unreadable(f"it is damaged ({type(error).__name__})") from error


_STRINGS = {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "SHORT_BINBYTES", "BINBYTES", "BINBYTES8"}
_PLAIN = _STRINGS | {"BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "NONE", "NEWTRUE", "NEWFALSE"}
_PLAIN |= {"EMPTY_DICT", "EMPTY_LIST", "APPEND", "APPENDS", "SETITEM", "SETITEMS", "MARK"}
_PLAIN |= {"PROTO", "FRAME", "STOP", "MEMOIZE", "BINGET", "LONG_BINGET"}


def _unpickled(data: bytes) -> Any:  # noqa: ANN401 - a tree of plain values
    """Unpickle data that has only opcodes for plain values, and repeats only strings and bytes by reference."""
    may_repeat: list[bool] = []
    before = ""
    argument: Any
    for opcode, argument, _ in pickletools.genops(data):
        name = opcode.name
        if name not in _PLAIN:
            raise Unreadable(f"it needs pickle's operation {name}, and only plain values are accepted")
        if name == "MEMOIZE":
            may_repeat.append(before in _STRINGS)
        elif "GET" in name and not may_repeat[argument]:  # nested shared containers could expand to billions
            raise Unreadable("it holds one object in several places")
        before = before if name == "FRAME" else name
    return pickle.loads(data)


def _without_arrays(value: Any) -> Any:  # noqa: ANN401 - a tree
    if isinstance(value, dict):
        return {str(key): _without_arrays(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_arrays(item) for item in value]
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
    if not all(isinstance(key, str) for key in value):
        raise Unreadable("a name in it is no text")
    if _ARRAY not in value:
        return {key: _with_arrays(item) for key, item in value.items()}
    dtype = np.dtype(value[_ARRAY])
    if dtype.hasobject:
        raise Unreadable("an array of it holds objects")
    array: NDArray[Any] = np.frombuffer(value["data"], dtype).reshape(value["shape"])
    return array
