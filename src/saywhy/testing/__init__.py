"""What comes along for testing flows, tools and hosts of one's own."""

from saywhy.testing.clock import FakeClock

__all__ = ["FakeClock"]
