#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A collector with many agents: the time until all are served, their cost, and
the rates that one collector reaches.

The agents are those of fleet.c: real TLS, frames and backoff, in two processes
that share the machine with the collector. CPU times depend least on the
machine's load: of the collector's loop, which is one thread, and of all its
threads. "takeovers N": of two collectors that share a database the active one
is killed in turns while records are in flight. "pages": the page's requests to
a collector with a file, to one with a database, and to its standby. "crowd":
agents return among half-open handshakes.
"""
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../cli/daemon"))
from collector import BUILD, Collector, UnixConnection, poll  # noqa: E402
from standby import Cluster, is_active, needed, sharing, wait  # noqa: E402

AGENTS = int(os.environ.get("COALMINE_BENCH_AGENTS", "20000"))
SMALL = AGENTS < 1000
STRANGERS = 30 if SMALL else 300
REST = 400  # descriptors besides those of agents and strangers
CROWD, GIVE_UP_S = 4400, 4  # half-open handshakes: number, seconds each
IDLE_S = 5 if SMALL else 60
LIMIT_S = 60 if SMALL else 300
CAMPAIGN_NODES = 10000
HEADS, RUN_NODES = 200, 12
RECORDS = 10000 if SMALL else 200000
UNDERWAY = 60000  # of these records at a takeover
PROCESSES = 2
ROUNDS = 32  # of a campaign: eight tests, isolated and congested, twice
# What one rank of MPICH over UCX puts, with TCP alone: agents.c, card.
WIRE_BYTES = int(os.environ.get("COALMINE_BENCH_WIRE_BYTES", "138"))
CHURN_S = float(os.environ.get("COALMINE_BENCH_CHURN_S", "5"))

INVENTORY = {
    "hostname": "node", "kernel": "Linux 6.1.0-28-amd64", "cores": 64,
    "memory_bytes": 540000000000,
    "numa": [{"node": n, "cpus": f"{32 * n}-{32 * n + 31}",
              "memory_bytes": 270000000000} for n in range(2)],
    "nics": [{"name": name, "kind": kind, "state": "up", "mtu": 4092,
              "speed_bps": 200000000000, "numa_node": 0, "driver": "mlx5_core",
              "addrs": ["10.1.2.3"]}
             for name, kind in (("eth0", "ethernet"), ("mlx5_0", "infiniband"),
                                ("mlx5_1", "infiniband"))],
    "gpus": [{"pci": f"0000:{b}:00.0", "vendor": "0x10de",
              "driver": "nvidia", "numa_node": 0}
             for b in ("17", "65", "ca", "e3")],
    "mpi": [{"name": "openmpi", "version": "4.1.4",
             "launcher": "/usr/bin/mpirun",
             "engine": "/usr/libexec/coalmine/coalmine-probe-openmpi"}],
    "starts": True}
# A canary's, of 12 nodes: 2.2 KB with a histogram of 50 buckets.
RECORD = {
    "probe": "canary", "test": "lat", "phase": "isolated", "unit": "s",
    "n": 1000, "mean": 1.9876543e-05, "min": 1e-05, "p50": 1.9e-05,
    "p90": 2.8e-05, "p99": 2.9e-05, "p999": 2.99e-05, "max": 3e-05,
    "interval": {"level": 0.95, "lo": 1.89e-05, "hi": 1.91e-05},
    "hist": [[-500 + i, 20] for i in range(50)],
    "nodes": [{"node": "", "n": 100, "p50": 1.0123456e-05 + i * 1e-9,
               "p99": 2.0123456e-05, "q25": 9e-06, "q75": 1.01e-05}
              for i in range(RUN_NODES)],
    "pairs": [], "stopped_by": "precision", "rounds": 10, "seed": 1}


def tell(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def room():
    """Agents that one collector can serve here, and why not all."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1] - REST - STRANGERS
    return min(AGENTS, most)


