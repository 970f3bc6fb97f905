# SPDX-License-Identifier: Apache-2.0
"""A node gets a certificate by token, renews it, and loses it. Strangers get
nothing. Agents disconnect from a collector whose certificate was revoked.
Agents that enrol and renew are real ones."""
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import agent  # noqa: E402
from agent import Agent, frame  # noqa: E402
from certificates import reload  # noqa: E402
from collector import BUILD, Collector, poll  # noqa: E402
from hostile import connect, expect_closed  # noqa: E402

SNI = "enroll.coalmine.invalid"
MUNGED = shutil.which("munged", path=os.environ["PATH"] + ":/usr/sbin")


class Stranger(Agent):
    """A connection without a certificate that requests enrolment."""

    def __init__(self, c, name="x1", source="127.0.0.1"):
        self.sni = SNI
        super().__init__(c.pki, None, c.port, hello=False, beat=False,
                         source=source)
        self.name = name


def context(pki, name):
    if name:
        return with_name(pki, name)
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ctx.load_verify_locations(f"{pki}/ca.pem")
    ctx.check_hostname = False
    wrap = ctx.wrap_socket
    ctx.wrap_socket = lambda raw: wrap(raw, server_hostname=SNI)
    return ctx


with_name, agent.tls_context = agent.tls_context, context


def request(name):
    return subprocess.run(
        ["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null", "-subj",
         f"/CN={name}"], check=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL).stdout.decode()


def token(c, *args):
    return json.loads(subprocess.run(
        [BUILD + "/ctl/coalctl", "--url", "unix:" + c.socket, "pki", "token",
         "--json", *args], check=True, stdout=subprocess.PIPE).stdout)["token"]


class Node:
    """A real agent with separate folders."""
    all = []

    def __init__(self, c, name, text="", **more):
        self.dir = f"{c.dir}/{name}"
        os.makedirs(self.dir, exist_ok=True)
        self.token = self.dir + "/token"
        if text:
            with open(self.token, "w") as f:
                f.write(text + "\n")
        self.options = {
            "agent.collector": f"127.0.0.1:{c.port}", "agent.name": name,
            "agent.state_dir": self.dir + "/state",
            "agent.run_dir": self.dir + "/run", "agent.enroll": self.token,
            "tls.ca": self.dir + "/ca.pem", "tls.cert": self.dir + "/a.pem",
            "tls.key": self.dir + "/a.key", "children.user": "", "agent.user": "",
            "mesh.net": "192.0.2.0/24"}
        self.options.update(more)
        Node.all.append(self)
        self.start()

    def start(self):
        args = [BUILD + "/agents/coalmine-agent", "--config", "/dev/null"]
        for k, v in self.options.items():
            args += ["-o", f"{k}={v}"]
        with open(self.dir + "/log", "a") as log:
            self.proc = subprocess.Popen(args, stdout=log, stderr=log)

    def read_log(self):
        with open(self.dir + "/log") as f:
            return f.read()

    def says(self, word, limit=20):
        poll(f"{word!r} in {self.read_log()}", limit,
             lambda: word in self.read_log())

    def file(self, name):
        with open(f"{self.dir}/{name}") as f:
            return f.read()

    def kill(self):
        self.proc.kill()
        self.proc.wait()


def is_up(c, name):
    return any(n["node"] == name and n["state"] == "ok"
               for n in c.get("nodes"))


def events(c):
    return [e["text"] for e in c.get("events")]


def refused(c, word, **fields):
    s = Stranger(c)
    s.send("enroll", **fields)
    m = s.wait("refuse")
    assert word in m["text"], m
    s.wait_closed()
    s.close()


