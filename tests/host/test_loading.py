"""Promise: a host that only answers model calls does not pay for the engine."""

from __future__ import annotations

import json
import subprocess
import sys

from saywhy import host


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_importing_the_host_helpers_loads_no_engine() -> None:
    """Of our own only errors, values and the helpers are loaded, from outside nothing heavy."""
    loaded = loaded_by("from saywhy.host import *")
    own = {name.split(".")[1] for name in loaded if name.startswith("saywhy.")}
    assert own == {"errors", "host", "scalars", "values"}
    heavy = {"quickjs", "_quickjs", "pydantic", "httpx2", "httpcore2", "jsonschema_rs", "babel"}
    assert not {name.split(".")[0] for name in loaded} & (heavy | {"asyncio", "socket", "ssl"})


def test_the_names_for_hosts_are_there() -> None:
    """Every helper that hosts of this flow language know is there, in our spelling."""
    known = {
        "INTENT_YES_THRESHOLD",
        "build_ai_request",
        "build_flow_stage",
        "build_parameter_stage",
        "decode_flow_llm",
        "decode_flow_system_one",
        "decode_parameters_llm",
        "decode_parameters_system_one",
        "free_text_parameters",
        "from_flow_answers",
        "from_parameter_answers",
        "has_jev_parameters",
        "is_detect_flow_request",
        "is_near_miss",
        "merge_text_parameters",
        "parse_schema_arg",
        "schema_name",
        "to_flow_request",
        "to_parameter_request",
    }
    assert known <= set(host.__all__)
