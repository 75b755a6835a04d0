"""What a record may hold: the one place where sensitive values are masked and big ones are cut.

Live state, the journal and the messages of a session keep the real values: a masked conversation
could not go on. Whatever is kept of a commit passes through a `Redactor` first, once. Masking goes
by the name a value stands under, at every depth, and by texts known to be secret, anywhere inside
any text. The caller's objects are never changed, and a commit with nothing to mask comes back as
it is. Which names are sensitive is answered by `sensitive`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, quote_plus

import msgspec

from saywhy.chart.commit import Commit
from saywhy.trace.masking.clean import is_clean
from saywhy.trace.masking.content import named_in
from saywhy.trace.masking.declared import NOTHING, Declared
from saywhy.trace.masking.hide import hide_call
from saywhy.trace.masking.rewrite import Rewriter
from saywhy.trace.masking.sensitive import SensitiveNames, gives_away
from saywhy.trace.masking.taint import Taint
from saywhy.trace.masking.texts import MEASURED, is_distinctive
from saywhy.values import BigInt, Key

MARK: Final = "[REDACTED]"
"""Stands where a sensitive value or text was."""

CUT: Final = "[CUT: "
"""Begins the note left where a value was too big to be kept whole."""

REDACTED_TAG: Final = "redacted"
"""Tag of a commit in which something was masked."""

CUT_TAG: Final = "cut"
"""Tag of a commit in which something was cut."""

SHORTEST_SECRET: Final = 3
"""A shorter secret is masked only where it is the whole text: it would riddle every sentence."""

SHORTEST_TAINT: Final = 6
"""From this length on, a text masked for its name is masked wherever else it turns up."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What to mask besides passwords, tokens, keys, signatures and secrets, and where to cut."""

    names: tuple[str, ...] = ()
    """More names whose values are masked: `ssn` also covers `userSsn` and `ssn_last4`."""
    open: tuple[str, ...] = ()
    """Names that look sensitive and are not, exactly as written."""
    secrets: tuple[str, ...] = ()
    """Texts to mask wherever they occur: keys of tools, secret global variables."""
    max_value_bytes: int = 64 * 1024
    """About how much of one value is kept."""
    tools: tuple[str, ...] = ()
    """Tools, by id or name, of whose arguments and answers nothing is kept but the shape."""
    kept: bool = True
    """False: nothing is recorded. Turns are a little faster; `why`, `why_not`, narratives, replay
    and the steps of transactions have nothing to tell, and recorders hear nothing. What is
    sensitive is masked in messages and the log all the same."""
    paths: tuple[str, ...] = ()
    """Where sensitive values stand: `cargo.customer.ssn`, `globals.partner.pin`."""
    declared: Declared = NOTHING
    """What flows and tools declare as sensitive (`pii`); an engine fills it in."""


USUAL: Final = Policy()
"""What is masked when a host says nothing about it."""


@lru_cache(maxsize=64)
def _names_of(extra: tuple[str, ...], open_names: tuple[str, ...]) -> SensitiveNames:
    """One judge of names for each policy: what it has judged, every later turn knows."""
    return SensitiveNames(extra, open_names)


