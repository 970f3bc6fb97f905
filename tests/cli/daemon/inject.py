#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls of the collector and of an agent fail, one in each session.

    inject.py [--jobs N] [quick | all]
    inject.py PROGRAM KIND PLACE ERRNO once|all

A session: the collector starts, an agent enrols, a run sends records, an order
is given, the collector is stopped while the run sends more, the agent is
stopped, both start again. A first session lists the places of calls by kind
(tests/fake/inject.c). A fault is one call, or all calls of its kind for some
seconds. After it the program may end, but not by a signal. It must log what
failed. If it has ended it is started again without a fault. Then everything
that was acknowledged must be there. PROGRAM is collector or agent, with 1 or 2
for its first or second process. The second form repeats one session and shows
the callers of the failed call.
"""
import collections
import concurrent.futures
import errno
import glob
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agent import LATE  # noqa: E402
from collector import BUILD, Collector, FINAL  # noqa: E402

LIBRARY = BUILD + "/tests/fake/libinject.so"
PROGRAMS = ("collector1", "agent1", "collector2", "agent2")
PLACES_MAX = 120  # of a kind in a program; only of memory there are more
FIRST, RECORDS = 20, 39  # records before and after the stop of the collector
FAULT_S = 10             # of a fault of all calls
WAIT_S = 20 * LATE       # without progress
REPEATS_MAX = 100        # of a line in a log
ERRORS = {
    "memory": ["ENOMEM"], "map": ["ENOMEM"], "open": ["EMFILE"],
    "read": ["EIO"], "write": ["ENOSPC", "EIO"], "sync": ["EIO"],
    "truncate": ["EIO"], "rename": ["EIO"], "unlink": ["EIO"],
    "folder": ["ENOSPC"], "socket": ["EMFILE"], "accept": ["EMFILE"],
    "connect": ["ENETUNREACH"], "send": ["EPIPE"], "receive": ["ECONNRESET"],
    "channel": ["EMFILE"], "thread": ["EAGAIN"], "process": ["EAGAIN"]}
ENGINE = """#!/usr/bin/python3 -ISE
import json, os, socket, sys, time
top = %r
run = sys.argv[sys.argv.index("--run") + 1]
watch = socket.socket(socket.AF_UNIX)
watch.connect(os.environ["COALMINE_RANK_WATCH"])
watch.sendall(b"rank 0 pid %%d\\n" %% os.getpid())
out = open(sys.argv[sys.argv.index("--json") + 1], "w")
def put(seq, **more):
    out.write(json.dumps(dict(run=run, seq=seq, **more)) + "\\n")
    out.flush()
put(1, probe="begin", version="1", mpi="mpich", nodes=["n1"], roles={},
    seed=1, options={})
with open(top + "/engine.new", "w") as f:
    f.write(str(os.getpid()))
os.rename(top + "/engine.new", top + "/engine")
for seq in range(2, %d + 1):
    if seq == %d + 1:
        while not os.path.exists(top + "/more"):
            time.sleep(0.02)
    put(seq, probe="round", test="lat", phase="isolated", x="y" * 100)
