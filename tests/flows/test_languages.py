"""Which text is the one for a language."""

from __future__ import annotations

import pytest

from saywhy.flows.languages import (
    canonical,
    chosen,
    covers,
    is_near,
    is_tag,
    key_of,
    nearest,
    pick,
)


@pytest.mark.parametrize(
    ("tag", "usual", "chain"),
    [
        ("es", "es", ("es",)),
        ("ES", "es", ("es",)),
        ("es-MX", "es-MX", ("es-MX", "es")),
        ("pt_br", "pt-BR", ("pt-BR", "pt")),
        ("ZH-hant-tw", "zh-Hant-TW", ("zh-Hant-TW", "zh-Hant", "zh")),
        ("es-419", "es-419", ("es-419", "es")),
        (" en ", "en", ("en",)),
    ],
)
def test_a_region_is_followed_by_its_language(tag: str, usual: str, chain: tuple[str, ...]) -> None:
    """However a tag is written, the nearest text comes first and the language behind it last."""
    assert canonical(tag) == usual
    assert nearest(tag) == chain


@pytest.mark.parametrize("tag", [None, "", "  "])
def test_no_language_has_no_texts(tag: str | None) -> None:
    """Then the plain text counts."""
    assert nearest(tag) == ()
    assert chosen({"value": "plain", "value_": "odd"}, "value", tag) == "plain"


@pytest.mark.parametrize(
    ("tag", "key"),
    [
        ("es-MX", "value_es-MX"),
        ("es_mx", "value_es-MX"),
        ("es-AR", "value_es"),
        ("ES", "value_es"),
        ("pt-BR", "value_pt_BR"),
        ("pt_br", "value_pt_BR"),
        ("pt", "value"),
        ("FR", "value_FR"),
        ("fr-CA", "value_FR"),
        ("de", "value"),
        ("it", "value"),
    ],
)
def test_the_key_for_a_language(tag: str, key: str) -> None:
    """Dash or underscore, capitals or not; an empty text is none."""
    keys = ("value", "value_es", "value_es-MX", "value_pt_BR", "value_FR")
    spec = {**{one: one for one in keys}, "value_de": ""}
    assert key_of(spec, "value", tag) == key
    assert chosen(spec, "value", tag) == key
    assert covers(spec, "value", tag) is (key != "value")


def test_pick_takes_the_nearest_entry() -> None:
    """Of a mapping by language; an entry that is there counts, whatever it holds."""
    texts = {"es": "", "pt_BR": "x"}
    assert [pick(texts, tag) for tag in ("es-MX", "pt-br", "pt", None)] == ["", "x", None, None]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("es", True), ("es-MX", True), ("zh_Hant_TW", True), ("x", False), ("spanish", False),
     ("flow_init", False), ("", False), ("es-", False), ("e1", False)],
)  # fmt: skip
def test_what_can_be_a_language(text: str, is_one: bool) -> None:
    """Two or three letters, with or without more behind a dash."""
    assert is_tag(text) is is_one


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [("en", "EN", True), ("en", "en-GB", True), ("en_GB", "en", True), ("en-GB", "en-US", False),
     ("en", "es", False)],
)  # fmt: skip
def test_a_region_is_near_its_language(one: str, other: str, near: bool) -> None:
    """And no other region is."""
    assert is_near(one, other) is near