class Fleet:
    def __init__(self, c, count, *others):
        self.count = count
        paths = []
        for name, what in (("inventory", INVENTORY), ("record", RECORD)):
            paths.append(f"{c.dir}/{name}.json")
            with open(paths[-1], "w") as f:
                json.dump(what, f)
        self.procs, first = [], 1
        ports = ",".join(str(x.port) for x in (c, *others))
        for i in range(PROCESSES):
            many = count // PROCESSES + (i < count % PROCESSES)
            self.procs.append(subprocess.Popen(
                [BUILD + "/tests/bench/fleet/fleet", c.pki, ports,
                 str(first), str(many), *paths],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            first += many

    def ask(self, order="stat", only=None):
        procs = self.procs if only is None else [self.procs[only]]
        for p in procs:
            p.stdin.write(order + "\n")
            p.stdin.flush()
        each = [json.loads(p.stdout.readline()) for p in procs]
        return {k: max(o[k] for o in each) if k.startswith("late") else
                sum(o[k] for o in each) for k in each[0]}

    def wait(self, key, least, limit=LIMIT_S):
        """Return the seconds until the count is reached or the limit ends, and
        the counts."""
        began = time.monotonic()
        while True:
            o = self.ask()
            took = time.monotonic() - began
            if o[key] >= least or took > limit:
                return took, o
            time.sleep(0.1)

    def close(self):
        for p in self.procs:
            p.stdin.close()
        for p in self.procs:
            p.wait(60)


class Cost:
    """Processor time of the collector since it was made."""

    def __init__(self, c):
        self.pid, self.began = c.proc.pid, time.monotonic()
        self.loop_s, self.all_s = self.read()
        self.had_faults = self.faults()

    def read(self):
        whole = 0
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/schedstat") as f:
                s = int(f.read().split()[0]) / 1e9
            whole += s
            if int(task) == self.pid:
                loop = s
        return loop, whole

    def faults(self):
        """Minor page faults: pages that the allocator had returned."""
        with open(f"/proc/{self.pid}/stat") as f:
            return int(f.read().rsplit(")", 1)[1].split()[7])

    def spent(self):
        loop, whole = self.read()
        return (loop - self.loop_s, whole - self.all_s,
                time.monotonic() - self.began)


def state_counts(c):
    counts = {}
    for node in c.get("nodes?brief=yes"):
        counts[node["state"]] = counts.get(node["state"], 0) + 1
    return counts


def connect(c, fleet, what):
    """Wait until all agents, which connect at once, are served."""
    cost = Cost(c)
    took, o = fleet.wait("up", fleet.count)
    loop_s, all_s, _ = cost.spent()
    tell(what, f"{o['up']} agents", f"{took:.1f} s", f"{loop_s:.1f} s",
         f"{o['connects']} connections, {o['handshakes']} handshakes, "
         f"{o['closed']} sessions ended")
    assert o["up"] == fleet.count, (o, state_counts(c))


def is_stored(c, turn):
    http = UnixConnection(c.socket)
    http.request("GET", f"/metrics?turn=stored{turn}")
    return "coalmine_db_queue_rows 0\n" in http.getresponse().read().decode()


def restart(c, fleet, run, what):
    """Restart the collector: time from its first accepted connection. A live
    run must survive."""
    turns = itertools.count()
    poll("the run is stored", 60, lambda: is_stored(c, next(turns)))
    c.kill()
    poll("all have noticed", 60, lambda: fleet.ask()["up"] == 0)
    fleet.ask("reset")
    c.start()
    connect(c, fleet, what)
    r = c.get("runs/" + run)
    # a run not stored when the collector was killed is "starting" again
    assert r["state"] in ("starting", "running"), r
    fleet.ask("reset")


def idle(c, fleet):
    time.sleep(2)
    fleet.ask("reset")
    cost = Cost(c)
    time.sleep(IDLE_S)
    loop_s, all_s, took = cost.spent()
    o = fleet.ask()
    kib = c.rss_kib()
    tell("resident", f"{fleet.count} agents", f"{kib / 1024:.0f} MiB", "",
         f"{kib / fleet.count:.1f} KiB an agent")
    tell("idle", f"{took:.0f} s", f"{100 * all_s / took:.1f} % of a core",
         f"{loop_s:.1f} s",
         f"{o['beats']} heartbeats later than agreed: 99 % by less than "
         f"{1000 * o['late_p99_s']:.0f} ms, all by less than "
         f"{1000 * o['late_max_s']:.0f} ms; {o['closed']} sessions ended; "
         f"{state_counts(c)}")
    assert o["closed"] == 0, o


def best(c, path):
    """Return the best of five, each uncached because of an unused parameter:
    the collector keeps an answer for ten times its cost. The time of its loop,
    the total time, and the bytes read."""
    had = (1e9, 1e9)
    for turn in range(2 if SMALL else 5):
        cost = Cost(c)
        http = UnixConnection(c.socket)
        mark = "&" if "?" in path else "?"
        http.request("GET", f"{path}{mark}turn={turn}")
        data = http.getresponse()
        size = len(data.read())
        http.close()
        loop_s, _, took = cost.spent()
        had = min(had, (loop_s, took))
    assert data.status == 200, (path, data.status)
    return *had, size


def page(c, fleet):
    for path in ("/metrics", "/api/v1/nodes?brief=yes", "/api/v1/nodes",
                 "/api/v1/verdicts", "/api/v1/verdicts?all=yes",
                 "/api/v1/runs?limit=100", "/"):
        loop_s, took, size = best(c, path)
        tell(f"GET {path}", f"{fleet.count} nodes", f"{1000 * took:.0f} ms",
             f"{1000 * loop_s:.1f} ms", f"{size / 1000:.0f} kB")


def ask_all(c, paths, is_over, slowest):
    """Repeat each of the requests, uncached, until the end."""
    for turn in itertools.count():
        if is_over.is_set():
            return
        for path in paths:
            began = time.monotonic()
            http = UnixConnection(c.socket)
            mark = "&" if "?" in path else "?"
            http.request("GET", f"{path}{mark}turn=all{turn}")
            answer = http.getresponse()
            answer.read()
            http.close()
            assert answer.status == 200, (path, answer.status)
            slowest[path] = max(slowest.get(path, 0),
                                time.monotonic() - began)


def whole_round(c, fleet):
    """Send the records of one campaign over all nodes, first alone, then while
    the page, metrics and verdicts are read. The nodes are judged."""
    nodes = min(CAMPAIGN_NODES, fleet.count - RUN_NODES)
    fleet.ask("reset")
    run = order(c, f"node[{RUN_NODES + 1}-{RUN_NODES + nodes}]")
    c.wait_state(run, ["running"], 60)
    _, o = fleet.wait("acked", 1)  # it has begun
    assert o["acked"] == 1, o
    is_over, slowest = threading.Event(), {}
    reader = threading.Thread(target=ask_all, args=(
        c, ("/", "/metrics", "/api/v1/nodes?brief=yes",
            "/api/v1/verdicts?all=yes"), is_over, slowest))
    for what in ("records of a campaign", "the same, read meanwhile"):
        fleet.ask("reset")
        cost = Cost(c)
        fleet.ask(f"records {ROUNDS}")
        _, o = fleet.wait("acked", 2 * ROUNDS)  # the live run's head, too
        loop_s, _, took = cost.spent()
        assert o["acked"] >= 2 * ROUNDS and o["closed"] == 0, o
        tell(what, f"{ROUNDS} of {nodes} nodes", f"{took:.1f} s",
             f"{loop_s:.2f} s",
             ", ".join(f"{p} {1000 * s:.0f} ms" for p, s in slowest.items()))
        if not reader.is_alive():
            reader.start()
            time.sleep(1)
    is_over.set()
    reader.join()
    c.request("POST", f"runs/{run}/cancel")
    c.wait_state(run, ["cancelled"], 60)


def order(c, names, **more):
    overrides = {"campaign.nodes": names}
    overrides.update(more)
    return c.run("fleet", overrides=overrides)


def peak_kib(c):
    """Return the peak resident KiB since the last call."""
    with open(f"/proc/{c.proc.pid}/status") as f:
        kib = [int(x.split()[1]) for x in f if x.startswith("VmHWM")][0]
    with open(f"/proc/{c.proc.pid}/clear_refs", "w") as f:
        f.write("5")
    return kib


def campaign(c, fleet):
    """Every node gets an order and starts a rank, and the ranks exchange
    addresses. As Open MPI, the fence has none, and each rank fetches the
    addresses of its peers in a barrier. As MPICH, all ranks get all addresses.
    Then the campaign is cancelled."""
    nodes = min(CAMPAIGN_NODES, fleet.count - RUN_NODES)
    first = RUN_NODES + 1
    for mpi, size in (("Open MPI", 0), ("MPICH", WIRE_BYTES)):
        fleet.ask("reset")
        fleet.ask("wire %d" % size)
        peak_kib(c)
        before = c.rss_kib()
        cost = Cost(c)
        run = order(c, f"node[{first}-{RUN_NODES + nodes}]")
        _, o = fleet.wait("running", nodes)
        assert o["running"] >= nodes, (mpi, o, c.get("runs/" + run))
        loop_s, _, took = cost.spent()
        tell(f"wire-up of one rank a node, {mpi}, {size} B of each in a fence",
             f"{nodes} nodes", f"{took:.1f} s", f"{loop_s:.2f} s",
             f"{o['fenced_bytes'] / 1e6:.0f} MB brought; at most "
             f"{(peak_kib(c) - before) / 1024:.0f} MiB more; heartbeats late "
             f"{o['late_p99_s']:.2f} s (p99), {o['late_max_s']:.2f} s; "
             f"{o['closed']} sessions ended")
        assert o["closed"] == 0, o
        cost = Cost(c)
        c.request("POST", f"runs/{run}/cancel")
        _, o = fleet.wait("ended", nodes)
        assert o["ended"] >= nodes, o
        c.wait_state(run, ["cancelled"], 60)
        loop_s, _, took = cost.spent()
        tell("campaign cancelled", f"{nodes} nodes", f"{took:.1f} s",
             f"{loop_s:.2f} s", "")
    fleet.ask("no-wire")


def records(c, fleet, live):
    heads = min(HEADS, fleet.count // RUN_NODES)
    fleet.ask("reset")
    runs = [order(c, f"node[{1 + RUN_NODES * i}-{RUN_NODES * (i + 1)}]")
            for i in range(1, heads)]
    _, o = fleet.wait("acked", heads - 1)  # each has begun
    assert o["acked"] == heads - 1, o
    each = RECORDS // heads
    fleet.ask("reset")
    cost = Cost(c)
    fleet.ask(f"records {each}")
    _, o = fleet.wait("acked", heads * each)
    loop_s, all_s, took = cost.spent()
    count = o["acked"]
    assert count == heads * each, o
    tell("records", f"{count} of {heads} heads",
         f"{count / took:.0f}/s", f"{loop_s:.1f} s",
         f"{1e6 * loop_s / count:.1f} us of the loop each, "
         f"{1e6 * all_s / count:.1f} of all threads, "
         f"{(cost.faults() - cost.had_faults) / count:.2f} pages faulted in; "
         f"{o['closed']} sessions ended")
    fleet.ask("finish")
    for run in [live, *runs]:
        c.wait_state(run, ["finished"], 60)


def churn(c, fleet):
    """Many runs start and end; the collector's memory must stop growing once
    its lists of ended runs, and its caches, are full."""
    began, seen, count, last = time.monotonic(), [], 0, 0
    while time.monotonic() - began < CHURN_S:
        runs = [order(c, f"node[{RUN_NODES * i + 1}-{RUN_NODES * (i + 1)}]")
                for i in range(1, 5)]
        for run in runs:
            c.wait_state(run, ["running"], 120)
        fleet.ask("records 30")
        fleet.ask("finish")
        for run in runs:
            c.wait_state(run, ["finished"], 120)
        count += len(runs)
        for path in ("nodes", "runs?limit=100", "verdicts", "events"):
            c.get(path)
        if time.monotonic() - last > CHURN_S / 100:
            last = time.monotonic()
            seen.append((last - began, c.rss_kib()))
    late = [s for s in seen if s[0] >= CHURN_S / 5]
    at, kib = (sum(s[i] for s in late) / len(late) for i in range(2))
    slope = (sum((t - at) * (k - kib) for t, k in late)
             / max(sum((t - at) ** 2 for t, _ in late), 1e-9))
    tell("runs that come and go", f"{count} runs", f"{CHURN_S} s", "",
         f"resident {seen[0][1] / 1024:.1f} MiB, {late[0][1] / 1024:.1f} "
         f"after a fifth, {seen[-1][1] / 1024:.1f} at the end"
         + (f"; from the fifth on {3600 * slope:.0f} KiB an hour"
            if CHURN_S >= 600 else ""))
    assert CHURN_S < 1800 or slope * CHURN_S < 2048, slope


def takeover(pg, old, new, fleet, runs):
    """Return the seconds until the other collector serves all agents, with the
    cost of its loop, and until records in flight are acknowledged."""
    each = UNDERWAY // len(runs)
    fleet.ask("reset")
    fleet.ask(f"records {each}")
    _, o = fleet.wait("acked", random.uniform(0.1, 0.6) * each * len(runs))
    assert o["acked"] < each * len(runs), "no record is in flight"
    cost = Cost(new)
    old.kill()
    began = time.monotonic()
    poll("the standby is active", LIMIT_S, lambda: is_active(new))
    leads_s = time.monotonic() - began
    fleet.wait("welcomes", fleet.count)
    took, o = fleet.wait("up", fleet.count)
    took = time.monotonic() - began
    loop_s, _, _ = cost.spent()
    assert o["up"] == fleet.count, o
    _, o = fleet.wait("acked", each * len(runs))
    all_s = time.monotonic() - began
    assert o["acked"] == each * len(runs), o
    for run in runs:
        assert new.get("runs/" + run)["state"] == "running"
    # 1..N of each run, once
    odd, had = pg.sql(
        "SELECT count(*) FILTER (WHERE n <> last OR d <> last), sum(n) FROM"
        " (SELECT count(*) AS n, count(DISTINCT seq) AS d, max(seq) AS last"
        " FROM shared.record GROUP BY run_id) AS of_run", "coalmine").split("|")
    assert odd == "0", f"records of {odd} runs are missing or duplicate"
    wait(old)
    return took, leads_s, loop_s, all_s, int(had)


def fit(c):
    """Set the heartbeat and silence of main, and a deadline that keeps the run
    alive."""
    c.options.update({"collector.heartbeat": "2s", "collector.silence": "10s"})
    c.campaign("fleet", 1, deadline="3600s", start="3600s")


def takeovers(n):
    needed()
    os.environ["COALMINE_PLUGIN_DIR"] = BUILD + "/daemon"
    pg = Cluster()
    try:
        a, b = pair = sharing(pg)
        with a, b:
            for c in pair:
                os.unlink(c.campaigns + "/quick.conf")
                fit(c)
            a.start()
            wait(b)
            fleet = Fleet(a, room(), b)
            _, o = fleet.wait("up", fleet.count)
            assert o["up"] == fleet.count, o
            heads = min(HEADS // 4, fleet.count // RUN_NODES)
            runs = [order(a, f"node[{1 + RUN_NODES * i}-{RUN_NODES * (i + 1)}]")
                    for i in range(heads)]
            fleet.wait("acked", heads)  # each has begun
            all_ = [takeover(pg, pair[i % 2], pair[(i + 1) % 2], fleet, runs)
                    for i in range(n)]
            fleet.ask("finish")
            for run in runs:
                pair[n % 2].wait_state(run, ["finished"], 60)
            fleet.close()
    finally:
        pg.end()
    tell(f"{n} takeovers of {fleet.count} agents", "median", "most")
    tell("---", "---:", "---:")
    for what, at in (("the standby is active", 1),
                     ("all agents are served", 0),
                     ("records in flight are acknowledged", 3),
                     ("loop's time until all agents are served", 2)):
        sorted_ = sorted(x[at] for x in all_)
        tell(what, f"{sorted_[n // 2]:.1f} s", f"{sorted_[-1]:.1f} s")
    print(f"\n{heads} runs survived all takeovers; their {all_[-1][4]} records"
          " have the numbers 1..N of each run, once each.")


def pages():
    """Measure the page's requests to all three collectors; one run has judged
    the nodes."""
    needed()
    os.environ["COALMINE_PLUGIN_DIR"] = BUILD + "/daemon"
    count = min(CAMPAIGN_NODES, room())
    pg = Cluster()
    try:
        a, b = sharing(pg)
        with Collector() as file, a, b:
            for c, others in ((file, ()), (a, (b,))):
                fit(c)
                c.start()
                for other in others:
                    wait(other)
                fleet = Fleet(c, count, *others)
                _, o = fleet.wait("up", count)
                assert o["up"] == count, o
                run = order(c, f"node[1-{count}]")
                fleet.wait("acked", 1)
                fleet.ask(f"records {ROUNDS}")
                fleet.wait("acked", 1 + ROUNDS)
                fleet.ask("finish")
                c.wait_state(run, ["finished"], 60)
                fleet.close()
                poll("the end of all sessions is stored", LIMIT_S,
                     lambda: set(state_counts(c)) == {"lost"})
            poll("the standby has all of it", 60,
                 lambda: state_counts(b) == state_counts(a) and
                 b.get("runs/" + run)["state"] == "finished")
            tell(f"{count} nodes", "a file", "PostgreSQL", "its standby")
            tell("---", "---:", "---:", "---:")
            whole = [0, 0, 0]
            for path in ("nodes?brief=yes", "runs?limit=30",
                         "impacts?limit=10000", "diags", "schedule",
                         "verdicts", "clusters", "events?limit=10000"):
                row = [best(c, "/api/v1/" + path) for c in (file, a, b)]
                whole = [had + x[1] for had, x in zip(whole, row)]
                tell(path, *(f"{1000 * x[1]:.1f} ms, {x[2] / 1000:.0f} kB"
                             for x in row))
            tell("all of these", *(f"{1000 * x:.0f} ms" for x in whole))
    finally:
        pg.end()


def wire():
    """Measure only the wire-up of one campaign."""
    with Collector(collector__heartbeat="2s", collector__silence="10s") as c:
        c.campaign("fleet", 1, deadline="3600s", start="3600s")
        c.start()
        fleet = Fleet(c, room())
        _, o = fleet.wait("up", fleet.count)
        assert o["up"] == fleet.count, o
        time.sleep(2)
        campaign(c, fleet)
        fleet.close()


def crowd():
    """All agents return while half-open handshakes begin at more than ten times
    the rate at which they time out (256 in 3 s), from few and many addresses."""
    with Collector(collector__heartbeat="2s", collector__silence="10s") as c:
        c.campaign("fleet", 1, deadline="3600s", start="3600s")
        c.start()
        fleet = Fleet(c, room())
        connect(c, fleet, "connection, first")
        live = order(c, f"node[1-{RUN_NODES}]")
        c.wait_state(live, ["running"], 60)
        restart(c, fleet, live, "after a restart")
        for sources in (1, 10, 1000):
            fleet.ask(f"sources {sources}", 0)
            fleet.ask(f"strangers {CROWD}", 0)
            restart(c, fleet, live, f"with {CROWD // GIVE_UP_S} handshakes a "
                    f"second from {sources} addresses")
            fleet.ask("strangers 0", 0)
            time.sleep(2 * GIVE_UP_S)  # all have given up
        fleet.close()


def main():
    count = room()
    if count < AGENTS:
        print(f"{count} agents, not {AGENTS}: a process may have no more "
              f"than {count + REST + STRANGERS} descriptors here.\n", flush=True)
    with Collector(collector__heartbeat="2s", collector__silence="10s") as c:
        # It lives through both restarts.
        c.campaign("fleet", 1, deadline="3600s", start="3600s")
        c.start()
        fleet = Fleet(c, count)
        tell("what", "how much", "took", "loop's time", "")
        tell("---", "---", "---:", "---:", "---")
        connect(c, fleet, "connection, first")
        live = order(c, f"node[1-{RUN_NODES}]")
        c.wait_state(live, ["running"], 60)
        restart(c, fleet, live, "connection after a restart")
        fleet.ask(f"strangers {STRANGERS}", 0)
        restart(c, fleet, live, f"the same with {STRANGERS} strangers")
        fleet.ask("strangers 0", 0)
        idle(c, fleet)
        page(c, fleet)
        campaign(c, fleet)
        if fleet.count > RUN_NODES * 5:
            whole_round(c, fleet)
        records(c, fleet, live)
        if fleet.count > RUN_NODES * 5:
            churn(c, fleet)
        fleet.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["wire"]:
        wire()
    elif sys.argv[1:2] == ["takeovers"]:
        takeovers(int(sys.argv[2]))
    elif sys.argv[1:2] == ["pages"]:
        pages()
    elif sys.argv[1:2] == ["crowd"]:
        crowd()
    else:
        main()
