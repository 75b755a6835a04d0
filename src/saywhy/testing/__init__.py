"""What comes along for testing flows, tools and hosts of one's own."""

from saywhy.testing.check_provider import check_provider
from saywhy.testing.check_tool import check_tool
from saywhy.testing.clock import FakeClock
from saywhy.testing.faults import Fault, Faults
from saywhy.testing.ledger import Ledger
from saywhy.testing.payments import PaymentStub
from saywhy.testing.stub_client import StubClient
from saywhy.testing.stub_server import StubRequest, StubServer

__all__ = [
    "FakeClock",
    "Fault",
    "Faults",
    "Ledger",
    "PaymentStub",
    "StubClient",
    "StubRequest",
    "StubServer",
    "check_provider",
    "check_tool",
]
