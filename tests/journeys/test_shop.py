"""Promise: flows of a real shop run as they are, on a shop whose answers are scripted.

The tools of the shop go out over HTTP to a stub server; those that send and check a one-time code
stay functions, which change the cargo they are handed. See the licence beside the files.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from saywhy import Engine, MemoryStore, load_tools
from saywhy.helpers import STANDARD_FUNCTIONS
from saywhy.testing import StubClient, StubRequest, StubServer
from saywhy.tools.wrappers import cache, keep

FOLDER = Path(__file__).parent.parent / "cases/real-flows"
FLOWS = [FOLDER / "shopify.flows.json", FOLDER / "system.flows.json"]
STORES = [{"name": "Downtown", "city": "Austin", "lat": 30.2, "lon": -97.7}]

TV = {
    "title": "Vista 65 TV",
    "price_range": {"min": {"amount": 49_900}, "max": {"amount": 59_900}},
    "url": "https://shop.example.com/tv",
    "variants": [
        {"id": "gid://variant/1", "available": False},
        {"id": "gid://variant/2", "available": True},
    ],
}
ORDERS = {
    "success": True,
    "customer": {"firstName": "Jane"},
    "orders": [
        {"orderNumber": "1001", "overallStatus": "Delivered", "total": {"amount": "80.00"}},
        {"orderNumber": "1002", "overallStatus": "On its way", "total": {"amount": "499.00"}},
    ],
}
STATUS = {
    "success": True,
    "order": {
        "orderNumber": "1002",
        "fulfillmentStatus": "On its way",
        "financialStatus": "PAID",
        "total": {"amount": "499.00"},
        "items": [{"title": "Vista 65 TV", "quantity": 1}],
        "shippingAddress": {"firstName": "Jane", "lastName": "Miller", "city": "Austin"},
    },
}


CODE = "271828"


class Codes:
    """Sends one-time codes; their hash and time go into cargo, for `validateOTP`."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    def send_sms(
        self, account: Any, sender: Any, to: str, container: dict[str, Any]
    ) -> dict[str, Any]:
        self.sent.append((to, CODE))
        container["otpHash"] = hashlib.sha256(CODE.encode()).hexdigest()
        container["otpTimestamp"] = time.time() * 1000
        return {"success": True}


def sent(*given: Any) -> dict[str, Any]:
    return {"success": True}


def same(tools: Any) -> Any:
    return tools


def functions(codes: Codes) -> dict[str, Callable[..., Any]]:
    return {
        **STANDARD_FUNCTIONS,
        "sendSMSOTP": codes.send_sms,
        "sendEmailOTP": sent,
        "switchToSMS": sent,
        "sendTwilioSMS": sent,
    }


def over_http(definition: Mapping[str, Any]) -> dict[str, Any]:
    """The shop's tool, with its function behind an address."""
    if not definition["id"].startswith("shopify-"):
        return dict(definition)
    address = f"https://shop.example.com/api/{definition['id']}"
    return {**definition, "implementation": {"type": "http", "url": address, "timeout": 2000}}


class Talk:
    """One conversation with the shop."""

    def __init__(self, server: StubServer, **options: Any) -> None:
        self.codes = Codes()
        self.http = StubClient(server.base)
        tools = load_tools(FOLDER / "shopify.tools.json", FOLDER / "system.tools.json")
        made = [tool.changed(over_http(tool.raw)) for tool in tools]
        wrap = options.pop("wrap", same)
        self.engine = Engine(
            flows=FLOWS,
            tools=wrap(made),
            functions=functions(self.codes),
            store=MemoryStore(),
            http=self.http,
            validate_on_init=False,
            **options,
        )

    async def say(self, *texts: str) -> list[str]:
        replies: list[str] = []
        for text in texts:
            cargo = {"verb": "type", "verb_es": "escriba", "twilioNumber": "+15550100"}
            reply = await self.engine.take_turn("c-1", text, user_id="jane", cargo=cargo)
            replies.append(reply.response or "")
        return replies

    async def record(self) -> Any:
        return await self.engine.trace("c-1")

    async def __aenter__(self) -> Talk:
        await self.engine.__aenter__()
        return self

    async def __aexit__(self, *ignored: object) -> None:
        await self.engine.close()


def run(server: StubServer, journey: Callable[[Talk], Any], **options: Any) -> None:
    async def whole() -> None:
        async with Talk(server, **options) as talk:
            await journey(talk)

    asyncio.run(whole())


