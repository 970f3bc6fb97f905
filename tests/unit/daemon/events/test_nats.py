#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real coalmined and a real nats-server with JetStream: each event is in the
stream once and in order while the server is killed, the stream is full, and
the collector is killed. A second sink, a webhook, receives the same events."""
import base64
import http.client
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../.."))
from free_port import free_port  # noqa: E402

SERVER = shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin")
BUILD = os.environ["COALMINE_BUILD"]
PLUGIN = BUILD + "/daemon/coalmine-sink-nats.so"
WAIT_S = 120


def until(what, test):
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        got = test()
        if got:
            return got
        time.sleep(0.1)
    raise AssertionError("not within %d s: %s" % (WAIT_S, what))


class Nats:
    """Requests to a server, each over a new connection."""

    def __init__(self, folder):
        self.port, self.folder, self.process = free_port(), folder, None

    def start(self):
        self.process = subprocess.Popen(
            [SERVER, "-js", "-a", "127.0.0.1", "-p", str(self.port), "-sd",
             self.folder], stderr=subprocess.DEVNULL)
        until("nats-server", lambda: self.ask("INFO", {}, quiet=True))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, what, body, quiet=False):
        try:
            s = socket.create_connection(("127.0.0.1", self.port), 10)
        except OSError:
            if quiet:
                return None
            raise
        with s, s.makefile("rb") as lines:
            text = json.dumps(body)
            lines.readline()  # INFO of the protocol
            s.sendall(b"CONNECT {\"verbose\":false}\r\nSUB reply 1\r\n"
                      + ("PUB $JS.API.%s reply %d\r\n%s\r\n"
                         % (what, len(text), text)).encode())
            while True:
                line = lines.readline()
                if line.startswith(b"MSG"):
                    size = int(line.split()[-1])
                    return json.loads(lines.read(size))
                if not line and quiet:
                    return None
                assert line, "the server closed"

    def stream(self, verb, **more):
        config = dict(name="events", subjects=["coalmine.>"], storage="file",
                      discard="new", **more)
        got = self.ask("STREAM.%s.events" % verb, config)
        assert "error" not in got, got

    def count(self):
        got = self.ask("STREAM.INFO.events", {}, quiet=True) or {}
        return got.get("state", {}).get("messages", -1)

    def messages(self):
        for seq in range(1, self.count() + 1):
            m = self.ask("STREAM.MSG.GET.events", {"seq": seq})["message"]
            yield (m["subject"], base64.b64decode(m["hdrs"]).decode(),
                   json.loads(base64.b64decode(m["data"])))


class Hook(http.server.BaseHTTPRequestHandler):
    got = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append((self.headers["Content-Type"], json.loads(body)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Collector:
    def __init__(self, folder, nats, hook):
        ctl = BUILD + "/ctl/coalctl"
        self.socket, self.config = folder + "/sock", folder + "/conf"
        self.log = folder + "/log"
        self.process = None
        self.sent = 0
        os.mkdir(folder + "/campaigns")
        for args in (["pki", "init", folder + "/pki"],
                     ["pki", "issue", folder + "/pki", "collector", "--role",
                      "collector"]):
            subprocess.run([ctl] + args, check=True, stdout=subprocess.DEVNULL)
        with open(folder + "/campaigns/c.conf", "w") as f:
            f.write("[campaign]\nnodes = n[1-2]\n[schedule]\nevery = 1d\n")
        with open(self.config, "w") as f:
            f.write("""[collector]