class Redactor:
    """Masks the commits of one conversation, by a policy and by the secrets learnt so far."""

    def __init__(
        self,
        policy: Policy = USUAL,
        secrets: Iterable[str] = (),
        sensitive: Mapping[str, Any] | None = None,
    ) -> None:
        """`sensitive` is what `Taint.kept` gave at the end of an earlier turn."""
        self.policy = policy
        self.limit = policy.max_value_bytes
        self.names = _names_of(policy.names, policy.open)
        self._inside: list[str] = []
        self._exact: set[str] = set()
        self._pairs: list[tuple[str, str]] = []
        self._more: list[tuple[str, str]] = []
        self._forms: dict[str, list[str]] = {}
        self._known = (-1, -1)
        self.numbers: set[str] = set()
        self.generation = 0
        """Grows whenever a secret is learnt."""
        self.declared: dict[str, None] = {}
        """Texts that were declared sensitive in the commits so far: answers, and what stands at
        places that authors named."""
        self.taint: Taint | None = None
        """Where sensitive values are; None where nothing was declared and nothing is known."""
        self.on_learnt: Callable[[Taint, list[str]], None] | None = None
        """Is told what was learnt of sensitive places and texts, so that it is known later on."""
        if policy.declared or policy.paths or sensitive:
            declared = policy.declared.with_paths(tuple(map(path_of, policy.paths)))
            self.taint = Taint(declared, MARK, sensitive)
        self._is_followed = self.taint is not None or bool(policy.tools)
        if policy.secrets or secrets:
            self.learn((*policy.secrets, *secrets))

    def learn(self, secrets: Iterable[Any]) -> bool:
        """Mask these texts from now on. True when one of them is new.

        What stands beside a text in a pair is how that text is shown, and is not looked for.
        """
        before = len(self._exact)
        for secret in secrets:
            if not isinstance(secret, str):
                continue
            text = secret.strip()
            if text and text not in self._exact and MARK not in text:
                self._exact.add(text)
                if len(text) >= SHORTEST_SECRET:
                    self._inside.append(text)
                    if text.lstrip("-").replace(".", "", 1).isdecimal():
                        self.numbers.add(text)
        if len(self._exact) == before:
            return False
        self.generation += 1
        return True

    def text(self, text: str) -> str:
        """`text` with every secret in it masked; the same object when there is none."""
        if not text or not (self._exact or self.taint):
            return text
        if self.taint is not None:
            text = self.taint.shown.get(text, text)
        pairs = self._plain() if _WRITTEN.isdisjoint(text) else self._spelled()
        for secret, as_shown in pairs:
            if secret in text:
                text = text.replace(secret, as_shown)
        return MARK if text.strip() in self._exact else text

    def _plain(self) -> list[tuple[str, str]]:
        """What is looked for inside of texts, and what stands there then; the longest first, for
        one may hold another. A text that was said is shown inside of others as it was by itself:
        a question that is repeated, say."""
        known = self.generation, self.taint.grown if self.taint is not None else 0
        if self._known != known:
            said = self.taint.shown if self.taint is not None else {}
            pairs = [(secret, MARK) for secret in self._inside]
            pairs += [
                (text, shown)
                for text, shown in said.items()
                if text != shown and is_distinctive(text)
            ]
            self._pairs, self._known = sorted(pairs, key=_length, reverse=True), known
            self._more = []
        return self._pairs

    def _spelled(self) -> list[tuple[str, str]]:
        """The same with secrets as they look in JSON texts and in addresses; worked out when a text
        comes that may hold such: there may be two thousand, and few texts are of that kind."""
        pairs = self._plain()
        if not self._more:
            for secret in self._inside:
                if secret not in self._forms:
                    self._forms[secret] = _spellings(secret)
            spelled = {one: MARK for forms in self._forms.values() for one in forms}
            self._more = sorted({**spelled, **dict(pairs)}.items(), key=_length, reverse=True)
        return self._more

    def hides(self, frame: int, *tools: str) -> bool:
        """Whether nothing may be told of what is answered to a frame that has called a tool."""
        handed = self.taint is not None and self.taint.is_handed(frame)
        return handed or any(one in self.policy.tools for one in tools)

    def value(self, value: Any, name: str = "") -> Any:
        """A masked and bounded value; the same object when there is nothing to do."""
        return _Masking(self).whole(("", name) if name else (), value)

    def commit(self, commit: Commit, *, again: bool = False) -> Commit:
        """The commit as it may be kept. Its `secrets` are learnt and taken out.

        `again` is for one that was kept before, when less was known.

        A commit that was masked or cut is tagged so, because nothing can be rebuilt from it.
        """
        answered = commit.answered
        if answered is not None and answered.kind == "tool":
            self.learn(named_in(answered.value, self.names))
        known = self._exact or self._is_followed
        if not known and not commit.secrets and is_clean(commit, self.names, self.limit):
            return commit  # nearly every one, where nothing is known and nothing declared
        if self.policy.tools:
            commit = hide_call(commit, self.policy.tools, MARK, REDACTED_TAG)
        whole = commit
        if self.taint is not None:
            commit = self._followed(self.taint, commit, again=again)
        if commit.secrets:
            self.declared.update((one, None) for one in commit.secrets if isinstance(one, str))
            self.learn(commit.secrets)
        elif (
            not self._exact
            and (self.taint is None or not self.taint.shown)
            and is_clean(commit, self.names, self.limit)
        ):
            return commit if commit is whole else _tagged(commit)
        masking = _Masking(self)
        changes = masking.changes(commit)
        if masking.tainted and self.learn(masking.tainted):
            masking = _Masking(self)  # what was masked for its name may stand elsewhere in it
            changes = masking.changes(commit)
        if not changes and not commit.secrets:
            return commit if commit is whole else _tagged(commit)
        changes["secrets"] = ()
        changes["tags"] = (*commit.tags, *masking.tags(commit.tags))
        kept = msgspec.structs.replace(commit, **changes)
        return kept if commit is whole else _tagged(kept)

    def _followed(self, taint: Taint, commit: Commit, *, again: bool) -> Commit:
        """The commit without what stands at sensitive places; what it tells of them is learnt."""
        if again:
            return taint.again(commit)
        followed = taint.follow(commit)
        self.declared.update(dict.fromkeys(taint.declared_texts))
        if taint.is_new:
            self.generation += 1
        elif not taint.texts:
            return followed
        self.learn(taint.texts)
        if self.on_learnt is not None:
            self.on_learnt(taint, taint.texts)
        return followed


