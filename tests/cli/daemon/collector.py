# SPDX-License-Identifier: Apache-2.0
"""A real coalmined on loopback, in a temporary directory, for tests."""
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from agent import LATE

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../.."))
from free_port import free_port  # noqa: E402

BUILD = os.environ.get("COALMINE_BUILD", "build/dev")
CAMPAIGN = """[campaign]
nodes_min = %d
deadline = %s
start_limit = %s
"""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, limit=10 * LATE):
        super().__init__("localhost", timeout=limit)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


# Final states of a run.
FINAL = ("finished", "failed", "timed-out", "cancelled", "missed", "preempted",
         "nonstart")
watched = []  # collectors that must be alive while a test waits


def poll(what, limit, is_true):
    limit *= LATE
    end = time.time() + limit
    while True:
        got = is_true()
        if got:
            return got
        if time.time() > end:
            raise AssertionError(f"{what}: not within {limit} s")
        for c in watched:
            c.check_lives(what)
        time.sleep(0.05)


class Collector:
    def __init__(self, **options):
        self.dir = tempfile.mkdtemp(prefix="coalmined-")
        self.pki = self.dir + "/pki"
        self.port = free_port()
        self.socket = self.dir + "/http.sock"
        self.limit = 10 * LATE  # of a request
        self.campaigns = self.dir + "/campaigns"
        os.mkdir(self.campaigns)
        self.proc = self.killed = None
        self.config = "/dev/null"
        self.options = {
            "collector.listen": f"127.0.0.1:{self.port}",
            "collector.state_dir": self.dir + "/state",
            "collector.campaign_dir": self.campaigns,
            "collector.heartbeat": "500ms", "collector.silence": "4s",
            "tls.ca": self.pki + "/ca.pem",
            "tls.cert": self.pki + "/collector.pem",
            "tls.key": self.pki + "/collector.key",
            "http.listen": "", "http.socket": self.socket,
            # of on_postgresql.py, or a file
            "store.url": os.environ.get("COALMINE_TEST_STORE_URL", ""),
            "store.schema": os.path.basename(self.dir)}
        self.options.update(
            {k.replace("__", "."): v for k, v in options.items()})
        os.mkdir(self.dir + "/state")
        self.ctl("pki", "init", self.pki)
        self.issue("collector", "collector", "--san", "coalmine-collector")

    def ctl(self, *args):
        subprocess.run([BUILD + "/ctl/coalctl", *args], check=True,
                       stdout=subprocess.DEVNULL)

    def issue(self, names, role, *more, pki=None):
        self.ctl("pki", "issue", pki or self.pki, names, "--role", role,
                 *more)

    def campaign(self, name, min_nodes=3, deadline="20s", start="8s",
                 more=""):
        with open(f"{self.campaigns}/{name}.conf", "w") as f:
            f.write(CAMPAIGN % (min_nodes, deadline, start) + more)

    def command(self):
        sets = []
        for k, v in self.options.items():
            sets += ["-o", f"{k}={v}"]
        return [BUILD + "/daemon/coalmined", "--config", self.config, *sets]

    def start(self):
        self.log = open(self.dir + "/log", "a")
        self.log_at = self.log.tell()  # the log of this process starts here
        self.proc = subprocess.Popen(self.command(), stderr=self.log)
        poll("coalmined ready", 60, self.is_ready)

    def check_lives(self, what):
        """Fail if the collector has ended without being killed by the test."""
        if self.proc not in (None, self.killed) \
                and self.proc.poll() is not None:
            raise AssertionError(
                f"{what}: coalmined ended, status {self.proc.returncode}: "
                + (self.read_log()[-3000:] or "its log is empty"))

    def is_ready(self):
        self.check_lives("ready")
        with open(self.dir + "/log", "rb") as f:
            f.seek(self.log_at)
            said = f.read()
        return b"ready:" in said and os.path.exists(self.socket) \
            and self.answers()

    def answers(self):
        try:
            return self.get("version") is not None
        except OSError:
            return False

    def read_log(self):
        with open(self.dir + "/log") as f:
            return f.read()

    def request(self, method, path, body=None):
        c = UnixConnection(self.socket, self.limit)
        text = None if body is None else json.dumps(body)
        c.request(method, "/api/v1/" + path, text,
                  {"Content-Type": "application/json"})
        r = c.getresponse()
        data = r.read()
        c.close()
        return r.status, json.loads(data) if data else None

    def get(self, path):
        return self.request("GET", path)[1]

    def run(self, campaign, **body):
        status, o = self.request("POST", f"campaigns/{campaign}/run", body)
        assert "run" in o, (status, o)
        return o["run"]

    def wait_state(self, run, states, limit=15):
        def is_there():
            r = self.get("runs/" + run)
            if r["state"] in states:
                return r
            assert r["state"] not in FINAL, (run, states, r)
            return None

        return poll(f"run {run} {states}", limit, is_there)

    def rss_kib(self):
        with open(f"/proc/{self.proc.pid}/status") as f:
            for line in f:
                if line.startswith("VmRSS"):
                    return int(line.split()[1])

    def fds(self):
        return len(os.listdir(f"/proc/{self.proc.pid}/fd"))

    def kill(self):
        self.killed = self.proc
        self.proc.kill()
        self.proc.wait()

    def stop(self):
        self.killed = self.proc
        self.proc.terminate()
        assert self.proc.wait(10) == 0, "unclean end"

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.proc and self.proc.poll() is None:
            self.kill()
        if kind is not None:
            sys.stderr.write(self.read_log()[-6000:])
        shutil.rmtree(self.dir, ignore_errors=True)
