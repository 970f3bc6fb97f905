#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of the page's first view and its list of runs in a collector with
20,000 nodes and 10,000 runs; the newest 1000 have 10,000 nodes each.

Nodes and runs are written into the store's file, as a collector of that
version writes them. "stall" is the longest time of /healthz meanwhile,
requested every 5 ms: an upper bound of the time that the loop spends in one
piece. "gzip" is the encoding that browsers request.
"""
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../cli/daemon"))
from collector import Collector, UnixConnection  # noqa: E402

NODES = int(os.environ.get("COALMINE_BENCH_NODES", "20000"))
RUNS, LARGE, LARGE_NODES = NODES // 2, NODES // 20, NODES // 2
READERS = 8
FIRST = ["nodes?brief=yes", "runs?brief=yes&limit=30",
         "impacts?limit=10000&from_unix_ns=0", "diags", "schedule", "verdicts",
         "clusters"]
LISTS = [["runs?brief=yes&limit=1000"], ["runs?limit=1000"]]


def fill(path):
    db = sqlite3.connect(path)
    now = time.time_ns()
    names = [f"node{i}" for i in range(1, NODES + 1)]
    db.executemany(
        "INSERT INTO node (node, last_seen_unix_ns, body) VALUES (?, ?, ?)",
        ((n, now, json.dumps({
            "node": n, "state": "ok", "since_unix_ns": now,
            "last_seen_unix_ns": now, "leaf": f"leaf{i // 32}"}))
         for i, n in enumerate(names)))
    large = json.dumps(names[:LARGE_NODES])

    def rows():
        for i in range(RUNS):
            at = now - (RUNS - i) * 10 ** 10
            of_all = i >= RUNS - LARGE
            run = {"run": f"run-{i}", "campaign": "c", "class": "background",
                   "mpi": "openmpi", "state": "finished", "cause": "none",
                   "text": "", "ranks": 8, "seed": i, "by": "uid 0",
                   "records": 64, "head": "node1", "created_unix_ns": at,
                   "started_unix_ns": at, "ended_unix_ns": at + 10 ** 9}
            brief = json.dumps(dict(
                run, node_count=LARGE_NODES if of_all else 8))
            body = json.dumps(run)[:-1] + ', "nodes": ' + (
                large if of_all else json.dumps(names[:8])) + "}"
            yield run["run"], "c", "finished", 1, at, 64, body, brief
    db.executemany(
        "INSERT INTO run (run, campaign, state, final, created_unix_ns,"
        " records, body, brief) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows())
    db.commit()
    db.close()


def ask(c, path, mark):
    http = UnixConnection(c.socket)
    more = "&" if "?" in path else "?"
    http.request("GET", f"/api/v1/{path}{more}turn={mark}",
                 headers={"Accept-Encoding": "gzip"})
    answer = http.getresponse()
    size = len(answer.read())
    http.close()
    assert answer.status == 200, (path, answer.status)
    return size


def ping(c, is_over, worst):
    while not is_over.is_set():
        began = time.monotonic()
        http = UnixConnection(c.socket)
        http.request("GET", "/healthz")
        http.getresponse().read()
        http.close()
        worst.append(time.monotonic() - began)
        time.sleep(0.005)


def measured(c, work):
    is_over, worst = threading.Event(), [0]
    t = threading.Thread(target=ping, args=(c, is_over, worst))
    t.start()
    time.sleep(0.05)
    began = time.monotonic()
    size = work()
    took = time.monotonic() - began
    is_over.set()
    t.join()
    return took, max(worst), size


def peak_kib(c):
    with open(f"/proc/{c.proc.pid}/status") as f:
        return int(next(s for s in f if s.startswith("VmHWM")).split()[1])


def everybody(c, paths, mark):
    """Each reader is a process: threads would wait for each other, and /healthz
    for them."""
    readers = [subprocess.Popen(
        ["curl", "-sSf", "--compressed", "--unix-socket", c.socket] +
        [word for p in paths for word in (
            "-o", "/dev/null",
            f"http://localhost/api/v1/{p}{'&' if '?' in p else '?'}"
            f"turn={mark}-{k}")])
        for k in range(READERS)]
    assert not any([r.wait() for r in readers])


def main():
    with Collector() as c:
        c.start()
        c.stop()
        fill(c.dir + "/state/coalmine.db")
        c.start()
        rest_kib = c.rss_kib()
        print(f"{NODES} nodes, {RUNS} runs; {LARGE} runs have {LARGE_NODES} "
              "nodes\n\n| request | took | stall | gzip |\n"
              "|---|---:|---:|---:|")
        for paths in [FIRST, *LISTS]:
            best = min(measured(c, lambda m=m: sum(
                ask(c, p, m) for p in paths)) for m in range(5))
            print(f"| {paths[0] if len(paths) == 1 else 'the first view'} | "
                  f"{1000 * best[0]:.0f} ms | {1000 * best[1]:.0f} ms | "
                  f"{best[2] / 1000:.0f} kB |", flush=True)
        before = peak_kib(c)
        took, stall, _ = measured(c, lambda: everybody(
            c, FIRST + LISTS[0], "all"))
        print(f"| {READERS} readers of both at once | {1000 * took:.0f} ms | "
              f"{1000 * stall:.0f} ms | |\n\nMemory: {rest_kib // 1024} MiB at "
              f"rest, at most {before // 1024} MiB with one reader and "
              f"{peak_kib(c) // 1024} MiB with {READERS}.")
        c.stop()


if __name__ == "__main__":
    main()
