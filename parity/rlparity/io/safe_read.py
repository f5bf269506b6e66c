"""Safe reading of untrusted files: only regular files up to a size limit, without trusting or running their content.

A pipe or a device may hang or never end, and a few bytes can claim to expand to terabytes. Every fault raises
``Unreadable`` with a reason in a few words; the caller adds with ``refused`` which file it was and what to do.
"""

import io
import json
import math
import os
import re
import stat
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from rlparity.errors import QUOTED_LENGTH, UsageError, quoted
from rlparity.spaces import is_number

MIB = 2**20
GIB = 2**30
_LONG_INTEGER = re.compile(r"[0-9_]{4301,}")
"""Integers with more digits than Python converts."""
_DEEP_KEY = re.compile(r"""(?<![\w."'-])(?:["'\w-]++[ \t]*+\.[ \t]*+){100}""")
"""Dotted keys of a hundred parts; the time to parse one grows with the square of the number of parts."""


class Unreadable(Exception):
    """Reason why a file cannot be read, worded to follow its name and a colon."""


@contextmanager
def refused(path: Path, what: str, missing: str | None = None, broken: str = "correct it") -> Iterator[None]:
    """Turn errors of reading a file into a UsageError of one sentence.

    what: kind of the file. missing: what to do where there is none; None: FileNotFoundError passes through.
    broken: what to do where the file cannot be read.
    """
    try:
        yield
    except FileNotFoundError:
        if missing is None:
            raise
        raise UsageError(f"there is no {what} {path}: {missing}.") from None
    except Unreadable as fault:
        raise UsageError(f"{path} cannot be read as a {what}: {fault}: {broken}.") from fault


def read_bytes(path: Path, limit: int) -> bytes:
    """Read a regular file of at most ``limit`` bytes.

    Raises FileNotFoundError where there is none, and Unreadable for anything else that is wrong with it.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise Unreadable("it is a pipe, a device or the like")
            if found.st_size > limit:
                raise Unreadable(f"it is larger than {size_text(limit)}, the most that is read of such a file")
            return file.read(found.st_size)  # never more than the size above: a growing file may never end
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", None) or str(error)) from None


def _without_waiting(path: str, flags: int) -> int:
    """Open a file, without waiting for a writer where it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_text(path: Path, limit: int) -> str:
    """Read the UTF-8 text of a file, without a byte order mark; raises as ``read_bytes`` does."""
    return _text_of(read_bytes(path, limit))


def read_json(path: Path, limit: int) -> Any:  # noqa: ANN401 - whatever JSON can say
    """Read the JSON value in a file, refusing duplicate names; raises as ``read_bytes`` does."""
    return json_of(read_bytes(path, limit))


def json_of(content: bytes) -> Any:  # noqa: ANN401 - whatever JSON can say
    """Parse bytes as a JSON value, refusing duplicate names; raises Unreadable."""
    text = _text_of(content)
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Unreadable(f"it is no JSON ({error})") from None
    except ValueError:
        raise Unreadable(_integer_fault(text)) from None


def read_toml(path: Path, limit: int = MIB) -> dict[str, Any]:
    """Read the tables of a TOML file; raises as ``read_bytes`` does."""
    return toml_of(read_text(path, limit))


def toml_of(text: str) -> dict[str, Any]:
    """Parse a TOML text into tables, refusing integers of more than 64 bits (``is_number``); raises Unreadable."""
    try:
        if _DEEP_KEY.search(text):
            raise RecursionError
        content = tomllib.loads(text)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        fault, _, place = str(error).removesuffix(")").rpartition(" (at ")
        raise Unreadable(f"it is no TOML ({place}: {fault[:QUOTED_LENGTH]})") from None
    except ValueError:
        raise Unreadable(_integer_fault(text)) from None
    values = [*content.items()]
    for key, value in values:  # the list grows during the loop
        if isinstance(value, dict | list):
            values += value.items() if isinstance(value, dict) else ((key, each) for each in value)
        elif type(value) is int and not is_number(value):
            raise Unreadable(f"{quoted(key)} is an integer of more than 64 bits")
    return content


def _integer_fault(text: str) -> str:
    found = _LONG_INTEGER.search(text)
    line = f" (line {text.count(chr(10), 0, found.start()) + 1})" if found else ""
    return f"it holds an integer of more than 4,300 digits{line}"


def _text_of(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is no UTF-8 text (byte {error.start})") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise Unreadable(f"it names {quoted(name)} twice")
    return found


def read_zip(content: bytes, limit: int) -> dict[str, bytes]:
    """Unpack the files of a zip archive, by name, of at most ``limit`` bytes in total; raises Unreadable."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > limit:
                raise Unreadable(f"unpacked it is larger than {size_text(limit)}, the most that is read of such a file")
            files = {member.filename: _member(archive, member) for member in members}
    except Unreadable:
        raise
    except Exception as error:  # damaged archives fail in every way there is
        raise Unreadable(f"it is no zip archive, or a damaged one ({type(error).__name__})") from None
    if len(files) < len(members):
        raise Unreadable("it holds several files of one name")
    return files


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Unpack one file of an archive, reading its declared size only: without a size, everything would be unpacked."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unreadable("it is packed in another way than zip's usual one")
    with archive.open(member) as file:
        content = file.read(member.file_size)
    if len(content) != member.file_size:
        raise Unreadable(f"its part {quoted(member.filename)} is cut off")
    return content


def read_npz(path: Path, limit: int) -> dict[str, NDArray[Any]]:
    """Read the arrays of an ``.npz`` file, by name, refusing object arrays; raises as ``read_bytes`` does."""
    files = read_zip(read_bytes(path, limit), limit)
    return {name.removesuffix(".npy"): _array(name, content) for name, content in files.items()}


def _array(name: str, content: bytes) -> NDArray[Any]:
    """Parse the array in a ``.npy`` file if it is complete: no memory is allocated for what a header merely claims."""
    file = io.BytesIO(content)
    try:
        read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[npy.read_magic(file)]
        shape, is_fortran, dtype = read_header(file)
        if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(content) - file.tell():
            raise ValueError
        array = np.frombuffer(content, dtype, offset=file.tell())
        return array.reshape(shape, order="F" if is_fortran else "C")
    except Exception:  # damaged headers fail in every way there is
        raise Unreadable(f"its part {quoted(name)} is no array of numbers, or a damaged one") from None


def size_text(size: int) -> str:
    """Format a size, such as ``64 MiB`` or ``4 GiB``."""
    return f"{size // GIB} GiB" if size % GIB == 0 else f"{size // MIB} MiB"


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a value is a JSON object: a dict whose keys are strings."""
    return isinstance(value, dict) and all(type(name) is str for name in value)
