#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs when the node, the engine or the collector fails. After every test no
process or file of a run remains.

Engines are scripts without MPI.
"""
import os
import pwd
import signal
import socket
import subprocess
import time

import fake

# What an engine may do, by the campaign's text; --stray makes it leave one.
ENGINE = r"""#!/usr/bin/env python3
import json, os, signal, socket, sys, time
run = sys.argv[sys.argv.index("--run") + 1]
rank = int(os.environ["PMI_RANK"])
t = socket.socket(socket.AF_UNIX)
t.connect(os.environ["COALMINE_RANK_WATCH"])
t.sendall(b"rank %d pid %d\n" % (rank, os.getpid()))
out = open(sys.argv[sys.argv.index("--json") + 1], "w") if rank == 0 else None
def put(text):
    if out:
        out.write(text + "\n")
        out.flush()
def record(seq, probe="round", **kw):
    if probe == "round":
        kw = dict(test="lat", phase="isolated", x="y" * 100)
    put(json.dumps(dict(run=run, seq=seq, probe=probe, **kw)))
words = open(sys.argv[2]).read().split()[1:]
for word in words:
    if word == "begin":
        record(1, "begin", version="1", mpi="x", nodes=[], roles={}, seed=1,
               options={})
    elif word.startswith("rounds"):
        for seq in range(2, 2 + int(word[6:])):
            record(seq)
    elif word == "progress":
        put('{"probe": "progress", "share": 0.5}')
    elif word == "bad":
        put('{"run": "%s", "seq": 1, "probe": "canary"}' % run)
    elif word == "gap":
        record(7)
    elif word == "noise":
        put("x" * (600 * 1024))
    elif word == "stray":
        parent = os.fork()
        if parent == 0:
            os.setsid()
            if os.fork() == 0:
                os.closerange(0, 64)
                for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                    signal.signal(s, signal.SIG_IGN)
                time.sleep(600)
            os._exit(0)
        os.waitpid(parent, 0)
    elif word == "talk":
        sys.stdout.write("o" * (1 << 20))
        sys.stdout.flush()
        sys.stderr.write("last words \xe9\n")
    elif word == "segment":
        open("/dev/shm/vader_segment.%s.%d.1.%d" % (
            socket.gethostname(), os.getuid(), rank), "w").close()
    elif word == "litter":
        top = os.environ["TMPDIR"]
        os.symlink(words[words.index("litter") + 1], top + "/link")
        os.mkdir(top + "/shut")
        open(top + "/shut/file", "w").close()
        os.chmod(top + "/shut", 0)
        os.chdir(top)
        for i in range(5000):
            os.mkdir("d")
            os.chdir("d")
        open("deep", "w").close()
    elif word == "die":
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    elif word == "bye":
        t.sendall(b"bye\n")
    elif word == "stay":
        time.sleep(600)
    elif word.startswith("exit"):
        sys.exit(int(word[4:]))
