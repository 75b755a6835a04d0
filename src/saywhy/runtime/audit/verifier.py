#!/usr/bin/env python3
"""Check an audit bundle of saywhy. One file, nothing to install; Python 3.9 or newer.

    python -I verify.py BUNDLE.jsonl [--known DIGEST ...] [--json]

It says what holds and exits with 0, or names the first line that does not and exits with 1. With
--known it also looks for a digest that was given away before: the seal of a bundle, the digest of a
turn, or an anchor. Without one, a bundle proves that it is of one piece, and not that whoever owns
the database did not make all of it anew. The format is described in docs/reference/audit-bundle.md.
Long because it has to be one file.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import struct
import sys
from pathlib import Path
from typing import Any

FORMAT = 1
ROW = re.compile(
    rb'\{"(message|commit)":(\d{1,18}),"digest":"([0-9a-f]{64})","(doc|base64)":(.*)\}\n', re.S
)
PART = re.compile(
    rb'\{"part":\{"run":("(?:[^"\\]|\\.)*"),"domain":"(system|message|tool|params)",'
    rb'"hash":"([0-9a-f]{64})"\},"(doc|base64)":(.*)\}\n',
    re.S,
)
DOMAINS = (("system", "system"), ("messages", "message"), ("tools", "tool"), ("params", "params"))
TEXT, NUMBER, LIST, OPTIONAL = (str,), (int,), (list,), (str, type(None))
SHAPES = {
    "chain": {
        "id": TEXT, "first": NUMBER, "turns": NUMBER, "session": OPTIONAL, "user": OPTIONAL,
        "salt": OPTIONAL, "owner": TEXT,
    },
    "turn": {
        "no": NUMBER, "status": TEXT, "messages": NUMBER, "rows": NUMBER, "salt": OPTIONAL,
        "erased": TEXT, "content": TEXT, "digest": TEXT,
    },
    "anchor": {"number": NUMBER, "at": NUMBER, "digest": TEXT, "heads": LIST},
    "end": {
        "chains": NUMBER, "turns": NUMBER, "messages": NUMBER, "commits": NUMBER,
        "erased": NUMBER, "missing_charts": LIST, "seal": TEXT,
    },
}  # fmt: skip
COUNTED = ("chains", "turns", "messages", "commits", "erased")

BROKEN = (
    ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, struct.error
)  # fmt: skip


class Wrong(Exception):
    """What does not hold."""


def digest(name: str, data: bytes, key: bytes = b"") -> str:
    made = hashlib.blake2b(data, digest_size=32, key=key, person=b"saywhy-" + name.encode() + b"-1")
    return made.hexdigest()


def check(holds: Any, otherwise: str) -> None:
    if not holds:
        raise Wrong(otherwise)


def unhex(text: Any, size: int = 32) -> bytes:
    check(re.fullmatch(f"[0-9a-f]{{{2 * size}}}", text), f"{text} is no digest")
    return bytes.fromhex(text)


def compact(tree: Any) -> bytes:
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.encode("utf-8", "surrogatepass")


class Number(str):
    """A number as it stands in a file: no digit may get lost."""


def written(value: Any) -> str:
    """JSON as it was: the order of names and the form of numbers kept."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        fields = (f"{json.dumps(k, ensure_ascii=False)}:{written(v)}" for k, v in value.items())
        return "{" + ",".join(fields) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def chart_digest(chart: Any) -> str:
    """The digest of a chart: over what it does, not over where it stands."""
    nodes = [
        [n["id"], n["kind"], n.get("next"), n.get("spec", {}), n.get("edges", [])]
        for n in chart["nodes"].values()
    ]
    kind, meta = chart.get("kind", "chart"), chart.get("meta", {})
    whole = [chart["name"], chart["id"], kind, chart.get("start"), meta, nodes]
    return hashlib.sha256(written(whole).encode()).hexdigest()[:16]


