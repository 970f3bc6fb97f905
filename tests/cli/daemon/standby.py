# SPDX-License-Identifier: Apache-2.0
"""Collectors that share a real PostgreSQL: the active one is killed, stopped or
cut off, or its server is restarted; several clusters in one database. With
"times N": how long N takeovers take; with names of tests: these only."""
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../../unit/daemon/store"]
from agent import Agent, phase  # noqa: E402
from collector import (  # noqa: E402
    BUILD, Collector, UnixConnection, free_port, poll, watched)
from enrol import Node, is_up  # noqa: E402
from limits import bandwidth  # noqa: E402
from on_postgresql import Cluster, needed  # noqa: E402
from postgresql import Proxy, Stream, collector, refused  # noqa: E402
from runs import agents, close, to_running  # noqa: E402

RUN = "old-20260101T000000-abcd"


class Sender(Agent):
    """Send records from the last position, one per message, while connected,
    and count the acknowledged ones."""

    def __init__(self, pki, port, seq, acked):
        self.seq, self.acked, self.port = seq, acked, port
        super().__init__(pki, "n1", port,
                         spool=[{"run": RUN, "seq": max(seq, 1)}])
        welcome = self.wait("welcome", 30)
        self.term = welcome.get("term", 1)
        for row in welcome["acks"]:
            if row["run"] == RUN:
                self.take(row["seq"])
        self.seq = self.acked

    def take(self, seq):
        self.acked = max(self.acked, seq)

    def on_ack(self, m):
        self.take(m["seq"])

    def put(self, n):
        for _ in range(n):
            self.seq += 1
            self.records(RUN, phase(RUN, self.seq))


def page(c):
    h = UnixConnection(c.socket)
    h.request("GET", "/metrics")
    return h.getresponse().read().decode()


def metric(c, name):
    for line in page(c).split("\n"):
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise AssertionError(f"no {name}")


def seqs(c):
    status, rows = c.request("GET", f"runs/{RUN}/records")
    assert status == 200, rows
    return [r["seq"] for r in rows]


# ---- collectors that share a database ----

LEASE_S = 3


def sharing(pg, a_port=None):
    """Two collectors; the first reaches the database through that port."""
    both = []
    for port in (a_port, None):
        c = collector(pg, port=port)
        c.options.update({"store.schema": "shared", "store.lease":
                          f"{LEASE_S}s"})
        both.append(c)
    a, b = both
    for name in ("ca", "cert", "key"):
        b.options["tls." + name] = a.options["tls." + name]
    b.pki = a.pki
    a.issue("n[1-2]", "agent")
    pg.sql("SET client_min_messages TO warning;"
           " DROP SCHEMA IF EXISTS shared CASCADE", "coalmine")
    return a, b


def wait(c):
    """Wait until the collector has started and is standby."""
    before = c.read_log().count("standby:") if c.proc else 0
    c.log = open(c.dir + "/log", "a")
    c.log_at = c.log.tell()
    c.proc = subprocess.Popen(c.command(), stderr=c.log)

    def waits():
        c.check_lives("a standby")
        return c.read_log().count("standby:") > before

    poll("a standby", 30, waits)


def watch(*collectors):
    """Check that no collector ends except by the test."""
    watched[:] = collectors


def is_active(c):
    try:
        return c.get("version")["active"]
    except OSError:
        return None  # it restarts


def follow(s, c):
    """Move the stream's agents to this collector."""
    s.c = c
    others = [Agent(c.pki, f"node{i}", c.port, runs=[s.run]) for i in (2, 3)]
    for old, new in zip(s.a[1:], others):
        old.close()
    s.a[1:] = others


