"""What is compared with a record must be a digest: else it would be called missing from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.runtime.audit.audit import Audit
from saywhy.runtime.audit.report import all_given_away, given_away
from saywhy.runtime.audit.verify import verify_lines
from saywhy.stores.memory import MemoryStore


def test_a_digest_is_taken_as_text_or_bytes() -> None:
    """Capitals and spaces around it do not matter."""
    assert given_away(b"\xab" * 32) == "ab" * 32
    assert given_away(f" {'AB' * 32}\n") == "ab" * 32


@pytest.mark.parametrize("given", ["abc", "", "g" * 64, b"\x00"])
def test_what_is_no_digest(given: str | bytes) -> None:
    """It is refused with what one looks like, and the record is not blamed for it."""
    with pytest.raises(CallerError, match="is no digest of the record") as caught:
        verify_lines([], [given])
    assert "64 hexadecimal digits" in caught.value.hint


async def test_one_digest_may_stand_without_a_list() -> None:
    """A file's name in its place is no digest, and is not looked at letter by letter."""
    digest = "ab" * 32
    assert all_given_away(digest) == all_given_away([digest]) == all_given_away(b"\xab" * 32)
    async with MemoryStore() as store:
        for path in ("bundle.jsonl", Path("bundle.jsonl")):
            wrong: Any = path
            with pytest.raises(CallerError, match=r"'bundle\.jsonl' is no digest") as caught:
                await Audit(store).verify(wrong)
            assert "`saywhy audit verify FILE`" in caught.value.hint
