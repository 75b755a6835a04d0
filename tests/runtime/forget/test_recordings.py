"""Promise: of a recording every line goes that holds something of a person, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.errors import CallerError
from saywhy.runtime.forget.recordings import files_in, take_out


def test_lines_of_the_person_go(tmp_path: Path) -> None:
    """Whatever stands around the text; the others stay byte for byte."""
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"a": "x"}\r\n{"b": "say \\"hello\\" to Ann"}\n{"c": 1}')
    assert take_out(path, ['say "hello"']) == 1
    assert path.read_bytes() == b'{"a": "x"}\r\n{"c": 1}'
    assert take_out(path, ['say "hello"']) == 0
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_stands_for_the_files_in_it(tmp_path: Path) -> None:
    """Those of recordings, also further down."""
    for name in ("a.jsonl", "b.txt", "b.json", "b.json5", "sub/c.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert files_in([tmp_path, tmp_path / "b.txt"]) == [
        tmp_path / "a.jsonl",
        tmp_path / "b.json",
        tmp_path / "sub/c.jsonl",
        tmp_path / "b.txt",
    ]
    with pytest.raises(CallerError, match=r"there is no recording .*none\.jsonl"):
        files_in([tmp_path / "none.jsonl"])


def test_the_export_of_a_conversation_goes_whole(tmp_path: Path) -> None:
    """By the name it begins with, also a strange one; one that only speaks of it does not."""
    path = tmp_path / "t.jsonl"
    heading = b'{"saywhy":"trace","format":1,"conversation":"a\\"b"}\n'
    path.write_bytes(heading + b'{"message":1}\n')
    assert take_out(path, [], ["a", "b"]) == 0
    assert take_out(path, [], ['a"b']) == 2
    assert not path.exists()
    path.write_bytes(b'{"saywhy":"trace","format":1}\n{"conversation":"c"}\n')
    assert take_out(path, [], ["c"]) == 0
    assert path.exists()