class Door:
    """Connect to a port repeatedly: some collector always accepts."""

    def __init__(self, port):
        self.port, self.is_over = port, threading.Event()
        self.opened = self.refused = 0
        self.thread = threading.Thread(target=self.knock, daemon=True)
        self.thread.start()

    def knock(self):
        while not self.is_over.wait(0.002):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                self.opened += 1
            except ConnectionRefusedError:
                self.refused += 1

    def end(self):
        self.is_over.set()
        self.thread.join()
        assert self.opened and not self.refused, (self.opened, self.refused)


def agent_node(c, *to):
    """The agent n1, with these collectors in this order."""
    return Node(c, "n1", **{
        "agent.collector": ",".join(f"127.0.0.1:{x.port}" for x in to),
        "tls.ca": c.pki + "/ca.pem", "tls.cert": c.pki + "/n1.pem",
        "tls.key": c.pki + "/n1.key"})


def takes_over(c, limit=30):
    poll("it leads", limit, lambda: is_active(c))
    poll("it takes agents", limit, lambda: "ready:" in c.read_log())


def check_views(a, b, run):
    """A standby reports the database's contents as the active collector does;
    for all else it names the active one."""
    status, o = a.request("POST", "schedule/quick/enable")
    assert status // 100 == 2, (status, o)
    for path, key in (("events?after_id=0&limit=9", "id"),
                      (f"runs/{run}/records", "seq"), ("runs", "run"),
                      (f"runs/{run}/counters", "border"),
                      ("campaigns", "campaign"), ("schedule", "next_unix_ns"),
                      ("forecast?hours=48", "due_unix_ns"),
                      ("baselines", "name"), ("topology", "from_unix_ns"),
                      ("nodes?brief=yes", "node"), ("verdicts", "subject"),
                      ("verdicts/history", "subject"), ("impacts", "test"),
                      ("canaries", "test"), ("speedups", "test")):
        # a schedule that was just enabled has no next time for a moment
        poll(path, 20, lambda: None not in
             (told := [x.get(key) for x in a.get(path)][:5]) and
             told == [x.get(key) for x in b.get(path)][:5])
        assert a.get(path) or path.split("?")[0] in (
            f"runs/{run}/counters", "baselines", "verdicts",
            "verdicts/history", "impacts", "canaries", "speedups"), path
    for path in ("budget", "coverage", "coverage/identifiable", "links",
                 "links/health", "shares", "nodes/n1/links",
                 "verdicts?all=yes"):
        assert a.request("GET", path)[0] == 200, path
        status, o = b.request("GET", path)
        assert status == 503 and f":{a.port}" in str(o), (path, status, o)


def test_objectives(pg):
    """A standby has the error budgets of the active collector, and keeps them
    when it becomes active."""
    a, b = sharing(pg)
    for c in (a, b):
        c.options["objective.rows"] = "links node 95% 99.5% 1d"
    with a, b:
        a.start()
        wait(b)
        watch(a, b)
        agents_ = agents(a)
        run = to_running(a, agents_)
        agents_[0].records(run, bandwidth(run))

        def hours(c):
            return c.get("objectives")[0]["good_hours"]

        poll("hours of the active one", 60, lambda: hours(a) > 0)
        poll("hours of the standby", 60, lambda: hours(b) > 0)
        before = hours(b)
        a.kill()
        close(agents_)
        takes_over(b)
        poll("they are kept", 30, lambda: hours(b) >= before)