open(top + "/done", "w").close()
time.sleep(600)
"""


class Defect(Exception):
    pass


class Unnamed(Defect):
    """No log names the error."""


class Program:
    """A program that is started again if it ends because of a fault."""

    def __init__(self, name, args, top):
        self.name, self.args = name, args
        self.log, self.starts = f"{top}/{name}.log", 0
        self.to = top + "/" + name
        self.proc, self.ended = None, False
        self.faults = {}  # start: fault
        self.ends = {}    # start: size of the log at its end
        self.since = None  # when a permanent fault was noticed
        self.other = None  # the other program

    def start(self):
        self.starts += 1
        env = dict(os.environ)
        fault = self.faults.get(self.starts)
        if fault is not None:
            env.update({"LD_PRELOAD": LIBRARY,
                        "COALMINE_INJECT_TO": self.to + str(self.starts),
                        "COALMINE_INJECT_OTHER": self.other.log,
                        "ASAN_OPTIONS": "verify_asan_link_order=0:" +
                        env.get("ASAN_OPTIONS", "")})
            if fault:
                env["COALMINE_INJECT"] = fault
        with open(self.log, "a") as log:
            self.begins = log.tell()
            self.proc = subprocess.Popen(self.args, stdout=log, stderr=log,
                                         env=env)

    def text(self, since=0, until=None):
        with open(self.log, "rb") as f:
            return f.read()[since:until].decode(errors="replace")

    def note_end(self, status):
        self.ends[self.starts] = os.path.getsize(self.log)
        self.proc = None
        text = self.text()
        for word in ("Sanitizer", "runtime error:", "ssertion"):
            if word in text:
                raise Defect(f"{self.name}: {word}")
        if status < 0:
            raise Defect(f"{self.name} ended by signal {-status}")
        if status not in (0, 1, 3):
            raise Defect(f"{self.name}: exit {status}")

    def end_fault(self):
        """All calls fail for some seconds, long enough for some retries."""
        if not self.faults.get(self.starts, "").endswith(" all") or \
                self.hit() is None:
            return
        self.since = self.since or time.monotonic()
        if time.monotonic() > self.since + FAULT_S:
            open(f"{self.to}{self.starts}.end", "w").close()

    def look(self):
        """Start it again if it has ended."""
        if self.proc is None:
            return
        status = self.proc.poll()
        if status is None:
            self.end_fault()
            return
        fault = self.faults.get(self.starts)
        self.note_end(status)
        if not fault:
            raise Defect(f"{self.name}: exit {status} without a fault: " +
                         self.text()[-300:])
        if status == 0:
            raise Defect(f"{self.name}: exit 0 without a signal")
        self.ended = True
        self.start()

    def stop(self):
        if self.proc is None:
            return
        self.proc.terminate()
        try:
            status = self.proc.wait(20 * LATE)
            # It may not have its handler yet.
            self.note_end(0 if status == -signal.SIGTERM else status)
        except subprocess.TimeoutExpired as e:
            raise Defect(f"{self.name}: does not stop") from e

    def kill(self):
        if self.proc is not None:
            self.proc.kill()
            self.proc.wait()
            self.proc = None

    def progress(self):
        """Changes while it does something: its starts, its log, and the
        seconds of processor time that it has used."""
        if self.proc is None:
            return 0
        try:
            with open(f"/proc/{self.proc.pid}/stat") as f:
                used = f.read().rsplit(")", 1)[1].split()[11:13]
            return (self.starts, os.path.getsize(self.log),
                    sum(map(int, used)) // os.sysconf("SC_CLK_TCK"))
        except OSError:
            return 0

    def hit(self):
        """(bytes of the log before it, bytes of the other program's, target,
        callers)"""
        for path in sorted(glob.glob(self.to + "[0-9]")):
            with open(path, errors="replace") as f:
                lines = f.read().splitlines()
            for i, line in enumerate(lines):
                if line.startswith("hit "):
                    word = line.split(" ", 5)
                    end = lines.index("end", i) if "end" in lines else None
                    return (int(word[3]), int(word[4]), word[5],
                            lines[i + 1:end])
        return None


class Session:
    def __init__(self, c, faults):
        self.c = c
        with open(c.campaigns + "/quick.conf", "w") as f:
            f.write("[campaign]\nmpi = mpich\nnodes_min = 1\n"
                    "deadline = 5m\nstart_limit = 60s\n")
        self.node = c.dir + "/n1"
        self.token = self.node + "/token"
        bin_, lib = self.node + "/bin", self.node + "/lib"
        for path in (self.node, bin_, lib, lib + "/mpich"):
            os.mkdir(path)
        self.script(bin_ + "/mpiexec.hydra", "#!/bin/sh\necho Version: 4.0\n")
        self.script(lib + "/mpich/coalmine-probe",
                    ENGINE % (c.dir, RECORDS, FIRST))
        os.symlink(os.path.abspath(BUILD + "/agents/coalmine-keeper"),
                   lib + "/coalmine-keeper")
        args = [BUILD + "/agents/coalmine-agent", "--config", "/dev/null"]
        for key, value in {
                "agent.collector": f"127.0.0.1:{c.port}", "agent.name": "n1",
                "agent.state_dir": self.node + "/state",
                "agent.run_dir": self.node + "/run",
                "agent.enroll": self.token, "idle.check": "always",
                "tls.ca": self.node + "/ca.pem",
                "tls.cert": self.node + "/a.pem",
                "tls.key": self.node + "/a.key", "children.user": "", "agent.user": "",
                "children.allow_root": "yes", "children.libexec": lib,
                "children.mpich": bin_, "children.openmpi": "",
                "mesh.net": "192.0.2.0/24", "mpi.net": "127.0.0.0/8",
                "agent.in_band": ""}.items():
            args += ["-o", f"{key}={value}"]
        self.collector = Program("collector", c.command(), c.dir)
        self.agent = Program("agent", args, c.dir)
        self.collector.other, self.agent.other = self.agent, self.collector
        for program, fault in faults.items():
            of = getattr(self, program[:-1])
            of.faults[int(program[-1])] = fault

    @staticmethod
    def script(path, text):
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o755)

    def wait(self, what, is_true):
        """The limit counts from the last progress: a busy machine is slow."""
        began, seen = time.monotonic(), None
        last = began
        while True:
            for p in (self.collector, self.agent):
                p.look()
            try:
                got = is_true()
            except (OSError, ValueError, TypeError, KeyError,
                    http.client.HTTPException):
                got = None  # the fault was in the answer
            if got:
                return got
            now = time.monotonic()
            news = self.collector.progress(), self.agent.progress()
            if news != seen:
                seen, last = news, now
            if now > last + WAIT_S or now > began + 10 * WAIT_S:
                raise Defect(f"{what}: not within {now - began:.0f} s")
            time.sleep(0.03)

    def state(self):
        for n in self.c.get("nodes"):
            if n["node"] == "n1":
                return n
        return {"state": ""}

    def is_up(self):
        return ": up" in self.agent.text(self.agent.begins) and \
            self.state()["state"] in ("ok", "busy", "maintenance") and \
            self.state()["state"]

    def start_collector(self):
        self.collector.start()
        self.wait("collector answers", lambda: self.c.get("version"))

    def write_token(self):
        out = subprocess.run(
            [BUILD + "/ctl/coalctl", "--url", "unix:" + self.c.socket, "pki",
             "token", "--json", "--node", "n1"], check=False,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if out.returncode != 0:
            return False
        with open(self.token, "wb") as f:
            f.write(json.loads(out.stdout)["token"].encode())
        return True

    def order_run(self):
        known = self.c.get("runs")  # an answer may have been lost
        if known:
            return known[-1]["run"]
        status, answer = self.c.request("POST", "campaigns/quick/run", {})
        return answer["run"] if status in (200, 202) else None

    def seqs(self):
        """As a set in a list, which is true."""
        status, rows = self.c.request("GET", f"runs/{self.run}/records")
        return [{r["seq"] for r in rows} if status == 200 else set()] \
            if status in (200, 404) else None

    def run_state(self):
        return self.c.get("runs/" + self.run)["state"]

    def first_records(self):
        return len(self.seqs()[0]) >= FIRST or self.run_state() in FINAL

    def order_maintenance(self):
        return self.c.request("POST", "nodes/n1/maintain", {
            "for": "8h", "reason": "x"})[0] == 200

    def engine_lives(self):
        try:
            with open(self.c.dir + "/engine") as f:
                os.kill(int(f.read()), 0)
            return True
        except OSError:
            return False

    def spooled(self, end="spool"):
        """end: "unreadable?": in files that could not be read and are kept
        aside (coalmine-agent(8))"""
        found = set()
        for path in glob.glob(self.node + "/state/spool/*." + end):
            with open(path, "rb") as f:
                found |= {int(s) for s in
                          re.findall(rb'"seq": ?(\d+)', f.read())}
        return found

    def all_spooled(self):
        if RECORDS in self.spooled() or not self.engine_lives():
            return True
        # It keeps them in memory, or has dropped them.
        return os.path.exists(self.c.dir + "/done") and \
            "records in memory" in self.agent.text()

    def play(self):
        self.start_collector()
        self.wait("a token", self.write_token)
        self.agent.start()
        self.wait("enrolment", self.is_up)
        self.run = self.wait("a run", self.order_run)
        self.wait("first records", self.first_records)
        self.wait("maintenance", self.order_maintenance)
        self.collector.stop()
        open(self.c.dir + "/more", "w").close()
        self.wait("spooled records", self.all_spooled)
        kept = self.spooled()
        self.agent.stop()
        kept |= self.spooled()
        self.start_collector()
        self.agent.start()
        self.wait("the agent again", self.is_up)
        self.delivered()
        if any(p.hit() for p in (self.collector, self.agent)):
            self.collector.stop()
            self.agent.stop()
            self.start_collector()
            self.agent.start()
            self.wait("the agent after the fault", self.is_up)
            self.delivered()
        self.check(kept)
        self.agent.stop()
        self.collector.stop()

    def delivered(self):
        self.wait("an empty spool", lambda: not self.spooled())

    def check(self, kept):
        have = self.wait("records", self.seqs)[0]
        if self.agent.hit() is None and os.path.exists(self.c.dir + "/done"):
            kept = set(range(1, RECORDS + 1))
        if glob.glob(self.c.dir + "/state/*corrupt*"):
            raise Defect("a healthy store was set aside")
        lost = kept - have - self.spooled("unreadable?")
        if lost:
            raise Defect(f"records are lost: {sorted(lost)}")
        if self.is_up() != "maintenance":
            raise Defect(f"the order is lost: {self.state()}")


def names(frames):
    """Names of functions, nearest first; frames of backtrace_symbols."""
    found = []
    for frame in frames:
        m = re.match(r"(.*)\((\w*)\+(0x\w+)\)", frame)
        if m is None:
            continue
        if m.group(2):
            found.append(m.group(2))
            continue
        out = subprocess.run(
            ["addr2line", "-f", "-i", "-s", "-e", m.group(1),
             hex(int(m.group(3), 16) - 1)], check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split()
        found += [f for f in out[::2] if f != "??"] or \
            [os.path.basename(m.group(1))]
    return found


def needs_none(kind, error, target, callers):
    """Why a fault of this kind needs no message, or None."""
    in_sqlite = any("sqlite3" in n for n in callers)
    if kind == "unlink" and target == "-":
        return "the file did not exist"
    # The other side reconnects. The state of the node has the reason, except in
    # maintenance.
    if error in ("ECONNRESET", "EPIPE") and \
            any(n.startswith(("SSL_", "BIO_")) for n in callers):
        return "a session may end at any time"
    # A statement that fails is logged by daemon/store.
    if in_sqlite and kind == "memory":
        return "SQLite's cache stays smaller"
    if in_sqlite and kind == "open" and "store_reader_start" in callers:
        return "SQLite opens it for reading, as this connection needs"
    # SQLite does not report it, and a full log is still read.
    if in_sqlite and os.path.basename(target) == "state":
        return "SQLite does not sync its folder"
    return next((n for n in callers if n in SILENT), None)


def check_message(p, kind, error):
    """The log of the program, or of the other program that received the error,
    names the error after the call failed. Return the reason if none needs
    to."""
    at, at_other, target, frames = p.hit()
    start = next(s for s, f in p.faults.items() if f)
    text = p.text(at, p.ends.get(start)) + p.other.text(at_other)
    words = [os.strerror(getattr(errno, error))] + WORDS.get(error, [])
    if any(w.lower() in text.lower() for w in words):
        return None
    why = needs_none(kind, error, target, names(frames))
    if why is None:
        raise Unnamed("no message")
    return why


def most_repeated(p):
    """The number of the most frequent line of its log, apart from numbers."""
    lines = collections.Counter(re.sub(r"[0-9]+", "0", line)
                                for line in p.text().splitlines())
    return lines.most_common(1)[0] if lines else ("", 0)


def options():
    return {"collector__heartbeat": "500ms", "collector__silence": "4s",
            "schedule__enabled": None}


def new_collector():
    c = Collector()
    c.ctl("pki", "enroller", c.pki)
    open(c.dir + "/log", "w").close()
    c.options.update({"enroll.ca": c.pki + "/enroll.pem",
                      "enroll.key": c.pki + "/enroll.key"})
    return c


def count():
    """{(program, kind): places} of a session without a fault."""
    with new_collector() as c:
        s = Session(c, {p: "" for p in PROGRAMS})
        try:
            s.play()
            found = collections.defaultdict(list)
            calls = collections.Counter()
            for program in PROGRAMS:
                with open(c.dir + "/" + program) as f:
                    for line in f:
                        _, kind, number, place = line.split()
                        found[program, kind].append(place)
                        calls[program, kind] = int(number)
        except BaseException:
            sys.stderr.write(s.collector.text()[-3000:])
            sys.stderr.write(s.agent.text()[-3000:])
            raise
        finally:
            s.agent.kill()
            s.collector.kill()
    return found


# Libraries have their own texts.
WORDS = {"ENOMEM": ["memory", "malloc failure", "disk I/O error"],
         "EIO": ["disk I/O error", "no PEM data found",
                 "database disk image is malformed"],
         "ENOSPC": ["disk is full", "disk I/O error"],
         "EMFILE": ["unable to open database file",
                    "cannot open the file for writing"]}
# Callers of calls whose failure changes nothing that a user can notice.
SILENT = {
    # the library has another way
    "event_base_new_with_config", "evutil_socket_", "__vasprintf_internal",
    "sqlite3BtreeSetVersion", "_IO_file_doallocate",
    # a value is missing until it is read again; old kernels have none
    "ethtool_read", "settings_put_nics", "qdisc_read", "sysfs_text",
    "host_throttled_ns",
    # a client of HTTP or a rank is gone
    "evbuffer_read", "evbuffer_write_atmost", "strangers_first_cb",
    # what remains is removed or written by the next process
    "sqlite3WalClose", "http_close",
    # only for a warning, or an optional file
    "pki_own_check", "OPENSSL_config", "settings_put_governor",
    "proc_cgroup_home", "device_folders",
    # another source of random numbers
    "json_object_seed", "sqlite3_randomness",
    # tls_load reads it again
    "tls_load", "enroll_lacks",
    # it is read again
    "store_file_quick_check",
}


def inject(point, verbose=False):
    """Return what happened, as one word, or raise Defect."""
    program, kind, place, error, mode = point
    fault = f"{kind} {place} {getattr(errno, error)} {mode}"
    with new_collector() as c:
        c.limit = LATE  # no answer while all calls fail
        s = Session(c, {program: fault})
        of = getattr(s, program[:-1])
        try:
            s.play()
            if of.hit() is None:
                return "missed"
            quiet = check_message(of, kind, error)
            line, n = most_repeated(of)
            if n > REPEATS_MAX:
                raise Defect(f"{n} times in the log: {line}")
            if verbose:
                print(quiet, names(of.hit()[3]), of.text(of.hit()[0])[-3000:])
            return "ended" if of.ended else \
                "silent" if quiet else "survived"
        except Defect as e:
            hit = of.hit()
            where = f"; {hit[2]} " + " < ".join(names(hit[3])) if hit else ""
            if verbose:
                print(s.collector.text()[-5000:], s.agent.text()[-5000:])
            raise type(e)(f"{e}{where}") from e
        finally:
            s.agent.kill()
            s.collector.kill()


def points(found, which):
    """All places once, and the first of each kind for all further calls; or a
    few of each."""
    chosen = []
    for (program, kind), places in sorted(found.items()):
        errors = ERRORS[kind]
        if which == "all":
            step = 1 + len(places) // PLACES_MAX
            chosen += [(program, kind, p, errors[i % len(errors)], "once")
                       for i, p in enumerate(places[::step])]
            chosen += [(program, kind, p, errors[-1], "all")
                       for p in places[:1] + places[len(places) // 2:][:1]]
        elif (program, kind) in QUICK:
            chosen.append((program, kind, places[len(places) // 2],
                           errors[0], "once"))
    random.Random(1).shuffle(chosen)
    return chosen


QUICK = {("collector1", "write"), ("collector1", "memory"),
         ("collector1", "receive"), ("collector2", "read"),
         ("collector2", "open"), ("agent1", "write"), ("agent1", "memory"),
         ("agent1", "rename"), ("agent2", "read"), ("agent2", "connect")}


def main():
    args, jobs = sys.argv[1:], 4
    if args[:1] == ["--jobs"]:
        jobs, args = int(args[1]), args[2:]
    if len(args) == 5:
        print(inject(tuple(args), True))
        return 0
    found = count()
    for (program, kind), places in sorted(found.items()):
        print(f"{program} {kind}: {len(places)} places", flush=True)
    which = args[0] if args else "quick"
    chosen = points(found, which)
    if len(args) > 1:
        chosen = [p for p in chosen
                  if re.search(args[1], " ".join(p))]  # by hand
    result, lock = collections.Counter(), threading.Lock()

    def one(point):
        try:
            what, why = inject(point), ""
        except (Defect, AssertionError) as e:
            what = "unnamed" if isinstance(e, Unnamed) else "defect"
            why = str(e)
        with lock:
            print(what, *point, why, flush=True)
            result[point[0], point[1], what] += 1

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, chosen))
    for key, n in sorted(result.items()):
        print(*key, n)
    print(f"{len(chosen)} faults:", ", ".join(
        f"{sum(n for k, n in result.items() if k[2] == what)} {what}"
        for what in ("survived", "ended", "silent", "missed", "unnamed",
                     "defect")))
    # The calls of quick differ between machines, so that a text of a library
    # may be unknown.
    bad = ("defect", "unnamed") if which == "all" else ("defect",)
    return 1 if any(k[2] in bad for k in result) or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
