#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records acknowledged a second by a real coalmined, from an agent's frame
through TLS, the checks and the commit to its ack.

The record is a canary's of 12 nodes, with a histogram of 50 buckets. The agent
sends batches of 64 KiB as fast as the collector takes them, as one with a long
spool does. The output also has CPU times per record, which do not depend on
the machine's load: of the collector's loop, of all its threads, and with
on_postgresql.py of the server's processes for the collector.
"""
import json
import os
import random
import struct
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../cli/daemon"),
                os.path.join(HERE, "../../unit/daemon/store")]
from agent import Agent, begin, end, frame  # noqa: E402
from collector import Collector  # noqa: E402
from on_postgresql import BIN  # noqa: E402

RECORDS = int(sys.argv[1]) if len(sys.argv) > 1 else 150000
BATCH_BYTES = 64 * 1024


def record():
    rng = random.Random(1)
    nodes = [{"node": f"node{i}", "n": 100, "p50": 1e-5 + rng.random() * 1e-6,
              "p99": 2e-5 + rng.random() * 1e-6, "q25": 9e-6,
              "q75": 1e-5 + rng.random() * 1e-7} for i in range(1, 13)]
    hist = [[-500 + i, 20] for i in range(50)]
    return {"probe": "canary", "test": "lat", "phase": "isolated",
            "unit": "s", "n": 1000, "mean": 1.9876543e-05, "min": 1e-05,
            "p50": 1.9e-05, "p90": 2.8e-05, "p99": 2.9e-05, "p999": 2.99e-05,
            "max": 3e-05, "interval": {"level": 0.95, "lo": 1.89e-05,
                                       "hi": 1.91e-05},
            "hist": hist, "nodes": nodes, "pairs": [],
            "stopped_by": "precision", "rounds": 10, "seed": 1}


def run_s(path):
    with open(path + "/schedstat") as f:
        return int(f.read().split()[0]) / 1e9


def cpu_s(c):
    """Of the loop, which is the first thread, of all threads, of the server."""
    tasks, server = f"/proc/{c.proc.pid}/task", 0
    if c.options["store.url"]:
        server = sum(run_s("/proc/" + pid) for pid in subprocess.run(
            [BIN + "/psql", "-XAtc", "SELECT pid FROM pg_stat_activity WHERE"
             " application_name = 'coalmined' ORDER BY pid",
             c.options["store.url"]], check=True, stdout=subprocess.PIPE,
            text=True).stdout.split())
    return [run_s(f"{tasks}/{c.proc.pid}"),
            sum(run_s(f"{tasks}/{t}") for t in os.listdir(tasks)), server]


class Head(Agent):
    acked = 0

    def on_ack(self, m):
        with self.cond:
            self.acked = max(self.acked, m["seq"])
            self.log.clear()
            self.cond.notify_all()

    def wait_acked(self, seq):
        with self.cond:
            while self.acked < seq and self.open:
                self.cond.wait(1)
        assert self.open, "the collector hung up"


def send_all(head, run):
    body = json.dumps(record(), separators=(",", ":"))[1:].encode()
    each = BATCH_BYTES // len(body)
    at = 2
    while at < RECORDS + 2:
        to = min(at + each, RECORDS + 2)
        lines = b",".join(b'{"run":"%s","seq":%d,%s' % (run.encode(), seq,
                                                        body)
                          for seq in range(at, to))
        head.send_raw(frame(b'{"type":"records","run":"%s","records":[%s]}' %
                            (run.encode(), lines)))
        at = to
    head.wait_acked(RECORDS + 1)
    return len(body)


def main():
    with Collector() as c:
        c.issue("node[1-12]", "agent")
        c.campaign("quick", 12, deadline="600s")
        c.start()
        head = Head(c.pki, "node1", c.port)
        others = [Agent(c.pki, f"node{i}", c.port) for i in range(2, 13)]
        for a in [head] + others:
            a.wait("welcome")
        run = c.run("quick")
        head.wait("start", 20)
        head.records(run, begin(run))
        head.wait_acked(1)
        before = cpu_s(c)
        began = time.monotonic()
        size = send_all(head, run)
        took = time.monotonic() - began
        loop, whole, server = [(b - a) / RECORDS * 1e6
                               for a, b in zip(before, cpu_s(c))]
        print(f"records   {RECORDS} of {size} bytes in {took:.2f} s: "
              f"{RECORDS / took:.0f}/s acknowledged; loop {loop:.1f} us each, "
              f"all threads {whole:.1f} us, the server {server:.1f} us")
        head.records(run, end(run, RECORDS + 2))
        c.wait_state(run, ["finished"])
        for a in [head] + others:
            a.close()


if __name__ == "__main__":
    main()
