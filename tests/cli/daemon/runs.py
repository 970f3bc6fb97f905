# SPDX-License-Identifier: Apache-2.0
"""Runs through a real coalmined: success, restarts in the middle, schedule,
invalid configuration. The test simulates the agents."""
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agent import Agent, begin, end, frame, phase  # noqa: E402
from collector import BUILD, FINAL, Collector, poll  # noqa: E402


FRAME_MAX = 1 << 20  # of a frame's body


def agents(c, **more):
    all_ = [Agent(c.pki, f"node{i}", c.port, **more) for i in (1, 2, 3)]
    for a in all_:
        a.wait("welcome")
    return all_


def to_running(c, a, **body):
    run = c.run("quick", **body)
    a[0].wait("start", 20, lambda m: m["run"] == run)
    a[0].records(run, begin(run), phase(run, 2))
    a[0].wait("ack", match=lambda m: m["run"] == run and m["seq"] == 2)
    c.wait_state(run, ["running"])
    return run


def close(a):
    for one in a:
        one.close()


def seqs(c, run):
    return [r["seq"] for r in c.get(f"runs/{run}/records")]


def test_success(c):
    a = agents(c)
    run = to_running(c, a)
    for one in a:  # an empty packed text
        one.send("fence", run=run, id=1, part=0, parts=1,
                 data="KLUv/SAAAQAA")
    for one in a:
        assert one.wait("fence")["id"] == 1
    a[2].send("modex", run=run, rank=0)
    assert a[0].wait("modex")["rank"] == 0
    a[0].send("modex", run=run, rank=0, data="KLUv/SAAAQAA")
    assert a[2].wait("modex")["data"] == "KLUv/SAAAQAA"
    a[2].wait("sample")
    a[0].records(run, end(run, 3))
    c.wait_state(run, ["finished"])
    assert seqs(c, run) == [1, 2, 3]
    for one in a:
        one.wait("end")
    cleared(c, "no agent has ever connected")
    close(a)


def test_restart(c):
    """The collector is killed; the run continues, and its records arrive
    once."""
    a = agents(c)
    run = to_running(c, a)
    c.kill()
    close(a)
    c.start()
    assert c.get("runs/" + run)["state"] == "running"
    a = agents(c, runs=[run], spool=[{"run": run, "seq": 3}])
    w = a[0].wait("welcome")
    assert w["keep"] == [run] and w["acks"] == [{"run": run, "seq": 2}], w
    a[0].records(run, phase(run, 2), phase(run, 3), end(run, 4))
    c.wait_state(run, ["finished"])
    assert seqs(c, run) == [1, 2, 3, 4]
    close(a)


def test_restart_over_end(c):
    """The run ended while the collector was away."""
    a = agents(c)
    run = to_running(c, a)
    c.stop()  # a clean end hands live runs over, too
    close(a)
    c.start()
    a = agents(c, spool=[{"run": run, "seq": 3}])
    a[0].records(run, end(run, 3))
    c.wait_state(run, ["finished"])
    close(a)


def test_restart_without_head(c):
    a = agents(c)
    run = to_running(c, a)
    c.kill()
    close(a)
    c.start()
    b = Agent(c.pki, "node2", c.port, runs=[run])
    assert b.wait("welcome")["keep"] == [run]
    r = c.wait_state(run, ["failed", "finished"], 30)
    assert r["cause"] == "collector-lost" and "node1" in r["text"], r
    b.wait("end", match=lambda m: m["run"] == run)
    # Its head reconnects too late: it is ordered to drop the run, and its
    # records are kept.
    h = Agent(c.pki, "node1", c.port, runs=[run],
              spool=[{"run": run, "seq": 3}])
    assert h.wait("welcome")["keep"] == []
    h.records(run, phase(run, 3))
    h.wait("ack", match=lambda m: m["seq"] == 3)
    assert seqs(c, run) == [1, 2, 3]
    assert c.get("runs/" + run)["state"] == "failed"
    close([b, h])


def test_cancel(c):
    a = agents(c)
    run = to_running(c, a)
    status, o = c.request("POST", f"runs/{run}/cancel")
    assert status in (200, 202), (status, o)
    assert c.get("runs/" + run)["state"] == "cancelled"
    for one in a:
        one.wait("end", match=lambda m: m["run"] == run)
    run = to_running(c, a)
    c.request("POST", "stop")
    assert c.get("runs/" + run)["state"] == "cancelled"
    close(a)


