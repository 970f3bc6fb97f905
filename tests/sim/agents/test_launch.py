#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs whose ranks are started by agents: the ranks connect, records arrive,
and no process or file remains.

The engine is a script that speaks PMI like MPICH, or PMI-2 with Slurm's
library if it is installed. Open MPI's PMIx server is the real one; the lab
tests that its ranks connect. Not covered: networks, several machines.
"""
import ctypes
import os
import subprocess
import sys

import fake

# Rank 0 writes a begin and an end record; every rank connects to the rank watch.
ENGINE = r"""#!/usr/bin/env python3
import json, os, socket, sys, time
env = os.environ
rank = int(env.get("OMPI_COMM_WORLD_RANK", env.get("PMI_RANK", "0")))
size = int(env.get("OMPI_COMM_WORLD_SIZE", env.get("PMI_SIZE", "1")))
local = int(env.get("OMPI_COMM_WORLD_LOCAL_RANK", env.get("MPI_LOCALRANKID")))
run = sys.argv[sys.argv.index("--run") + 1]
t = socket.socket(socket.AF_UNIX)
t.connect(env["COALMINE_RANK_WATCH"])
t.sendall(b"rank %d pid %d\n" % (rank, os.getpid()))
found = []
if "PMI_FD" in env:
    pmi = os.fdopen(int(env["PMI_FD"]), "r+b", buffering=0)
    def ask(text, want):
        pmi.write((text + "\n").encode())
        line = b""
        while not line.endswith(b"\n"):
            line += pmi.read(1)
        line = line.decode().strip()
        assert line.startswith("cmd=" + want), line
        return line
    ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init")
    ask("cmd=get_maxes", "maxes")
    name = ask("cmd=get_my_kvsname", "my_kvsname").split("kvsname=")[1].split()[0]
    get = "cmd=get kvsname=%s key=" % name
    assert "(vector,(0,%d," % (size // int(env["MPI_LOCALNRANKS"])) in ask(
        get + "PMI_process_mapping", "get_result")
    ask("cmd=put kvsname=%s key=bc-%d value=at %d = x" % (name, rank, rank),
        "put_result rc=0")
    ask("cmd=barrier_in", "barrier_out")
    for i in range(size):
        assert ask(get + "bc-%d" % i, "get_result rc=0").endswith(
            "value=at %d = x" % i)
        found.append(i)
    assert "rc=-1" in ask(get + "none", "get_result")
    ask("cmd=barrier_in", "barrier_out")
    ask("cmd=finalize", "finalize_ack")
else:
    assert int(env["PMIX_RANK"]) == rank and env["PMIX_NAMESPACE"]
    found = list(range(size))
if rank == 0:
    open(sys.argv[2]).read()
    with open(sys.argv[sys.argv.index("--json") + 1], "w") as f:
        def put(**r):
            f.write(json.dumps(r) + "\n")
            f.flush()
        put(run=run, seq=1, probe="begin", version="1", mpi="x",
            nodes=["head"], roles={}, seed=1,
            options={"uid": os.getuid(), "size": size, "found": len(found)})
        put(run=run, seq=2, probe="end", records=2, status="ok")
time.sleep(0.3)
t.sendall(b"bye\n")
"""

# PMI-2 code that replaces the lines of PMI-1 in the engine.
LIBPMI2 = "libpmi2.so.0"
SECOND = r"""if "PMI_FD" in env:
    from ctypes import CDLL, byref, c_int, create_string_buffer
    pmi = CDLL("%s")
    spawned, n, r, app, there = (c_int() for _ in range(5))
    job, text = create_string_buffer(256), create_string_buffer(1025)
    def ok(rc):
        assert rc == 0, rc
    ok(pmi.PMI2_Init(byref(spawned), byref(n), byref(r), byref(app)))
    assert (n.value, r.value, spawned.value) == (size, rank, 0)
    ok(pmi.PMI2_Job_GetId(job, 256))
    ok(pmi.PMI2_Info_GetJobAttr(b"PMI_process_mapping", text, 1024,
                                byref(there)))
    assert there.value and text.value == b"(vector,(0,%%d,%%d))" %% (
        size // int(env["MPI_LOCALNRANKS"]), int(env["MPI_LOCALNRANKS"]))
    if local == 0:
        time.sleep(0.2)
        ok(pmi.PMI2_Info_PutNodeAttr(b"shm", b"/of-%%d" %% rank))
    ok(pmi.PMI2_Info_GetNodeAttr(b"shm", text, 1024, byref(there), 1))
    assert there.value and text.value == b"/of-%%d" %% (rank - local)
    ok(pmi.PMI2_KVS_Put(b"bc-%%d" %% rank, b"at %%d = x" %% rank))
    ok(pmi.PMI2_KVS_Fence())
    for i in range(size):
        ok(pmi.PMI2_KVS_Get(job, -1, b"bc-%%d" %% i, text, 1024, byref(there)))
        assert text.value == b"at %%d = x" %% i, text.value
        found.append(i)
    ok(pmi.PMI2_KVS_Fence())
    ok(pmi.PMI2_Finalize())
""" % LIBPMI2


def one_run(site, mpi, nodes, user, engine=ENGINE):
    lib = site.libexec(engine)
    c = site.collector()
    agents = [site.agent(n, c.port, lib, user=user,
                         mpi__net="127.0.0.0/8") for n in nodes]
    for n in nodes:
        c.wait("hello", n)
    fake.wait_for(lambda: len(c.heartbeats) == len(nodes))
    for run in ("first", "second"):
        fake.prepare(c, nodes, run, mpi)
        fake.launch(c, nodes, run, mpi, ranks=2)
        for n in nodes:
            assert c.wait("launched", n, run=run)["ok"]
            exited = c.wait("exited", n, run=run, id=1, limit=20)
            assert exited["status"] == 0, exited
        fake.end(c, nodes, run)
        for a in agents:
            a.wait_clean()
        records = c.records[run]
        assert [r["probe"] for r in records] == ["begin", "end"], records
        assert records[0]["options"]["size"] == 2 * len(nodes)
        assert records[0]["options"]["found"] == 2 * len(nodes)
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


def mpich_second(site):
    try:
        ctypes.CDLL(LIBPMI2)
    except OSError:
        print("no %s: PMI-2 is not tried" % LIBPMI2)
        return
    first, rest = ENGINE.split('if "PMI_FD" in env:\n')
    one_run(site, "mpich", ["head", "nodeb", "nodec"], "nobody",
            first + SECOND + rest[rest.index("else:\n"):])


def tried(site):
    """Without a collector, on one node."""
    for engine, rc, says in (
            (ENGINE, 0, "two ranks connected by pm"),
            ("#!/bin/sh\necho no such fabric >&2; exit 3\n", 1,
             ": ended unexpectedly: no such fabric"),
            ("#!/bin/sh\nsleep 0.1\n", 1, "without an end record")):
        lib = site.libexec(engine)
        for mpi in ("openmpi", "mpich"):
            done = subprocess.run(
                [fake.BUILD + "/agents/coalmine-agent", "-o",
                 "children.libexec=" + lib, "-o", "children.user=nobody",
                 "--try", mpi], stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True)
            assert done.returncode == rc and says in done.stdout, done


if __name__ == "__main__":
    fake.main(openmpi, openmpi_root, mpich, mpich_second, tried)
