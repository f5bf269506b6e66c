"""Files that somebody hands in: what is no ordinary file, or claims more than it is, is refused at once."""

import io
import re
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlparity.io.safe_read import MIB, Unreadable, read_bytes, read_json, read_npz, read_text, read_toml, read_zip


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b'{"a": \xff}', "no UTF-8 text"),
        (b"{", "no JSON"),
        (b"", "no JSON"),
        (b'{"a": 1, "b": 2, "a": 3}', "it names 'a' twice"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b"[1,\n" + b"9" * 5000 + b"]", r"it holds an integer of more than 4,300 digits \(line 2\)"),
    ],
)
def test_what_is_no_json_is_said_in_one_line(content: bytes, fault: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(Unreadable, match=fault) as caught:
        read_json(tmp_path / "file", MIB)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"a = '\xff'", "it is no UTF-8 text (byte 5)"),
        (b"a = 1\nb =\n", "it is no TOML (line 2, column 4: Invalid value)"),
        (b"a = 1\na = 2\n", "it is no TOML (line 2, column 6: Cannot overwrite a value)"),
        (b"[%b]\n" % (b"k" * 9999) * 2, f"it is no TOML (line 2, column 10001: Cannot declare ('{'k' * 43})"),
        (b"a = " + b"[" * 200_000, "it is nested too deeply"),
        (b"a." * 200_000 + b"a = 1", "it is nested too deeply"),
        (b"a = 1\nb = " + b"9" * 5000, "it holds an integer of more than 4,300 digits (line 2)"),
        (b"a = [{ b = 18446744073709551616 }]", "'b' is an integer of more than 64 bits"),
        (b"a = [0x" + b"f" * 5000 + b"]", "'a' is an integer of more than 64 bits"),
        (b"#" * (MIB + 1), "it is larger than 1 MiB, the most that is read of such a file"),
    ],
)
def test_what_is_no_toml_is_said_in_one_line_that_names_the_place(content: bytes, fault: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(Unreadable, match=f"^{re.escape(fault)}$"):
        read_toml(tmp_path / "file")


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert (read_text(tmp_path / "file", MIB), read_json(tmp_path / "file", MIB)) == ('{"a": 1}', {"a": 1})
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbfa = 18446744073709551615\r\n")
    assert read_toml(tmp_path / "file") == {"a": 2**64 - 1}


def test_what_is_good_is_read_through_a_link_too_and_a_missing_file_is_the_callers_to_name(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "link", MIB)
    (tmp_path / "file").write_text('{"é": [1, 2.5, null]}', encoding="utf-8")
    assert read_text(tmp_path / "link", MIB).startswith("{")
    assert read_json(tmp_path / "file", MIB) == {"é": [1, 2.5, None]}
    arrays: dict[str, Any] = {"a": np.arange(6, dtype=np.uint8).reshape(2, 3), "b/c": np.asfortranarray(np.eye(3))}
    arrays |= {"d": np.float32(2), "none": np.zeros((0, 3))}
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", **arrays)
        back = read_npz(tmp_path / "a.npz", MIB)
        assert back.keys() == arrays.keys()
        for name, array in arrays.items():
            np.testing.assert_array_equal(back[name], array)
            assert back[name].dtype == array.dtype


def zipped(*files: tuple[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", kind) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return content.getvalue()


def a_liar() -> bytes:
    """An archive whose only file claims ten bytes and unpacks to 16 MiB."""
    bomb = zlib.compressobj(wbits=-15)
    packed = bomb.compress(bytes(16 * MIB)) + bomb.flush()
    size = zlib.crc32(bytes(10)).to_bytes(4, "little") + len(packed).to_bytes(4, "little") + b"\x0a\0\0\0"
    local = b"PK\3\4\x14\0\0\0\x08\0" + bytes(4) + size + b"\1\0\0\0a" + packed
    central = b"PK\1\2\x14\0\x14\0\0\0\x08\0" + bytes(4) + size + b"\1\0" + bytes(16) + b"a"
    end = b"PK\5\6" + bytes(4) + b"\1\0\1\0" + len(central).to_bytes(4, "little") + len(local).to_bytes(4, "little")
    return local + central + end + b"\0\0"


def test_an_archive_unpacks_to_no_more_than_its_limit_and_its_own_claims() -> None:
    bomb, liar = zipped(("a", bytes(16 * MIB))), a_liar()
    assert max(len(bomb), len(liar)) < MIB
    tracemalloc.start()
    try:
        with pytest.raises(Unreadable, match="unpacked it is larger than 2 MiB"):
            read_zip(bomb, 2 * MIB)
        assert read_zip(liar, 2 * MIB) == {"a": bytes(10)}
        assert tracemalloc.get_traced_memory()[1] < 8 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_of_another_form_are_refused() -> None:
    for content, fault in (
        (b"", "no zip archive"),
        (b"PK\3\4 half a zip", "no zip archive"),
        (zipped(("a", b"1"))[:-30], "no zip archive"),
        (zipped(("a", bytes(100)), kind=zipfile.ZIP_LZMA), "packed in another way"),
        (zipped(("a", b"1"), ("a", b"2")), "several files of one name"),
        (zipped(("a", b"unpacked"), kind=zipfile.ZIP_STORED).replace(b"unpacked", b"unpacket"), "damaged one"),
    ):
        with pytest.raises(Unreadable, match=fault):
            read_zip(content, MIB)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [("(1000000000000,)", "<f4"), ("(-1,)", "<f4"), ("(3,)", "|O"), ("(True, 3)", "<f4"), ("3", "<f4"), ("(1,)", "(")],
)
def test_an_array_that_claims_to_be_another_takes_no_memory(shape: str, dtype: str, tmp_path: Path) -> None:
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    array = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + bytes(8)
    (tmp_path / "a.npz").write_bytes(zipped(("weights.npy", array)))
    with pytest.raises(Unreadable, match=r"its part 'weights.npy' is no array of numbers"):
        read_npz(tmp_path / "a.npz", MIB)
