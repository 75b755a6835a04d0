"""Which causes come first, and why."""

from __future__ import annotations

from typing import Any

from saywhy.trace.causes.chain import Cause, Chain, Link
from saywhy.trace.causes.why import Reply, why


def chain_of(*causes: Cause, part: str = "") -> Chain:
    """A chain in which all causes stand beneath one said step."""
    said = Cause(1, "said", "said", ref="step:F/say")
    target = Cause(0, "target", "reply")
    for number, cause in enumerate(causes, 2):
        cause.id = number
    links = [Link(0, 1, "wrote"), *(Link(1, cause.id, "read") for cause in causes)]
    return Chain([target, said, *causes], links, part)


def first(chain: Chain) -> str:
    return chain.ranked[0].ref


def test_a_default_comes_before_a_plain_value() -> None:
    """What stood in for a value is likelier than what the user said."""
    plain = Cause(0, "value", "amount", ref="variable:amount")
    default = Cause(0, "value", "fee", "default", ref="default:F/fee")
    assert first(chain_of(plain, default)) == "default:F/fee"


def test_a_sign_brings_a_cause_forward_and_is_told() -> None:
    """A value that is older than what it was made of comes first, with the reason."""
    old = Cause(0, "value", "total", ref="step:F/total", signs=("older than what it was made of",))
    new = Cause(0, "value", "price", ref="step:F/price")
    ranked = chain_of(new, old).ranked
    assert ranked[0] is old
    assert ranked[0].ranked_for == ("what it was made of has changed since",)
    assert ranked[0].score > ranked[1].score


def test_what_speaks_against_a_cause_is_told() -> None:
    """A rule that said nothing did not tell the model what to say."""
    silent = Cause(0, "handed", "rule", ref="instruction:late", signs=("did not fire",))
    spoke = Cause(0, "handed", "rule", ref="instruction:early")
    ranked = {cause.ref: cause.ranked_for for cause in chain_of(silent, spoke).ranked}
    assert ranked["instruction:late"] == ("it said nothing",)
    assert ranked["instruction:early"] == ("it told the model what to say",)


def test_a_step_is_told_by_what_it_did() -> None:
    """Only one that said the words has said them; the others set what was shown in them."""
    value = Cause(0, "value", "fee", ref="step:F/fee")
    ranked = {cause.ref: cause.ranked_for for cause in chain_of(value).ranked}
    assert ranked["step:F/say"] == ("it said this",)
    assert ranked["step:F/fee"] == ("it set a value that was used",)


def test_what_stands_in_the_words_is_nearer() -> None:
    """Of two values that a step shows, the one in the words asked about comes first."""
    one = Cause(0, "value", "a", ref="variable:a", value="Lyon")
    other = Cause(0, "value", "b", ref="variable:b", value="Paris")
    ranked = [cause.ref for cause in chain_of(one, other, part="to Paris").ranked]
    assert ranked.index("variable:b") < ranked.index("variable:a")


def test_nearness_counts(payment: Any) -> None:
    """A chain names the likeliest first, each with a score and what speaks for it."""
    chain = why(payment.trace, Reply(3))
    ranked = chain.ranked
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
    assert all(one.ranked_for for one in ranked)
    assert ranked[-1].ref in ("flow:Pay", "message:1", "flow:Charge")
    lines = chain.first_text(2).splitlines()
    assert len(lines) == 5
    assert lines[1].startswith(f"  1. {ranked[0].ref}: ")