def test_strangers(c):
    """A client without a certificate may send a single enroll message, and
    nothing else."""
    for type_, fields in (
            ("hello", dict(version=1, node="x1", boot="b", software="s",
                           inventory={}, runs=[], spool=[])),
            ("heartbeat", dict(at_unix_ns=1)),
            ("records", dict(run="r", records=[]))):
        s = Stranger(c)
        s.send(type_, **fields)
        assert "without a certificate" in s.wait("refuse")["text"]
        s.wait_closed()
    s = Stranger(c)
    s.send_raw(b"CM\x01\x00\x00\x00\x40\x01")
    assert "longer than 16 KiB" in s.wait("refuse")["text"]
    s.wait_closed()
    refused(c, "unknown token", node="x1", request=request("x1"), token="")
    refused(c, "unknown token", node="x1", request=request("x1"),
            token="coalmine1-" + "0" * 64 + "-" + "0" * 40)
    refused(c, "request of", node="x1", request="x" * 2000, token="")
    s = Stranger(c)  # only one request is accepted
    one = frame(json.dumps({"type": "enroll", "node": "x1", "token": "",
                            "request": request("x1")}).encode())
    s.send_raw(one + one)
    s.wait("refuse")
    s.wait_closed()
    assert len(s.log) == 1, s.log
    # without a certificate only the server name of enrolment is accepted
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ctx.load_verify_locations(c.pki + "/ca.pem")
    ctx.check_hostname = False
    expect_closed(ctx.wrap_socket(connect(c), server_hostname="other"), "none")
    assert not is_up(c, "x1")
    # a silent connection is closed
    s = Stranger(c)
    s.wait_closed(25)
    poll("an event of a refusal", 10, lambda: any(
        "unknown token" in t for t in events(c)))
    for t in [t for t in events(c) if "refused" in t]:
        assert "coalmine1" not in t, t


def test_tickets(c):
    """The TLS session of an enrolment cannot be resumed."""
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ctx.load_verify_locations(c.pki + "/ca.pem")
    ctx.check_hostname = False
    s = ctx.wrap_socket(connect(c), server_hostname=SNI)
    s.sendall(frame(b'{"type":"enroll","node":"x","request":"","token":""}'))
    try:
        s.recv(65536)
    except OSError:
        pass
    ticket = s.session
    assert ticket is None or not ticket.has_ticket
    s.close()


def test_enrol(c):
    text = token(c, "--node", "n1")
    n = Node(c, "n1", text)
    poll("n1 is up", 20, lambda: is_up(c, "n1"))
    assert os.stat(n.dir + "/a.key").st_mode & 0o777 == 0o600
    assert not os.path.exists(n.token), "a token that was used lies there"
    assert not [f for f in os.listdir(n.dir) if f.endswith((".ask", ".new"))]
    assert n.file("ca.pem") == open(c.pki + "/ca.pem").read()
    with open(c.dir + "/state/enrolled") as f:
        kept = f.read()
    assert text.split("-")[2] not in kept, "the secret is stored"
    assert "PRIVATE" not in kept
    # again, with another key
    refused(c, "used for n1", node="n1", request=request("n1"), token=text)
    # for another node, and for a request that names another
    refused(c, "not permit this node", node="n2", request=request("n2"),
            token=text)
    refused(c, "request of", node="n1", request=request("n2"), token=text)
    return n


def test_wrong(c):
    """With a token of another authority nothing is sent; an expired token is
    rejected."""
    other = c.dir + "/elsewhere"
    c.ctl("pki", "init", other)
    text = token(c, "--node", "w1")
    n = Node(c, "w1", "coalmine1-" + "1" * 64 + "-" + text.split("-")[2])
    n.says("not the one in the token")
    assert "w1" not in c.read_log().replace("for w1", "")
    n.kill()
    short = token(c, "--node", "w2", "--for", "1s")
    time.sleep(2.1)
    n = Node(c, "w2", short)
    n.says("token has expired")
    n.kill()
    # after a power cut the same key enrols again with the used token
    text = token(c, "--any", "--uses", "1")
    n = Node(c, "w3", text)
    poll("w3 is up", 20, lambda: is_up(c, "w3"))
    n.kill()
    os.rename(n.dir + "/a.key", n.dir + "/a.key.ask")
    os.unlink(n.dir + "/a.pem")
    with open(n.token, "w") as f:
        f.write(text)
    poll("w3 is away", 20, lambda: not is_up(c, "w3"))
    n.start()
    poll("w3 is up again", 30, lambda: is_up(c, "w3"))
    n.kill()


