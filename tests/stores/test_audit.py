"""The digests of the audit chain: what each covers, and that none can be taken for another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from saywhy.stores.audit import (
    Content,
    Head,
    anchor_digest,
    content_digest,
    link_digest,
    new_chain,
    next_link,
    owner_digest,
    packed_heads,
    start_digest,
    unpacked_heads,
)

SALT = b"s" * 16
ROWS = st.lists(st.tuples(st.integers(0, 2**40), st.binary(max_size=20)), max_size=4)


@given(ROWS, ROWS)
def test_row_by_row_is_the_same(
    messages: list[tuple[int, bytes]], commits: list[tuple[int, bytes]]
) -> None:
    """The digest of a turn's content is that of its rows, taken in one after the other."""
    content = Content(SALT)
    for seq, doc in messages:
        content.add("message", seq, doc)
    for seq, doc in commits:
        content.add("commit", seq, doc)
    assert content.digest() == content_digest(SALT, messages, commits)


@given(ROWS, ROWS, ROWS, ROWS)
def test_other_rows_have_another_digest(
    one: list[tuple[int, bytes]],
    two: list[tuple[int, bytes]],
    three: list[tuple[int, bytes]],
    four: list[tuple[int, bytes]],
) -> None:
    """What is cut elsewhere, renumbered, or a commit instead of a message is not the same."""
    same = content_digest(SALT, one, two) == content_digest(SALT, three, four)
    assert same == ((one, two) == (three, four))


def test_a_salt_changes_everything() -> None:
    """Without its salt nobody can tell whether a digest is that of a text."""
    assert content_digest(SALT, [(1, b"yes")], []) != content_digest(b"t" * 16, [(1, b"yes")], [])
    assert owner_digest(SALT, "s", "ann") != owner_digest(b"t" * 16, "s", "ann")
    assert owner_digest(SALT, "s", "ann") != owner_digest(SALT, "sa", "nn")


def test_a_link_covers_all_that_it_says() -> None:
    """Changing the link before, number, status, counts or content changes the link."""
    plain = (b"b" * 32, 1, "done", 2, 3, b"c" * 32)
    others = [
        (b"x" * 32, *plain[1:]),
        (plain[0], 2, *plain[2:]),
        (*plain[:2], "error", *plain[3:]),
        (*plain[:3], 3, *plain[4:]),
        (*plain[:4], 4, plain[5]),
        (*plain[:5], b"d" * 32),
    ]
    assert len({link_digest(*each) for each in (plain, *others)}) == 7


def test_a_new_chain_is_linked() -> None:
    """Ids and salts are drawn; the first link stands on the start."""
    chain, other = new_chain("s", "ann", 4), new_chain("s", "ann", 4)
    assert chain.chain_id != other.chain_id
    assert chain.salt is not None
    assert chain.salt != other.salt
    assert chain.owner == owner_digest(chain.salt, "s", "ann")
    assert (chain.first, chain.turns) == (4, 3)
    start = start_digest(chain.chain_id, 4, chain.owner)
    link = next_link(start, 4, "done", [(1, b"a")], [])
    assert link.salt is not None
    assert link.content == content_digest(link.salt, [(1, b"a")], [])
    assert link.digest == link_digest(start, 4, "done", 1, 0, link.content)


def test_heads_are_packed_in_order() -> None:
    """An anchor covers heads in the order of their chains, whatever order they came in."""
    heads = [Head(bytes([n]) * 16, n, bytes([n]) * 32) for n in (3, 1, 2)]
    packed = packed_heads(heads)
    assert packed == packed_heads(reversed(heads))
    assert [head.turn_no for head in unpacked_heads(packed)] == [1, 2, 3]
    assert anchor_digest(b"", 1, 5, packed) != anchor_digest(b"", 1, 6, packed)
    assert anchor_digest(b"", 1, 5, packed) != anchor_digest(b"x" * 32, 1, 5, packed)
