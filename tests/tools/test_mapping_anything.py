"""Promise: no mapping of anything raises anything but `MappingError`, or grows without end.

What comes out is frozen, goes through JSON and back, and neither data nor arguments are changed.
"""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from saywhy.errors import MappingError, Place
from saywhy.tools.check_mapping import mapping_problems
from saywhy.tools.check_transforms import PARAMETERS
from saywhy.tools.mapping import compile_mapping, map_response
from saywhy.tools.mapping.operators import OPERATORS
from saywhy.tools.mapping.run import size_of
from saywhy.tools.mapping.transforms import TRANSFORMS
from saywhy.values import FrozenDict, FrozenList, dumps, freeze, loads, same, seal

KEYS = ("a", "b", "rows", "n", "$date", "length", "__proto__")

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from(["12.5kg", "2024-02-30", "a-b-c", "$args.q", "{{a}}", "\ud800", "\x00"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    ),
    max_leaves=12,
)
paths = st.one_of(
    st.sampled_from(
        ["", ".", "a", "a.b", "rows", "rows[0].n", "$args.q", "$.a", "{q}", "rows[{n}]", "a..b"]
    ),
    st.text(alphabet="ab.[]0{}$\"' -", max_size=8),
)
templates = st.one_of(
    st.sampled_from(
        [
            "{{a}} {$args.q}",
            "{{#each rows}}{{@index}}{{n}}{{#unless @last}},{{/unless}}{{/each}}",
            "{{#each rows}}{{#each .}}{{.}}{{/each}}{{/each}}",
            "{{#if a}}x{{/if}}",
            "{{a + 1}}",
            "{{new Date().toISOString()}}",
        ]
    ),
    st.text(alphabet="{}#/ a@", max_size=12),
)
conditions = st.fixed_dictionaries(
    {"field": paths, "operator": st.sampled_from([*OPERATORS, "is"]), "value": values}
)
parameters = st.one_of(scalars, st.integers(-3, 400), templates, paths)


@st.composite
def transforms(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from([*TRANSFORMS, "sparkle"]))
    config: dict[str, Any] = {"type": kind}
    for name in PARAMETERS.get(kind, ()):
        if draw(st.booleans()):
            config[name] = draw(parameters)
    if kind == "conditional":
        config["conditions"] = draw(
            st.lists(st.fixed_dictionaries({"if": conditions, "then": values}), max_size=2)
        )
    if draw(st.booleans()):
        config["fallback"] = draw(values)
    return config


entries = st.fixed_dictionaries(
    {"path": paths}, optional={"transform": transforms(), "fallback": values}
)
output_keys = st.sampled_from(["x", "y", "x.y", "x.y.z", "$date", "__proto__", "a"])


def kinds(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    strict = st.booleans()
    return st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("jsonPath"), "mappings": st.dictionaries(output_keys, inner)},
            optional={"strict": strict},
        ),
        st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "mappings": st.dictionaries(output_keys, st.one_of(inner, values, templates)),
            },
            optional={"strict": strict},
        ),
        st.fixed_dictionaries(
            {"type": st.just("array")},
            optional={
                "source": paths,
                "filter": conditions,
                "itemMapping": inner,
                "sort": st.fixed_dictionaries(
                    {"field": paths}, optional={"order": st.sampled_from(["asc", "desc", "up"])}
                ),
                "offset": scalars,
                "limit": scalars,
                "fallback": values,
            },
        ),
        st.fixed_dictionaries(
            {"type": st.just("template"), "template": templates}, optional={"dataPath": paths}
        ),
        st.fixed_dictionaries(
            {
                "type": st.just("conditional"),
                "conditions": st.lists(st.fixed_dictionaries({"if": conditions, "then": inner})),
            },
            optional={"else": inner},
        ),
    )


mappings = st.recursive(st.one_of(entries, paths), kinds, max_leaves=5)

gently = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@gently
@given(mappings, values, st.dictionaries(st.sampled_from(["q", "n", "index"]), values))
@example({"type": "object", "mappings": {"a": {"$date": "a"}}}, {"a": None}, {})
def test_any_mapping_on_any_data(config: Any, data: Any, args: Any) -> None:
    """A mapping gives a value a conversation can hold, or the one named error."""
    before = copy.deepcopy((data, args))
    try:
        made = map_response(config, data, args, now_ms=1.8e12)
    except MappingError:
        return
    assert same(seal(freeze((data, args))), freeze(before))
    assert not isinstance(made, dict | list | tuple)
    assert same(made, freeze(made))
    assert same(loads(dumps(made)), made)
    room = (size_of(freeze(config)) + 10) * (size_of(freeze(data)) + size_of(freeze(args)) + 10)
    assert size_of(made) <= 100 * room


@gently
@given(values, values)
def test_anything_as_mapping(config: Any, data: Any) -> None:
    """What is no mapping at all does no harm, and is the same for a frozen configuration."""
    made = compile_mapping(config).apply(data)
    assert same(compile_mapping(freeze(config)).apply(data).value, made.value)


@gently
@given(st.one_of(mappings, values))
def test_anything_can_be_checked(config: Any) -> None:
    """The check finds problems in anything and raises for nothing; each says what to try."""
    for problem in mapping_problems(config, Place(pointer="/m"), ["f"]):
        assert problem.message
        assert problem.hint
        assert problem.place.pointer.startswith("/m")


@gently
@given(mappings, values)
def test_frozen_in_frozen_out(config: Any, data: Any) -> None:
    """Frozen data gives what plain data gives."""
    try:
        made = map_response(config, data, now_ms=1.8e12)
    except MappingError:
        return
    frozen = freeze(data)
    again = map_response(config, frozen, now_ms=1.8e12)
    assert same(made, again)
    assert not isinstance(again, dict | list)
    if isinstance(frozen, FrozenDict | FrozenList):
        assert same(frozen, freeze(data))
