"""What is compared with a record must be a digest: else it would be called missing from it."""

from __future__ import annotations

import pytest

from saywhy.errors import CallerError
from saywhy.runtime.audit.report import given_away
from saywhy.runtime.audit.verify import verify_lines


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