"""


def setup(site, nodes=("head",), c=None, **options):
    c = c or site.collector()
    lib = site.libexec(ENGINE)
    options = {"user": "nobody", "mpi__net": "127.0.0.0/8", **options}
    agents = [site.agent(n, c.port, lib, **options) for n in nodes]
    for n in nodes:
        c.wait("hello", n)
    fake.wait_for(lambda: len(c.heartbeats) == len(nodes))
    return [c] + agents


def start(c, run, words, ranks=1):
    fake.prepare(c, ["head"], run)
    fake.launch(c, ["head"], run, ranks=ranks, campaign="#x " + words)
    assert c.wait("launched", run=run)["ok"]


def reserve(site):
    """One exclusive run at a time; background runs concurrently with it."""
    c, a = setup(site)
    fake.prepare(c, ["head"], "r1")
    fake.prepare(c, ["head"], "r1")  # repeated request: the same answer
    no = fake.prepare(c, ["head"], "r2", ok=False)[0]
    assert no["cause"] == "busy" and "r1" in no["text"], no
    fake.prepare(c, ["head"], "b1", cls="background")
    no = fake.prepare(c, ["head"], "b2", cls="background", mpi="lam",
                      ok=False)[0]
    assert no["cause"] == "unsupported", no
    fake.end(c, ["head"], "r1")
    fake.prepare(c, ["head"], "r" * 63)  # no socket's name is as long
    for run in ("r" * 63, "b1"):
        fake.end(c, ["head"], run)
    a.wait_clean()


def idle_command(site):
    flag = os.path.join(site.top, "busy")
    c, a = setup(site, idle__check="command", idle__command=(
        "test ! -e %s || { echo job 17 runs >&2; exit 1; }" % flag))
    fake.prepare(c, ["head"], "r1")
    fake.end(c, ["head"], "r1")
    open(flag, "w").close()
    no = fake.prepare(c, ["head"], "r2", ok=False)[0]
    assert no["cause"] == "busy" and "job 17 runs" in no["text"], no
    fake.prepare(c, ["head"], "b1", cls="background")  # never asks
    fake.end(c, ["head"], "b1")
    a.wait_clean()


def idle_slow(site):
    """An end while the check still runs ends that, too."""
    c, a = setup(site, idle__check="command", idle__command="sleep 300")
    c.send("head", type="prepare", run="r1", mpi="mpich", head="head",
           deadline_ms=1000, **{"class": "exclusive"})
    fake.wait_for(a.marked)
    fake.end(c, ["head"], "r1")
    a.wait_clean()


def idle_load(site):
    c, a = setup(site, idle__check="load", idle__load="0")
    no = fake.prepare(c, ["head"], "r1", ok=False)[0]
    assert no["cause"] == "busy" and no["text"].startswith(
        "the load average "), no
    fake.wait_for(lambda: "busy" in c.heartbeats["head"])


def idle_auto(site):
    """Without Slurm nothing is known; a job that starts ends a run."""
    cgroup = os.path.join(site.top, "cgroup")
    scope = os.path.join(cgroup, "system.slice", "slurmstepd.scope")
    os.mkdir(cgroup)
    c, a = setup(site, idle__check="auto",
                 mounts="mount --bind %s /sys/fs/cgroup" % cgroup)
    no = fake.prepare(c, ["head"], "r1", ok=False)[0]
    assert no["cause"] == "idle-unknown", no
    assert "campaign.idle=assumed" in no["text"], no
    for known in ("assumed", "scheduler"):
        fake.prepare(c, ["head"], "r2", idle=known)
        fake.end(c, ["head"], "r2")
        a.wait_clean()
    os.makedirs(os.path.join(scope, "job_17"))
    for more in ({}, {"idle": "assumed"}):  # a visible job always counts
        no = fake.prepare(c, ["head"], "r3", ok=False, **more)[0]
        assert no["cause"] == "busy" and "job_17" in no["text"], no
    fake.prepare(c, ["head"], "r4", idle="scheduler", jobs=True)
    fake.launch(c, ["head"], "r4", campaign="#x begin stay")
    assert c.wait("launched", run="r4")["ok"]
    time.sleep(1.5)  # a job that existed before the run is not reported
    assert not c.find("prepared", run="r4", ok=False)
    os.mkdir(os.path.join(scope, "job_18"))
    no = c.wait("prepared", run="r4", ok=False)
    assert no["cause"] == "busy", no
    assert no["text"] == "slurm job_18 has started", no
    a.wait_clean()
    fake.prepare(c, ["head"], "r5", idle="scheduler")  # the job may be its own
    os.mkdir(os.path.join(scope, "job_19"))
    time.sleep(1.5)
    assert not c.find("prepared", run="r5", ok=False)
    fake.end(c, ["head"], "r5")
    a.wait_clean()


def rank_lost(site):
    c, a = setup(site)
    start(c, "r1", "segment die", ranks=2)
    lost = c.wait("rank-lost", run="r1", limit=8)
    assert lost["rank"] in (0, 1) and lost["pid"] > 1
    exited = c.wait("exited", run="r1", id=1)
    assert exited["status"] == 137, exited
    fake.end(c, ["head"], "r1")
    a.wait_clean()
    assert not [f for f in os.listdir("/dev/shm") if f.startswith(
        "vader_segment.%s.65534." % socket.gethostname())]
    start(c, "r2", "bye")
    assert c.wait("exited", run="r2", id=1)["status"] == 0
    fake.end(c, ["head"], "r2")
    a.wait_clean()
    assert not c.find("rank-lost", run="r2")
    start(c, "r3", "stay")  # ended by order: not news
    fake.wait_for(lambda: len(a.marked()) >= 2)
    fake.end(c, ["head"], "r3")
    a.wait_clean()
    assert not c.find("rank-lost", run="r3")


def collectors_user(site):
    """A run is refused if its user owns the socket of the collector on this
    host."""
    c, a = setup(site, mounts=(
        "mount -t tmpfs none /run && mkdir /run/coalmine && "
        "touch /run/coalmine/coalmined.sock && "
        "chown nobody /run/coalmine/coalmined.sock"))
    no = fake.prepare(c, ["head"], "r1", ok=False)[0]
    assert no["cause"] == "config" and "collector's" in no["text"], no
    a.wait_clean()


def root(site):
    """Nothing of a run is root's, unless the administrator says so."""
    c, a = setup(site, user="", children__allow_root="no")
    no = fake.prepare(c, ["head"], "r1", ok=False)[0]
    assert no["cause"] == "config" and "allow_root" in no["text"], no
    assert "children.user is root: runs are rejected" in open(a.log).read()


