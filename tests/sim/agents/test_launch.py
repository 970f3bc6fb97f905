#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs through real launchers: records arrive, nothing is left.

The engine is a script: what MPI does with the daemons is real, what a rank
does is not. Not covered: networks, more than one machine.
"""
import os
import sys

import fake

# Rank 0 writes a begin and an end record; every rank connects to the rank watch.
ENGINE = r"""#!/usr/bin/env python3
import json, os, socket, sys, time
rank = int(os.environ.get("OMPI_COMM_WORLD_RANK",
                          os.environ.get("PMI_RANK", "0")))
size = int(os.environ.get("OMPI_COMM_WORLD_SIZE",
                          os.environ.get("PMI_SIZE", "1")))
run = sys.argv[sys.argv.index("--run") + 1]
t = socket.socket(socket.AF_UNIX)
t.connect(os.environ["COALMINE_RANK_WATCH"])
t.sendall(b"rank %d pid %d\n" % (rank, os.getpid()))
if rank == 0:
    open(sys.argv[2]).read()
    with open(sys.argv[sys.argv.index("--json") + 1], "w") as f:
        def put(**r):
            f.write(json.dumps(r) + "\n")
            f.flush()
        put(run=run, seq=1, probe="begin", version="1", mpi="x",
            nodes=["head"], roles={}, seed=1,
            options={"uid": os.getuid(), "size": size})
        put(run=run, seq=2, probe="end", records=2, status="ok")
time.sleep(0.3)
t.sendall(b"bye\n")
"""


def one_run(site, mpi, nodes, user):
    lib = site.libexec(ENGINE)
    c = site.collector()
    agents = [site.agent(n, c.port, lib, user=user,
                         mpi__net="127.0.0.0/8") for n in nodes]
    for n in nodes:
        c.wait("hello", n)
    fake.wait_for(lambda: len(c.heartbeats) == len(nodes))
    for run in ("first", "second"):
        fake.prepare(c, nodes, run, mpi)
        fake.launch(c, nodes, run, mpi, ranks=2)
        assert c.wait("launched", "head", run=run)["ok"]
        exited = c.wait("exited", "head", run=run, id=0, limit=20)
        assert exited["status"] == 0, exited
        fake.end(c, nodes, run)
        for a in agents:
            a.wait_clean()
        records = c.records[run]
        assert [r["probe"] for r in records] == ["begin", "end"], records
        assert records[0]["options"]["size"] == 2 * len(nodes)
        assert (records[0]["options"]["uid"] == 0) == (user == "")
    assert not c.find("rank-lost")
    for a in agents:
        assert a.kill(15) == 0
        assert os.listdir(os.path.join(a.state, "spool")) == []


def openmpi(site):
    one_run(site, "openmpi", ["head", "nodeb", "nodec"], "nobody")


def openmpi_root(site):
    one_run(site, "openmpi", ["head"], "")


def mpich(site):
    one_run(site, "mpich", ["head", "nodeb", "nodec"], "nobody")


if __name__ == "__main__":
    fake.main(openmpi, openmpi_root, mpich)
