#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The oracle of test_chaos.sh.

    chaos.py acks WITNESS STORE   all acknowledged records are in the store
    chaos.py memory SAMPLES       resident memory does not grow
    chaos.py judge                self-test of the check of memory

WITNESS is the folder of the logs that witness.c wrote in each agent. STORE is
the file of a collector that has ended, or lines of a database: JSON lists of
run, sequence number and body. The counts of agents and collector are
not used."""
import collections
import glob
import json
import os
import sqlite3
import struct
import sys
import tempfile
import zlib

CHUNK = struct.Struct("=4sIQ")
FRAME_BYTES = 8
NAMED_MAX = 10       # records that are lost


def chunks(path):
    """(what, session, bytes) of a file; the last may be torn by a kill."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at + CHUNK.size <= len(data):
        what, length, session = CHUNK.unpack_from(data, at)
        at += CHUNK.size
        if at + length > len(data):
            return
        yield what[:1], session, data[at:at + length]
        at += length


def messages(path):
    """Yield (whether sent by the agent, message), in order."""
    streams = collections.defaultdict(bytearray)
    for what, session, piece in chunks(path):
        if what == b"n":
            streams[session, b"r"].clear()
            streams[session, b"w"].clear()
            continue
        stream = streams[session, what]
        stream += piece
        while len(stream) >= FRAME_BYTES:
            assert stream[:2] == b"CM", f"{path}: {bytes(stream[:20])}"
            end = FRAME_BYTES + int.from_bytes(stream[4:8], "big")
            if len(stream) < end:
                break
            yield what == b"w", json.loads(stream[FRAME_BYTES:end])
            del stream[:end]


def digest(value):
    return hash(json.dumps(value, sort_keys=True))


def forms(record):
    """Return the type of the body: a histogram may have a separate column."""
    bare = {k: v for k, v in record.items() if k != "hist"}
    return digest(record), digest(bare)


class Node:
    """The messages from and to one node, over all its processes."""

    def __init__(self):
        self.sent = {}      # (run, seq): forms of the record
        self.acked = {}     # run: seq
        self.given_up = 0   # records that it reported as lost
        self.changed = 0    # records that differed when sent again

    def hear(self, said, msg):
        kind = msg["type"]
        if said and kind == "records":
            for record in msg["records"]:
                key, it = (msg["run"], record["seq"]), forms(record)
                self.changed += self.sent.setdefault(key, it) != it
        elif said and kind == "spool-lost":
            self.given_up += msg["records"]
        elif not said and kind == "ack":
            self.told(msg["run"], msg["seq"])
        elif not said and kind == "welcome":
            for row in msg["acks"]:
                self.told(row["run"], row["seq"])

    def told(self, run, seq):
        self.acked[run] = max(self.acked.get(run, 0), seq)


def body_of(column):
    if isinstance(column, bytes):
        packed = column[4:]
        try:
            column = zlib.decompress(packed)  # of an older build
        except zlib.error:
            import zstandard  # of the system's Python
            column = zstandard.decompress(packed)
    return json.loads(column)


def rows(path):
    """Yield (run, seq, body)."""
    if not path.endswith(".db"):
        with open(path) as f:
            yield from map(json.loads, f)
        return
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    check = db.execute("PRAGMA integrity_check").fetchone()[0]
    assert check == "ok", check
    yield from db.execute(
        "SELECT run.run, record.seq, record.body FROM record"
        " JOIN run ON run.id = record.run_id")


def stored(path):
    """(run, seq): digests of bodies."""
    found = collections.defaultdict(list)
    for run, seq, body in rows(path):
        found[run, seq].append(digest(body_of(body)))
    return found


def check_acks(witness, store):
    nodes = collections.defaultdict(Node)
    for path in sorted(glob.glob(witness + "/node*")):
        node = nodes[os.path.basename(path).split(".")[0]]
        for said, msg in messages(path):
            node.hear(said, msg)
    found = stored(store)
    count = collections.Counter()
    for name, node in sorted(nodes.items()):
        count["given up"] += node.given_up
        count["changed"] += node.changed
        for (run, seq), record in node.sent.items():
            bodies = found.get((run, seq), [])
            count["sent"] += 1
            if seq > node.acked.get(run, 0):
                count["not acknowledged"] += 1
                continue
            count["acknowledged"] += 1
            count["lost"] += not bodies
            count["twice"] += len(bodies) > 1
            if not bodies and count["lost"] <= NAMED_MAX:
                print(f"{name}: run {run}: record {seq} is lost")
            if bodies and bodies[0] not in record:
                count["changed"] += 1
                print(f"{name}: run {run}: record {seq} is another")
    for what in ("sent", "acknowledged", "not acknowledged", "given up",
                 "lost", "twice", "changed"):
        print(f"{what:18}{count[what]:8}")
    return (count["acknowledged"] > 0 and count["lost"] == 0 and
            count["twice"] == 0 and count["changed"] == 0)