def test_timeout(c):
    """A run that reaches its deadline is a problem, too."""
    a = agents(c)
    run = to_running(c, a, overrides={"campaign.deadline": "8s"})
    c.wait_state(run, ["timed-out"], 30)
    text = "1 run of campaign quick was timed-out, "
    problem(c, text, "coalctl run list --state timed-out")
    run = to_running(c, a)
    assert told(c, text)
    finish(c, a, run)
    cleared(c, text)
    close(a)


def test_alone(c):
    """An exclusive run shares its nodes with no other run; a waiting run names
    the other one."""
    a = agents(c)
    first = to_running(c, a)
    alone = c.run("quick", overrides={"campaign.alone": "yes"})
    behind = c.run("quick")
    time.sleep(2)
    for run in (alone, behind):
        assert c.get("runs/" + run)["state"] == "pending", run
    finish(c, a, first)
    a[0].wait("start", 20, lambda m: m["run"] == alone)
    time.sleep(2)
    assert c.get("runs/" + behind)["state"] == "pending"
    finish(c, a, alone, begin(alone), phase(alone, 2))
    a[0].wait("start", 20, lambda m: m["run"] == behind)
    finish(c, a, behind, begin(behind), phase(behind, 2))
    close(a)


def test_flood(c):
    """If a spool exceeds the queue of the store, the rest waits on the agent.
    All sessions stay open, and all records are stored."""
    a = agents(c)
    # Its records take longer than the usual deadline on a busy machine.
    run = to_running(c, a, overrides={"campaign.deadline": "10m"})
    count, each = 20000, 100
    nics = ",".join(["1"] * 200)
    for at in range(3, count + 3, each):
        a[0].send_raw(frame(
            f'{{"type":"records","run":"{run}","records":['.encode() +
            ",".join(f'{{"run":"{run}","seq":{seq},"probe":"round","test":'
                     f'"lat","phase":"isolated","nics":[{nics}]}}'
                     for seq in range(at, at + each)).encode() + b"]}"))
    a[0].wait("ack", 60, lambda m: m["seq"] == count + 2)
    a[0].records(run, end(run, count + 3))
    c.wait_state(run, ["finished"])
    assert all(x.open for x in a)
    close(a)


def test_restored(c):
    """The store is an older copy: records that agents still hold are stored in
    a run that is marked accordingly, and are not lost."""
    def db(*args):
        return subprocess.run(
            [BUILD + "/ctl/coalctl", "--url", "unix:" + c.socket, "db", *args],
            capture_output=True, text=True, check=False, timeout=60,
            env=dict(os.environ, PATH=BUILD + "/daemon:" + os.environ["PATH"]))
    copy = c.dir + "/copy.db"
    if c.options["store.url"]:
        said = db("backup", copy)
        assert "pg_dump" in said.stderr, said
        return
    a = agents(c)
    finish(c, a, to_running(c, a))
    said = db("backup", "/nosuch/x")
    assert said.returncode == 3, said
    assert "the directory does not exist on the coll" in said.stderr, said
    said = db("backup", copy)
    assert said.returncode == 0, said
    run = to_running(c, a)
    close(a)
    config = c.dir + "/restore.conf"
    with open(config, "w") as f:
        f.write(f"[collector]\nstate_dir = {c.dir}/state\n")
    said = db("restore", copy, config)
    assert said.returncode != 0 and "stop it first" in said.stderr, said
    c.stop()
    said = db("restore", config, config)
    assert said.returncode != 0 and "is not a store" in said.stderr, said
    with sqlite3.connect(copy) as s:
        s.execute("UPDATE record SET crc = crc + 1 WHERE id ="
                  " (SELECT max(id) FROM record)")
    s.close()
    recovered = c.dir + "/recovered.db"
    said = db("recover", copy, recovered, config)
    assert said.returncode == 1 and " 1 lost, 0 pages" in said.stderr, said
    said = db("recover", copy, recovered, config)
    assert said.returncode > 1 and "File exists" in said.stderr, said
    said = db("restore", recovered, config)
    assert said.returncode == 0 and "is restored" in said.stderr, said
    c.start()
    a = agents(c, spool=[{"run": run, "seq": 3}])
    acks = a[0].wait("welcome")["acks"]
    assert acks in ([], [{"run": run, "seq": 0}]), acks
    a[0].records(run, begin(run), phase(run, 2))
    a[0].records(run, end(run, 3))
    a[0].wait("ack", 20, lambda m: m["run"] == run and m["seq"] == 3)
    assert seqs(c, run) == [1, 2, 3]
    kept = c.get("runs/" + run)
    assert kept["head"] == "node1" and "restored" in kept["text"], kept
    close(a)


