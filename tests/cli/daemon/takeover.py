# SPDX-License-Identifier: Apache-2.0
"""A second machine copies the store and takes over when the first is gone:
what was acknowledged is there, once, and who was taken over is not followed
when it comes back."""
import os
import random
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from agent import Agent, phase  # noqa: E402
from collector import (  # noqa: E402
    BUILD, Collector, UnixConnection, free_port, poll)
from enrol import Node, is_up  # noqa: E402

RUN = "old-20260101T000000-abcd"


class Sender(Agent):
    """Sends records from where it was, one a message, as long as it is
    connected, and keeps what was acknowledged."""

    def __init__(self, pki, port, seq, acked):
        self.seq, self.acked = seq, acked
        super().__init__(pki, "n1", port,
                         spool=[{"run": RUN, "seq": max(seq, 1)}])
        welcome = self.wait("welcome", 30)
        self.term = welcome.get("term", 1)
        for row in welcome["acks"]:
            if row["run"] == RUN:
                self.take(row["seq"])
        self.seq = self.acked

    def take(self, seq):
        self.acked = max(self.acked, seq)

    def on_ack(self, m):
        self.take(m["seq"])

    def put(self, n):
        for _ in range(n):
            self.seq += 1
            self.records(RUN, phase(RUN, self.seq))

    def flood(self):
        while self.open:
            self.put(5)
            time.sleep(0.01)


def pair():
    """A collector, and a second one that copies it; they differ in folder."""
    https = free_port()
    a = Collector(http__tls_listen=f"127.0.0.1:{https}",
                  store__copy_wait="10m")
    b = Collector(collector__copy_of=f"https://127.0.0.1:{https}/",
                  store__copy_wait="10m")
    a.issue("pair", "collector", "--san", "coalmine-collector", "--san",
            "127.0.0.1")
    for c in (a, b):
        c.options.update({"tls.ca": a.pki + "/ca.pem",
                          "tls.cert": a.pki + "/pair.pem",
                          "tls.key": a.pki + "/pair.key"})
    b.pki = a.pki
    open(b.dir + "/log", "w").close()
    a.issue("n[1-2]", "agent")
    a.campaign("quick")
    return a, b


def copy(b, command=None):
    b.log = open(b.dir + "/log", "a")
    b.proc = subprocess.Popen(
        command or b.command(), stderr=b.log,
        env=dict(os.environ, PATH=BUILD + "/daemon:" + os.environ["PATH"]))
    before = b.read_log().count("is whole")
    poll("a whole copy", 60, lambda: b.read_log().count("is whole") > before)


def call(c, *args, want=0):
    done = subprocess.run(c.command() + list(args), stderr=subprocess.PIPE,
                          timeout=60)
    text = done.stderr.decode()
    assert (done.returncode == 0) == (want == 0), (done.returncode, text)
    return text


def metric(c, name):
    h = UnixConnection(c.socket)
    h.request("GET", "/metrics")
    for line in h.getresponse().read().decode().split("\n"):
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise AssertionError(f"no {name}")


def seqs(c):
    status, rows = c.request("GET", f"runs/{RUN}/records")
    assert status == 200, rows
    return [r["seq"] for r in rows]