def test_no_room(c):
    """Keys cannot be stored: the token is not used up."""
    text = token(c, "--node", "d1")
    n = Node(c, "d1", text, **{"tls.key": "/proc/none/a.key"})
    assert n.proc.wait(20) != 0 and "/proc/none" in n.read_log()
    n.options["tls.key"] = n.dir + "/a.key"
    n.start()
    poll("d1 is up", 20, lambda: is_up(c, "d1"))
    n.kill()


def test_renew(c):
    n = Node(c, "r1", token(c, "--node", "r1"))
    poll("r1 is up", 20, lambda: is_up(c, "r1"))
    key, cert = n.file("a.key"), n.file("a.pem")
    poll("a new certificate", 40, lambda: n.file("a.pem") != cert)
    poll("a new key", 5, lambda: n.file("a.key") != key)
    poll("it is used", 20, lambda: n.read_log().count(": up") >= 2)
    poll("an event", 10, lambda: any(
        "certificate renewed" in t for t in events(c)))
    # the old certificate is valid until its end; a stolen one cannot be
    # renewed again
    with open(n.dir + "/old.pem", "w") as f:
        f.write(cert)
    # if it cannot be stored, a diag reports that
    os.mkdir(n.dir + "/a.key.ask")
    poll("a diag", 60, lambda: any(
        "r1" in d["text"] and "cannot renew" in d["text"]
        for d in c.get("diags")))
    os.rmdir(n.dir + "/a.key.ask")
    count = n.read_log().count("a new certificate")
    poll("it renews again", 40,
         lambda: n.read_log().count("a new certificate") > count)
    return n


def test_thief(c):
    """A thief of an agent's certificate requests more of them. They are refused
    in the first half of its lifetime, for another name, and too often."""
    c.issue("t1", "agent")
    a = Agent(c.pki, "t1", c.port)
    a.wait("welcome")
    for name, word in (("t1", "second half"), ("n1", "request of t1")):
        a.log.clear()
        a.send("enroll", node=name, request=request(name))
        assert word in a.wait("certificate")["text"], a.log
        time.sleep(0.6)
    for _ in range(3):
        a.send("enroll", node="t1", request=request("t1"))
    assert "too often" in a.wait("refuse")["text"]
    a.wait_closed()
    a.close()


def test_revoked(c, n):
    """Revocation of a name covers all its certificates, stolen and renewed."""
    c.ctl("pki", "revoke", c.pki, "r1", "--enrolled",
          c.dir + "/state/enrolled")
    reload(c)
    poll("r1 is out", 20, lambda: not is_up(c, "r1"))
    n.says("revoked")
    time.sleep(2)
    assert not is_up(c, "r1")
    n.kill()


def test_collector_revoked(c, n):
    """n1 receives the revocation in its session, disconnects, and accepts the
    new collector. It rejects the old one, whose key was stolen, with any list
    that this one sends."""
    shutil.copytree(c.pki, c.dir + "/stolen")
    ups = n.read_log().count(": up")
    c.ctl("pki", "revoke", c.pki, "collector")
    c.issue("collector", "collector")
    reload(c)
    n.says("the collector's certificate was revoked")
    poll("n1 is with the new one", 30,
         lambda: n.read_log().count(": up") > ups and is_up(c, "n1"))
    c.stop()
    n.kill()  # the list is kept over a restart of the agent
    c.options["tls.cert"] = c.dir + "/stolen/collector.pem"
    c.options["tls.key"] = c.dir + "/stolen/collector.key"
    c.options["tls.crl"] = c.dir + "/stolen/crl.pem"
    c.start()
    said = n.read_log().count("was revoked")
    n.start()
    poll("n1 refuses", 30, lambda: n.read_log().count("was revoked") > said)
    time.sleep(3)
    assert not is_up(c, "n1"), "a revoked collector is accepted"
    c.stop()
    c.options["tls.cert"] = c.pki + "/collector.pem"
    c.options["tls.key"] = c.pki + "/collector.key"
    c.options["tls.crl"] = c.pki + "/crl.pem"
    c.start()
    poll("n1 is back", 60, lambda: is_up(c, "n1"))
    n.kill()