def finish(c, a, run, *before):
    a[0].records(run, *before, end(run, 3))
    c.wait_state(run, ["finished"])


def test_schedule(c):
    """A due campaign without nodes is missed, with the reason, which diags
    prints until a scheduled run has started. A new file is loaded; an invalid
    one is listed and never started."""
    def runs():
        return c.get("runs?campaign=often")

    def missed():
        return [r for r in runs() if r["state"] == "missed"]

    def said():
        return [d for d in c.get("diags")
                if " of campaign often " in d["text"] and
                " missed, " in d["text"]]

    def run_well():
        run = a[0].wait("start", 30, lambda m: m["run"] not in done)["run"]
        done.append(run)
        finish(c, a, run, begin(run), phase(run, 2))
        return not said()
    poll("all lost", 15, lambda: all(
        n["state"] == "lost" for n in c.get("nodes")))
    c.campaign("often", 3, more="[schedule]\nevery = 1s\n")
    c.campaign("broken", 3, more="color = red\n")
    poll("broken listed", 10, lambda: [
        x for x in c.get("campaigns") if x["campaign"] == "broken"
        and not x["ok"] and "broken.conf:5" in x["error"]])
    status, o = c.request("POST", "campaigns/broken/run", {})
    assert status >= 400 and "run" not in o, (status, o)
    r = poll("missed", 25, missed)[0]
    assert "run list --state missed" in said()[0]["remedy"], said()
    assert " ago: " in said()[0]["text"], said()
    assert r["text"], r
    c.request("POST", "schedule/often/disable")
    poll("all final", 15, lambda: all(r["state"] in FINAL for r in runs()))
    a, done = agents(c), []
    c.run("often")
    assert not run_well(), "a user's run shows nothing about the schedule"
    c.campaign("often", 3, more="[schedule]\nevery = 3s\n")
    c.request("POST", "schedule/often/enable")
    poll("no longer printed", 90, run_well)
    assert missed(), "kept in the history"
    close(a)
    c.request("POST", "schedule/often/disable")
    assert not [s for s in c.get("schedule")
                if s["campaign"] == "often"][0]["enabled"]
    c.stop()
    c.start()
    assert not [s for s in c.get("schedule")
                if s["campaign"] == "often"][0]["enabled"]
    assert [d for d in c.get("diags") if "broken" in d["text"]]


def test_killed_after_orders(c):
    """An order that was acknowledged is known after a restart."""
    def orders():
        return len(c.get("events?kind=order&after_id=0&limit=1000"))
    had = orders()
    for i in range(31):
        status, _ = c.request("POST", "schedule/quick/%s" % (
            "enable" if i % 2 else "disable"))
        assert status == 200, status
    c.kill()
    c.start()
    assert orders() == had + 31, (orders(), had)
    assert not [s for s in c.get("schedule")
                if s["campaign"] == "quick"][0]["enabled"]
    c.request("POST", "schedule/quick/enable")


def ctl_node(c, *args, code=0):
    r = subprocess.run([BUILD + "/ctl/coalctl", "--url", "unix:" + c.socket,
                        "node", *args], capture_output=True, text=True)
    assert r.returncode == code, (args, r.returncode, r.stdout, r.stderr)
    return r.stdout + r.stderr