def slope_of(points):
    """Least squares within groups: (sum xy, sum xx) about their means."""
    xy = xx = 0.0
    for group in points:
        x0 = sum(x for x, _ in group) / len(group)
        y0 = sum(y for _, y in group) / len(group)
        xy += sum((x - x0) * (y - y0) for x, y in group)
        xx += sum((x - x0) ** 2 for x, _ in group)
    return xy / xx if xx else 0.0


YOUNG_S = 30         # younger processes still allocate their base memory
FULL_S = 1800        # caches are full; earlier growth is not evidence
LARGER_SHARE = 0.25  # of the mean: limit for later over earlier processes
GROWN_KIB = 2048     # limit of growth: less is noise of the allocator
AGE_S = 60           # processes are compared at ages within this
JUDGED_S = 600       # samples of a shorter time are not evidence


def check_memory(samples):
    """Read lines "SECOND PROGRAM PID AGE_S KIB", and compute two slopes over
    the time after the first fifth. The first one compares samples of equal age
    of different processes: a later process must not be larger than an earlier
    one. The second one is within processes older than FULL_S. These exist in
    the last two fifths, in which test_chaos.sh ends no process. If no process
    is that old ("young"), only the first slope counts."""
    ok = True
    rows = collections.defaultdict(list)
    with open(samples) as f:
        for line in f:
            at, program, pid, age, kib = line.split()
            rows[program].append((int(at), pid, int(age), int(kib)))
    print(f"{'program':16}{'samples':>8}{'lives':>6}{'KiB':>8}{'most':>8}"
          f"{'KiB/h':>8}{'in lives':>9}")
    for program, all_rows in sorted(rows.items()):
        first, last = all_rows[0][0], all_rows[-1][0]
        begin = first + (last - first) / 5
        late = [r for r in all_rows if r[0] >= begin and r[2] >= YOUNG_S]
        if not late:
            print(f"{program}: no samples")
            continue
        lives = collections.defaultdict(list)
        ages = collections.defaultdict(list)
        for at, pid, age, kib in late:
            ages[age // AGE_S].append((at, kib))
            if age >= FULL_S:
                lives[pid].append((at, kib))
        mean = sum(r[3] for r in late) / len(late)
        over = slope_of(ages.values())
        within = slope_of(lives.values())
        longest = max((p[-1][0] - p[0][0] for p in lives.values()), default=0)
        flat = ((over * (last - begin) <= max(LARGER_SHARE * mean, GROWN_KIB)
                 and within * longest <= GROWN_KIB)
                or last - begin < JUDGED_S)
        told = f"{within * 3600:.0f}" if lives else "young"
        print(f"{program:16}{len(late):8}{len({r[1] for r in late}):6}"
              f"{mean:8.0f}{max(r[3] for r in late):8}{over * 3600:8.0f}"
              f"{told:>9}{'' if flat else '  GROWS'}")
        ok = ok and flat
    return ok and bool(rows)


def check_judge():
    """Check simulated samples: processes that live SECONDS each, with resident
    KIB(life, age)."""
    def judged(seconds, kib):
        at = 0
        with tempfile.NamedTemporaryFile("w") as f:
            for life, length in enumerate(seconds):
                for age in range(0, length, 10):
                    f.write(f"{at + age} x {life} {age} "
                            f"{kib(life, age):.0f}\n")
                at += length
            f.flush()
            return check_memory(f.name)

    def fills(_life, age):
        return 23000 + 12000 * min(age, 1000) / 1000

    def leaks(life, age):
        return fills(life, age) + 5 * age

    short, last = [240] * 18, [2600]
    return (judged(short, fills) and judged([4000], fills) and
            judged(short + last, fills) and
            not judged([4000], leaks) and not judged(short + last, leaks) and
            not judged(short, lambda life, age: fills(life, age) +
                       1000 * life))


if __name__ == "__main__":
    checks = {"acks": check_acks, "memory": check_memory,
              "judge": check_judge}
    sys.exit(0 if checks[sys.argv[1]](*sys.argv[2:]) else 1)