def test_standby(pg):
    """Answers and rejections of a standby. The active collector is killed in
    the middle of a run, which continues."""
    a, b = sharing(pg)
    with a, b:
        a.start()
        wait(b)
        watch(a, b)
        assert is_active(a) and not is_active(b)
        assert metric(b, "coalmine_collector_active") == 0
        assert metric(a, "coalmine_collector_active") == 1
        node = agent_node(a, b, a)
        node.says("is a standby; the active one is", 30)
        node.says(f":{a.port}", 30)
        poll("n1 is up", 30, lambda: is_up(a, "n1"))
        s = Stream(a)
        poll("the standby shows the node", 30, lambda: is_up(b, "n1"))
        assert b.get("runs/" + s.run)["state"] == "running"
        assert any(f":{a.port}" in d["text"] for d in b.get("diags"))
        check_views(a, b, s.run)
        for order in ("schedule/quick/disable", f"runs/{s.run}/cancel"):
            status, o = b.request("POST", order)
            assert status == 503 and f":{a.port}" in str(o), (status, o)
        term = pg.sql("SELECT term FROM shared.leader", "coalmine")
        door = Door(b.port)
        a.kill()
        takes_over(b)
        door.end()
        follow(s, b)
        wait(a)
        s.end()
        poll("n1 follows", 60, lambda: is_up(b, "n1"))
        assert int(pg.sql("SELECT term FROM shared.leader", "coalmine")) \
            > int(term)
        assert metric(a, "coalmine_collector_active") == 0

        # A database from an old backup: agents reject the lower term.
        for c in (a, b):
            c.kill()
        pg.sql("UPDATE shared.leader SET term = 0", "coalmine")
        watch()
        a.start()
        node.says("the collector that took over", 60)
        poll("the collector reports it", 30, lambda: any(
            "of term 2" in e["text"] for e in a.get("events")))
        assert not is_up(a, "n1")
        pg.sql("UPDATE shared.leader SET term = 1000", "coalmine")
        a.kill()
        a.start()
        poll("n1 follows the higher term", 60, lambda: is_up(a, "n1"))
        node.kill()


# As sinfo, and as scontrol or a command of the site that takes its time.
SINFO = "#!/bin/sh\ncat {0}/$4\n"
SCONTROL = """#!/bin/sh
echo "$3" >>{0}/log
i=0
until [ -e {0}/go ] || [ $((i += 1)) -gt 1200 ]; do sleep 0.05; done
echo "drained|${{4#reason=}}" >{0}/${{2#nodename=}}
echo ended >>{0}/log
"""
# An open verdict in the database.
VERDICT = """INSERT INTO shared.verdict (at_unix_ns, kind, subject, verdict, body)
VALUES (1, 'node', 'node1', 'bad', '{"kind": "node", "subject": "node1",
"verdict": "bad", "what": "node", "class": "exclusive", "test": "lat",
"text": "node1: slow"}')"""


def killed_at_reaction(pg, action, when):
    proxy = Proxy(pg.port)
    a, b = sharing(pg, proxy.port)
    folder = a.dir + "/slurm"
    os.mkdir(folder)

    def file(name, text=""):
        with open(f"{folder}/{name}", "w") as f:
            f.write(text)
        os.chmod(f"{folder}/{name}", 0o755)

    def log():
        with open(folder + "/log") as f:
            return f.read().split()

    def said():
        return [e["text"] for e in b.get("events?kind=reaction&after_id=0")]

    for name, text in (("log", ""), ("node1", "idle|none\n"),
                       ("sinfo", SINFO.format(folder)),
                       ("scontrol", SCONTROL.format(folder))):
        file(name, text)
    for c in (a, b):
        c.options.update({
            "reaction.action": action, "reaction.dry_run": "no",
            "reaction.share_per_hour": "1", "slurm.dir": folder,
            "reaction.command": folder + "/scontrol update"
            " nodename=$COALMINE_NODE state=$COALMINE_VERDICT reason=-",
            "verdict.second_pass": "no"})
    with a, b:
        a.start()
        agents_ = agents(a)
        a.stop()
        close(agents_)
        pg.sql(VERDICT, "coalmine")
        a.start()
        wait(b)
        watch(a, b)
        if when == "before it":
            proxy.hold = b"react/node1"
        agents_ = agents(a)
        run = to_running(a, agents_)
        agents_[0].records(run, {
            "run": run, "seq": 3, "probe": "canary", "test": "lat",
            "phase": "wild", "unit": "s", "n": 2, "mean": 3e-05, "min": 2e-05,
            "p50": 2e-05, "p90": 4e-05, "p99": 4e-05, "p999": 4e-05,
            "max": 4e-05, "hist": [[-249, 1], [-233, 1]], "pairs": [],
            "stopped_by": "time", "rounds": 8, "seed": 7,
            "interval": {"of": "p99", "level": 0.95, "lo": 2e-05, "hi": 4e-05},
            "nodes": [{"node": f"node{i}", "n": 2, "q25": 3e-05}
                      for i in (1, 2, 3)]})
        poll("it is stored that it begins", 30, lambda: pg.sql(
            "SELECT value FROM shared.setting WHERE key = 'react/node1'",
            "coalmine").startswith("begun "))
        if when == "before it":
            assert proxy.deaf and log() == [], log()
        else:
            poll("it runs", 30, log)
        a.kill()
        proxy.deaf = False
        close(agents_)
        file("go")
        if when == "in it":
            poll("the command ends", 30, lambda: "ended" in log())
        takes_over(b)
        agents_ = agents(b)
        if action == "command":
            poll("a report of it", 30, lambda: any(
                "result unknown" in x for x in said()))
        else:
            poll("it is done", 30, lambda: any(
                "drained in Slurm" in x for x in said()))
        time.sleep(3)  # in this time it would be repeated
        assert len(said()) == 1, said()
        never = (action, when) == ("command", "before it")
        assert len(log()) == (0 if never else 2), (action, when, log())
        close(agents_)
        b.stop()


