"""What does mapping an answer with a list of 100 items cost?

The mapping filters, maps each item with transforms, sorts and counts. It is compiled once, as the
one of a tool is. Beside it: what going through the same list costs when it is written in Python,
and how long compiling takes.
"""

from __future__ import annotations

from typing import Any, Final

from bench.figures import Figure, timed
from saywhy.tools.mapping import compile_mapping
from saywhy.values import freeze

RUNS: Final = 60
CALLS: Final = 10

MAPPING: Final[dict[str, Any]] = {
    "type": "array",
    "source": "page.items",
    "filter": {"field": "stock", "operator": "gt", "value": 0},
    "itemMapping": {
        "type": "jsonPath",
        "mappings": {
            "name": {"path": "title", "transform": {"type": "trim"}},
            "price": {"path": "price.amount", "transform": {"type": "parseFloat"}},
            "tax": {"path": "price.amount", "transform": {"type": "percentage", "divisor": 1000}},
            "since": {"path": "created", "transform": {"type": "date"}},
        },
    },
    "sort": {"field": "price", "order": "desc"},
}


def run() -> list[Figure]:
    """The whole mapping, its parts, and the same work by hand."""
    data = freeze({"page": {"items": [_item(number) for number in range(100)]}})
    parts = {
        "filter, four fields, sort": MAPPING,
        "filter and sort": {**MAPPING, "itemMapping": None, "sort": {"field": "price.amount"}},
        "two paths an item": {
            "type": "array",
            "source": "page.items",
            "itemMapping": {"type": "object", "mappings": {"n": "title", "p": "price.amount"}},
        },
        "a template over the list": {
            "type": "template",
            "template": "{{#each page.items}}{{@index}} {{title}}{{/each}}",
        },
    }
    figures: list[Figure] = []
    for name, config in parts.items():
        mapping = compile_mapping(config)
        assert not mapping.apply(data).warnings
        figures.append(
            timed(
                f"mapping of 100 items: {name}",
                lambda mapping=mapping: mapping.apply(data, now_ms=1.8e12),
                runs=RUNS,
                calls=CALLS,
                unit="us",
            )
        )
    return [*figures, by_hand(data), compiling()]


def by_hand(data: Any) -> Figure:
    """The same filter, fields and order written in Python, without any care for odd values."""
    items = data.raw["page"]["items"]

    def work() -> list[dict[str, Any]]:
        kept = [
            {
                "name": item["title"].strip(),
                "price": float(item["price"]["amount"]),
                "tax": float(item["price"]["amount"]) / 10,
                "since": item["created"] + "T00:00:00.000Z",
            }
            for item in items
            if item["stock"] > 0
        ]
        return sorted(kept, key=lambda item: item["price"], reverse=True)

    return timed("mapping of 100 items: by hand in Python", work, runs=RUNS, calls=CALLS, unit="us")


def compiling() -> Figure:
    """Once a tool, when its first answer comes."""
    return timed(
        "mapping: compiling it", lambda: compile_mapping(MAPPING), runs=RUNS, calls=CALLS, unit="us"
    )


def _item(number: int) -> dict[str, Any]:
    return {
        "title": f"  Item {number} ",
        "price": {"amount": f"{number * 7 % 100}.50", "currency": "EUR"},
        "stock": number % 4,
        "created": f"2026-01-{number % 28 + 1:02d}",
        "tags": ["a", "b"],
    }
