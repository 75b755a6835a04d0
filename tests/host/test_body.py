"""Promise: a call of the engine becomes a body that this model's server accepts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.host import (
    AiModel,
    FlowOption,
    ParameterOption,
    build_ai_request,
    build_detect_flow_request,
    build_flow_stage,
    build_parameter_stage,
)

SMALL = AiModel(name="small", reserved_reply_size=256)
STRICT = AiModel(name="strict", reserved_reply_size=256, supports_schema=True)
PAY = FlowOption("pay", "Pay", "Pays", (ParameterOption("amount"),))
WRAPPER = json.dumps({"type": "json_schema", "json_schema": {"name": "x", "schema": {}}})


def test_a_body_with_the_defaults() -> None:
    """Two messages, a cap, no stream, and sampling as repeatable as a server can be."""
    assert build_ai_request(SMALL, "Be short.", "Hi") == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "Hi"},
        ],
        "max_tokens": 256,
        "stream": False,
        "temperature": 0,
        "seed": 1024,
        "top_p": 1e-6,
        "n": 1,
        "frequency_penalty": 0,
        "presence_penalty": 0,
    }


def test_the_cap_goes_under_the_servers_name() -> None:
    """`token_param` names the key, and the default one is then absent."""
    model = AiModel(name="m", reserved_reply_size=9, token_param="max_completion_tokens")
    body = build_ai_request(model, "s", "u")
    assert body["max_completion_tokens"] == 9
    assert "max_tokens" not in body


def test_fixed_sampling_sends_none_of_it() -> None:
    """A model that refuses sampling parameters gets none."""
    body = build_ai_request(AiModel(name="m", reserved_reply_size=9, fixed_sampling=True), "s", "u")
    assert body.keys() == {"model", "messages", "max_tokens", "stream"}


def test_extra_params_come_last_and_none_takes_away() -> None:
    """Further keys win over ours, None takes one away, and the model stays as it is."""
    extra = {"reasoning_effort": "low", "temperature": 1, "seed": None, "user": None}
    body = build_ai_request(
        AiModel(name="m", reserved_reply_size=9, extra_params=extra), "s", "u", WRAPPER
    )
    assert (body["reasoning_effort"], body["temperature"]) == ("low", 1)
    assert not {"seed", "user"} & body.keys()
    assert extra["seed"] is None


@pytest.mark.parametrize(
    ("schema", "plain", "strict"),
    [
        (None, None, None),
        ("", None, None),
        ("no json", None, None),
        ("[]", None, None),
        (build_detect_flow_request("x", [], [PAY]).schema, None, None),
        (WRAPPER, {"type": "json_object"}, json.loads(WRAPPER)),
        (
            build_flow_stage("x", [], [PAY]).schema,
            {"type": "json_object"},
            json.loads(build_flow_stage("x", [], [PAY]).schema),
        ),
        (
            build_parameter_stage("x", [], PAY).schema,
            {"type": "json_object"},
            json.loads(build_parameter_stage("x", [], PAY).schema),
        ),
        ('{"type": "object"}', {"type": "json_object"}, {"type": "json_object"}),
    ],
)
def test_response_format(schema: Any, plain: Any, strict: Any) -> None:
    """Absent where nothing can be enforced; the wrapper for servers that know it, else JSON."""
    for model, wanted in ((SMALL, plain), (STRICT, strict)):
        body = build_ai_request(model, "s", "u", schema)
        assert body.get("response_format") == wanted
        assert ("response_format" in body) is (wanted is not None)


def test_response_format_is_never_none() -> None:
    """Not even where the extra keys say so: servers refuse it."""
    model = AiModel(
        name="m",
        reserved_reply_size=9,
        supports_schema=True,
        extra_params={"response_format": None},
    )
    assert "response_format" not in build_ai_request(model, "s", "u", WRAPPER)


@pytest.mark.parametrize(
    "fields",
    [
        {
            "name": "m",
            "reserved_reply_size": 9,
            "token_param": "cap",
            "supports_schema": True,
            "fixed_sampling": True,
            "extra_params": {"a": 1},
        },
        {
            "name": "m",
            "reservedReplySize": 9,
            "tokenParam": "cap",
            "supportsSchema": True,
            "fixedSampling": True,
            "extraParams": {"a": 1},
        },
    ],
)
def test_a_model_out_of_a_settings_file(fields: dict[str, Any]) -> None:
    """A dict with all six fields does as well, in either spelling."""
    model = AiModel(
        name="m",
        reserved_reply_size=9,
        token_param="cap",
        supports_schema=True,
        fixed_sampling=True,
        extra_params={"a": 1},
    )
    body = build_ai_request(fields, "s", "u", WRAPPER)
    assert body == build_ai_request(model, "s", "u", WRAPPER)
    assert (body["cap"], body["a"], body["response_format"]) == (9, 1, json.loads(WRAPPER))


@pytest.mark.parametrize(
    ("fields", "message", "hint"),
    [
        ({"reserved_reply_size": 9}, "a model needs `name`", "see AiModel in saywhy.host"),
        ({"name": "m"}, "a model needs `reserved_reply_size`", "see AiModel in saywhy.host"),
        (
            {"name": "m", "reserved_reply_size": 9, "supports_schemas": True},
            'a model has no field "supports_schemas"',
            'did you mean "supports_schema"?',
        ),
        (
            {"name": "m", "reserved_reply_size": 9, "x": True},
            'a model has no field "x"',
            "there are name, reserved_reply_size, token_param, supports_schema, fixed_sampling, "
            "extra_params",
        ),
        (
            {"name": "m", "reserved_reply_size": "9"},
            "a model is described wrongly: Expected `int`, got `str` - at `$.reserved_reply_size`",
            "",
        ),
    ],
)
def test_a_wrong_description_is_told(fields: dict[str, Any], message: str, hint: str) -> None:
    """A missing, unknown or wrong field is named, with what was probably meant."""
    with pytest.raises(CallerError) as raised:
        build_ai_request(fields, "s", "u")
    assert (str(raised.value), raised.value.hint) == (message, hint)