def foreign_code(site):
    """What the owner of an MPI's folder can have executed is not root's: its
    launcher, for its version, and its libraries, which the keeper never
    loads."""
    mpi = os.path.join(site.top, "mpi", "bin")
    os.makedirs(mpi)
    who = os.path.join(site.top, "who")
    os.mkdir(who)
    os.chmod(who, 0o777)
    with open(os.path.join(mpi, "mpiexec.hydra"), "w") as f:
        f.write("#!/bin/sh\n"
                "echo \"$*\" $(id -u) $(id -g) >>%s/said\n"
                "echo 'Version: 4.0.9'\nsleep 600\n" % who)
    os.chmod(os.path.join(mpi, "mpiexec.hydra"), 0o755)
    c, a = setup(site, children__mpich=mpi, children__openmpi="")
    hello = c.wait("hello")
    assert hello["inventory"]["mpi"][0]["version"] == "4.0.9", hello
    with open(who + "/said") as f:
        said = f.read().split()
    nobody = pwd.getpwnam("nobody")
    assert said == ["--version", str(nobody.pw_uid), str(nobody.pw_gid)], said
    start(c, "r1", "begin stay")
    envs = {}
    for pid in a.marked():
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            line = f.read()
        with open("/proc/%d/environ" % pid, "rb") as f:
            envs.setdefault(b"keeper" in line, []).append(f.read())
        with open("/proc/%d/limits" % pid) as f:
            limits = f.read().split()
        if b"keeper" not in line:
            assert "17179869184" in limits and "16384" in limits, limits
    assert any(b"LD_LIBRARY_PATH=" in e for e in envs[False]), envs
    for e in envs[True]:
        assert all(v.startswith(b"COALMINE_") for v in e.split(b"\0")[:-1]), e
    fake.end(c, ["head"], "r1")
    a.wait_clean()


def litter(site):
    """Folders deeper than PATH_MAX or without permissions, and a link to a
    file outside the run."""
    keep = os.path.join(site.top, "keep")
    os.mkdir(keep)
    os.chmod(keep, 0o777)
    open(keep + "/file", "w").close()
    c, a = setup(site)
    start(c, "r1", "begin litter %s bye exit0" % keep)
    assert c.wait("exited", run="r1", id=1)["status"] == 0
    fake.end(c, ["head"], "r1")
    a.wait_clean()
    assert os.listdir(keep) == ["file"]