listen = 127.0.0.1:0
state_dir = {0}/state
campaign_dir = {0}/campaigns
[tls]
ca = {0}/pki/ca.pem
cert = {0}/pki/collector.pem
key = {0}/pki/collector.key
[http]
listen =
socket = {1}
[events]
nats = nats://127.0.0.1:{2}
webhook = http://127.0.0.1:{3}/
behind = 5s
source = /coalmine/test
""".format(folder, self.socket, nats.port, hook))

    def start(self):
        with open(self.log, "a") as log:
            log_bytes = log.tell()
            self.process = subprocess.Popen(
                [BUILD + "/daemon/coalmined", "--config", self.config],
                stderr=log, env=dict(os.environ,
                                     COALMINE_PLUGIN_DIR=BUILD + "/daemon"))
        until("coalmined", lambda: self.is_ready(log_bytes)
              or self.process.poll() is not None)

    def is_ready(self, since):
        """/healthz is not enough: a new sink starts with the events that are
        stored when the collector is ready."""
        with open(self.log) as log:
            log.seek(since)
            return "ready:" in log.read() and \
                self.ask("GET", "/healthz", quiet=True)

    def ask(self, method, path, quiet=False):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(WAIT_S)
        try:
            s.connect(self.socket)
        except OSError:
            if quiet:
                return None
            raise
        c = http.client.HTTPConnection("localhost")
        c.sock = s
        c.request(method, path, headers={"Content-Length": "0"})
        r = c.getresponse()
        body = r.read().decode()
        s.close()
        if quiet and r.status != 200:
            return None
        assert r.status // 100 == 2, (path, r.status, body)
        return body

    def orders(self, count):
        """Each is an event."""
        for _ in range(count):
            self.ask("POST", "/api/v1/schedule/c/%s" %
                     ("enable" if self.sent % 2 else "disable"))
            self.sent += 1

    def stored(self):
        events = json.loads(
            self.ask("GET", "/api/v1/events?kind=order&after_id=0&limit=1000"))
        return [e["id"] for e in events]

    def end(self, how):
        self.process.send_signal(how)
        self.process.wait()


def is_whole(collector, nats, least):
    """Check that the stream has only stored events, once and in order. Return
    whether it has all of them, and at least this many orders. Orders are
    answered before they are stored, and the stream has other events too."""
    got = []
    for subject, header, e in nats.messages():
        assert "Nats-Msg-Id: %s\r\n" % e["id"] in header, header
        assert "Content-Type: application/cloudevents+json" in header, header
        assert e["type"] == subject and e["source"] == "/coalmine/test", e
        if subject == "coalmine.order":
            got.append(int(e["id"].split("-")[0]))
    stored = collector.stored()
    assert got == stored[:len(got)], (got, stored)
    return len(got) == len(stored) >= least


def main(folder):
    hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    nats = Nats(folder + "/nats")
    c = Collector(folder, nats, hook.server_address[1])
    try:
        nats.start()
        nats.stream("CREATE")
        c.start()
        c.orders(20)
        until("20 in the stream", lambda: is_whole(c, nats, 20))

        print("the server is killed, and comes back")
        nats.kill()
        c.orders(30)
        until("a diag of the lag", lambda: "is behind" in c.ask(
            "GET", "/api/v1/diags"))
        assert 'coalmine_sink_up{sink="nats 127.0.0.1:%d"} 0' % nats.port \
            in c.ask("GET", "/metrics")
        nats.start()
        until("the rest", lambda: is_whole(c, nats, 50))

        print("the collector is killed")
        c.orders(30)
        c.end(signal.SIGKILL)
        c.start()
        least = len(c.stored()) + 10
        c.orders(10)
        until("the rest", lambda: is_whole(c, nats, least))

        print("the stream is full")
        nats.stream("UPDATE", max_msgs=nats.count() + 5)
        c.orders(20)
        until("a diag of the error", lambda: "maximum messages" in c.ask(
            "GET", "/api/v1/diags"))
        nats.stream("UPDATE", max_msgs=-1)
        until("the rest", lambda: is_whole(c, nats, least + 20))

        ids = {e["id"] for s, _, e in nats.messages() if s == "coalmine.order"}
        until("the webhook has them", lambda: ids == {
            e["id"] for _, e in Hook.got if e["type"] == "coalmine.order"})
        assert {t for t, _ in Hook.got} == {
            "application/cloudevents+json; charset=UTF-8"}
        c.end(signal.SIGTERM)
        assert c.process.returncode == 0
        # A server that is away holds up neither a start nor an end.
        nats.kill()
        c.start()
        c.orders(1)
        c.end(signal.SIGTERM)
        assert c.process.returncode == 0
    except BaseException:
        with open(c.log) as log:
            sys.stderr.write(log.read()[-3000:])
        raise
    finally:
        for p in (nats.process, c.process):
            if p is not None and p.poll() is None:
                p.kill()


if SERVER is None or not os.path.exists(PLUGIN):
    print("no nats-server, or no plugin for it")
    sys.exit(77)
with tempfile.TemporaryDirectory() as tmp:
    main(tmp)
print("ok")
