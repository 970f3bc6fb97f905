# SPDX-License-Identifier: Apache-2.0
"""A topology file that changes under a real collector: SIGHUP moves nodes to
their new leaves, a broken file changes nothing, the earlier topology stays
available, and differences from the nodes' reports are listed. A setting that
one node changes is an event, a problem and a row of coalctl diff."""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agent import Agent  # noqa: E402
from collector import BUILD, Collector, poll  # noqa: E402

FABRIC = """switchguid=0x{leaf:x}
Switch\t40 "S-{leaf:016x}"\t# "leaf{leaf}" base port 0 lid 1 lmc 0
"""
HOST = """caguid=0x{guid:x}
Ca\t1 "H-{guid:016x}"\t# "{name} mlx5_0"
[1]({guid:x}) \t"S-{leaf:016x}"[1]\t# lid 5 lmc 0 "x" lid 1 4xHDR
"""


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def coalctl(c, *args, code=0):
    r = subprocess.run([BUILD + "/ctl/coalctl", "--url",
                        "unix:" + c.socket, *args], capture_output=True,
                       text=True)
    assert r.returncode == code, (args, r.returncode, r.stdout, r.stderr)
    return r.stdout + r.stderr


def leaves(c):
    return {n["node"]: n["leaf"] for n in c.get("nodes")}


def inventory(guid, gbps, mtu="9000"):
    return {"settings": {"eth0 mtu": mtu, "kernel": "6.1"}, "nics": [{"name": name, "kind": "infiniband", "addrs": [],
                      "port": "1", "state": state, "guid": f"0x{id_:016x}",
                      "speed_bps": gbps * 10**9}
                     for name, id_, state in (("mlx5_0", guid, "ACTIVE"),
                                              ("mlx5_7", guid + 16, "DOWN"))]}


def reload(c, log):
    seen = c.read_log().count(log)
    c.proc.send_signal(signal.SIGHUP)
    poll(log, 15, lambda: c.read_log().count(log) > seen)


