"""The table of transforms, and what happens when one of them fails.

A transform of an unknown type leaves the value as it is, with a warning. One that fails gives
its `fallback`; without one the value stays as it was, or the mapping fails where it is strict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.errors import did_you_mean
from saywhy.tools.mapping.fallback import fallback_of, literal
from saywhy.tools.mapping.numeric import NUMERIC, Maker, Transform
from saywhy.tools.mapping.operators import Condition, condition_of
from saywhy.tools.mapping.run import Failed, Run
from saywhy.tools.mapping.scripts import call_function
from saywhy.tools.mapping.textual import TEXTUAL
from saywhy.values import raw


def conditional(config: Mapping[str, Any]) -> Transform:
    """The `then` of the first condition that holds, else `else`, else the value itself."""
    cases: list[tuple[Condition, Transform]] = []
    conditions = raw(config.get("conditions"))
    for each in conditions if isinstance(conditions, list) else ():
        case = raw(each)
        if isinstance(case, Mapping):
            cases.append((condition_of(case.get("if"), about_value=True), _given(case, "then")))
    if "condition" in config:
        test = condition_of(config["condition"], about_value=True)
        cases.append((test, _given(config, "trueValue")))
        last = _given(config, "falseValue" if "falseValue" in config else "else")
    else:
        last = _given(config, "else")

    def transform(run: Run, value: Any) -> Any:
        for holds, give in cases:
            if holds(run, value):
                return give(run, value)
        return last(run, value)

    return transform


def _given(config: Mapping[str, Any], name: str) -> Transform:
    """What stands under `name`; the value itself where nothing does."""
    if name not in config:
        return lambda run, value: value
    give = literal(config[name])
    return lambda run, value: give(run)


def custom(config: Mapping[str, Any]) -> Transform:
    """What the approved function `function` makes of the value; it is given the arguments too."""
    name = config.get("function")
    if not isinstance(name, str) or not name:
        return lambda run, value: value
    return lambda run, value: call_function(run, name, [value, run.args])


def _unknown(kind: Any) -> Transform:
    """Nothing is done to the value; whoever reads the record is told."""
    if kind is None:
        text = "a transform has no `type`; the value stays as it is"
    else:
        hint = did_you_mean(str(kind), tuple(TRANSFORMS))
        text = f'no transform is called "{kind}"; the value stays as it is'
        text = f"{text} ({hint})" if hint else text

    def leave(run: Run, value: Any) -> Any:
        run.warn(text)
        return value

    return leave


TRANSFORMS: Final[dict[str, Maker]] = {
    **NUMERIC,
    **TEXTUAL,
    "conditional": conditional,
    "custom": custom,
}


def transform_of(config: Any) -> Transform | None:
    """The transform as a function; None where there is none to make."""
    tree = raw(config)
    if not isinstance(tree, Mapping):
        return None
    kind = tree.get("type")
    make = TRANSFORMS.get(kind) if isinstance(kind, str) else None
    if make is None:
        return _unknown(kind)
    bare = make(tree)
    instead = fallback_of(tree)
    if instead is None:
        return bare

    def transform(run: Run, value: Any) -> Any:
        try:
            return bare(run, value)
        except Failed as error:
            run.warn(f"{kind}: {error}; the fallback was taken")
            run.fell_back(str(kind))
            return instead(run)

    return transform