class Bundle:
    """What the lines so far have come to."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = dict.fromkeys(map(str, COUNTED), 0)
        self.charts: dict[str, int] = {}
        self.named: dict[str, int] = {}
        self.chain: Any = None
        self.turn: Any = None
        self.before = ""
        self.rows: Any = None
        self.last: dict[str, int] = {}
        self.heads: dict[tuple[str, int], str] = {}
        self.chains: dict[str, int] = {}
        self.anchors: list[str] = []
        self.receipts = Receipts()
        self.seal = hashlib.blake2b(digest_size=32, person=b"saywhy-seal-1")
        self.sealed = ""
        self.number = 0
        self.known: set[str] = set()

    def take(self, line: bytes) -> None:
        """Check one line."""
        self.number += 1
        check(not self.sealed, "something stands behind the end of the bundle")
        check(line.endswith(b"\n"), "the line is cut off")
        row, part = ROW.fullmatch(line), PART.fullmatch(line)
        if row is not None:
            self.take_row(*row.groups())
        elif part is not None:
            self.close()
            self.receipts.take_part(self.number, *part.groups())
        else:
            self.take_entry(line)
        self.seal.update(line)

    def take_entry(self, line: bytes) -> None:
        if line.startswith(b'{"chart":'):
            tree = json.loads(line, parse_int=Number, parse_float=Number)
        else:
            tree = json.loads(line)
        check(isinstance(tree, dict) and tree, "this is no line of a bundle")
        kind = next(iter(tree))
        heading = self.number == 1
        check(heading == (kind == "saywhy"), "a bundle has one heading, its first line")
        takers = {
            "saywhy": self.take_heading,
            "chart": self.take_chart,
            "chain": self.take_chain,
            "turn": self.take_turn,
            "anchor": self.take_anchor,
            "end": self.take_end,
        }
        check(kind in takers, f"a line of the kind {kind!r} has no place here")
        if kind != "turn":
            self.close()
        elif self.turn is not None:
            self.close_turn()
        if kind in SHAPES:
            found = {name: type(value) for name, value in tree[kind].items()}
            fits = list(found) == list(SHAPES[kind]) and len(tree) == 1
            fits = fits and all(found[name] in SHAPES[kind][name] for name in found)
            plain = json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            check(fits and plain == line, f"this is no line of a {kind}")
        takers[kind](tree if heading else tree[kind])

    def take_heading(self, tree: Any) -> None:
        check(tree["saywhy"] == "audit", "this is no audit bundle")
        check(tree["format"] == FORMAT, f"format {tree['format']} is not known, {FORMAT} is")

    def take_chart(self, chart: Any) -> None:
        found = chart.get("digest")
        check(found == chart_digest(chart), f"the flow {chart.get('name')!r} was changed")
        check(found not in self.charts, f"the flow {chart.get('name')!r} stands here twice")
        self.charts[found] = self.number

    def take_chain(self, chain: Any) -> None:
        check(chain["id"] not in self.chains, "the chain stands here twice")
        ids = [(chain[name] or "").encode("utf-8", "surrogatepass") for name in ("session", "user")]
        if chain["salt"] is not None:
            text = b"".join(struct.pack(">QQ", len(one), 0) + one for one in ids)
            made = digest("owner", text, unhex(chain["salt"], 16))
            check(chain["owner"] == made, "the chain is not that of this conversation")
        else:
            check(not any(ids), "a chain without a salt cannot tell whose it is")
        first = struct.pack(">QQ", chain["first"], 0)
        start = unhex(chain["id"], 16) + first + unhex(chain["owner"])
        self.before = digest("start", start)
        self.chain, self.last = chain, {}
        self.chains[chain["id"]] = chain["first"] - 1
        self.counts["chains"] += 1
        self.receipts.begin()

    def take_turn(self, turn: Any) -> None:
        chain = self.chain
        check(chain is not None, "a turn stands outside of a chain")
        no, status = turn["no"], turn["status"].encode()
        counts = turn["messages"], turn["rows"]
        expected = self.chains[chain["id"]] + 1
        check(no == expected, f"turn {expected} should stand here")
        link = unhex(self.before) + struct.pack(">QIIB", no, *counts, len(status)) + status
        made = digest("link", link + unhex(turn["content"]))
        check(turn["digest"] == made, f"turn {no} does not follow what stands before it")
        self.turn, self.before = turn, made
        self.rows = {"message": 0, "commit": 0}
        self.chains[chain["id"]] = no
        self.heads[chain["id"], no] = made
        self.counts["turns"] += 1
        if turn["salt"] is None:
            check(turn["erased"] in ("forgotten", "pruned", "masked"), f"turn {no} lacks its salt")
            self.counts["erased"] += 1
            self.receipts.begin()
        else:
            check(turn["erased"] == "", f"turn {no} is said to be erased, and has a salt")
            self.content = hashlib.blake2b(
                digest_size=32, key=unhex(turn["salt"], 16), person=b"saywhy-content-1"
            )

    def take_row(self, kind_: bytes, seq_: bytes, shown: bytes, how: bytes, body: bytes) -> None:
        kind, seq = kind_.decode(), int(seq_)
        turn = self.turn
        check(turn is not None, f"the {kind} stands outside of a turn")
        check(turn["salt"] is not None, f"turn {turn['no']} is erased, and has content")
        check(kind == "commit" or not self.rows["commit"], "messages come before commits")
        check(seq > self.last.get(kind, -1), f"{kind} {seq} does not follow what stands before it")
        doc = base64.b64decode(body[1:-1], validate=True) if how == b"base64" else body
        self.content.update(struct.pack(">cQQ", kind[:1].encode(), seq, len(doc)) + doc)
        made = self.content.copy().hexdigest()
        what = "message" if kind == "message" else "the row of commits from"
        check(shown.decode() == made, f"{what} {seq} is not what was recorded")
        self.rows[kind] += 1
        self.last[kind] = seq
        if kind == "message":
            self.counts["messages"] += 1
        elif how == b"doc":
            self.take_commits(json.loads(body))

    def take_commits(self, row: Any) -> None:
        """Look into a row: an array with the commits of one write, or one commit as it was once."""
        if isinstance(row, dict):
            charts, changes = [row["chart"]], [row.get("ops", ())]
        else:
            check(row[0] == 2, f"rows of the version {row[0]} are not known here")
            frames = row[5]
            charts = [frames[commit[0]][1] for commit in row[7]]
            changes = [commit[6] if len(commit) > 6 else () for commit in row[7]]
        self.counts["commits"] += len(charts)
        for chart in charts:
            self.named.setdefault(chart, self.number)
        for ops in changes:
            self.receipts.take_ops(ops)

    def close_turn(self) -> None:
        """Check that a turn is whole."""
        turn, self.turn = self.turn, None
        if turn["salt"] is not None:
            found = self.rows["message"], self.rows["commit"]
            wanted = turn["messages"], turn["rows"]
            check(found == wanted, f"turn {turn['no']} lacks something before this line")
            whole = self.content.hexdigest() == turn["content"]
            check(whole, f"turn {turn['no']}, which ends before this line, was changed")

    def close(self) -> None:
        """Check that a chain is whole."""
        if self.turn is not None:
            self.close_turn()
        if self.chain is not None:
            chain, self.chain = self.chain, None
            there = self.chains[chain["id"]]
            check(there == chain["turns"], f"turn {there + 1} of the chain is missing")

    def take_anchor(self, anchor: Any) -> None:
        number, heads = anchor["number"], anchor["heads"]
        kinds = {tuple(type(one) for one in head) for head in heads}
        check(kinds <= {(str, int, str)}, "these are no heads of an anchor")
        check(number == len(self.anchors) + 1, f"anchor {len(self.anchors) + 1} should stand here")
        check(heads == sorted(heads), "the heads of an anchor are out of order")
        packed = b"".join(unhex(i, 16) + struct.pack(">Q", n) + unhex(d) for i, n, d in heads)
        before = unhex(self.anchors[-1]) if self.anchors else b""
        made = digest("anchor", before + struct.pack(">QQ", number, anchor["at"]) + packed)
        check(anchor["digest"] == made, f"anchor {number} was changed")
        for chain, turn, head in heads:
            stands = self.heads.get((chain, turn))
            check(stands is not None, f"anchor {number} knows of turns that are missing")
            check(stands == head, f"anchor {number} knows another turn {turn} of chain {chain}")
        self.anchors.append(made)

    def take_end(self, end: Any) -> None:
        for name in COUNTED:
            check(end[name] == self.counts[name], f"the end tells of {end[name]} {name}")
        check(end["seal"] == self.seal.hexdigest(), "the seal is not that of the lines before")
        missing = set(end["missing_charts"]) | {""}
        absent = [name for name in self.named if name not in self.charts and name not in missing]
        check(not absent, f"the flow with the digest {', '.join(absent)} is missing")
        foreign = sorted(line for name, line in self.charts.items() if name not in self.named)
        check(not foreign, f"the flow in line {foreign[:1]} belongs to no commit")
        self.sealed = end["seal"]
        self.known = {self.sealed, *self.heads.values(), *self.anchors}

    def over(self) -> None:
        """Check that there was an end."""
        check(self.sealed, "the bundle is cut off: its last line is missing")

    def report(self) -> dict[str, Any]:
        receipts = self.receipts
        return {
            **self.counts,
            "charts": len(self.charts),
            "receipts": receipts.agreed,
            "receipts_not_comparable": receipts.unread,
            "parts": receipts.parts,
            "anchors": len(self.anchors),
            "seal": self.sealed,
        }


class Receipts:
    """Receipts of agents: whether each agrees with itself, and with what the model was handed."""

    def __init__(self) -> None:
        self.agreed = self.unread = self.parts = 0
        self.kept: dict[str, Any] = {}
        self.hashes: dict[tuple[str, str], set[str]] = {}

    def begin(self) -> None:
        """What comes is not known to follow what was there."""
        self.kept = {}

    def take_ops(self, ops: Any) -> None:
        for verb, key, *value in ops:
            if len(key) == 2 and key[1] == "receipts" and verb in ("append", "set"):
                entries = value if verb == "append" else value[0]
                if verb == "set":
                    self.kept.pop(key[0], None)
                for entry in entries if isinstance(entries, list) else ():
                    self.kept[key[0]] = self.read(entry, self.kept.get(key[0]))

    def read(self, entry: Any, before: Any) -> Any:
        """The receipt of an entry, which says what it adds to the one before; None: unreadable."""
        try:
            receipt = self.unpacked(entry, before)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError):
            receipt = None
        if receipt is None or receipt["basis"]["keyed_by"] != "run":
            self.unread += 1
            return receipt
        self.compare(receipt)
        self.agreed += 1
        return receipt

    def unpacked(self, entry: Any, before: Any) -> Any:
        if "run" not in entry:
            if before is None or before["root"][:18] != base64.b64decode(entry["after"]).hex():
                return None
        else:
            before = None
        old: Any = before or {
            "system": None,
            "messages": [],
            "tools": None,
            "params": None,
            "slots": {},
        }
        found: dict[str, Any] = {"root": long(entry["root"]), "slots": dict(old["slots"])}
        for name in ("system", "params"):
            part = [entry[name]] if name in entry else None
            found[name] = old[name] if part is None else (part[0] and long(part[0][0]))
        for name in ("messages", "tools"):
            found[name] = taken(entry[name], old[name] or []) if name in entry else old[name]
        found["slots"].update((name, long(chain)) for name, chain in entry["slots"].items())
        for name in ("system", "tools"):
            if found[name] is None:
                found["slots"].pop(name, None)
        found["basis"] = basis_of(entry, before)
        return found

    def compare(self, receipt: Any) -> None:
        basis = receipt["basis"]
        run, call = basis["run_id"], basis["call"]
        for name, domain in DOMAINS:
            parts = receipt[name] if name in ("messages", "tools") else [receipt[name]]
            if receipt[name] is None:
                check(name not in receipt["slots"], f"the receipt of call {call} disagrees")
                continue
            chain = salted(run, "slot", compact(name))
            for part in parts:
                chain = salted(run, "slot", f'"{chain}{part}"'.encode())
                self.hashes.setdefault((run, domain), set()).add(part)
            check(chain == receipt["slots"].get(name), f"the receipt of call {call} disagrees")
        rooted = {"version": 1, "basis": basis, "slots": receipt["slots"]}
        holds = receipt["root"] == salted(run, "root", compact(rooted))
        check(holds, f"the receipt of call {call} disagrees")

    def take_part(
        self, number: int, run_: bytes, domain_: bytes, hash_: bytes, how: bytes, body: bytes
    ) -> None:
        run, domain, found = json.loads(run_), domain_.decode(), hash_.decode()
        doc = base64.b64decode(body[1:-1], validate=True) if how == b"base64" else body
        check(salted(run, domain, doc) == found, "the part of a request was changed")
        known = self.hashes.get((run, domain), set())
        check(found in known, "no receipt knows this part of a request")
        self.parts += 1


def salted(run: str, domain: str, data: bytes) -> str:
    key = run.encode("utf-8", "surrogatepass")
    return hmac.new(key, domain.encode() + b"\0" + data, "sha256").hexdigest()


def long(letters: str) -> str:
    found = base64.b64decode(letters + "=", validate=True)
    if len(found) != 32:
        raise ValueError("no hash")
    return found.hex()


def taken(items: Any, before: list[str]) -> Any:
    """The hashes of a slot: `[start, count]` are taken over, the others are new."""
    if items is None:
        return None
    found: list[str] = []
    for item in items:
        found += before[item[0] : item[0] + item[1]] if type(item[0]) is int else [long(item[0])]
    return found


def basis_of(entry: Any, before: Any) -> dict[str, Any]:
    place = {"call": entry["call"], "iteration": entry["iteration"], "step_id": entry["step"]}
    if before is not None:
        return {**before["basis"], **place}
    run_id, resumed_from, keyed_by, labels = entry["run"]
    algorithm, canon = entry["made"]
    if (algorithm, canon) != ("hmac-sha256", "json-1"):
        raise ValueError("another way of making receipts")
    made = {"algorithm": algorithm, "canon": canon, "keyed_by": keyed_by, "labels": labels}
    return {"run_id": run_id, **place, "resumed_from": resumed_from, **made}


def verify(lines: Any, known: Any = ()) -> dict[str, Any]:
    """What was verified; with `line` and `wrong` for the first line that does not hold."""
    bundle = Bundle()
    try:
        for line in lines:
            bundle.take(line)
        bundle.number += 1
        bundle.over()
        bundle.number = 0
        for one in known:
            check(one.lower() in bundle.known, f"the digest {one} is not in this bundle")
    except Wrong as error:
        return {**bundle.report(), "line": bundle.number, "wrong": str(error)}
    except BROKEN as error:
        text = f"this is no line of a bundle ({type(error).__name__}: {error})"
        return {**bundle.report(), "line": bundle.number, "wrong": text}
    return bundle.report()


def counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def told(report: dict[str, Any]) -> str:
    """The report in words."""
    if "wrong" in report:
        place = f"line {report['line']}: " if report["line"] else ""
        return f"NOT VERIFIED: {place}{report['wrong']}"
    text = (
        f"verified: {counted(report['turns'], 'turn')} in {counted(report['chains'], 'chain')}, "
        f"{counted(report['commits'], 'commit')}, {counted(report['messages'], 'message')}, "
        f"{counted(report['erased'], 'turn')} erased"
    )
    if report["receipts"] or report["receipts_not_comparable"]:
        text += (
            f"\nreceipts that agree: {report['receipts']}, that cannot be compared: "
            f"{report['receipts_not_comparable']}; parts of requests that are there: "
            f"{report['parts']}"
        )
    if report["anchors"]:
        text += f"\nanchors that hold: {report['anchors']}"
    return f"{text}\nseal {report['seal']}"


def main(arguments: list[str]) -> int:
    """Check a file and say so."""
    names = [one for one in arguments if not one.startswith("--")]
    known: list[str] = []
    if "--known" in arguments:
        known = names[1:]
    if not names or (len(names) > 1 and not known):
        print(__doc__)
        return 2
    try:
        with Path(names[0]).open("rb") as file:
            report = verify(file, known)
    except OSError as error:
        print(f"{names[0]} cannot be read: {error.strerror}", file=sys.stderr)
        return 2
    print(json.dumps(report) if "--json" in arguments else told(report))
    return 1 if "wrong" in report else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