def test_maintenance(c):
    """A node in maintenance is not chosen for runs and raises no alarm, also
    after a restart. A node that was forgotten is gone, also after one."""
    def state(name):
        return {n["node"]: n["state"] for n in c.get("nodes")}.get(name)
    a = agents(c)
    for args in (("maintain", "node3"), ("maintain", "node3", "--for", "8h"),
                 ("maintain", "node3", "--end", "--for", "8h")):
        assert "node maintain needs" in ctl_node(c, *args, code=3) or \
            "neither" in ctl_node(c, *args, code=3)
    assert "--reason is empty: expected" in ctl_node(
        c, "maintain", "node3", "--for", "8", "--reason", "", code=3)
    for body in ({"for": "8h"}, {"for": "367d", "reason": "x"},
                 {"for": "8h", "reason": "x" * 201}, {"reason": "x"}):
        assert c.request("POST", "nodes/node3/maintain", body)[0] == 400, body
    assert "no node node9" in ctl_node(
        c, "maintain", "node9", "--for", "8h", "--reason", "x", code=3)
    # All or nothing: no node of the list, if one is unknown.
    assert "no nodes node[9-12]; nothing was changed" in ctl_node(
        c, "maintain", "node[1-3,9-12]", "--for", "8h", "--reason", "x",
        code=3)
    assert state("node1") == "ok"
    assert "no node node9; nothing was changed" in ctl_node(
        c, "forget", "node[1,9]", code=3)
    assert "not in maintenance" in ctl_node(c, "maintain", "node3", "--end",
                                            code=3)
    assert "node3: in maintenance for 8h" in ctl_node(
        c, "maintain", "node3", "--for", "8h", "--reason", "new cable")
    close(a)
    c.kill()
    c.start()
    a = agents(c)
    assert state("node3") == "maintenance"
    one = [n for n in c.get("nodes") if n["node"] == "node3"][0]
    assert one["maintenance"]["text"] == "new cable", one
    assert one["maintenance"]["until_unix_ns"] > time.time_ns()
    assert "new cable" in ctl_node(c, "list", "--state", "maintenance")
    run = c.run("quick", overrides={"canary.time": "1s"})
    assert c.get("runs/" + run)["overrides"] == {"canary.time": "1s"}
    assert "overrides" not in c.get("runs")[0]
    poll("the reason", 30, lambda: "node3 is in maintenance until" in
         c.get("runs/" + run).get("text", ""))
    c.request("POST", f"runs/{run}/cancel")
    assert [e for e in c.get("events?kind=order&limit=1000")
            if "maintenance ordered by" in e["text"]
            and "8h: new cable" in e["text"]]
    ctl_node(c, "maintain", "node3", "--end")
    assert state("node3") == "ok"
    assert "stop its agent first" in ctl_node(c, "forget", "node3", code=3)
    close(a)
    poll("gone", 10, lambda: state("node3") == "late")
    assert "node3: forgotten" in ctl_node(c, "forget", "node3")
    assert state("node3") is None
    c.kill()
    c.start()
    assert state("node3") is None and state("node1") is not None
    a = agents(c)
    assert state("node3") == "ok"
    close(a)


def node(c, name="node3", software="0.1.0", inventory=None, ahead_s=0,
         alarm="", mesh=None):
    """An agent with these reports about its node; by default it is healthy."""
    a = Agent(c.pki, name, c.port, beat=False, hello=False)
    a.send("hello", version=1, node=name, boot="b9", runs=[], spool=[],
           software=software, inventory=inventory or inventory_of())
    a.wait("welcome")
    if mesh is not None:
        a.send("mesh-ready", ok=mesh == "", text=mesh)
    for _ in range(3):  # the least delay of some is taken
        a.send("heartbeat", at_unix_ns=time.time_ns() + ahead_s * 10 ** 9,
               load=0.1, spool_bytes=0, **({"alarm": alarm} if alarm else {}))
    a.beat_on = True  # from now on as a clock that is right would
    return a


def inventory_of(mpis=("openmpi",), port="ACTIVE", version="4", nets=(),
                 net=False):
    """eno2 is down on most nodes, and docker0 no device: no fault either."""
    return {"starts": True, "mpi_net": net,
            "mpi": [{"name": m, "version": version} for m in mpis],
            "nics": [{"name": f"two{i}", "kind": "ethernet", "state": "up",
                      "nets": [n]} for i, n in enumerate(nets)] + [
                {"name": "mlx5_1", "kind": "infiniband", "state": port},
                {"name": "eno2", "kind": "ethernet", "state": "down"},
                {"name": "docker0", "kind": "virtual",
                 "state": "up" if port == "ACTIVE" else "down"}]}


