"""Lines of a bundle: content stands there byte for byte, whatever it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from saywhy.runtime.audit import verifier
from saywhy.runtime.audit.lines import RequestPart, part_in, part_line, row_in, row_line

DIGEST = bytes(range(32))


@given(st.binary(max_size=60), st.integers(0, 2**53))
@example(b'{"a":1}', 1)
@example(b'{"a":"}"}\n', 1)
@example(b"", 1)
@example(b'"\xed\xa0\x80"', 1)
def test_a_document_comes_back(doc: bytes, seq: int) -> None:
    """Whatever bytes a document has, its line is JSON and gives them back, to both readers."""
    line = row_line("commit", seq, DIGEST, doc)
    assert json.loads(line)["commit"] == seq
    assert line.count(b"\n") == 1
    row = row_in(line)
    assert row is not None
    assert (row.kind, row.seq, row.digest, row.doc) == ("commit", seq, DIGEST.hex(), doc)
    found = verifier.ROW.fullmatch(line)
    assert found is not None
    assert (found[4] == b"doc") == row.plain


def test_json_is_left_readable() -> None:
    """What is JSON on one line stands there as it is."""
    line = row_line("message", 1, DIGEST, b'{"text":"hi"}')
    assert line.endswith(b'"doc":{"text":"hi"}}\n')
    assert json.loads(row_line("message", 1, DIGEST, b"\n"))["base64"] == "Cg=="


@given(st.text(max_size=20))
def test_a_part_comes_back(run: str) -> None:
    """A part of a request is told by run, place and hash, whatever the run is called."""
    part = RequestPart(run, "message", "ab" * 32, b'{"role":"user"}')
    line = part_line(part)
    assert part_in(line) == part
    assert verifier.PART.fullmatch(line) is not None
    assert row_in(line) is None


@pytest.mark.parametrize("body", ['"base64":"?"', '"base64":"', '"base64":1'])
def test_what_is_no_base64_is_refused(body: str) -> None:
    """A line whose content cannot be read is an error, not an empty document."""
    line = f'{{"commit":1,"digest":"{"ab" * 32}",{body}}}\n'.encode()
    with pytest.raises(ValueError, match="no base64"):
        row_in(line)
