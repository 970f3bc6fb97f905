# SPDX-License-Identifier: Apache-2.0
"""A minimal collector, and agents under test that connect to it.

Everything is on loopback and in one temporary directory. Site.close() ends all
processes that were started. Unless it is switched off, the collector answers
hello, relays fences and acknowledges records automatically. It keeps every
message.
"""
import base64
import ctypes
import json
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../.."))
from free_port import free_port  # noqa: E402

BUILD = os.environ.get("COALMINE_BUILD", "build/dev")
SKIP = 77
# 1: all agents with agent.user, where children have another user
SEPARATE = os.environ.get("COALMINE_SEPARATE", "") == "1"
LATE = 6  # factor of all time limits: other processes use the CPU too


ZSTD = ctypes.CDLL("libzstd.so.1")
for call in ("ZSTD_compress", "ZSTD_decompress"):
    getattr(ZSTD, call).restype = ctypes.c_size_t


def pack(data):
    """As schema/packed.h."""
    room = ctypes.create_string_buffer(len(data) + 1024)
    n = ZSTD.ZSTD_compress(room, ctypes.c_size_t(len(room)), data,
                           ctypes.c_size_t(len(data)), 3)
    return base64.b64encode(room.raw[:n]).decode()


def unpack(text):
    data = base64.b64decode(text)
    room = ctypes.create_string_buffer(1 << 20)
    n = ZSTD.ZSTD_decompress(room, ctypes.c_size_t(len(room)), data,
                             ctypes.c_size_t(len(data)))
    return room.raw[:n]


def openssl(*args):
    subprocess.run(("openssl",) + args, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Pki:
    """An authority and P-256 certificates: CN, OU = role, SAN."""

    def __init__(self, top):
        self.top = top
        os.makedirs(top, exist_ok=True)
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=test authority", "-keyout", self.path("ca.key"), "-out",
                self.path("ca.pem"))

    def path(self, name):
        return os.path.join(self.top, name)

    def issue(self, name, role, san="DNS:coalmine-collector", cn=None):
        ext = self.path(name + ".ext")
        with open(ext, "w") as f:
            f.write("subjectAltName=%s\n" % san)
        openssl("req", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=%s/OU=%s" % (cn or name, role), "-keyout",
                self.path(name + ".key"), "-out", self.path(name + ".csr"))
        openssl("x509", "-req", "-in", self.path(name + ".csr"), "-CA",
                self.path("ca.pem"), "-CAkey", self.path("ca.key"),
                "-CAcreateserial", "-days", "2", "-extfile", ext, "-out",
                self.path(name + ".pem"))