def main():
    with Collector() as c:
        file, fabric = c.dir + "/leaves", c.dir + "/fabric"
        c.options["topology.leaves"] = file
        write(file, "l1 node[1-2]\nl2 node3\n")
        c.issue("node[1-3]", "agent")
        c.start()
        agents = [Agent(c.pki, f"node{i}", c.port, inventory=inventory(
            0xa0 + i, 100 if i == 1 else 200))
            for i in (1, 2, 3)]
        for a in agents:
            a.wait("welcome")
        assert leaves(c) == {"node1": "l1", "node2": "l1", "node3": "l2"}
        assert coalctl(c, "topology", "check").startswith("ok: 3 nodes")
        assert "3 nodes, 1 rail, 2 leaves\nl1 node[1-2]\nl2 node3\n" in \
            coalctl(c, "topology", "show")

        # a setting that differs from that of most nodes
        assert "no setting differs" in coalctl(c, "diff"), coalctl(c, "diff")
        agents[2].send("heartbeat", at_unix_ns=time.time_ns(), spool_bytes=0,
                       settings={"eth0 mtu": "1500", "kernel": "6.1"})
        poll("setting", 15, lambda: c.get("differences")["differences"])
        assert coalctl(c, "diff", code=1).splitlines()[1:] == [
            "node3  l2    eth0 mtu  1500   9000        2 of 3",
            "compared: 3 nodes of 1 kind"], coalctl(c, "diff", code=1)
        coalctl(c, "diff", "node[1-2]")
        poll("event", 15, lambda: c.get("events?kind=setting"))
        assert [(e["subject"], e["text"]) for e in
                c.get("events?kind=setting")] == [
            ("node3", "eth0 mtu: 9000 before, now 1500")]
        assert any("settings of 1 nodes differ" in d["text"] and
                   "node3 eth0 mtu" in d["text"] for d in c.get("diags"))

        time.sleep(4) # coalctl may take half of it to ask
        changed = time.time()
        write(file, "l1 node1\nl9 node[2-4] up=s1\n")
        reload(c, "leaves reloaded")
        assert leaves(c) == {"node1": "l1", "node2": "l9", "node3": "l9"}
        write(file, "l1 node1 node2\n")
        done = c.read_log().count("leaves reloaded")
        reload(c, "leaves:1: expected LEAF NODES")
        # it follows the result of the leaves
        poll("end", 15, lambda: c.read_log().rsplit("expected LEAF NODES", 1)[
            1].count("certificates reloaded") == 1)
        assert c.read_log().count("leaves reloaded") == done
        assert leaves(c)["node2"] == "l9"
        assert "s1: switches 1, links to them 1, which cannot be " \
            "distinguished; pairs of nodes measured over them: 0\n" in \
            coalctl(c, "coverage", "--identifiable")

        # the earlier and the current topology
        rows = c.get("topology?limit=9")
        assert [r["text"] for r in rows] == [
            "l1 node1\nl9 node[2-4] up=s1\ns1 -\n",
            "l1 node[1-2]\nl2 node3\n"], rows
        assert abs(rows[0]["from_unix_ns"] / 1e9 - changed) < 60
        ago = f"{int((time.time() - changed) * 1000) + 2000}ms"
        assert "l2 node3" in coalctl(c, "topology", "show", "--at", ago)
        assert "l9 node" in coalctl(c, "topology", "show", "--at", "0s")
        assert "had no topology file" in \
            coalctl(c, "topology", "show", "--at", "1d", code=3)

        # differences between the topology file and the discovered fabric
        write(fabric, FABRIC.format(leaf=1) + FABRIC.format(leaf=9) +
              HOST.format(name="node1", guid=0xa1, leaf=1) +
              HOST.format(name="node2", guid=0xa3, leaf=9) +
              HOST.format(name="node3", guid=0xa2, leaf=1) +
              HOST.format(name="node5", guid=0xa5, leaf=1) +
              HOST.format(name="node1", guid=0xb1, leaf=9).replace(
                  "mlx5_0", "mlx5_7") +
              HOST.format(name="node1", guid=0xc1, leaf=9).replace(
                  "mlx5_0", "mlx5_8"))
        said = coalctl(c, "topology", "check", fabric, code=1).splitlines()
        assert said == [
            "node1: the file says leaf leaf1, the collector has l1",
            "node1: the file says leaf leaf9 for port mlx5_7 of this node, "
            "but that port is DOWN",
            "node1: the file says 200 Gbit/s to leaf leaf1, but the fastest "
            "port that the node reports has 100 Gbit/s",
            "node2: the file says leaf leaf9, the collector has l9",
            "node2: the file says leaf leaf9, but port mlx5_0 of this node "
            "is on leaf leaf1, described as \"node3 mlx5_0\"",
            "node3: the file says leaf leaf1, the collector has l9",
            "node3: the file says leaf leaf1, but port mlx5_0 of this node "
            "is on leaf leaf9, described as \"node2 mlx5_0\"",
            "node1: the file says leaf leaf9 for port mlx5_8 of this node, "
            "but the node does not report that port",
            "node5: the node is in the file, but has never had an agent"], said
        write(file, "l1 node[1-2]\n")
        reload(c, "leaves reloaded")
        assert any("no leaf for 1 nodes: node3" in d["text"]
                   for d in c.get("diags")), c.get("diags")
        # names that differ only in their domain are one node
        write(file, "l1 node[1-2].example.com\nl2 node3.example.com\n")
        reload(c, "leaves reloaded")
        assert leaves(c) == {"node1": "l1", "node2": "l1", "node3": "l2"}
        assert coalctl(c, "topology", "check").startswith("ok: 3 nodes")
        assert not any("topology.leaves" in d["text"]
                       for d in c.get("diags")), c.get("diags")
        c.stop()

        # a start with the same file changes nothing; without a file it does
        c.start()
        assert len(c.get("topology?limit=9")) == 4
        c.stop()
        c.options["topology.leaves"] = ""
        c.start()
        assert c.get("topology")[0]["text"] == ""
        assert "has no topology file" in \
            coalctl(c, "topology", "show", code=3)
        c.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
