"""HTTP tools that can reach a stub server and nothing else, whatever their addresses say."""

from __future__ import annotations

from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.settings import HttpSettings


class StubClient(HttpClient):
    """Sends every request to the server at `base`: `https://api.example.com/x` becomes `base/x`.

    So a flow is tested with the addresses it will run with, and no test ever calls them. Without a
    base every request is refused. Hand it to an engine as `http`.
    """

    starts_programs = False

    def __init__(self, base: str) -> None:
        super().__init__(HttpSettings(allow_hosts=("127.0.0.1",), allow_private=("127.0.0.1",)))
        self.base = base.rstrip("/")

    def destination(self, address: str) -> str:
        """The address with the stub server in place of its host."""
        if not self.base:
            return address
        rest = address.partition("://")[2]
        cut = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
        return self.base + rest[cut:]