def test_reactions(pg):
    """The active collector is killed after it has stored the start of a drain,
    and while its command runs. Nothing is done twice, and an unknown result is
    reported."""
    for action in ("slurm-drain", "command"):
        for when in ("before it", "in it"):
            killed_at_reaction(pg, action, when)


def test_stopped(pg):
    """The active collector is stopped for longer than the lease; when it
    continues another one is active, and it has done nothing."""
    a, b = sharing(pg)
    with a, b:
        a.start()
        wait(b)
        watch(a, b)
        s = Stream(a)
        node = agent_node(a, a, b)
        poll("n1 is up", 30, lambda: is_up(a, "n1"))
        a.proc.send_signal(signal.SIGSTOP)
        # Its actions if it continued as active.
        order = subprocess.Popen(
            [BUILD + "/ctl/coalctl", "--url", "unix:" + a.socket, "schedule",
             "disable", "quick"], stderr=subprocess.PIPE)
        takes_over(b)
        count = "SELECT count(*) FROM shared.event WHERE kind = 'order'"
        had = pg.sql(count, "coalmine")
        # The kernel of the first one still accepts connections.
        poll("n1 follows", 60, lambda: is_up(b, "n1"))
        a.proc.send_signal(signal.SIGCONT)
        follow(s, b)
        poll("the first waits", 30, lambda: is_active(a) is False
             and "standby:" in a.read_log())
        assert "lost the lease" in a.read_log()
        assert order.wait(60) != 0
        s.end()
        assert pg.sql(count, "coalmine") == had
        assert is_active(b) and not is_active(a)
        node.kill()


def test_cut(pg):
    """The active collector is cut off from the database only: it closes its
    sessions, and another one becomes active."""
    proxy = Proxy(pg.port)
    a, b = sharing(pg, proxy.port)
    with a, b:
        a.start()
        wait(b)
        s = Stream(a)
        time.sleep(1)
        proxy.deaf = True
        takes_over(b)
        poll("the first has let go", 30, lambda:
             "lost the lease" in a.read_log())
        follow(s, b)
        poll("the first has ended", 60, lambda: a.proc.poll() is not None)
        assert "server is running" in a.read_log(), a.read_log()
        s.end()
        proxy.deaf = False
        wait(a)


