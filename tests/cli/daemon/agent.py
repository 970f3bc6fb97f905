# SPDX-License-Identifier: Apache-2.0
"""An agent for tests of coalmined: real TLS and frames, a scripted node.

Agent(pki, name, port) connects and sends hello. on_prepare and similar methods
may be replaced. All received messages are kept in .log as objects.
"""
import json
import select
import socket
import ssl
import struct
import threading
import time

HEAD = b"CM\x01\x00"
LATE = 6  # factor of all time limits: other processes use the CPU too


def frame(body):
    return HEAD + struct.pack(">I", len(body)) + body


def tls_context(pki, name):
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ctx.load_verify_locations(f"{pki}/ca.pem")
    ctx.check_hostname = False
    if name:
        ctx.load_cert_chain(f"{pki}/{name}.pem", f"{pki}/{name}.key")
    return ctx


class Agent:
    def __init__(self, pki, name, port, boot="b1", runs=(), spool=(),
                 node=None, version=1, beat=True, hello=True,
                 inventory=None, source="127.0.0.1"):
        self.name, self.boot, self.log = name, boot, []
        self.lock = threading.Lock()
        self.cond = threading.Condition()
        self.open = True
        self.beat_on = beat
        self.children = {(r, 0) for r in runs}  # (run, id) of what runs here
        raw = socket.create_connection(("127.0.0.1", port), 5 * LATE,
                                       (source, 0))
        raw.settimeout(20 * LATE)
        self.sock = tls_context(pki, name).wrap_socket(raw)
        self.sock.setblocking(False)
        if hello:
            self.send("hello", version=version, node=node or name, boot=boot,
                      software="0.1.0",
                      inventory=inventory or {},
                      runs=list(runs), spool=list(spool))
        self.threads = [threading.Thread(target=self.read, daemon=True)]
        if beat:
            self.threads.append(
                threading.Thread(target=self.beat, daemon=True))
        for t in self.threads:
            t.start()

    def send(self, type_, **fields):
        fields["type"] = type_
        self.send_raw(frame(json.dumps(fields).encode()))

    def ready(self, what):
        """Not select: descriptors may be above its 1024."""
        p = select.poll()
        p.register(self.sock, what)
        p.poll(100)

    def send_raw(self, data):
        """Two threads must not use one TLS connection concurrently, hence the
        lock and only calls that do not block."""
        view, end_ = memoryview(data), time.time() + 20 * LATE
        try:
            with self.lock:
                while view and time.time() < end_:
                    try:
                        view = view[self.sock.send(view):]
                    except ssl.SSLWantWriteError:
                        self.ready(select.POLLOUT)
                    except ssl.SSLWantReadError:
                        self.ready(select.POLLIN)
            if view:
                raise OSError("not taken in time")
        except (OSError, ValueError):
            self.open = False

    def beat(self):
        while self.open and self.beat_on:
            self.send("heartbeat", at_unix_ns=time.time_ns(), load=0.1,
                      spool_bytes=0)
            time.sleep(0.2)

    def part(self, n):
        """Return up to n bytes, or None if no data has arrived."""
        with self.lock:
            try:
                return self.sock.recv(n)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return None

    def exact(self, n):
        data = b""
        while len(data) < n:
            last = not self.open  # data that has arrived is still read
            part = self.part(n - len(data))
            if part is None:
                if last:
                    raise OSError("closed here")
                self.ready(select.POLLIN)
            elif not part:
                raise OSError("closed")
            else:
                data += part
        return data

    def read(self):
        try:
            while True:
                head = self.exact(8)
                msg = json.loads(self.exact(
                    struct.unpack(">I", head[4:])[0]))
                with self.cond:
                    self.log.append(msg)
                    self.cond.notify_all()
                getattr(self, "on_" + msg["type"].replace("-", "_"),
                        lambda m: None)(msg)
        except (OSError, ValueError):
            self.open = False
            with self.cond:
                self.cond.notify_all()

    def wait(self, type_, limit=10, match=lambda m: True):
        """Return the first message of this type that matches."""
        limit *= LATE
        end = time.time() + limit
        with self.cond:
            while True:
                for m in self.log:
                    if m["type"] == type_ and match(m):
                        return m
                left = end - time.time()
                if left <= 0 or (not self.open and left < limit - 1):
                    raise AssertionError(
                        f"{self.name}: no {type_} within {limit} s; got "
                        f"{[m['type'] for m in self.log]}")
                self.cond.wait(min(left, 0.2))

    def wait_closed(self, limit=10):
        end = time.time() + limit * LATE
        while self.open and time.time() < end:
            time.sleep(0.02)
        assert not self.open, f"{self.name}: still connected"

    def close(self):
        """The descriptor stays open until both threads have released it."""
        self.open = False
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        for t in self.threads:
            t.join(5)
        self.sock.close()

    # The answers of a healthy node.
    def on_prepare(self, m):
        self.send("prepared", run=m["run"], ok=True)

    def on_launch(self, m):
        self.children.add((m["run"], 0))
        self.send("launched", run=m["run"], ok=True, pid=1234)

    def on_start(self, m):
        self.children.add((m["run"], 1))
        self.send("launched", run=m["run"], ok=True, pid=1234)

    def on_end(self, m):
        for run, id_ in list(self.children):
            if run == m["run"]:
                self.exited(run, id_, 143)

    def exited(self, run, id_=0, status=0):
        if (run, id_) in self.children:
            self.children.discard((run, id_))
            self.send("exited", run=run, id=id_, status=status, stderr="")

    def on_sample(self, m):
        self.send("counters", run=m["run"], border=m["border"],
                  at_unix_ns=time.time_ns(), nics=[])

    def records(self, run, *records):
        self.send("records", run=run, records=list(records))
        if records and records[-1].get("probe") == "end":
            self.exited(run)
            self.exited(run, 1)


def begin(run, seq=1):
    return {"run": run, "seq": seq, "probe": "begin", "version": "0.1.0",
            "mpi": "openmpi", "nodes": ["node1", "node2", "node3"],
            "roles": {}, "seed": 1, "options": {}}


def phase(run, seq, name="isolated", event="begin"):
    return {"run": run, "seq": seq, "probe": "phase", "event": event,
            "phase": name, "visit": 1, "visits": 4}


def end(run, seq, status="ok", **more):
    return dict({"run": run, "seq": seq, "probe": "end", "records": seq,
                 "status": status}, **more)