def test_enroller_revoked(c, n):
    """The revoked enrolment key can issue no more certificates, and the
    agents that it issued are rejected."""
    n.start()
    poll("n1 is up", 30, lambda: is_up(c, "n1"))
    c.ctl("pki", "revoke", c.pki, "enroll")
    c.ctl("pki", "enroller", c.pki)
    reload(c)
    poll("n1 is out", 30, lambda: not is_up(c, "n1"))
    n.kill()
    n = Node(c, "n9", token(c, "--node", "n9"))
    poll("n9 is up", 30, lambda: is_up(c, "n9"))
    time.sleep(1)
    assert not is_up(c, "n1")


def test_off():
    with Collector() as c:
        c.start()
        n = Node(c, "o1", "coalmine1-" + "0" * 64 + "-" + "0" * 40)
        n.says("down:")
        assert "unrecognized name" in n.read_log(), n.read_log()
        n.kill()
        out = subprocess.run(
            [BUILD + "/ctl/coalctl", "--url", "unix:" + c.socket, "pki",
             "token", "--any"], stderr=subprocess.PIPE, check=False)
        assert out.returncode == 3 and b"enrolment is disabled" in out.stderr, out
        c.stop()


def everything(folder):
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            with open(f"{at}/{name}", "rb") as f:
                found[name] = f.read()
    return found


