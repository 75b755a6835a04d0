"""Promise: a page says what tools take, and what a model is told about their results."""

from __future__ import annotations

from saywhy.agent.instructions.follow_up import follow, quick_bind
from saywhy.agent.instructions.guide import generate_tool_guide
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.tools import define_tool
from saywhy.tools.function_tool import tool

LOAN = define_tool(
    "loan",
    "Judges a loan.",
    {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "Who | asks."},
            "kind": {"enum": ["a", "b"]},
            "note": {"type": ["string", "null"]},
        },
        "required": ["id"],
    },
    str,
    instructions=[
        LLMInstruction("pii", text="Hide it.\nAll of it.", safety=True),
        LLMInstruction(
            "denied",
            description="Kind words",
            when=lambda c: c.content.denied,
            text="Be kind.",
            follow_up=quick_bind("trace", "id", "Get the trace", "asks why"),
            priority=2,
        ),
        LLMInstruction(
            "sort",
            follow_up=follow("audit", lambda c: {}, "Audit", "asks", strict=True),
            decide=lambda d, c: None,
        ),
    ],
)


@tool
def trace(id: str) -> str:
    """Reads a trace."""
    return id


def test_the_page() -> None:
    """Arguments as a table, the rules in the order in which they would be told."""
    assert generate_tool_guide([LOAN, trace]) == (
        "## loan\n"
        "\n"
        "Judges a loan.\n"
        "\n"
        "| argument | type | |\n"
        "|---|---|---|\n"
        "| `id` | string | required; Who \\| asks. |\n"
        '| `kind` | one of "a", "b" |  |\n'
        "| `note` | string or null |  |\n"
        "\n"
        "After a result the model is told:\n"
        "\n"
        "* **sort** (always)\n"
        "  `audit` is made when the user asks for it: Audit (asks)\n"
        "  It changes the decision.\n"
        "* **denied** (priority 2): Kind words\n"
        "  > Be kind.\n"
        "  `trace` is offered: Get the trace (asks why)\n"
        "* **pii** (safety, always)\n"
        "  > Hide it.\n"
        "  > All of it.\n"
        "\n"
        "## trace\n"
        "\n"
        "Reads a trace.\n"
        "\n"
        "| argument | type | |\n"
        "|---|---|---|\n"
        "| `id` | string | required |\n"
    )


def test_no_tools() -> None:
    """An empty page is one line."""
    assert generate_tool_guide([]) == "\n"