def test_server(pg):
    """The server is restarted twice; one of the collectors becomes active
    again."""
    a, b = sharing(pg)
    with a, b:
        a.start()
        wait(b)
        s = Stream(a)
        for how in (signal.SIGQUIT, signal.SIGINT):
            time.sleep(1)
            pg.stop(how)
            time.sleep(1)
            pg.start()
            poll("one leads", 60, lambda: is_active(a) or is_active(b))
            time.sleep(2)
            assert bool(is_active(a)) != bool(is_active(b))
            follow(s, a if is_active(a) else b)
        s.end()


def test_promoted(_):
    """The server is lost, and its replica is promoted."""
    first = Cluster()
    second = first.replica()
    a, b = sharing(first)
    try:
        with a, b:
            for c in (a, b):
                c.options["store.url"] = (
                    f"postgresql://coalmine@127.0.0.1:{first.port},"
                    f"127.0.0.1:{second.port}/coalmine")
            a.start()
            wait(b)
            s = Stream(a)
            time.sleep(1)
            first.stop(signal.SIGQUIT)
            time.sleep(random.uniform(0, 2 * LEASE_S))
            second.sql("SELECT pg_promote()")
            time.sleep(LEASE_S + 1)  # the first may not know yet
            poll("one leads", 60, lambda: is_active(a) or is_active(b))
            follow(s, a if is_active(a) else b)
            s.end()
    finally:
        first.end()
        second.end()


def test_wrong(pg):
    """Settings that two collectors cannot share are rejected, with the required
    action."""
    a, b = sharing(pg)
    with a, b:
        a.options["store.lease"] = "0s"
        a.start()
        refused(b, "another collector", "set store.lease on all collectors")
        a.stop()
        a.options["store.lease"] = b.options["store.lease"]
        a.start()
        own = b.dir + "/pki"  # of another cluster, with the same name
        kept = dict(b.options)
        b.options.update({"tls.ca": own + "/ca.pem",
                          "tls.cert": own + "/collector.pem",
                          "tls.key": own + "/collector.key"})
        refused(b, "is of another cluster", "separate store.schema")
        a.stop()
        refused(b, "is of another cluster", "separate store.schema")
        b.options = kept
        for sets, word in (({"store.lease": "1s"}, "at least 2s"),
                           ({"store.url": ""}, "requires a database")):
            kept = dict(b.options)
            b.options.update(sets)
            done = subprocess.run(b.command() + ["-n"], timeout=60,
                                  stderr=subprocess.PIPE, text=True)
            assert done.returncode != 0 and word in done.stderr, (sets, done)
            b.options = kept
        # A lock (PG_LOCK_CLASS) is held before any collector was active.
        lock = ("1129138510, (SELECT oid FROM pg_namespace"
                " WHERE nspname = 'shared')::integer")
        pg.sql("UPDATE leader SET who = '', lease_ns = 0", "coalmine", "shared")
        first = threading.Thread(target=pg.sql, args=(
            f"SELECT pg_advisory_lock({lock}), pg_sleep(4)", "coalmine"))
        first.start()
        poll("it has the lock", 20, lambda: pg.sql(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'",
            "coalmine").strip() == "1")
        wait(b)
        first.join()
        takes_over(b)


def named(pg, name, pki=None):
    """Return a collector of the cluster with this name."""
    c = collector(pg)
    del c.options["store.schema"]
    c.https = free_port()
    c.options.update({"cluster.name": name, "store.lease": f"{LEASE_S}s",
                      "http.tls_listen": f"127.0.0.1:{c.https}"})
    if pki:
        c.pki = pki
        c.options.update({f"tls.{k}": f"{pki}/{f}" for k, f in (
            ("ca", "ca.pem"), ("cert", "collector.pem"),
            ("key", "collector.key"))})
    return c


def ctl(c, *args, rc=0):
    """coalctl, as an operator with a certificate."""
    got = subprocess.run(
        [BUILD + "/ctl/coalctl", "--url", "unix:" + c.socket, "--ca",
         c.pki + "/ca.pem", "--cert", c.pki + "/olga.pem", "--key",
         c.pki + "/olga.key", *args], capture_output=True, text=True,
        timeout=60, check=False, env={k: v for k, v in os.environ.items()
                                      if k != "COALMINE_CLUSTER"})
    assert got.returncode == rc, (args, got)
    return got.stdout + got.stderr


