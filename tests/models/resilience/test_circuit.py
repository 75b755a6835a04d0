"""Promise: a circuit opens after failures in a row and lets one probe through at a time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.models.resilience.circuit import Circuit, Permit
from tests.amount import examples


def failed(circuit: Circuit, now: float) -> None:
    permit = circuit.enter(now)
    assert permit is not None
    circuit.leave(permit, False, now)


def test_it_opens_after_failures_in_a_row() -> None:
    """A success in between begins the count anew."""
    circuit = Circuit(3, 100)
    failed(circuit, 0)
    failed(circuit, 0)
    good = circuit.enter(0)
    assert good is not None
    circuit.leave(good, True, 0)
    failed(circuit, 0)
    failed(circuit, 0)
    assert circuit.state(0) == "closed"
    failed(circuit, 0)
    assert (circuit.state(99), circuit.left_ms(40), circuit.enter(99)) == ("open", 60, None)
    assert circuit.state(100) == "half_open"


def test_one_probe_at_a_time() -> None:
    """The next one may go when it is back without having told anything."""
    circuit = Circuit(1, 100)
    failed(circuit, 0)
    probe = circuit.enter(100)
    assert probe is not None
    assert circuit.enter(100) is None
    circuit.leave(probe, None, 110)
    assert circuit.state(110) == "half_open"
    failed(circuit, 120)
    assert (circuit.state(219), circuit.state(220)) == ("open", "half_open")


def test_a_probe_that_never_ends_counts_for_lost_after_a_while() -> None:
    """Where it is said so: a run that rests for ever does not keep all others out."""
    for_ever, for_a_while = Circuit(1, 100), Circuit(1, 100, 50)
    for circuit in (for_ever, for_a_while):
        failed(circuit, 0)
        assert circuit.enter(100) is not None
        assert circuit.enter(149) is None
    assert for_ever.enter(1_000_000) is None
    assert for_a_while.enter(150) is not None


def test_a_call_from_before_tells_nothing() -> None:
    """One that began while it was closed neither closes nor opens it later."""
    circuit = Circuit(1, 100)
    late, later = circuit.enter(0), circuit.enter(0)
    assert late is not None
    assert later is not None
    failed(circuit, 0)
    circuit.leave(late, True, 1)
    assert circuit.state(1) == "open"
    probe = circuit.enter(100)
    assert probe is not None
    circuit.leave(probe, True, 100)
    circuit.leave(later, False, 100)
    assert circuit.state(100) == "closed"


class Model:
    """The same said otherwise: the whole history is kept and read from its beginning."""

    def __init__(self, threshold: int, reset: float) -> None:
        self.threshold, self.reset = threshold, reset
        self.history: list[tuple[str, int, float]] = []

    def read(self, now: float) -> tuple[str, set[int], int | None]:
        """The state, the calls whose end counts, and the probe that is out."""
        state, failures, opened = "closed", 0, 0.0
        counting, probe = set[int](), None
        for what, call, at in self.history:
            if state == "open" and at >= opened + self.reset:
                state = "half_open"
            if what == "begin":
                counting.add(call)
                probe = call if state == "half_open" else probe
                continue
            if call not in counting:
                continue
            counting.discard(call)
            probe = None if call == probe else probe
            failures = failures + 1 if what == "bad" else 0 if what == "good" else failures
            if state == "half_open" and what == "good":
                state, failures, counting = "closed", 0, set()
            elif what == "bad" and (state == "half_open" or failures >= self.threshold):
                state, failures, opened, counting = "open", 0, at, set()
        if state == "open" and now >= opened + self.reset:
            state = "half_open"
        return state, counting, probe


steps = st.lists(
    st.tuples(st.sampled_from(["begin", "good", "bad", "none", "wait"]), st.integers(0, 5)),
    max_size=60,
)


@settings(max_examples=examples(200, 5000))
@given(threshold=st.integers(1, 3), played=steps)
def test_it_does_what_the_model_does(threshold: int, played: list[tuple[str, int]]) -> None:
    """Whatever begins and ends in whichever order."""
    circuit, model = Circuit(threshold, 10), Model(threshold, 10)
    now, number = 0.0, 0
    out: dict[int, Permit] = {}
    ends = {"good": True, "bad": False, "none": None}
    for what, choice in played:
        state, _, probe = model.read(now)
        assert circuit.state(now) == state
        if what == "wait":
            now += choice
        elif what == "begin":
            permit = circuit.enter(now)
            may = state == "closed" or (state == "half_open" and probe is None)
            assert (permit is not None) == may
            if permit is not None:
                number += 1
                out[number] = permit
                model.history.append(("begin", number, now))
        elif out:
            call = sorted(out)[choice % len(out)]
            circuit.leave(out.pop(call), ends[what], now)
            model.history.append((what, call, now))
    assert circuit.state(now) == model.read(now)[0]