# node3's message, the text of diags, and the command that fixes it.
NODE_TROUBLES = (
    ({"inventory": inventory_of(mpis=())}, "1 nodes have no MPI with an "
     "engine and take no part in runs: node3", "coalmine-probe-openmpi"),
    ({"inventory": inventory_of(version="4.1.6")}, "openmpi is 4 on 2 nodes, "
     "and another version on 1: node3 4.1.6", "Install one version"),
    ({"inventory": inventory_of(mpis=("mpich",))}, "1 nodes do not have "
     "openmpi, which 2 have: node3", "coalmine-build-probe"),
    ({"inventory": inventory_of(port="DOWN")}, "1 ports are down that are "
     "up on most nodes: node3 mlx5_1", "On node3: ip link set mlx5_1 up"),
    ({"ahead_s": 180}, "clocks differ from the collector's by over 1 s: node3",
     "systemctl enable --now chrony"),
    ({"ahead_s": 10}, "clocks differ from the collector's by over 1 s: node3",
     "systemctl enable --now chrony"),
    ({"software": "0.0.9"}, "agents of another version than 0.1.0: node3",
     "apt-get install"),
    ({"alarm": "no room for records"}, "agent of node3: no room for records",
     "journalctl -u coalmine-agent"),
    ({"mesh": "port 17702 is taken"},
     "1 nodes take no part in the mesh (port 17702 is taken): node3",
     "ss -lunp"))
CORRECT = "[schedule]\nevery = 30d\n"


def told(c, text):
    return [d for d in c.get("diags") if d["text"].startswith(text)]


def problem(c, text, remedy, limit=10):
    found = poll(text, limit, lambda: told(c, text))
    assert len(found) == 1 and remedy in found[0]["remedy"], found


def cleared(c, text):
    poll("gone: " + text, 10, lambda: not told(c, text))


def test_diags(c):
    """Every problem is reported with a command, and no longer after that
    command, or the described action."""
    others = [node(c, "node1"), node(c, "node2")]
    for wrong, text, remedy in NODE_TROUBLES:
        a = node(c, **wrong)
        problem(c, text, remedy)
        a.close()
        a = node(c, mesh="")
        cleared(c, text)
        a.close()
    for a in others:
        a.close()
    two = [node(c, f"node{i}", mesh="", inventory=inventory_of(
        nets=(f"10.1.0.{i}/16", f"10.2.0.{i}/16"))) for i in (1, 2)]
    text = ("nodes share 2 networks (10.1.0.0/16, 10.2.0.0/16), but mpi.net "
            "does not select one for ranks on 2: node1, node2")
    problem(c, text, "mpi.net = 10.1.0.0/16")
    for a in two:
        a.close()
    two = [node(c, f"node{i}", mesh="", inventory=inventory_of(
        nets=(f"10.1.0.{i}/16", f"10.2.0.{i}/16"), net=True)) for i in (1, 2)]
    cleared(c, text)
    for a in two:
        a.close()
    # One address on two nodes; the bridge docker0 has one on all, which is
    # no fault.
    two = [node(c, f"node{i}", mesh="", inventory=inventory_of(
        nets=("10.1.0.1/16", f"10.1.0.{i + 1}/16", "172.17.0.1/16")))
        for i in (1, 2)]
    text = ("1 addresses are set on several nodes: node1 two0 10.1.0.1, "
            "node2 two0 10.1.0.1")
    problem(c, text, "Give each node its own address")
    for a in two:
        a.close()
    text = "3 of 3 agents are lost: node1, node2, node3"
    problem(c, text, "systemctl restart coalmine-agent", 40)
    a = agents(c)
    cleared(c, text)
    close(a)

    # Nodes without a verdict are not healthy, and no campaign is scheduled.
    text = "no enabled campaign gives verdicts on nodes"
    problem(c, text, "coalctl schedule enable watch")
    c.campaign("judge", 9, more="[schedule]\nevery = 30d\n"
               "[canary]\npartners = match\ntests = lat\n")
    cleared(c, text)
    problem(c, "nodes are not measured yet, first measurements at 20",
            "coalctl campaign run watch")
    os.unlink(f"{c.campaigns}/judge.conf")
    problem(c, text, "coalctl schedule enable watch")
    # A mistyped order is rejected, and does not count as a missed run.
    status, o = c.request("POST", "campaigns/quick/run",
                          {"overrides": {"campaign.nodes": "node[50-60]"}})
    assert status == 400 and "was ever seen" in o["error"]["message"], (status, o)
    # Names that were never seen among others are named.
    status, o = c.request("POST", "campaigns/quick/run", {"overrides": {
        "campaign.nodes": "node[1-3,50-60]", "campaign.nodes_min": "9"}})
    assert o["unseen"] == "node[50-60]", (status, o)
    c.request("POST", f"runs/{o['run']}/cancel")

    for name, more, text, remedy in (
            ("wrong", "color = red\n", "campaign wrong is broken: ",
             "coalctl campaign validate"),
            ("never", "[schedule]\nat = 09:00\nwindow = 10:00-11:00\n",
             "campaign never is scheduled and will never start",
             "schedule.window"),
            ("idle", "[schedule]\nevery = 1s\n",
             "campaign idle is scheduled and has not finished since ",
             "coalctl run list"),
            ("few", "[schedule]\nevery = 1s\n",
             "campaign few waits for nodes: 3 have had an agent, and "
             "campaign.nodes_min is 9", "coalctl init")):
        c.campaign(name, 9 if name == "few" else 3, more=more)
        problem(c, text, remedy, 20)
        assert not c.get("runs?campaign=few")
        c.campaign(name, 3, more=CORRECT)
        cleared(c, text)
        os.unlink(f"{c.campaigns}/{name}.conf")
    c.request("POST", "stop")
    os.rename(c.campaigns, c.campaigns + ".away")
    problem(c, "campaigns cannot be read: ", "Create the directory", 20)
    os.rename(c.campaigns + ".away", c.campaigns)
    cleared(c, "campaigns cannot be read: ")

    # TCP carried a run, although the nodes have a fabric.
    fabric = inventory_of()
    fabric["rails"] = [{"name": "mlx5_1"}]
    fabric["nics"][0]["port"] = "1"
    three = [node(c, f"node{i}", mesh="", inventory=fabric)
             for i in (1, 2, 3)]
    text = ("measurements used tcp although mlx5_1 is up, on 3 nodes: node1, "
            "node2, node3")
    run = c.run("quick")
    three[0].wait("start", 20, lambda m: m["run"] == run)
    three[0].records(run, dict(begin(run), carried={
        "wanted": "auto", "transport": "tcp"}), end(run, 2))
    c.wait_state(run, ["finished"])
    problem(c, text, "DeviceAllow")
    close(three)