def cluster(c, name):
    status, rows = c.request("GET", "clusters")
    assert status == 200, rows
    return next((r for r in rows if r["cluster"] == name), {})


def test_clusters(pg):
    """A pair and a single collector in one database, each a cluster: equal
    names of nodes and runs are separate, and each collector reports the other
    cluster."""
    pg.sql("SET client_min_messages TO warning; DROP SCHEMA IF EXISTS east,"
           " west, coalmine_all CASCADE", "coalmine")
    east = named(pg, "east")
    spare, west = (named(pg, n, east.pki) for n in ("east", "west"))
    east.issue("n[1-2]", "agent")
    east.issue("olga", "operator")
    with east, spare, west:
        east.start()
        wait(spare)
        west.start()
        senders = [Sender(east.pki, c.port, 0, 0) for c in (east, west)]
        for s, n in zip(senders, (5, 7)):
            s.put(n)
        second = Agent(east.pki, "n2", west.port)
        poll("acknowledged", 30, lambda: [s.acked for s in senders] == [5, 7])
        assert [len(seqs(c)) for c in (east, west)] == [5, 7]

        # The reports of both on both; its own first, the other's from the
        # database.
        for c, name, other, nodes in ((east, "east", "west", 2),
                                      (west, "west", "east", 1)):
            poll("it knows the other", 30, lambda: cluster(c, other).get(
                "reporting") == nodes)
            assert [r["cluster"] for r in c.get("clusters")] == [name, other]
            assert [r["self"] for r in c.get("clusters")] == [True, False]
            assert cluster(c, other)["verdict"] == "unknown"
            poll("a standby's look", 20, lambda: dict(
                cluster(spare, name), self=True, at_unix_ns=0) == dict(
                    cluster(c, name), at_unix_ns=0))
        assert cluster(east, "west")["url"] == \
            f"https://127.0.0.1:{west.https}"
        assert west.get("version")["cluster"] == "west"
        assert 'coalmine_cluster_info{cluster="west"} 1' in page(west)

        # coalctl finds the address.
        assert {n["node"] for n in json.loads(ctl(
            east, "--cluster", "west", "node", "list", "--json"))} \
            == {"n1", "n2"}
        for c in (east, spare):
            assert [n["node"] for n in json.loads(ctl(
                c, "--cluster", "east", "node", "list", "--json"))] == ["n1"]
        assert "has east, west" in ctl(east, "--cluster", "north", "version",
                                         rc=3)
        assert "2 of 2 nodes report" in ctl(spare, "cluster", "list", rc=1)

        # All clusters in one SQL query.
        assert pg.sql("SELECT cluster, run, records FROM coalmine_all.runs"
                      " ORDER BY 1", "coalmine") == \
            f"east|{RUN}|5\nwest|{RUN}|7"
        assert pg.sql("SELECT cluster, node FROM coalmine_all.nodes"
                      " ORDER BY 1, 2", "coalmine") == \
            "east|n1\nwest|n1\nwest|n2"

        # A takeover affects only one cluster.
        term = "SELECT term FROM west.leader"
        had = pg.sql(term, "coalmine")
        east.kill()
        takes_over(spare)
        poll("the spare is active", 30, lambda: cluster(west, "east").get(
            "collector", "").endswith(f":{spare.port}"))
        assert is_active(west) and pg.sql(term, "coalmine") == had
        senders[1].put(3)
        poll("west continues", 20, lambda: senders[1].acked == 10)

        # A cluster without a collector, or without activity, is never green.
        spare.proc.send_signal(signal.SIGSTOP)
        poll("stopped", 30, lambda: not cluster(west, "east")["active"])
        spare.proc.send_signal(signal.SIGCONT)
        poll("it continues", 30, lambda: cluster(west, "east")["active"])
        spare.kill()
        poll("ended", 10, lambda: cluster(west, "east")["text"]
             == "no collector")
        assert cluster(west, "east")["verdict"] == "bad"
        assert "no collector" in ctl(west, "cluster", "list", rc=2)
        assert "east has no active collector" in ctl(
            west, "--cluster", "east", "node", "list", rc=3)
        east.start()
        poll("its agents are lost", 30, lambda:
             "1 lost" in cluster(west, "east")["text"])
        assert cluster(west, "east")["verdict"] == "bad"
        second.close()
        poll("one of two is lost", 30, lambda:
             "1 of 2 nodes report, 1 lost" in cluster(east, "west")["text"])
        assert cluster(east, "west")["verdict"] == "warn"

        # A cluster whose role can access only its own schema sees no others,
        # and works.
        pg.sql("CREATE ROLE alone LOGIN; CREATE SCHEMA north AUTHORIZATION"
               " alone", "coalmine")
        with named(pg, "north") as c:
            c.options["store.url"] = pg.url(role="alone")
            c.start()
            assert [r["cluster"] for r in c.get("clusters")] == ["north"]
            assert "views" not in str(c.get("diags")), c.get("diags")
            assert not cluster(west, "north")

        # An address of another cluster is detected.
        west.stop()
        west.options["cluster.url"] = cluster(east, "east")["url"]
        west.start()
        poll("the address in east", 20, lambda: cluster(east, "west")["url"]
             == west.options["cluster.url"])
        assert "belongs to another cluster" in ctl(
            east, "--cluster", "west", "node", "list", rc=3)

        # With a store in a file only the own cluster is listed, with a name or
        # without.
        for name in ("west", ""):
            with Collector(cluster__name=name, store__url="") as c:
                c.options["store.schema"] = name or "coalmine"
                c.start()
                assert [(r["cluster"], r["self"], r["verdict"]) for r in
                        c.get("clusters")] == [(name, True, "unknown")]


