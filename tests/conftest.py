"""Settings for all tests. How many examples the largest ones try is in `amount`."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.amount import IS_NIGHTLY

# A busy machine makes generating slow; that says nothing about what is tested.
settings.register_profile(
    "saywhy",
    deadline=None,
    derandomize=not IS_NIGHTLY,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("saywhy")