class Session:
    """One connection of an agent."""

    def __init__(self, collector, sock):
        self.collector = collector
        self.sock = sock
        self.node = None
        self.lock = threading.Lock()
        self.open = True

    def send_bytes(self, data):
        with self.lock:
            try:
                self.sock.sendall(data)
            except OSError:
                self.open = False

    def send(self, **msg):
        body = json.dumps(msg).encode()
        self.send_bytes(b"CM\x01\x00" + struct.pack(">I", len(body)) + body)

    def read(self, n):
        data = b""
        while len(data) < n:
            part = self.sock.recv(n - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def run(self):
        try:
            while True:
                head = self.read(8)
                assert head[:3] == b"CM\x01"
                body = self.read(struct.unpack(">I", head[4:])[0])
                self.collector.handle(self, json.loads(body))
        except (EOFError, OSError):
            pass
        self.open = False
        self.collector.gone(self)
        with self.lock:
            self.sock.close()

    def close(self):
        """Only shut the socket down: the reading thread closes it. If another
        thread closed it, the reader could read, or end TLS, on a descriptor
        that reuses its number."""
        self.open = False
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Collector:
    def __init__(self, pki, cert="collector", port=0, heartbeat_ms=200,
                 silence_ms=2000):
        self.ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ctx.load_cert_chain(pki.path(cert + ".pem"),
                                 pki.path(cert + ".key"))
        self.ctx.load_verify_locations(pki.path("ca.pem"))
        self.ctx.verify_mode = ssl.CERT_REQUIRED
        self.heartbeat_ms = heartbeat_ms
        self.silence_ms = silence_ms
        self.cond = threading.Condition()
        self.messages = []      # (node, message), all but heartbeats
        self.heartbeats = {}    # node: the last
        self.sessions = {}      # node: session
        self.runs = {}          # run: nodes that it was started on
        self.fences = {}        # (run, id): {node: bytes}
        self.records = {}       # run: [record, ...] as committed
        self.ack = True
        self.keep = True        # all runs of a hello
        self.beat = True
        self.stop = False
        self.port = port or free_port()
        self.listen = socket.create_server(("127.0.0.1", self.port),
                                           backlog=64)
        threading.Thread(target=self.accept, daemon=True).start()
        threading.Thread(target=self.beats, daemon=True).start()

    def accept(self):
        while not self.stop:
            try:
                sock, _ = self.listen.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(sock,),
                             daemon=True).start()

    def serve(self, sock):
        try:
            sock = self.ctx.wrap_socket(sock, server_side=True)
        except (ssl.SSLError, OSError):
            return
        Session(self, sock).run()

    def beats(self):
        while not self.stop:
            time.sleep(self.heartbeat_ms / 1000)
            if not self.beat:
                continue
            for s in list(self.sessions.values()):
                s.send(type="heartbeat", at_unix_ns=time.time_ns())

    def welcome(self, s, msg):
        acks = [{"run": e["run"], "seq": len(self.records.get(e["run"], []))}
                for e in msg["spool"]]
        s.node = msg["node"]
        self.sessions[s.node] = s
        s.send(type="welcome", heartbeat_ms=self.heartbeat_ms,
               silence_ms=self.silence_ms, acks=acks,
               keep=msg["runs"] if self.keep else [])

    def take_records(self, s, msg):
        have = self.records.setdefault(msg["run"], [])
        for r in msg["records"]:
            if r["seq"] > len(have):
                have.append(r)
        if self.ack:
            s.send(type="ack", run=msg["run"], seq=msg["records"][-1]["seq"])

    def fence(self, s, msg):
        """The parts of all nodes of a run, once all are there."""
        run, number = msg["run"], msg["id"]
        if msg["parts"] == 0:  # it has been brought
            return
        assert (msg["part"], msg["parts"]) == (0, 1), msg
        parts = self.fences.setdefault((run, number), {})
        parts[s.node] = unpack(msg["data"])
        if len(parts) < len(self.runs[run]):
            return
        data = pack(b"".join(parts[n] for n in self.runs[run]))
        for n in self.runs[run]:
            self.send(n, type="fence", run=run, id=number, part=0, parts=1,
                      data=data)

    def handle(self, s, msg):
        kind = msg["type"]
        if kind == "heartbeat":
            self.heartbeats[s.node] = msg
            return
        if kind == "hello":
            self.welcome(s, msg)
        elif kind == "records":
            self.take_records(s, msg)
        elif kind == "fence":
            self.fence(s, msg)
        with self.cond:
            self.messages.append((msg.get("node", s.node) if kind == "hello"
                                  else s.node, msg))
            self.cond.notify_all()

    def gone(self, s):
        if self.sessions.get(s.node) is s:
            del self.sessions[s.node]
        with self.cond:
            self.messages.append((s.node, {"type": "gone"}))
            self.cond.notify_all()

    def find(self, kind, node=None, since=0, **fields):
        for i, (n, m) in enumerate(self.messages[since:], since):
            if m["type"] == kind and node in (None, n) and all(
                    m.get(k) == v for k, v in fields.items()):
                return i, m
        return None

    def wait(self, kind, node=None, since=0, limit=20, **fields):
        """The first such message; since is an index into messages."""
        end = time.monotonic() + limit * LATE
        with self.cond:
            while True:
                hit = self.find(kind, node, since, **fields)
                if hit:
                    return hit[1]
                left = end - time.monotonic()
                if left <= 0:
                    raise AssertionError("no %s %s %s; last: %s" % (
                        kind, node, fields, self.messages[-5:]))
                self.cond.wait(left)

    def send(self, node, **msg):
        self.sessions[node].send(**msg)

    def close(self):
        self.stop = True
        try:  # a close alone leaves the port to the thread that accepts
            self.listen.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listen.close()
        for s in list(self.sessions.values()):
            s.close()


