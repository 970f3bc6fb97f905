#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The session: verification of the collector, disconnects and reconnects."""
import json
import os
import resource
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time

import fake

ENGINE = "#!/bin/sh\nexec sleep 600\n"


def up(site, **kw):
    c = site.collector(**kw)
    a = site.agent("head", c.port, site.libexec(ENGINE))
    c.wait("hello", "head")
    fake.wait_for(lambda: "head" in c.heartbeats)
    return c, a


def hello(site):
    c, a = up(site)
    msg = c.wait("hello")
    assert msg["version"] == 1 and msg["node"] == "head"
    assert msg["runs"] == [] and msg["spool"] == []
    inv = msg["inventory"]
    assert inv["cores"] == os.cpu_count()
    assert inv["memory_bytes"] > 1 << 20
    assert {m["name"] for m in inv["mpi"]} == {"openmpi", "mpich"}
    assert all(m["version"][0].isdigit() for m in inv["mpi"])
    beat = c.heartbeats["head"]
    assert beat["spool_bytes"] == 0 and beat["load"] >= 0
    assert "alarm" not in beat and "busy" not in beat


def not_believed(site):
    """The agent disconnects from an unverified collector before hello."""
    site.pki.issue("reader", "reader", cn="collector")
    site.pki.issue("other", "collector", san="DNS:elsewhere")
    foreign = fake.Pki(os.path.join(site.top, "foreign"))
    foreign.issue("collector", "collector")
    log = {
        "reader": "role",
        "other": "another name",
    }
    for cert, text in log.items():
        c = site.collector(cert=cert)
        a = site.agent("head", c.port, site.libexec(ENGINE))
        fake.wait_for(lambda: text in open(a.log).read())
        a.kill()
        assert not c.messages or c.messages[0][1]["type"] == "gone"
        os.unlink(a.log)
    c = site.collector()
    c.ctx.maximum_version = ssl.TLSVersion.TLSv1_2
    a = site.agent("head", c.port, site.libexec(ENGINE))
    fake.wait_for(lambda: "protocol" in open(a.log).read())
    a.kill()
    assert not c.messages
    os.unlink(a.log)
    c = fake.Collector(foreign)
    site.collectors.append(c)
    a = site.agent("head", c.port, site.libexec(ENGINE))
    fake.wait_for(lambda: "cannot verify the collector's certificate: self" in open(a.log).read())
    assert "the file of tls.ca must be the same" in open(a.log).read()
    assert not c.messages
    a.kill()
    os.unlink(a.log)
    # The collector knows another authority: one text, whichever of alert and
    # reset arrives first.
    c = site.collector()
    c.ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    c.ctx.load_cert_chain(site.pki.path("collector.pem"),
                          site.pki.path("collector.key"))
    c.ctx.load_verify_locations(foreign.path("ca.pem"))
    c.ctx.verify_mode = ssl.CERT_REQUIRED
    a = site.agent("head", c.port, site.libexec(ENGINE), agent__log="debug")
    fake.wait_for(lambda: open(a.log).read().count("rejected this agent") > 5)
    with open(a.log) as f:
        loud = [line for line in f if "; retrying" in line]
    assert len(loud) <= 2, loud
    assert "the file of tls.ca must be the same" in loud[-1], loud


def by_name(site):
    """A host name is resolved and must match the certificate."""
    site.pki.issue("named", "collector", san="DNS:localhost")
    c = site.collector(cert="named")
    site.agent("head", c.port, site.libexec(ENGINE),
               agent__collector="localhost:%d" % c.port)
    c.wait("hello", "head")


def collector_restarts(site):
    """Back within five seconds, several times in a row."""
    c, a = up(site)
    for _ in range(3):
        port = c.port
        c.close()
        time.sleep(1)
        c = site.collector(port=port)
        c.wait("hello", "head", limit=6)


def silence(site):
    c, a = up(site)
    c.beat = False
    start = time.monotonic()
    c.wait("gone", limit=6)
    assert 1 < time.monotonic() - start < 5 * fake.LATE
    assert "silent" in open(a.log).read()
    c.beat = True
    c.wait("hello", since=2, limit=6)