def latencies(run, seq, partners):
    """The record of a test in which four nodes have the same latency."""
    return {"run": run, "seq": seq, "probe": "canary", "test": "lat",
            "phase": "wild", "partners": partners, "unit": "s", "n": 2,
            "mean": 1e-5, "min": 1e-5, "p50": 1e-5, "p90": 1e-5, "p99": 1e-5,
            "p999": 1e-5, "max": 1e-5, "hist": [[531, 2]], "pairs": [],
            "stopped_by": "time", "rounds": 8, "seed": 7,
            "interval": {"of": "p99", "level": 0.95, "lo": 1e-5, "hi": 1e-5},
            "nodes": [{"node": f"node{i}", "n": 2, "q25": 1e-5, "partners": 3,
                       "slow_partners": 0} for i in (1, 2, 3, 4)]}


def test_blind(c):
    """Nodes without a measurement are reported after some intervals of the
    mesh, until a run measures them; and that only rings have measured them,
    until a run of pairs has."""
    c.stop()
    c.options["mesh.interval"] = "1s"
    c.issue("node4", "agent")
    c.campaign("four", 4, more=CORRECT)
    c.campaign("judge", 4, more="[schedule]\nevery = 30d\n"
               "[canary]\npartners = match\ntests = lat\n")
    c.start()
    a = agents(c) + [Agent(c.pki, "node4", c.port)]
    text = ("4 nodes that are up have no recent measurement: "
            "node1, node2, node3, node4")
    problem(c, text, "coalctl coverage", 60)

    def measure(campaign, partners):
        run = c.run(campaign)
        a[0].wait("start", 20, lambda m: m["run"] == run)
        a[0].records(run, begin(run), phase(run, 2),
                     latencies(run, 3, partners), end(run, 4))
        c.wait_state(run, ["finished"])

    measure("four", "ring")
    cleared(c, text)
    text = "no campaign has measured nodes in pairs yet"
    problem(c, text, "coalctl campaign run watch")
    measure("judge", "match")
    cleared(c, text)
    close(a)