def _length(pair: tuple[str, str]) -> int:
    return len(pair[0])


def path_of(written: str) -> Key:
    """The place that a path such as `cargo.customer.ssn` names."""
    return tuple(written.split("."))


def _tagged(commit: Commit) -> Commit:
    if REDACTED_TAG in commit.tags:
        return commit
    return msgspec.structs.replace(commit, tags=(*commit.tags, REDACTED_TAG))


_WRITTEN: Final = frozenset("\\%+")
"""One of these stands in each spelling that is not the text itself."""


def _spellings(secret: str) -> list[str]:
    """The text as it stands, and as it looks inside JSON text and inside an address."""
    spellings = [secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]]
    with suppress(UnicodeEncodeError):  # a lone surrogate, which no address can hold
        spellings += [quote(secret, safe=""), quote_plus(secret)]
    return list(dict.fromkeys(spellings))


class _Masking(Rewriter):
    """One pass over a commit or a value. The budget in bytes is that of one value."""

    __slots__ = ("cut", "left", "limit", "names", "redacted", "redactor", "tainted")

    renames = True

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self.names = redactor.names
        self.limit = redactor.policy.max_value_bytes
        self.left = self.limit
        self.redacted = False
        self.cut = False
        self.tainted: list[str] = []

    def tags(self, have: tuple[str, ...]) -> list[str]:
        """What the commit's tags are to say of this pass, besides those it has."""
        notes = [(REDACTED_TAG, self.redacted), (CUT_TAG, self.cut)]
        return [tag for tag, true in notes if true and tag not in have]

    def whole(self, key: Key, value: Any) -> Any:
        for part in key[1:]:
            if isinstance(part, str) and part in self.names and gives_away(part, value):
                return self._masked(value)
        self.left = self.limit
        return self.value(value)

    def field(self, name: str, value: Any) -> Any:
        if name in self.names and gives_away(name, value):
            return self._masked(value)
        if name in MEASURED and isinstance(value, int | float):
            return value
        return self.value(value)

    def _masked(self, value: Any) -> str:
        self.redacted = True
        if isinstance(value, str) and len(value) >= SHORTEST_TAINT:
            self.tainted.append(value)
        return MARK

    def text(self, text: str) -> str:
        """Masked first and cut afterwards: half a secret at the edge would not be recognised."""
        kept = self.sentence(text)
        self.left -= len(kept) + 2
        if self.left >= 0:
            return kept
        self.cut = True
        return f"{kept[: max(0, len(kept) + self.left)]}{CUT}{len(kept)} characters]"

    def sentence(self, text: str) -> str:
        kept = self.redactor.text(text)
        self.redacted = self.redacted or kept is not text
        return kept

    def name(self, name: str) -> str:
        return self.sentence(name)

    def leaf(self, value: Any) -> Any:
        """A secret made of digits may have become a number on its way."""
        self.left -= 8
        if self.redactor.numbers and isinstance(value, int | float | BigInt):
            number = int(value) if isinstance(value, float) and value.is_integer() else value
            if str(number) in self.redactor.numbers:
                self.redacted = True
                return MARK
        return value

    def fields(self, tree: dict[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        same = True
        for name, value in tree.items():
            if self.left <= 0:
                self.cut = True
                return {**changed, f"{CUT}{len(tree) - len(changed)} more fields]": None}
            self.left -= len(name)
            new_name, new = self.name(name), self.field(name, value)
            same = same and new is value and new_name is name
            changed[new_name] = new
        return tree if same else changed

    def items(self, items: list[Any]) -> list[Any]:
        changed: list[Any] = []
        same = True
        for value in items:
            if self.left <= 0:
                self.cut = True
                return [*changed, f"{CUT}{len(items) - len(changed)} more items]"]
            new = self.value(value)
            same = same and new is value
            changed.append(new)
        return items if same else changed
