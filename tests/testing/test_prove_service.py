"""The payment service over HTTP: it serves one job after the other, and kills whoever asks."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from saywhy.testing.faults import Fault, Faults
from saywhy.testing.ledger import Entry, Ledger
from saywhy.testing.payments import EFFECT
from saywhy.testing.prove.child import Job
from saywhy.testing.prove.service import PaymentService
from saywhy.testing.prove.service_client import PROCESS, ServiceClient
from saywhy.tools.http.client import HttpAnswer
from saywhy.tools.http.progress import Progress
from saywhy.tools.http.request import HttpRequest

CHARGE = "https://payments.example/http-charge-once/charge"
BUSY = "https://payments.example/http-charge-by-key-busy/charge_by_key_busy"
BALANCE = "https://payments.example/http-balance/balance?what=rent&amount=80"


@pytest.fixture
def service() -> Iterator[PaymentService]:
    """A service that runs."""
    with PaymentService() as service:
        yield service


def job_at(folder: Path, plan: list[Fault] | None = None, plant: str = "") -> Job:
    ledger = str(folder / "ledger")
    return Job(store="", ledger=ledger, sessions=[], plan=plan or [], plant=plant)


def asked(url: str, method: str = "POST") -> HttpRequest:
    headers = (("Idempotency-Key", "k1"), ("X-Conversation", "c1"))
    body = b'{"what": "rent", "amount": 80}' if method == "POST" else None
    return HttpRequest(method, url, headers, body)


def ask(job: Job, request: HttpRequest, faults: Faults | None = None) -> HttpAnswer:
    async def send() -> HttpAnswer:
        client = ServiceClient(job.service, faults or Faults())
        try:
            return await client.send(request, Progress())
        finally:
            await client.close()

    return asyncio.run(send())


def lines(job: Job) -> list[Entry]:
    return Ledger(job.ledger).entries()


def test_it_notes_who_asked_what(service: PaymentService, tmp_path: Path) -> None:
    """Key, conversation and process come from the request, the tool from its address."""
    job = service.begin(job_at(tmp_path))
    answer = ask(job, asked(CHARGE))
    assert (answer.status, answer.body) == (200, b'{"receipt": "R-80"}')
    facts = {"tool": "http-charge-once", "session": "c1", "what": "rent", "amount": 80}
    assert lines(job) == [Entry(kind, "k1", os.getpid(), facts) for kind in ("call", "effect")]
    assert service.passed == [EFFECT]


def test_reads_have_their_arguments_in_the_query(service: PaymentService, tmp_path: Path) -> None:
    """And get the balance."""
    job = service.begin(job_at(tmp_path))
    assert ask(job, asked(BALANCE, "GET")).body == b'{"balance": 100}'
    assert [(one.kind, one.facts["amount"]) for one in lines(job)] == [("call", 80)]


def test_a_busy_service_says_so(service: PaymentService, tmp_path: Path) -> None:
    """503 at first, with leave to come back at once; the second time it acts."""
    job = service.begin(job_at(tmp_path))
    first, second = ask(job, asked(BUSY)), ask(job, asked(BUSY))
    assert (first.status, first.headers["retry-after"], second.status) == (503, "0", 200)
    assert [one.kind for one in lines(job)] == ["call", "raised", "call", "effect"]


def test_a_key_of_ones_own_can_be_planted(service: PaymentService, tmp_path: Path) -> None:
    """Then each process has another key."""
    job = service.begin(job_at(tmp_path, plant="new-key"))
    ask(job, asked(CHARGE))
    assert {one.key for one in lines(job)} == {f"k1-{os.getpid()}"}


@pytest.mark.parametrize("side", ["before", "after"])
def test_it_kills_whoever_asks(service: PaymentService, tmp_path: Path, side: str) -> None:
    """The process that asked is gone, and what it asked for takes effect all the same."""
    fault = msgspec.convert({"action": "kill", "at": EFFECT, "side": side}, Fault)
    job = service.begin(job_at(tmp_path, [fault]))
    program = f"""
import os, sys, time, urllib.request
url = sys.argv[1] + "/http-charge-once/charge"
headers = {{"{PROCESS}": str(os.getpid()), "Idempotency-Key": "k1"}}
request = urllib.request.Request(url, b'{{"what": "rent"}}', headers)
urllib.request.urlopen(request).read()
time.sleep(60)
"""
    command = [sys.executable, "-c", program, job.service]
    died = subprocess.run(command, check=False, timeout=60)
    assert died.returncode == -9
    service.wait_until_quiet()
    assert [one.kind for one in lines(job)] == ["call", "effect"]


def test_faults_of_the_call_itself(service: PaymentService, tmp_path: Path) -> None:
    """Sent twice, as a network may, it acts twice: the service is a real one."""
    job = service.begin(job_at(tmp_path))
    faults = Faults([Fault(action="duplicate", at="call")])
    assert ask(job, asked(CHARGE), faults).status == 200
    assert [one.kind for one in lines(job)] == ["call", "effect"] * 2