def garbage(site):
    """Each invalid message ends the session; the agent continues."""
    c, a = up(site)
    bodies = [b"GET / HTTP/1.0\r\n\r\n",
              b"CM\x01\x00" + struct.pack(">I", 1 << 30),
              b"CM\x01\x00" + struct.pack(">I", 2) + b"{}",
              b"CM\x02\x00" + struct.pack(">I", 2) + b"{}",
              b"CM\x01\x00" + struct.pack(">I", 4) + b"[[[["]
    for body in bodies:
        since = len(c.messages)
        c.sessions["head"].send_bytes(body)
        c.wait("gone", since=since)
        c.wait("hello", since=since, limit=8)
    messages = [dict(type="welcome", heartbeat_ms=100, silence_ms=1000,
                     acks=[], keep=[]),
                dict(type="hello"), dict(type="ack", run="r", seq=-1),
                dict(type="start", run="r", mpi="mpich", rank=1, ranks=2,
                     size=4, campaign=""),
                dict(type="start", run="r", mpi="mpich", rank=4, ranks=2,
                     size=4, campaign=""),
                dict(type="end", run="r", grace_ms=-1, text=""),
                dict(type="launch", run="r", mpi="openmpi", launcher="agents",
                     nodes=[{"node": "a b", "addr": ""}], ranks_per_node=1,
                     campaign="", deadline_ms=1),
                dict(type="sample", run="x" * ((1 << 20) - 100), border=1),
                dict(type="prepare", run="../x", mpi="openmpi", head="head",
                     deadline_ms=1000,
                     **{"class": "exclusive"})]
    for msg in messages:
        since = len(c.messages)
        fake.wait_for(lambda: "head" in c.sessions)
        c.send("head", **msg)
        c.wait("gone", since=since)
        c.wait("hello", since=since, limit=8)
    assert a.proc.poll() is None
    boots = {m["boot"] for _, m in c.messages if m["type"] == "hello"}
    assert len(boots) == 1


def unknown_runs(site):
    """Orders about runs unknown to the node are answered or ignored."""
    c, a = up(site)
    c.send("head", type="end", run="r1", grace_ms=0, text="x")
    c.send("head", type="ack", run="r1", seq=5)
    c.send("head", type="fence", run="r1", id=1, part=0, parts=1, data="x")
    c.send("head", type="modex", run="r1", rank=0)
    fake.launch(c, ["head"], "r1")
    assert c.wait("launched", run="r1")["text"] == \
        "the run is not prepared on this node"
    fake.prepare(c, ["head"], "r2")
    cut = "mpich" + "a" * 54 + "\u00e9"  # answers quote 60 bytes
    fake.launch(c, ["head"], "r2", mpi=cut)
    assert not c.wait("launched", run="r2")["ok"]
    fake.end(c, ["head"], "r2")
    c.send("head", type="sample", run="r1", border=3)
    got = c.wait("counters", border=3)
    assert got["at_unix_ns"] > 0
    names = {n["nic"] for n in got["nics"]}
    assert names == set(os.listdir("/sys/class/net")) - {"lo"}, names
    text = subprocess.run(["tc", "-j", "qdisc", "show"], check=True,
                          capture_output=True, text=True).stdout
    queued = {q["dev"] for q in json.loads(text) if q.get("root")}
    for n in got["nics"]:
        assert ("qdisc_drops" in n["counters"]) == (n["nic"] in queued), n
        assert n["counters"]["rx_bytes"] >= 0


def long_hello(site):
    """The spool has more runs than fit into a hello: the hello stays within
    the collector's limit, and all records arrive."""
    spool = os.path.join(site.top, "head.state", "spool")
    os.makedirs(spool)
    runs = ["r%062d" % i for i in range(1900)]
    for run in runs:
        line = json.dumps({"run": run, "seq": 1, "probe": "end", "records": 1,
                           "status": "ok"}).encode()
        total = 2166136261
        for byte in line:
            total = (total ^ byte) * 16777619 & 0xffffffff
        with open("%s/%s.spool" % (spool, run), "wb") as f:
            f.write(b"%020d 0 %07d %08x\n" % (1, len(line), total))
            f.write(line + b"\n")
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    c, a = up(site)
    hello = c.wait("hello")
    assert len(json.dumps(hello, separators=(",", ":"))) <= 128 * 1024
    assert len(hello["spool"]) > 1000
    fake.wait_for(lambda: set(c.records) == set(runs), 60, lambda: str(len(c.records)))
    fake.wait_for(lambda: not os.listdir(spool), 20,
                  lambda: str(len(os.listdir(spool))))