class Agent:
    def __init__(self, site, name, port, libexec, user="", confined=False,
                 mounts="", separate=SEPARATE, **options):
        self.site = site
        self.name = name
        self.state = os.path.join(site.top, name + ".state")
        self.run_dir = os.path.join(site.top, name + ".run")
        conf = {
            "agent.collector": "127.0.0.1:%d" % port,
            "agent.name": name,
            "agent.state_dir": self.state,
            "agent.run_dir": self.run_dir,
            "agent.log": "debug",
            "tls.ca": site.pki.path("ca.pem"),
            "tls.cert": site.pki.path(name + ".pem"),
            "tls.key": site.pki.path(name + ".key"),
            "children.user": user,
            "children.allow_root": "yes",
            "children.libexec": libexec,
            "idle.check": "always",
        }
        conf.update({k.replace("__", "."): v for k, v in options.items()})
        self.broker = bool(separate and user not in ("", "root"))
        conf["agent.user"] = "daemon" if self.broker else ""
        args = [os.path.join(BUILD, "agents", "coalmine-agent"), "--config",
                "/dev/null"]
        for k, v in conf.items():
            args += ["-o", "%s=%s" % (k, v)]
        if name != "head":  # launchers tell hosts apart by their names
            args = ["unshare", "--uts", "sh", "-c",
                    'hostname "$0" && exec "$@"', name] + args
        if confined:  # as the unit of systemd does
            args = ["unshare", "--mount", "sh", "-c",
                    "mount -t proc -o hidepid=invisible proc /proc && "
                    "exec setpriv --no-new-privs --bounding-set "
                    '-all,+setuid,+setgid,+kill,+chown "$@"', "sh"] + args
        if mounts:  # a line of shell, for the agent alone
            args = ["unshare", "--mount", "sh", "-c",
                    mounts + ' && exec "$@"', "sh"] + args
        self.args = args
        self.log = os.path.join(site.top, name + ".log")
        self.start()

    def start(self):
        env = dict(os.environ)
        if self.broker:  # LeakSanitizer needs ptrace, which is denied
            env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + \
                ":detect_leaks=0"
        with open(self.log, "ab") as log:
            self.proc = subprocess.Popen(self.args, stdout=log, stderr=log,
                                         stdin=subprocess.DEVNULL, env=env)

    def kill(self, sig=signal.SIGKILL):
        self.proc.send_signal(sig)
        return self.proc.wait(20 * LATE)

    def marked(self):
        """Pids of everything that this agent started and that lives."""
        mark = ("COALMINE_STATE=" + self.state).encode()
        pids = []
        for pid in os.listdir("/proc"):
            try:
                with open("/proc/%s/environ" % pid, "rb") as f:
                    env = f.read().split(b"\0")
            except (OSError, ValueError):
                continue
            if mark in env:
                pids.append(int(pid))
        return pids

    def wait_clean(self, limit=20):
        wait_for(lambda: not self.marked() and not os.listdir(self.run_dir),
                 limit, lambda: "%s %s" % (self.marked(),
                                           os.listdir(self.run_dir)))


def wait_for(what, limit=20, text=None):
    end = time.monotonic() + limit * LATE
    while not what():
        if time.monotonic() > end:
            raise AssertionError(text() if text else "condition")
        time.sleep(0.02)


class Site:
    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="coalmine-")
        os.chmod(self.top, 0o755)
        self.pki = Pki(os.path.join(self.top, "pki"))
        self.pki.issue("collector", "collector")
        self.collectors = []
        self.agents = []

    def collector(self, **kw):
        c = Collector(self.pki, **kw)
        self.collectors.append(c)
        return c

    def libexec(self, script):
        """A folder with our helpers and script as every engine."""
        top = tempfile.mkdtemp(dir=self.top)
        os.chmod(top, 0o755)
        for name in ("coalmine-keeper", "coalmine-pmix"):
            path = os.path.join(BUILD, "agents", name)
            if os.path.exists(path):
                shutil.copy(path, top)
        for mpi in ("openmpi", "mpich"):
            os.mkdir(os.path.join(top, mpi))
            path = os.path.join(top, mpi, "coalmine-probe")
            with open(path, "w") as f:
                f.write(script)
            os.chmod(path, 0o755)
        return top

    def agent(self, name, *args, **kw):
        self.pki.issue(name, "agent", "DNS:" + name)
        a = Agent(self, name, *args, **kw)
        self.agents.append(a)
        return a

    def close(self, failed):
        for a in self.agents:
            if a.proc.poll() is None:
                a.kill(signal.SIGTERM)
            for pid in a.marked():
                os.kill(pid, signal.SIGKILL)
        for c in self.collectors:
            c.close()
        if failed:
            for a in self.agents:
                print("== %s ==" % a.name)
                print(open(a.log, errors="replace").read()[-6000:])
        shutil.rmtree(self.top, ignore_errors=True)


def prepare(c, nodes, run, mpi="mpich", cls="exclusive", deadline_ms=60000,
            ok=True, **more):
    since = len(c.messages)
    for n in nodes:
        c.send(n, type="prepare", run=run, **{"class": cls}, mpi=mpi,
               head=nodes[0], deadline_ms=deadline_ms, **more)
    return [c.wait("prepared", n, since, run=run, ok=ok) for n in nodes]


def launch(c, nodes, run, mpi="mpich", ranks=1, campaign="[campaign]\n"):
    c.runs[run] = list(nodes)
    for i, n in enumerate(nodes):
        c.send(n, type="start", run=run, mpi=mpi, rank=i * ranks, ranks=ranks,
               size=len(nodes) * ranks, campaign=campaign)


def end(c, nodes, run, grace_ms=500):
    for n in nodes:
        c.send(n, type="end", run=run, grace_ms=grace_ms, text="test")


def main(*tests):
    """Run every test, each with a new site."""
    if os.geteuid() != 0:
        print("needs root: hosts are UTS namespaces and children another "
              "user")
        sys.exit(SKIP)
    only = sys.argv[1:]
    for t in tests:
        if only and t.__name__ not in only:
            continue
        site, failed = Site(), True
        start = time.monotonic()
        try:
            t(site)
            failed = False
        finally:
            site.close(failed)
        print("ok %s %.1f s" % (t.__name__, time.monotonic() - start))
