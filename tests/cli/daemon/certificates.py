# SPDX-License-Identifier: Apache-2.0
"""Sessions end with their certificates: one whose certificate expired, was
revoked or lost its CA ends at SIGHUP, and others stay; diags and metrics
report it beforehand."""
import http.client
import os
import shutil
import signal
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agent import Agent  # noqa: E402
from collector import Collector, UnixConnection, free_port, poll  # noqa: E402

METRIC = "coalmine_certificate_expiry_timestamp_seconds"
CA_CONF = """[ca]
default_ca = a
[a]
database = {0}/index
serial = {0}/serial
new_certs_dir = {0}
default_md = sha256
policy = any
[any]
OU = supplied
CN = supplied
"""


def openssl(*args):
    subprocess.run(["openssl", *args], check=True, stderr=subprocess.DEVNULL)


def issue_until(c, name, end_unix_s, role="agent", label="short"):
    """coalctl counts in days."""
    own = f"{c.dir}/{label}"
    os.mkdir(own)
    for file, text in (("index", ""), ("serial", "77\n"),
                       ("conf", CA_CONF.format(own))):
        with open(f"{own}/{file}", "w") as f:
            f.write(text)
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            f"{c.pki}/{name}.key", "-subj", f"/OU={role}/CN={name}",
            "-out", own + "/csr")
    openssl("ca", "-batch", "-notext", "-config", own + "/conf", "-cert",
            c.pki + "/ca.pem", "-keyfile", c.pki + "/ca.key", "-in",
            own + "/csr", "-startdate", "20200101000000Z", "-enddate",
            time.strftime("%Y%m%d%H%M%SZ", time.gmtime(end_unix_s)),
            "-out", f"{c.pki}/{name}.pem")


def expiries(c):
    conn = UnixConnection(c.socket)
    conn.request("GET", "/metrics")
    text = conn.getresponse().read().decode()
    conn.close()
    lines = [s.split(" ") for s in text.splitlines() if s.startswith(METRIC)]
    return {s[0][len(METRIC):]: float(s[1]) for s in lines}


def expect_gone(a, word):
    m = a.wait("refuse")
    assert m["cause"] == "config" and word in m["text"], m
    a.wait_closed()


def reload(c):
    reads = c.read_log().count("certificates reloaded")
    c.proc.send_signal(signal.SIGHUP)
    poll("reload", 10, lambda: c.read_log().count("certificates reloaded") > reads)


def diag_texts(c):
    return [d["text"] + " " + d["remedy"] for d in c.get("diags")]


def lists(c, *pkis):
    """The lists of all authorities in one file, as tls.crl wants them."""
    with open(c.dir + "/crl.pem", "w") as f:
        for pki in pkis:
            with open(pki + "/crl.pem") as crl:
                f.write(crl.read())


def revoked(c, other):
    shutil.copytree(c.pki, c.dir + "/stolen")
    a = Agent(c.pki, "node4", c.port)
    a.wait("welcome")
    c.ctl("pki", "revoke", c.pki, "node4")
    lists(c, c.pki, other)
    reload(c)
    expect_gone(a, "certificate revoked")
    try:
        Agent(c.dir + "/stolen", "node4", c.port).wait("welcome")
    except (OSError, AssertionError):
        pass
    else:
        raise AssertionError("a revoked certificate was let in")
    c.issue("node4", "agent")
    Agent(c.pki, "node4", c.port).wait("welcome")


class Operator:
    """A connection that stays open, over which orders are given."""
    def __init__(self, c, name):
        trust = ssl.create_default_context(cafile=c.pki + "/ca.pem")
        trust.check_hostname = False
        trust.load_cert_chain(f"{c.pki}/{name}.pem", f"{c.pki}/{name}.key")
        self.conn = http.client.HTTPSConnection("127.0.0.1", c.https,
                                                timeout=20, context=trust)
        self.conn.connect()
        self.conn.auto_open = 0

    def order(self):
        """The status; 0: the connection was closed."""
        try:
            self.conn.request("POST", "/api/v1/db/check",
                              headers={"Content-Type": "application/json"})
            answer = self.conn.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            return 0


def main():
    if shutil.which("openssl") is None:
        print("skip: no openssl to make a certificate that ends soon")
        return 77
    with Collector() as c:
        other, both = c.dir + "/other", c.dir + "/both.pem"
        c.issue("node1", "agent")
        c.ctl("pki", "init", other)
        c.issue("node2", "agent", pki=other)
        for end in ("pem", "key"):
            shutil.copy(f"{other}/node2.{end}", c.pki)
        with open(both, "w") as f:
            for pki in (c.pki, other):
                with open(pki + "/ca.pem") as ca:
                    f.write(ca.read())
        c.issue("node4", "agent")
        c.issue("op1", "operator")
        c.issue("op4", "operator")
        c.issue("op2", "operator", pki=other)
        for end in ("pem", "key"):
            shutil.copy(f"{other}/op2.{end}", c.pki)
        for pki in (c.pki, other):
            c.issue("scrap", "agent", pki=pki)
            c.ctl("pki", "revoke", pki, "scrap")
        lists(c, c.pki, other)
        c.https = free_port()
        c.options.update({"http.tls_listen": f"127.0.0.1:{c.https}",
                          "tls.ca": both, "tls.crl": c.dir + "/crl.pem"})
        os.mkdir(c.dir + "/credentials")  # the key is root's, as by systemd
        os.rename(c.pki + "/collector.key",
                  c.dir + "/credentials/collector.key")
        os.environ["CREDENTIALS_DIRECTORY"] = c.dir + "/credentials"
        c.start()
        good = Agent(c.pki, "node1", c.port)
        foreign = Agent(c.pki, "node2", c.port)
        for a in (good, foreign):
            a.wait("welcome")
        assert not any("certificate" in t for t in diag_texts(c))
        end_unix_s = int(time.time()) + 15
        issue_until(c, "node3", end_unix_s)
        issue_until(c, "op3", end_unix_s, "operator", "short_operator")
        short = Agent(c.pki, "node3", c.port)
        op1, op2, op3, op4 = (Operator(c, f"op{i}") for i in range(1, 5))
        for op in (op1, op2, op3, op4):
            assert op.order() == 200, op.order()
        short.wait("welcome")

        assert any("node3" in t and "coalctl pki renew" in t
                   for t in diag_texts(c)), diag_texts(c)
        seen = expiries(c)
        assert seen['{of="agent",node="node3"}'] == end_unix_s, seen
        assert seen['{of="ca",node=""}'] > time.time() + 3000 * 86400, seen
        assert seen['{of="collector",node=""}'] > end_unix_s, seen

        c.ctl("pki", "revoke", c.pki, "op1")
        revoked(c, other)
        assert op1.order() == 0
        reload(c)  # nothing has changed: all stay
        while time.time() <= end_unix_s + 1:
            time.sleep(0.1)
        assert good.open and foreign.open and short.open
        assert op3.order() == 0  # no reload is needed
        reload(c)
        expect_gone(short, "certificate has expired")
        shutil.copy(c.pki + "/ca.pem", both)
        reload(c)
        expect_gone(foreign, "no longer valid")
        assert op2.order() == 0 and op4.order() == 200
        assert "node2: the peer's certificate is no longer" in c.read_log()
        beats = len(good.log)
        poll("node1 continues", 10, lambda: len(good.log) > beats)
        assert good.open and c.get("nodes/node1")["state"] == "ok"
        c.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