def mesh_strangers(site):
    """Echoes go only to the agent's own network, even if ordered otherwise."""
    c, a = up(site)
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink.bind(("127.0.0.2", 0))
    sink.settimeout(5)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    order = dict(type="mesh", on=True, epoch=1, seed=1, addr="127.0.0.1",
                 port=port, key="ab" * 32, round_ms=100, timeout_ms=100,
                 burst=1, rate=100, target_rate=100)

    def aim(addr):
        c.send("head", targets=[{
            "node": "n2", "addr": addr, "port": sink.getsockname()[1],
            "class": "leaf", "token": "cd" * 32}], **order)
        return c.wait("mesh-ready", since=since)
    for addr in ("203.0.113.7", "2001:db8::1"):
        since = len(c.messages)
        no = aim(addr)
        assert not no["ok"] and "mesh.net" in no["text"], no
    since = len(c.messages)
    assert aim("127.0.0.2")["ok"]
    assert len(sink.recv(1000)) == 64
    for limits, target in (({"rate": 2001}, {}),
                           ({"target_rate": 2001}, {}),
                           ({}, {"bytes": 9217})):
        since = len(c.messages)
        fake.wait_for(lambda: "head" in c.sessions)
        c.send("head", **{**order, **limits, "epoch": 2}, targets=[{
            "node": "n2", "addr": "127.0.0.2", "port": 9, "class": "leaf",
            "token": "cd" * 32, **target}])
        c.wait("hello", since=since, limit=8)  # the session has ended


def turn(site):
    """The agent waits for a collector that accepted the connection and is
    busy: an agent that reconnects would lose its place in the queue."""
    c = site.collector()
    busy = socket.create_server(("127.0.0.1", 0))
    site.agent("head", busy.getsockname()[1], site.libexec(ENGINE))
    sock, _ = busy.accept()
    busy.settimeout(12)     # longer than an agent waits where TCP fails
    try:
        busy.accept()
        raise AssertionError("it came a second time")
    except socket.timeout:
        pass
    threading.Thread(target=c.serve, args=(sock,), daemon=True).start()
    c.wait("hello", "head")
    busy.close()


def reload(site):
    """SIGHUP: new certificates count from the next connection on."""
    c, a = up(site)
    a.proc.send_signal(signal.SIGHUP)
    fake.wait_for(lambda: "certificates reloaded" in open(a.log).read())
    shutil.copy(site.pki.path("head.pem"), site.pki.path("old.pem"))
    with open(site.pki.path("head.pem"), "w") as f:
        f.write("nothing\n")
    a.proc.send_signal(signal.SIGHUP)
    fake.wait_for(lambda: "cannot reload the certificates" in open(a.log).read())
    since = len(c.messages)
    c.sessions["head"].close()
    c.wait("hello", since=since, limit=6)


def bad_start(site):
    """Invalid configuration: a message, exit code 3, nothing started."""
    prog = os.path.join(fake.BUILD, "agents", "coalmine-agent")
    cases = [["-o", "agent.nonsense=1"], ["-o", "nonsense"],
             ["-o", "agent.spool_max=1"], ["--config", "/nonexistent"],
             ["-o", "idle.check=command"], ["-o", "mesh.net=10.0.0.0/8,"],
             ["-o", "mesh.net=10.0.0.0"], ["-o", "mpi.net=eth0"], ["-o", "children.programs=true"], ["extra"], ["--what"]]
    for args in cases:
        p = subprocess.run([prog, "--config", "/dev/null"] + args,
                           capture_output=True, text=True, timeout=10)
        assert p.returncode == 3, (args, p)
        assert p.stderr, args
    p = subprocess.run([prog, "--config", "/dev/null", "--print-config"],
                       capture_output=True, text=True, timeout=10)
    assert p.returncode == 0 and "[agent]" in p.stdout
    p = subprocess.run([prog, "--version"], capture_output=True, text=True)
    assert p.stdout.startswith("coalmine-agent ")


if __name__ == "__main__":
    fake.main(hello, not_believed, by_name, collector_restarts, silence,
              garbage, unknown_runs, long_hello,
              mesh_strangers, turn, reload, bad_start)