def times(pg, n):
    """Measure the time from SIGKILL of the active collector until the other one
    has acknowledged a record of an agent that had a session with the first."""
    took = []
    pair_ = a, b = sharing(pg)
    with a, b:
        a.start()
        wait(b)
        s = Sender(a.pki, a.port, 0, 0)
        for i in range(n):
            old, new = pair_[i % 2], pair_[(i + 1) % 2]
            s.put(5)
            time.sleep(random.uniform(1, 2))
            began = time.monotonic()
            old.kill()
            while s.acked < s.seq or s.port != new.port:
                try:
                    s = Sender(a.pki, new.port, s.seq, s.acked)
                    s.put(5)
                    poll("acknowledged", 5, lambda: s.acked == s.seq)
                except (AssertionError, OSError):
                    time.sleep(0.05)
            took.append(time.monotonic() - began)
            assert seqs(new) == list(range(1, s.seq + 1)), seqs(new)
            wait(old)
    took.sort()
    print(f"{n} takeovers: median {took[n // 2]:.2f} s, most {took[-1]:.2f} s")


def main():
    needed()
    os.environ["COALMINE_PLUGIN_DIR"] = BUILD + "/daemon"
    pg = Cluster()
    try:
        if sys.argv[1:2] == ["times"]:
            times(pg, int(sys.argv[2]))
            return
        for test in (test_wrong, test_clusters, test_objectives, test_standby,
                     test_reactions, test_stopped, test_cut, test_server, test_promoted):
            if not sys.argv[1:] or test.__name__ in sys.argv[1:]:
                watch()
                test(pg)
                print(test.__name__, "passed", flush=True)
    finally:
        pg.end()


if __name__ == "__main__":
    try:
        main()
    finally:
        for node in Node.all:
            node.kill()