def planted(site):
    """Only the agent can create files in the folder of a run. A process that
    tries all the time fails, and a file that exists anyway stops nothing."""
    c, a = setup(site)
    owner = os.stat(a.run_dir).st_uid
    for i in range(40):
        run = "r%d" % i
        path = os.path.join(a.run_dir, run)
        pid = os.fork()
        if pid == 0:
            nobody = pwd.getpwnam("nobody")
            os.setgroups([])
            os.setgid(nobody.pw_gid)
            os.setuid(nobody.pw_uid)
            end = time.monotonic() + 20
            while time.monotonic() < end:
                try:
                    os.mkfifo(path + "/stdout")
                    os._exit(1)
                except PermissionError:
                    pass
                except FileNotFoundError:
                    pass
            os._exit(0)
        time.sleep(0.01)
        fake.prepare(c, ["head"], run)
        os.kill(pid, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -9, run
        st = os.stat(path)
        assert (st.st_uid, st.st_mode & 0o777) == (owner, 0o710), st
        st = os.stat(path + "/tmp")
        assert (st.st_uid, st.st_mode & 0o7777) == (owner, 0o1770), st
        if i < 39:
            fake.end(c, ["head"], run)
            a.wait_clean()
    os.mkfifo(path + "/stdout")
    fake.launch(c, ["head"], run, campaign="#x begin talk exit3")
    assert c.wait("exited", run=run, id=1)["status"] == 3
    fake.end(c, ["head"], run)
    a.wait_clean()


def programs(site):
    """A campaign's program is started only where its path is allowed."""
    c, a = setup(site, children__programs="/bin/true,/bin/false")
    text = ("#x begin bye\n[canary]\ntests = command\n"
            "[command]\nrun = %s 1\n")
    for n, (path, ok) in enumerate((("/bin/tru", False), ("true", False),
                                    ("/bin/true/", False),
                                    ("/bin/false", True))):
        run = "p%d" % n
        fake.prepare(c, ["head"], run)
        fake.launch(c, ["head"], run, campaign=text % path)
        said = c.wait("launched", run=run)
        assert said["ok"] == ok, said
        assert ok or path + " is not in children.programs" in said["text"]
        fake.end(c, ["head"], run)
        a.wait_clean()
        since = len(c.messages)  # and where any other rank may start it
        c.send("head", type="prepare", run=run, mpi="mpich", head="other",
               deadline_ms=9000, program=path,
               **{"class": "exclusive"})
        said = c.wait("prepared", since=since)
        assert said["ok"] == ok, said
        assert ok or path + " is not in children.programs" in said["text"]
        fake.end(c, ["head"], run)
        a.wait_clean()


def tables(site):
    """A campaign has the engine write no file but where it may."""
    c, a = setup(site, children__tables="/var/tables")
    for n, (path, ok) in enumerate((
            ("/etc/passwd", False), ("/var/tables", False), ("t", False),
            ("/var/tables2/t", False), ("/var/tables/../t", False),
            ("/var/tables/a/t", True))):
        for section in ("multipath", "collective"):
            run = "t%d%s" % (n, section)
            fake.prepare(c, ["head"], run)
            fake.launch(c, ["head"], run, campaign="#x begin bye\n[%s]\n"
                        "table = %s\n" % (section, path))
            said = c.wait("launched", run=run)
            assert said["ok"] == ok, said
            assert ok or "children.tables" in said["text"], said
            fake.end(c, ["head"], run)
            a.wait_clean()


def bad_records(site):
    c, a = setup(site)
    for i, word in enumerate(("bad", "gap", "noise")):
        run = "r%d" % i
        start(c, run, word + " stay")
        no = c.wait("launched", run=run, ok=False)
        assert no["text"].startswith("record rejected: "), no
        c.wait("exited", run=run, id=1)
        fake.end(c, ["head"], run)
        a.wait_clean()
    assert c.records == {}


def output(site):
    c, a = setup(site)
    start(c, "r1", "begin progress talk exit3")
    exited = c.wait("exited", run="r1", id=1)
    assert exited["status"] == 3
    assert "last words" in exited["stderr"], exited
    assert len(exited["stderr"]) <= 4096
    assert c.wait("progress", run="r1")["record"]["share"] == 0.5
    size = os.path.getsize(os.path.join(a.run_dir, "r1", "stdout"))
    assert size == 256 * 1024, size
    fake.end(c, ["head"], "r1")
    a.wait_clean()


def strays(site):
    c, a = setup(site)
    start(c, "r1", "begin stray bye exit0")
    c.wait("exited", run="r1", id=1)
    fake.wait_for(lambda: not a.marked(), 3)
    start_ns = time.monotonic()
    start2 = "begin stray stay"
    fake.end(c, ["head"], "r1")
    a.wait_clean()
    start(c, "r2", start2)
    c.wait("records", run="r2")
    fake.end(c, ["head"], "r2", grace_ms=200)
    a.wait_clean(5)
    assert time.monotonic() - start_ns < 12 * fake.LATE


def follows(site):
    """An exclusive run, or a new start of the same run, waits until the
    previous run has ended. A waiting run that is ended is dropped."""
    c, a = setup(site)
    start(c, "r1", "begin stray stay")
    c.wait("records", run="r1")
    fake.end(c, ["head"], "r1", grace_ms=1000)
    c.send("head", type="prepare", run="r2", **{"class": "exclusive"},
           mpi="mpich", head="head", deadline_ms=60000)
    fake.end(c, ["head"], "r2")
    fake.prepare(c, ["head"], "r1")
    fake.end(c, ["head"], "r1")
    start(c, "r3", "begin stray stay")
    fake.end(c, ["head"], "r3", grace_ms=1000)
    fake.prepare(c, ["head"], "r4")
    assert not c.find("prepared", run="r2")
    fake.end(c, ["head"], "r4")
    a.wait_clean()


def agent_killed(site):
    """The agent is killed: its processes end, and after a restart it finds the
    records."""
    c, a = setup(site)
    c.ack = False
    start(c, "r1", "begin rounds20 stray stay")
    fake.wait_for(lambda: len(c.records.get("r1", [])) == 21)
    c.records["r1"] = c.records["r1"][:5]  # the rest was not committed
    a.kill()
    fake.wait_for(lambda: not a.marked(), 8, a.marked)
    assert os.listdir(a.run_dir) == ["r1"]
    c.ack = True
    since = len(c.messages)
    a.start()
    hello = c.wait("hello", since=since)
    assert hello["runs"] == [] and hello["spool"] == [
        {"run": "r1", "seq": 21}], hello
    fake.wait_for(lambda: len(c.records["r1"]) == 21)
    assert [r["seq"] for r in c.records["r1"]] == list(range(1, 22))
    spool = os.path.join(a.state, "spool")
    fake.wait_for(lambda: not os.listdir(spool))
    a.wait_clean()
    fake.prepare(c, ["head"], "r2")


def all_killed(site):
    """Agent and keepers killed at once: the restarted agent kills the
    remaining processes."""
    c, a = setup(site)
    start(c, "r1", "stray begin stay")
    c.wait("records", run="r1")
    fake.wait_for(lambda: len(a.marked()) >= 3)
    keepers = [p for p in a.marked()
               if b"keeper" in open("/proc/%d/cmdline" % p, "rb").read()]
    assert keepers
    a.proc.send_signal(signal.SIGSTOP)
    for pid in keepers:
        os.kill(pid, signal.SIGKILL)
    a.kill()
    assert a.marked()  # the stray at least
    since = len(c.messages)
    a.start()
    c.wait("hello", since=since)
    a.wait_clean(5)


def kill_keeper(a):
    """Find all keepers before the first kill: the child of a killed keeper
    ends soon too."""
    keepers = [pid for pid in a.marked()
               if b"keeper" in open("/proc/%d/cmdline" % pid, "rb").read()]
    assert keepers
    for pid in keepers:
        os.kill(pid, signal.SIGKILL)


def keeper_killed(site):
    """If a keeper is killed, the agent ends its processes."""
    c, a = setup(site)
    start(c, "r1", "begin stray stay")
    c.wait("records", run="r1")
    kill_keeper(a)
    assert c.wait("exited", run="r1", id=1)["status"] == 137
    fake.wait_for(lambda: not a.marked(), 5, a.marked)
    fake.end(c, ["head"], "r1")
    a.wait_clean()


def confined(site):
    """With no more rights than the unit leaves: the same."""
    c, a = setup(site, confined=True)
    start(c, "r1", "begin stray bye exit0")
    assert c.wait("exited", run="r1", id=1)["status"] == 0
    fake.wait_for(lambda: not a.marked(), 3)
    fake.end(c, ["head"], "r1")
    a.wait_clean()
    start(c, "r2", "begin stray stay")
    c.wait("records", run="r2")
    fake.end(c, ["head"], "r2")
    a.wait_clean()
    start(c, "r3", "stray begin stay")
    c.wait("records", run="r3")
    a.proc.send_signal(signal.SIGSTOP)
    kill_keeper(a)
    a.kill()
    assert a.marked() and os.listdir(a.run_dir)
    since = len(c.messages)
    a.start()
    c.wait("hello", since=since)
    a.wait_clean(5)


def separated(site):
    """With agent.user and no more rights than the unit leaves: the same. The
    process that reads the network has no privileges."""
    flag = os.path.join(site.top, "busy")
    c, a = setup(site, confined=True, separate=True, idle__check="command",
                 idle__command="test $(id -u) = 0 && test ! -e " + flag)
    with open("/proc/%d/status" % a.proc.pid) as f:
        status = dict(line.split(":\t", 1) for line in f)
    user = str(pwd.getpwnam("daemon").pw_uid)
    assert status["Uid"].split() == [user] * 4, status
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1\n", "2\n"), status
    for kind in ("Inh", "Prm", "Eff", "Amb"):
        assert int(status["Cap" + kind], 16) == 0, status
    start(c, "r1", "segment talk begin rounds3 exit3")
    assert c.wait("exited", run="r1", id=1)["status"] == 3
    fake.end(c, ["head"], "r1")
    a.wait_clean()
    assert len(c.records["r1"]) == 4, c.records
    start(c, "r2", "stray begin stay")
    c.wait("records", run="r2")
    kill_keeper(a)  # the broker ends its processes
    assert c.wait("exited", run="r2", id=1)["status"] == 137
    fake.wait_for(lambda: not a.marked(), 5, a.marked)
    fake.end(c, ["head"], "r2")
    a.wait_clean()
    open(flag, "w").close()
    no = fake.prepare(c, ["head"], "r3", ok=False)[0]
    assert no["cause"] == "busy", no
    os.unlink(flag)
    start(c, "r4", "begin stay")
    c.wait("records", run="r4")
    with open("/proc/%d/task/%d/children" % (a.proc.pid, a.proc.pid)) as f:
        broker = int(f.read())
    os.kill(broker, signal.SIGKILL)
    assert a.proc.wait(20 * fake.LATE) != 0
    fake.wait_for(lambda: not a.marked(), 8, a.marked)
    assert "the broker has ended" in open(a.log).read()
    since = len(c.messages)
    a.start()
    c.wait("hello", since=since)
    a.wait_clean()
    assert a.kill(signal.SIGTERM) == 0


def agent_stops(site):
    c, a = setup(site)
    start(c, "r1", "begin stray stay")
    c.wait("records", run="r1")
    assert a.kill(signal.SIGTERM) == 0
    a.wait_clean(5)


def deadline(site):
    c, a = setup(site, children__deadline_max="1s")
    start(c, "r1", "begin stay")
    c.wait("exited", run="r1", id=1, limit=8)
    a.wait_clean()


def collector_away(site):
    """Without a collector runs continue for agent.grace, then they end."""
    c, a = setup(site, agent__grace="8s")
    start(c, "r1", "begin stay")
    fake.wait_for(lambda: "r1" in c.records)
    port, records = c.port, c.records
    c.close()
    time.sleep(0.5)
    c = site.collector(port=port)
    c.records = records
    c.wait("hello", runs=["r1"])
    time.sleep(8.5)  # the grace would be over
    assert a.marked()
    c.close()
    began = time.monotonic()
    a.wait_clean(40)
    assert time.monotonic() - began > 7
    c = site.collector(port=port)
    assert c.wait("hello")["runs"] == []


def said_while_away(site):
    """An event during an outage is reported in the next session."""
    c, a = setup(site)
    start(c, "r1", "begin die")
    port, records = c.port, c.records
    c.close()
    fake.wait_for(lambda: "all local ranks ended" in open(a.log).read())
    c = site.collector(port=port)
    c.records = records
    assert c.wait("rank-lost", run="r1")["rank"] == 0
    assert c.wait("exited", run="r1", id=1)["status"] == 137
    fake.wait_for(lambda: "r1" in c.records)
    assert [r["seq"] for r in c.records["r1"]] == [1]
    fake.end(c, ["head"], "r1")
    a.wait_clean()


def dropped(site):
    """A run that the collector does not keep is ended."""
    c, a = setup(site)
    start(c, "r1", "begin stay")
    fake.wait_for(lambda: "r1" in c.records)
    c.keep = False
    c.sessions["head"].close()
    c.wait("hello", runs=["r1"])
    a.wait_clean()


def batch(site):
    """A job of a batch system: its script runs, the ranks are started, and it
    ends with them, or with the run."""
    c, a = setup(site, children__command="/bin/sh {script}")
    for run, words in (("r1", "begin bye exit0"), ("r2", "begin stay")):
        fake.prepare(c, ["head"], run)
        c.send("head", type="launch", run=run, mpi="mpich",
               launcher="command", nodes=[{"node": "head",
                                           "addr": "127.0.0.1"}],
               ranks_per_node=1, campaign="#x " + words, deadline_ms=60000)
        assert c.wait("launched", run=run, begun=True)["ok"]
        assert not c.find("records", run=run)
        fake.launch(c, ["head"], run, campaign="#x " + words)
        c.wait("records", run=run)
        if run == "r1":
            assert c.wait("exited", run=run, id=1)["status"] == 0
            assert c.wait("exited", run=run, id=0)["status"] == 0
        fake.end(c, ["head"], run)
        a.wait_clean()


def disk_full(site):
    """An alarm in heartbeats; records arrive all the same, and the spool is
    whole again when there is room."""
    state = os.path.join(site.top, "head.state")
    os.mkdir(state)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", state],
                   check=True)
    try:
        c, a = setup(site)
        fill = os.path.join(state, "fill")
        with open(fill, "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 512)
            except OSError:
                pass
        start(c, "r1", "begin rounds300 bye exit0")
        assert c.wait("exited", run="r1", id=1)["status"] == 0
        fake.wait_for(lambda: "alarm" in c.heartbeats["head"])
        assert "disk is full" in c.heartbeats["head"]["alarm"]
        assert [r["seq"] for r in c.records["r1"]] == list(range(1, 302))
        fake.end(c, ["head"], "r1")
        a.wait_clean()
        os.unlink(fill)
        start(c, "r2", "begin rounds3 bye exit0")
        c.wait("exited", run="r2", id=1)
        fake.wait_for(lambda: "alarm" not in c.heartbeats["head"])
        assert len(c.records["r2"]) == 4
        a.kill(signal.SIGTERM)
    finally:
        subprocess.run(["umount", "-l", state])


def memory(site):
    """At most 10 MiB resident when idle, before and after runs."""
    c, a = setup(site)

    def rss_kib():
        with open("/proc/%d/status" % a.proc.pid) as f:
            for line in f:
                if line.startswith("VmRSS"):
                    return int(line.split()[1])
    if "asan" in fake.BUILD:
        return
    assert rss_kib() <= 10240, rss_kib()
    for i in range(3):
        run = "r%d" % i
        start(c, run, "begin rounds2000 bye exit0")
        c.wait("exited", run=run, id=1)
        fake.end(c, ["head"], run)
        a.wait_clean()
    time.sleep(0.5)
    print("resident after runs: %d KiB" % rss_kib())
    assert rss_kib() <= 10240, rss_kib()


if __name__ == "__main__":
    fake.main(reserve, idle_command, idle_slow, idle_load, idle_auto, rank_lost,
              collectors_user, root, foreign_code, litter,
              planted, programs, tables, bad_records, output, strays,
              follows, agent_killed, all_killed,
              keeper_killed, confined, separated, agent_stops, deadline,
              collector_away, said_while_away, dropped, batch,
              disk_full, memory)