def test_foreign_texts(c):
    """Texts of agents about a run are cut between characters."""
    a = agents(c)
    run = to_running(c, a)
    said = dict(run=run, ok=False, type="launched", text="")
    said["text"] = "x" * (FRAME_MAX - len(json.dumps(said)))
    a[1].send_raw(frame(json.dumps(said).encode()))
    c.wait_state(run, ["failed"])
    close(a)
    # A final state is stored, so that the next process has it.
    a = agents(c)
    a[0].on_start = lambda m: a[0].send(
        "launched", run=m["run"], ok=False, text="a" * 299 + "\u00e9")
    run = c.run("quick")
    assert "aaa" in c.wait_state(run, ["failed"])["text"]
    close(a)
    c.stop()
    c.start()
    r = c.get("runs/" + run)
    assert r["state"] == "failed" and "aaa" in r["text"], r


def test_latin(c):
    """A file that an editor wrote in another encoding is listed as broken."""
    with open(c.campaigns + "/latin.conf", "wb") as f:
        f.write(b"[campaign]\nabout = Netz pr\xfcfen\nnodes_min = 1\n"
                b"[schedule]\nevery = 1s\n")
    said = poll("latin listed", 10, lambda: [
        x for x in c.get("campaigns") if x["campaign"] == "latin"])[0]
    assert not said["ok"] and "latin.conf:2:16" in said["error"], said
    a = agents(c)
    status, o = c.request("POST", "campaigns/latin/run", {})
    assert status == 422 or status == 400, (status, o)
    status, o = c.request("GET", "campaigns/latin")
    assert status == 200 and "pr?fen" in o["text"], o
    close(a)
    os.unlink(c.campaigns + "/latin.conf")


def test_reload(c):
    """A new certificate and a new key, without a pause: connected agents
    stay."""
    def shown(agent):
        return agent.sock.getpeercert(binary_form=True)
    old = agents(c)
    c.ctl("pki", "renew", c.pki, "collector,node1", "--rekey")
    c.proc.send_signal(signal.SIGHUP)
    poll("reload", 5, lambda: "certificates reloaded" in c.read_log())
    time.sleep(1)
    assert all(a.open for a in old)
    new = agents(c)
    assert shown(new[0]) != shown(old[0])
    close(old + new)


def config(c, *args):
    p = subprocess.run([c.command()[0], *args], capture_output=True,
                       text=True, timeout=20)
    return p.returncode, p.stdout, p.stderr


def test_config(c):
    path = c.dir + "/wrong.conf"
    with open(path, "w") as f:
        f.write("[collector]\nlisten = :1\nhartbeat = 2s\n")
    rc, _, err = config(c, "--config", path)
    assert rc == 3 and f"{path}:3: unknown key hartbeat" in err, (rc, err)
    rc, _, err = config(c, "--config", c.dir + "/none.conf")
    assert rc == 3 and "none.conf" in err, (rc, err)
    rc, _, err = config(c, "--config", "/dev/null", "-o",
                        "collector.silence=1s", "--check-config")
    assert rc == 3 and "silence" in err, (rc, err)
    rc, out, _ = config(c, "--config", "/dev/null", "--print-config")
    assert rc == 0 and "heartbeat = 2s" in out, out
    assert config(c, "--nonsense")[0] == 3
    assert config(c, "--version")[1].startswith("coalmined ")
    # Missing files, a port in use: nothing is started.
    os.mkdir(c.dir + "/state2")
    base = c.command()[1:]
    rc, _, err = config(c, *base, "-o", "tls.cert=/nowhere.pem", "-o",
                        f"collector.state_dir={c.dir}/state2",
                        "-o", "store.schema=state2")
    assert rc == 3 and "tls.cert /nowhere.pem" in err, (rc, err)
    rc, _, err = config(c, *base)
    assert rc == 3, (rc, err)


def main():
    with Collector() as c:
        c.issue("node[1-3]", "agent")
        c.campaign("quick", more="[schedule]\nevery = 30d\n")
        c.start()
        problem(c, "no agent has ever connected", "coalctl init")
        for test in (test_success, test_restart, test_restart_over_end,
                     test_restart_without_head, test_cancel, test_timeout,
                     test_alone,
                     test_flood, test_restored,
                     test_foreign_texts, test_latin, test_schedule,
                     test_killed_after_orders, test_maintenance,
                     test_reload, test_diags, test_blind, test_config):
            start = time.time()
            test(c)
            print(f"{test.__name__} {time.time() - start:.1f} s", flush=True)
        c.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