def test_takeover(a, b):
    # Nothing is acknowledged that only one machine has.
    s = Sender(a.pki, a.port, 0, 0)
    s.put(20)
    poll("they are stored", 20, lambda: a.request(
        "GET", f"runs/{RUN}")[0] == 200 and len(seqs(a)) == 20)
    time.sleep(1.5)
    assert s.acked == 0, s.acked
    assert any("no copy is made" in d["text"] for d in a.get("diags")), \
        a.get("diags")
    copy(b)
    poll("acknowledged with a copy", 30, lambda: s.acked == 20)
    assert "a collector uses" in call(b, "--takeover", want=1)

    # A real agent, which knows both.
    node = Node(a, "n2", **{
        "agent.collector": f"127.0.0.1:{a.port},127.0.0.1:{b.port}",
        "tls.ca": a.pki + "/ca.pem", "tls.cert": a.pki + "/n2.pem",
        "tls.key": a.pki + "/n2.key"})
    poll("n2 is up", 30, lambda: is_up(a, "n2"))

    t = threading.Thread(target=s.flood, daemon=True)
    t.start()
    time.sleep(random.uniform(1, 3))
    a.kill()
    s.wait_closed()
    t.join()
    assert s.acked > 20, s.acked
    time.sleep(random.uniform(0, 1))

    # It is no collector's by itself.
    b.proc.terminate()
    assert b.proc.wait(20) == 0
    of = b.options.pop("collector.copy_of")
    assert "--takeover" in call(b, want=1)
    b.options["collector.copy_of"] = of
    assert "of term 2" in call(b, "--takeover")
    assert "no whole copy" in call(b, "--takeover", want=1)
    b.start()
    again = Sender(a.pki, b.port, s.seq, s.acked)
    assert again.term == 2, again.term
    assert again.acked >= s.acked, (again.acked, s.acked)
    b.options["store.copy_wait"] = "0s"  # nobody copies this one
    b.stop()
    b.start()
    last = Sender(a.pki, b.port, again.seq, again.acked)
    last.put(30)
    poll("acknowledged by the second", 30, lambda: last.acked == last.seq)
    assert seqs(b) == list(range(1, last.seq + 1)), seqs(b)
    poll("n2 follows the second", 60, lambda: is_up(b, "n2"))

    # The first comes back, and is not followed.
    b.kill()
    a.start()
    node.says("another collector has taken over", 60)
    poll("the first is told", 30, lambda: any(
        "of term 2" in e["text"] for e in a.get("events")))
    assert not is_up(a, "n2")
    b.start()
    poll("n2 is back at the second", 60, lambda: is_up(b, "n2"))
    node.kill()


def test_settings(a, b):
    """What cannot be is refused before anything starts."""
    for sets, word in (
            ({"collector.copy_of": "http://first:1"}, "allowed is one"),
            ({"collector.copy_of": "https://a:1,https://b:1"}, "one address"),
            ({"store.url": "postgresql://x/y"}, "own replication"),
            ({"store.copy_wait": "0s", "store.url": "postgresql://x/y"},
             "own replication")):
        kept = dict(b.options)
        b.options.update(sets)
        assert word in call(b, "-n", want=1), sets
        b.options = kept


def test_copy_goes_on(a, b):
    """The first is restarted, and the copy: each finds the other again."""
    a.start()
    copy(b)
    s = Sender(a.pki, a.port, 0, 0)
    s.put(10)
    poll("acknowledged", 30, lambda: s.acked == 10)
    a.stop()
    before = b.read_log().count("is whole")
    a.start()
    poll("whole again", 60, lambda: b.read_log().count("is whole") > before)
    s = Sender(a.pki, a.port, s.seq, s.acked)
    poll("the copy in metrics", 20,
         lambda: metric(a, "coalmine_db_copy_up") == 1)
    b.kill()
    s.put(10)
    time.sleep(1)
    assert s.acked == 10
    poll("what it lacks in metrics", 20,
         lambda: metric(a, "coalmine_db_copy_behind_bytes") > 0)

    # By hand, with the same configuration in a file.
    conf = {}
    for name, value in b.options.items():
        section, key = name.split(".")
        conf.setdefault(section, []).append(f"{key} = {value}\n")
    of = b.options["collector.copy_of"]
    with open(b.dir + "/b.conf", "w") as f:
        for section, lines in conf.items():
            f.write(f"[{section}]\n" + "".join(
                x for x in lines if of not in x))
    copy(b, [BUILD + "/ctl/coalctl", "db", "ship", of, b.dir + "/b.conf"])
    poll("acknowledged again", 60, lambda: s.acked == 20)
    b.kill()


if __name__ == "__main__":
    for test in (test_settings, test_takeover, test_copy_goes_on):
        first, second = pair()
        with first, second:
            if test is test_takeover:
                first.start()
            test(first, second)
        print(test.__name__, "passed", flush=True)