def test_a_search_that_ends_in_a_store() -> None:
    """Searched, chosen, looked up near the user's city, with what the flow filled in."""

    async def journey(talk: Talk) -> None:
        asked, found, city, stores = await talk.say(
            "shopify-product-search", "65 inch TV", "1", "Austin"
        )
        assert "Please describe the product you are looking for" in asked
        assert "Here's what I found for '65 inch TV'" in found
        assert "1. Vista 65 TV\n   Price: $499.00 - $599.00\n   Limited Stock (1/2" in found
        assert "What city are you near?" in city
        assert "Available for pickup at:" in stores
        assert "1. Downtown (Austin)\n   4 in stock - 2.5 miles away" in stores

    with StubServer() as server:
        server.on("POST", "/api/shopify-search-products", body={"products": [TV]})
        shop = {"name": "Downtown", "city": "Austin", "available": 4, "distance": 2.5}
        there = {"success": True, "found": True, "productTitle": "Vista 65 TV", "stores": [shop]}
        server.on("POST", "/api/shopify-store-availability", body=there)
        run(server, journey, globals={"global_store_locations": STORES})
        search, stores = server.requests
        assert search.data == {
            "query": "65 inch TV",
            "context": "Customer searching via chat",
            "limit": 5,
            "language": "en",
        }
        assert stores.data == {
            "variantId": "gid://variant/2",
            "city": "Austin",
            "storeLocations": STORES,
            "maxStores": 3,
        }
        assert "idempotency-key" in search.headers


def test_an_order_behind_a_one_time_code() -> None:
    """A wrong code, the right one, two orders, one of them in full; the record keeps the secret."""

    async def journey(talk: Talk) -> None:
        replies = await talk.say("shopify-track-order", "512 555 0142", "111111", "271828", "2")
        first, sent, wrong, orders, detail = replies
        assert "I'll need to verify your identity first" in first
        assert "6-digit verification code you received at cell ending with 0, 1, 4, 2" in sent
        assert "That code didn't match. Let's try again." in wrong
        assert "Hi Jane! Here are your recent orders:" in orders
        assert "2. Order 1002" in orders
        assert "Order 1002\n\nStatus: On its way\nPayment: PAID\nTotal: $499.00" in detail
        assert "- Vista 65 TV (x1)" in detail
        assert talk.codes.sent == [("5125550142", "271828")]
        trace = await talk.record()
        audits = [event.data for event in trace.events("tool_audit")]
        assert [(one["tool"], one["level"], one["outcome"]) for one in audits] == [
            ("send-sms-otp", "basic", "done"),
            ("validate-otp", "basic", "done"),
            ("validate-otp", "basic", "done"),
            ("shopify-lookup-orders", "full", "done"),
            ("shopify-get-order-status", "full", "done"),
        ]
        assert {one["user"] for one in audits} == {"jane"}
        calls = [
            one.answered.value for one in trace if one.answered and one.answered.kind == "tool"
        ]
        masked = json.dumps([repr(one) for one in calls])
        assert "Miller" not in masked
        assert "499.00" not in masked
        assert "271828" not in repr(list(trace))

    with StubServer() as server:
        server.on("POST", "/api/shopify-lookup-orders", body=ORDERS)
        server.on("POST", "/api/shopify-get-order-status", body=STATUS)
        run(server, journey)
        lookup, status = server.requests
        assert lookup.data["identifier"] == "5125550142"
        assert status.data["orderNumber"] == "1002"


def test_orders_without_a_sign_in() -> None:
    """Where only the host's word counts, the look-up is refused, nothing is sent, the flow offers
    another try."""

    async def journey(talk: Talk) -> None:
        *_, last = await talk.say("shopify-track-order", "512 555 0142", "271828")
        assert "I had trouble looking up your orders. Would you like to try again?" in last
        [refused] = [
            one
            for one in (await talk.record()).events("tool_audit")
            if one.data["tool"] == "shopify-lookup-orders"
        ]
        assert refused.data["outcome"] == "refused"
        assert refused.data["authenticated"] is False

    with StubServer() as server:
        run(server, journey, is_authenticated=None)
        assert server.requests == ()


def test_a_shop_that_is_down() -> None:
    """The search is made once, as it says no effect, and the turn goes back to the host."""

    async def journey(talk: Talk) -> None:
        _, handed_back = await talk.say("shopify-product-search", "65 inch TV")
        assert handed_back == ""
        errors = (await talk.record()).events("tool_error")
        assert [one.data["error"] for one in errors] == ["HTTP 503 Service Unavailable: closed"]

    with StubServer() as server:
        answer = {"status": 503, "body": "closed", "headers": {"content-type": "text/plain"}}
        server.on("POST", "/api/shopify-search-products", **answer)
        run(server, journey)
        assert len(server.requests) == 1  # POST without a word of the author's is `once`


def test_policies_from_memory() -> None:
    """A wrapper that the host lays around one tool: the second question is not sent again."""

    async def journey(talk: Talk) -> None:
        first, again, other = await talk.say(
            "shopify-store-policies", "returns", "shopify-store-policies"
        )
        assert "What would you like to know about?" in first
        assert "Here's what I found for 'returns':\n\nThirty days." in again
        assert other == first
        [second] = await talk.say("returns")
        assert second == again

    def wrap(tools: Any) -> Any:
        cached = [tool.changed({**tool.raw, "effect": "reads"}) for tool in keep(tools, NAME)]
        return [*cache(cached, ttl="5m"), *keep(tools, lambda raw: raw["id"] != NAME)]

    def policy(request: StubRequest) -> dict[str, Any]:
        return {"body": {"content": "Thirty days."}}

    with StubServer() as server:
        server.on("POST", f"/api/{NAME}", answer=policy)
        run(server, journey, wrap=wrap)
        assert len(server.requests) == 1


NAME = "shopify-search-policies"
