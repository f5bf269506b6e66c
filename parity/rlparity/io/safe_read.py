"""Reading files that somebody handed in: regular files only, up to a size, and nothing in them is believed or run.

A pipe or a device would hang or never end, and a few bytes can claim to stand for terabytes. Whatever is wrong is an
``Unreadable``, which says why in a few words; who asked for the file says by ``refused`` which it was and what to do.
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
"""Of more digits than Python converts."""
_DEEP_KEY = re.compile(r"""(?<![\w."'-])(?:["'\w-]++[ \t]*+\.[ \t]*+){100}""")
"""A dotted key of a hundred parts; the time that reading one takes grows with the square of their number."""


class Unreadable(Exception):
    """Why a file cannot be read, as words that fit behind its name and a colon."""


@contextmanager
def refused(path: Path, what: str, missing: str | None = None, broken: str = "correct it") -> Iterator[None]:
    """Turn what reading a file raises into a UsageError of one sentence.

    what: the file should hold. missing: what to do where there is none; None: FileNotFoundError is let through.
    broken: what to do where it cannot be read.
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
    """The content of a regular file of at most ``limit`` bytes.

    Raises FileNotFoundError where there is none, and Unreadable for anything else that is wrong with it.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise Unreadable("it is a pipe, a device or the like")
            if found.st_size > limit:
                raise Unreadable(f"it is larger than {size_text(limit)}, the most that is read of such a file")
            return file.read(found.st_size)  # never more than there was: what grows meanwhile has no end
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", None) or str(error)) from None


def _without_waiting(path: str, flags: int) -> int:
    """Opens a file; of a pipe that nobody writes to, it comes back at once."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_text(path: Path, limit: int) -> str:
    """The UTF-8 text in a file, without a byte order mark; raises as ``read_bytes`` does."""
    return _text_of(read_bytes(path, limit))


def read_json(path: Path, limit: int) -> Any:  # noqa: ANN401 - whatever JSON can say
    """The JSON value in a file, no name in it given twice; raises as ``read_bytes`` does."""
    return json_of(read_bytes(path, limit))


def json_of(content: bytes) -> Any:  # noqa: ANN401 - whatever JSON can say
    """The JSON value that some bytes are, no name in it given twice; raises Unreadable."""
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
    """The tables in a TOML file; raises as ``read_bytes`` does."""
    return toml_of(read_text(path, limit))


def toml_of(text: str) -> dict[str, Any]:
    """The tables that a TOML text is, its integers of 64 bits as ``is_number`` has them; raises Unreadable."""
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
    for key, value in values:  # which grows
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
    """The files in a zip archive by name, unpacked no more than ``limit`` bytes in all; raises Unreadable."""
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
    """One file of an archive; asked for as much as it claims, since without a number all that is there is unpacked."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unreadable("it is packed in another way than zip's usual one")
    with archive.open(member) as file:
        content = file.read(member.file_size)
    if len(content) != member.file_size:
        raise Unreadable(f"its part {quoted(member.filename)} is cut off")
    return content


def read_npz(path: Path, limit: int) -> dict[str, NDArray[Any]]:
    """The arrays in an ``.npz`` file by name, none of them of objects; raises as ``read_bytes`` does."""
    files = read_zip(read_bytes(path, limit), limit)
    return {name.removesuffix(".npy"): _array(name, content) for name, content in files.items()}


def _array(name: str, content: bytes) -> NDArray[Any]:
    """The array in a ``.npy`` file, if all of it is there: no memory is taken for what a header merely claims."""
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
    """``64 MiB``, ``4 GiB``."""
    return f"{size // GIB} GiB" if size % GIB == 0 else f"{size // MIB} MiB"


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Accept an object of JSON: a dict whose keys are texts."""
    return isinstance(value, dict) and all(type(name) is str for name in value)
