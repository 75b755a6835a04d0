"""Promise: what is lent is only lent to expressions that cannot change it."""

from __future__ import annotations

import pytest

from saywhy.expr.names import read_expression


@pytest.mark.parametrize(
    "source",
    [
        "user.permissions.includes('admin') && score > 700",
        "items.map(i => i.price*i.qty).reduce((a,b)=>a+b,0).toFixed(2)",
        "Object.entries(user).some(([key, value]) => key === 'a' && !value)",
        "items.filter(i => tags.includes(i.tag)).map((i, at) => `${at}: ${i.name}`).join()",
        "[a, b[0], c?.d].at(-1) ?? null",
        "typeof a === 'object' ? a : [b]",
        "items.find(x => x.id === 3)?.tags[0]",
    ],
)
def test_what_leaves_things_alone(source: str) -> None:
    """Conditions, and lists that are gone through."""
    assert read_expression(source).details.is_harmless


@pytest.mark.parametrize(
    "source",
    [
        "xs.push(1)",
        "xs['push'](1)",
        "xs[m](1)",
        "xs.p\\u0075sh(1)",
        "xs.sort()",
        "xs.map(x => x.sort())",
        "xs.length = 0",
        "xs[0]++",
        "xs.n += 1",
        "delete xs[0]",
        "[xs[0], xs[1]] = [xs[1], xs[0]]",
        "[1].map(xs.push, xs)",
        "[1].map(String)",
        "xs.find(xs.sort)",
        "xs.map()",
        "xs.reduce(f, 0)",
        "xs.map(async x => x)",
        "xs.map(x => { x.n = 1 })",
        "xs.map((x, at, all = xs.pop()) => x)",
        "xs.map(function (x) { return this.push(x) }, xs)",
        "(f => f(1))(xs.push)",
        "xs.push.call(xs, 1)",
        "xs.at`0`",
        "new Date(xs)",
        "Object.assign(xs, ys)",
        "Object.freeze(xs)",
        "Object.defineProperty(xs, 'n', {value: 1})",
        "Array.prototype.push.apply(xs, [1])",
        "ask(xs)",
        "({ toString: xs.push }) + ''",
        "({ get a() { return xs.pop() } }).a",
        "`${{ toString() { return xs.pop() } }}`",
        "class { static x = xs.pop() }",
        "xs instanceof ys",
        "[...xs]",
        "text.replace('a', xs.push)",
        "/a/.exec(xs)",
    ],
)
def test_what_may_change_them_or_is_not_known(source: str) -> None:
    """Whatever writes, calls what a name stands for, or is not on the list."""
    assert not read_expression(source).details.is_harmless