class Munged:
    """The munge daemon of a host; daemons with the same KEY form a realm."""

    def __init__(self, folder, name, key):
        self.dir = f"{folder}/munge-{name}"
        os.mkdir(self.dir, 0o755)
        self.socket = self.dir + "/socket"
        with open(self.dir + "/key", "wb") as f:
            os.fchmod(f.fileno(), 0o600)
            f.write(key * 32)
        self.proc = subprocess.Popen(
            [MUNGED, "--foreground", "--force", "--origin=127.0.0.1"]
            + [f"--{what}={self.dir}/{what.split('-')[0]}" for what in
               ("key-file", "socket", "pid-file", "log-file", "seed-file")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        poll("munged", 20, lambda: os.path.exists(self.socket))

    def write(self, text):
        return subprocess.run(
            ["munge", "-S", self.socket], check=True, input=text.encode(),
            stdout=subprocess.PIPE).stdout.decode().strip()

    def kill(self):
        self.proc.kill()
        self.proc.wait()


def digests(c, req):
    """Return digests of the key of a request and of the authority."""
    key = subprocess.run(["openssl", "req", "-pubkey", "-noout"], check=True,
                         input=req.encode(), stdout=subprocess.PIPE).stdout
    with open(c.pki + "/ca.pem") as f:
        root = f.read()
    return (hashlib.sha256(ssl.PEM_cert_to_DER_cert(
        key.decode().replace("PUBLIC KEY", "CERTIFICATE"))).hexdigest(),
            hashlib.sha256(ssl.PEM_cert_to_DER_cert(root)).hexdigest())


def munge_node(c, name, munged, **more):
    return Node(c, name, **{
        "agent.enroll": "munge", "agent.munge_socket": munged.socket,
        "agent.munge_users": str(os.getuid()), **more})


def test_munge(c, here, there, stranger):
    """Collector and nodes share only the secret of the realm."""
    me = str(os.getuid())
    n = munge_node(c, "localhost", there)
    poll(f"localhost enrols: {n.read_log()}", 30, lambda: is_up(c, "localhost"))
    with open(c.pki + "/ca.pem") as f:
        assert n.file("ca.pem") == f.read()
    poll("an event of the enrolment", 20,
         lambda: any("a munge credential" in e for e in events(c)))
    n.kill()
    poll("it is gone", 30, lambda: not is_up(c, "localhost"))
    shutil.rmtree(n.dir)

    # a host that is not of the realm
    n = munge_node(c, "localhost", stranger)
    n.says("refused this agent: munge: Invalid credential")
    n.kill()
    shutil.rmtree(n.dir)
    # an unknown name
    n = munge_node(c, "no-such-host-of-ours", there)
    n.says("cannot resolve")
    n.kill()
    # a peer with a certificate of another authority, outside of the realm
    n = munge_node(c, "localhost", there, **{"agent.munge_users": "54321"})
    n.says(f"munge: credential of user {me}: expected one of 54321")
    for name in ("ca.pem", "a.pem", "a.key"):
        assert not os.path.exists(f"{n.dir}/{name}"), name
    n.kill()

    # a credential is not valid for another key, authority or name
    req = request("localhost")
    key, root = digests(c, req)
    good = f"coalmine-agent1 localhost {key} {root}"
    for text in (good.replace(key, "0" * 64), good.replace(root, "0" * 64),
                 good.replace("localhost", "n1"),
                 good.replace("agent", "collector"), good + "0", ""):
        refused(c, "is for another node name", node="localhost", request=req,
                munge=there.write(text))
    refused(c, "munge: ", node="localhost", request=req, munge="x")
    # the name of another host
    s = Stranger(c, source="127.0.0.2")
    s.send("enroll", node="localhost", request=req, munge=there.write(good))
    assert ("localhost has the address 127.0.0.1, but the connection is from "
            "127.0.0.2") in s.wait("refuse")["text"], s.log
    once = there.write(good)
    s = Stranger(c)
    s.send("enroll", node="localhost", request=req, munge=once)
    poll("an answer", 20, lambda: s.log)
    answer = s.log[0]
    assert "munge" in answer, answer
    said = subprocess.run(["unmunge", "-S", there.socket, "-m", "/dev/null"],
                          input=answer["munge"].encode(), check=True,
                          stdout=subprocess.PIPE).stdout.decode().strip()
    assert said == good.replace("agent", "collector"), said
    refused(c, "munge: Replayed credential", node="localhost", request=req,
            munge=once)
    assert here.proc.poll() is None


def play_munge():
    if MUNGED is None:
        print("no munged: skipping enrolment by its credentials")
        return
    with Collector(collector__silence="2s") as c:
        realm = [Munged(c.dir, name, key) for name, key in
                 (("here", b"k"), ("there", b"k"), ("strange", b"s"))]
        try:
            c.ctl("pki", "enroller", c.pki)
            c.options.update({
                "enroll.ca": c.pki + "/enroll.pem",
                "enroll.key": c.pki + "/enroll.key",
                "enroll.munge_users": "54321",
                "enroll.munge_socket": realm[0].socket})
            c.start()
            n = munge_node(c, "localhost", realm[1])
            n.says(f"munge: credential of user {os.getuid()}: "
                   "expected one of 54321")
            n.kill()
            shutil.rmtree(n.dir)
            c.stop()
            c.options["enroll.munge_users"] = f"54321, {os.getuid()}"
            c.start()
            test_munge(c, *realm)
            c.stop()
            del c.options["enroll.munge_users"]
            c.start()
            refused(c, "does not accept munge credentials", node="localhost",
                    request="", munge="x")
            c.stop()
        finally:
            for m in realm:
                m.kill()


def start_line_is_complete(c, site, text):
    """The printed command of a folder other than /etc/coalmine names only
    files of this folder, and no systemd: the agent accepts it."""
    assert "/etc/coalmine" not in text and "systemctl" not in text, text
    command = re.search(r"; (\S*coalmine-agent --config .*)", text)
    assert command is not None, text
    with open(site + "/coalmine-agent.conf", "w") as f:
        f.write("[agent]\nuser =\n[children]\nuser =\n")
    words = shlex.split(command.group(1))
    got = subprocess.run(
        [BUILD + "/agents/coalmine-agent", *words[1:], "--print-config"],
        stdout=subprocess.PIPE, check=False, text=True)
    os.remove(site + "/coalmine-agent.conf")
    assert got.returncode == 0, got
    for value in (f"collector = 127.0.0.1:{c.port}",
                  f"enroll = {site}/pki/enroll", f"ca = {site}/pki/ca.pem",
                  f"cert = {site}/pki/agent.pem",
                  f"key = {site}/pki/agent.key"):
        assert value in got.stdout, (value, got.stdout)


def test_init(text):
    """coalctl init on a machine that has only a configuration, TEXT: the
    collector starts with the created files, and a node enrols with the printed
    command. A second call changes nothing."""
    with Collector() as c:
        site = c.dir + "/my site"
        os.mkdir(site)
        for name in ("ca", "cert", "key"):
            del c.options["tls." + name]
        del c.options["collector.listen"]
        c.config = site + "/coalmined.conf"
        with open(c.config, "w") as f:
            f.write(text.replace("PORT", str(c.port)))

        def init(*more):
            return subprocess.run(
                [BUILD + "/ctl/coalctl", "--url", "unix:" + c.socket, "init",
                 site, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                check=False, text=True)

        first = init("--san", "127.0.0.1")
        assert first.returncode == 0, first
        assert "for 127.0.0.1" in first.stdout, first
        start = f"Start coalmined --config '{c.config}', or"
        assert start in first.stdout, first
        again = init()  # not yet started
        assert again.returncode == 1, again
        assert "cannot reach the collector" in again.stderr, again
        c.start()
        before = everything(site)
        line = init("--san", "127.0.0.1")
        assert "On every node, up to 1000, where" in line.stdout, line
        with open(c.dir + "/state/enrolled") as f:
            assert json.loads(f.readlines()[-1])["uses"] == 1000
        line = init("--san", "127.0.0.1", "--node", "i[1-2]")
        assert line.returncode == 0, line
        start_line_is_complete(c, site, line.stdout)
        words = re.findall("coalmine1-[0-9a-f-]+", line.stdout)
        assert len(words) == 1, line
        n = Node(c, "i1", words[0])
        poll("i1 enrols", 20, lambda: is_up(c, "i1"))
        n.kill()
        revoked = subprocess.run(
            [BUILD + "/ctl/coalctl", "pki", "revoke", site + "/pki", "i1",
             "--enrolled", c.dir + "/state/enrolled"],
            stdout=subprocess.PIPE, check=True, text=True).stdout
        assert "to apply this: systemctl reload coalmined" in revoked, revoked
        before = everything(site)
        other = init("--san", "elsewhere.example")
        assert other.returncode == 3, other
        assert "--san elsewhere.example: the existing cert" in other.stderr
        assert everything(site) == before
        # an existing authority is used, an existing setting is kept
        os.remove(site + "/pki/collector.pem")
        os.remove(site + "/pki/collector.key")
        more = init()
        assert more.returncode == 0, more
        after = everything(site)
        assert after["collector.key"] != before["collector.key"]
        del after["collector.key"], after["collector.pem"]
        del before["collector.key"], before["collector.pem"]
        assert after == before
        c.stop()


def test_init_slurm():
    """If sinfo answers, exclusive runs query Slurm; an existing setting is
    kept."""
    for text, answers, wanted in (("", 0, "\nidle = yes"), ("", 1, None),
                                  ("[slurm]\nidle = no\n", 0, "\nidle = no")):
        with Collector() as c:
            site = c.dir + "/site"
            os.mkdir(site)
            with open(site + "/sinfo", "w") as f:
                f.write(f"#!/bin/sh\nexit {answers}\n")
            os.chmod(site + "/sinfo", 0o755)
            with open(site + "/coalmined.conf", "w") as f:
                f.write(text.replace("[slurm]", f"[slurm]\ndir = {site}")
                        or f"[slurm]\ndir = {site}\n")
            got = subprocess.run(
                [BUILD + "/ctl/coalctl", "--url", "unix:/nonexistent", "init",
                 site], stdout=subprocess.PIPE, check=False, text=True)
            assert got.returncode == 0, got
            with open(site + "/coalmined.conf") as f:
                after = f.read()
            if wanted is None:
                assert "idle" not in after, after
            else:
                assert wanted in after, after
            assert ("set     slurm.idle = yes" in got.stdout) == (
                wanted == "\nidle = yes"), got


def test_init_prefix():
    """Without DIR and /etc/coalmine, the folder of the installation is used:
    its campaigns, too."""
    with tempfile.TemporaryDirectory() as prefix:
        site = prefix + "/etc/coalmine"
        os.makedirs(site + "/campaigns")
        os.mkdir(prefix + "/bin")
        shutil.copy(BUILD + "/ctl/coalctl", prefix + "/bin")
        open(site + "/coalmined.conf", "w").close()
        got = subprocess.run(
            [prefix + "/bin/coalctl", "--url", "unix:/nonexistent", "init"],
            stdout=subprocess.PIPE, check=False, text=True)
        assert got.returncode == 0, got
        assert f"Start coalmined --config {site}/" in got.stdout, got
        with open(site + "/coalmined.conf") as f:
            text = f.read()
        assert f"campaign_dir = {site}/campaigns" in text, text
        assert f"ca = {site}/pki/ca.pem" in text, text


def test_init_refuses():
    for make, word in ((lambda d: None, "coalmined.conf: No such file or "
                        "directory; give the folder of"),
                       (lambda d: open(d + "/coalmined.conf", "w").write(
                           "[tls]\nfoo = 1\n"), "coalmined.conf:2")):
        with tempfile.TemporaryDirectory() as folder:
            make(folder)
            got = subprocess.run(
                [BUILD + "/ctl/coalctl", "init", folder], check=False,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            assert got.returncode == 3 and word in got.stderr, got
            assert "pki" not in os.listdir(folder)


def test_brought_meanwhile(c):
    """The site installs a certificate while a node waits for enrolment by a
    collector. That collector was never verified, so it receives nothing."""
    other = c.dir + "/impostor"
    c.ctl("pki", "init", other)
    c.issue("127.0.0.1", "collector", "--san", "127.0.0.1", pki=other)
    c.issue("late", "agent")
    with socket.create_server(("127.0.0.1", 0)) as door:
        node = Node(c, "late", token(c, "--any"), **{
            "agent.collector": f"127.0.0.1:{door.getsockname()[1]}"})
        conn = door.accept()[0]
        shutil.copy(c.pki + "/ca.pem", node.dir + "/ca.pem")
        shutil.copy(c.pki + "/late.pem", node.dir + "/a.pem")
        shutil.copy(c.pki + "/late.key", node.dir + "/a.key")
        node.proc.send_signal(signal.SIGHUP)
        node.says("certificates reloaded")
        ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        ctx.load_cert_chain(other + "/127.0.0.1.pem", other + "/127.0.0.1.key")
        conn.settimeout(20)
        try:
            said = ctx.wrap_socket(conn, server_side=True).recv(4096)
        except (ssl.SSLError, ConnectionError):
            said = b""
        assert said == b"", said
        node.kill()


def main():
    if shutil.which("openssl") is None:
        print("skip: no openssl to make requests with")
        return 77
    try:
        play()
        test_off()
        play_munge()
        with open(os.environ["COALMINE_BUILD"] + "/etc/coalmined.conf") as f:
            shipped = f.read()
        listen = "listen = 0.0.0.0:17700"
        assert shipped.count("#" + listen) == 1
        test_init(shipped.replace("#" + listen, "listen = 127.0.0.1:PORT"))
        test_init("[enroll]\nlife=10d\n[collector]\nlisten=127.0.0.1:PORT")
        test_init_slurm()
        test_init_prefix()
        test_init_refuses()
    finally:
        for n in Node.all:
            n.kill()
    return 0


def play():
    with Collector() as c:
        c.ctl("pki", "enroller", c.pki)
        c.options.update({
            "enroll.ca": c.pki + "/enroll.pem",
            "enroll.key": c.pki + "/enroll.key", "enroll.life": "1d",
            "tls.crl": c.pki + "/crl.pem"})
        c.start()
        n1 = test_enrol(c)
        test_tickets(c)
        test_wrong(c)
        test_no_room(c)
        test_strangers(c)
        test_brought_meanwhile(c)
        assert is_up(c, "n1")
        c.stop()
        c.options["enroll.life"] = "18s"
        c.start()
        test_thief(c)
        n = test_renew(c)
        test_revoked(c, n)
        poll("n1 is up", 30, lambda: is_up(c, "n1"))
        test_collector_revoked(c, n1)
        test_enroller_revoked(c, n1)
        c.stop()


if __name__ == "__main__":
    sys.exit(main())
