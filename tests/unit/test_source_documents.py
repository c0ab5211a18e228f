"""Documents and lines of a file: cut off, over many lines, too long, packed, in another encoding."""

import gzip
import io
import zlib

import pytest

from schemas.errors import InvalidInput
from streams.sources.documents import Document, documents_of
from streams.sources.lines import lines_of, text_of
from streams.sources.told import Refused


def read(data: bytes) -> tuple[list[object], list[str]]:
    found = list(documents_of(lines_of(io.BytesIO(data), 1_000_000), ["issues"]))
    values = [each.value for each in found if isinstance(each, Document)]
    return values, [each.reason for each in found if isinstance(each, Refused)]


def test_one_document_a_line() -> None:
    assert read(b'{"a": 1}\n\n{"a": 2}\n') == ([{"a": 1}, {"a": 2}], [])


def test_a_list_gives_its_items_and_one_over_many_lines_is_one() -> None:
    assert read(b'[{"a": 1},\n {"a": 2}]')[0] == [{"a": 1}, {"a": 2}]
    assert read(b'{\n  "a": 1\n}\n{\n  "a": 2\n}\n')[0] == [{"a": 1}, {"a": 2}]
    assert read(b'[\n{"a": 1}\n]\n') == ([{"a": 1}], [])
    assert read(b'[\n{\n"a": 1\n},\n{\n"a": 2\n}\n]')[0] == [{"a": 1}, {"a": 2}]


def test_a_line_that_is_cut_off_in_the_middle_of_a_file_costs_only_itself() -> None:
    values, reasons = read(b'{"a": 1}\n{"a": 2, "b": "ho\n{"a": 3}\n{"a": 4}\n')
    assert values == [{"a": 1}, {"a": 3}, {"a": 4}]
    assert len(reasons) == 1
    assert reasons[0].startswith("line 2: document: is not whole JSON")


def test_of_a_list_that_is_cut_off_the_whole_documents_are_saved() -> None:
    values, reasons = read(b'{"total": 9, "issues": [{"a": 1}, {"a": 2},\n {"a": 3, "b')
    assert (values, len(reasons)) == ([{"a": 1}, {"a": 2}], 1)
    values, reasons = read(b'[{"a": 1},\n{"a": 2')
    assert (values, len(reasons)) == ([{"a": 1}], 1)
    values, reasons = read(b'[\n{"a": 1},\n{"a": 2},\n{"a": 3')
    assert values == [{"a": 1}, {"a": 2}]
    assert reasons[-1].startswith("line 4: document: is not whole JSON")


def test_garbage_is_refused_by_its_line() -> None:
    assert read(b'hello\n{"a": 1}\n')[0] == [{"a": 1}]
    assert read(b"hello\n")[1][0].startswith("line 1: document: is not whole JSON")
    assert read(b"[" * 100_000)[0] == []
    assert len(read(b'{"a": [' * 10_000)[1]) == 1


def test_a_latin_1_document_is_read_as_such() -> None:
    assert read('{"name": "Käse"}\n'.encode("latin-1"))[0] == [{"name": "Käse"}]


def test_a_line_over_the_limit_is_held_no_longer_than_the_limit_and_reading_goes_on() -> None:
    lines = list(lines_of(io.BytesIO(b"x" * 50_000 + b"\nshort\n" + b"y" * 100), 100))
    assert [(line.number, len(line.data), line.size) for line in lines] == [(1, 100, 50_001), (2, 5, 6), (3, 100, 100)]


def test_short_lines_at_the_beginning_stay_lines() -> None:
    assert [line.data for line in lines_of(io.BytesIO(b"a\nb\n\nc"), 100)] == [b"a", b"b", b"c"]
    assert [line.data for line in lines_of(io.BytesIO(b"\n\na"), 100)] == [b"a"]
    assert list(lines_of(io.BytesIO(b""), 100)) == []


def test_a_packed_file_is_unpacked_and_a_broken_one_gives_what_it_has() -> None:
    packed = gzip.compress(b"one\ntwo\n")
    assert [line.data for line in lines_of(io.BytesIO(packed), 100)] == [b"one", b"two"]
    with pytest.raises(InvalidInput, match="is not whole gzip"):
        list(lines_of(io.BytesIO(packed[:-9]), 100))


def test_of_a_packed_file_that_is_cut_off_every_whole_line_before_the_cut_is_read() -> None:
    whole = b"".join(b"%x\n" % (number * 2_654_435_761) for number in range(50_000))
    cut = gzip.compress(whole, mtime=0)[:-50_000]
    before_the_cut = zlib.decompressobj(wbits=31).decompress(cut).split(b"\n")[:-1]
    read: list[bytes] = []

    with pytest.raises(InvalidInput, match="is not whole gzip"):
        read.extend(line.data for line in lines_of(io.BytesIO(cut), 100))

    assert len(before_the_cut) > 20_000
    assert read == before_the_cut


def test_utf_16_is_refused_by_name_and_a_byte_order_mark_is_no_text() -> None:
    with pytest.raises(InvalidInput, match="is UTF-16; convert it to UTF-8"):
        list(lines_of(io.BytesIO("hello\n".encode("utf-16")), 100))
    assert next(lines_of(io.BytesIO(b"\xef\xbb\xbfhello\n"), 100)).data == b"hello"


def test_bytes_that_are_no_utf_8_are_latin_1_and_nul_is_shown() -> None:
    assert text_of("Grüße".encode()) == "Grüße"
    assert text_of("Grüße".encode("latin-1")) == "Grüße"
    assert text_of(b"a\x00b") == "a␀b"
