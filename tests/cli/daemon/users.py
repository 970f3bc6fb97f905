# SPDX-License-Identifier: Apache-2.0
"""Jobs of a batch system under a real collector: the command's jobs are stored
and combined with verdicts; access by role; a command that fails, prints
garbage or is late; and nothing with jobs.source = off."""
import glob
import http.client
import json
import os
import sqlite3
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agent import Agent  # noqa: E402
from collector import BUILD, Collector, free_port, poll  # noqa: E402


def coalctl(c, *args, code=0):
    r = subprocess.run([BUILD + "/ctl/coalctl", "--url", "unix:" + c.socket,
                        *args], capture_output=True, text=True)
    assert r.returncode == code, (args, r.returncode, r.stdout, r.stderr)
    return r.stdout + r.stderr


def ask(c, path, cert=None, user=None):
    """Like ask_once; retry if a busy machine reached the limit of requests."""
    answer = []

    def is_answered():
        answer[:] = ask_once(c, path, cert, user)
        return answer[0] != 503

    poll("an answer", 60, is_answered)
    return answer


def ask_once(c, path, cert, user):
    """Return status and value of a request by TLS with a certificate, or by
    TCP without one."""
    headers = {"Host": "localhost"}
    if user is not None:
        headers["X-Forwarded-User"] = user
    if cert is None:
        h = http.client.HTTPConnection("127.0.0.1", c.tcp, timeout=30)
    else:
        t = ssl.create_default_context(cafile=c.pki + "/ca.pem")
        t.check_hostname = False
        t.load_cert_chain(f"{c.pki}/{cert}.pem", f"{c.pki}/{cert}.key")
        h = http.client.HTTPSConnection("127.0.0.1", c.tls, timeout=30,
                                        context=t)
    h.request("GET", "/api/v1/" + path, headers=headers)
    r = h.getresponse()
    return r.status, json.loads(r.read())


def names(answer):
    assert answer[0] == 200, answer
    return [j["job"] for j in answer[1]]


def main():
    now = int(time.time())
    with Collector() as c:
        said = c.dir + "/said"
        c.tcp, c.tls = free_port(), free_port()
        c.options.update({
            "http.listen": f"127.0.0.1:{c.tcp}",
            "http.tls_listen": f"127.0.0.1:{c.tls}"})
        c.issue("node1", "agent")
        for who, role in (("proxy", "reader"), ("other", "reader"),
                          ("boss", "operator")):
            c.issue(who, role)

        # off: no jobs are listed, and no file is created
        c.start()
        assert "jobs.source is off" in coalctl(c, "job", "list", code=3)
        assert not glob.glob(c.dir + "/state/jobs*")
        c.stop()

        def write(*lines):
            with open(said + ".new", "w") as f:
                f.write("".join(line + "\n" for line in lines))
            os.rename(said + ".new", said)

        write(f"7|ann|RUNNING|{now - 600}||node[1-2]|lammps",
              f"8_1|bob|COMPLETED|{now - 500}|{now - 400}|node2|a|b",
              f"8_2|bob|FAILED|{now - 500}|{now - 900}|node2|a|b",
              "9|bob|PENDING|N/A|N/A||later", "no such line")
        c.options.update({"jobs.source": "command",
                          "jobs.command": f"cat {said}",
                          "jobs.interval": "1s", "jobs.proxy": "proxy"})
        c.start()
        agent = Agent(c.pki, "node1", c.port)
        agent.wait("welcome")
        poll("jobs", 30, lambda: len(c.get("jobs")) == 3)
        table = coalctl(c, "job", "list")
        assert "lammps" in table and "a|b" in table, table
        for name in ("ann", "bob"):
            assert name not in table
            assert name not in open(c.dir + "/log").read()
        assert os.stat(c.dir + "/state/jobs.key").st_mode & 0o077 == 0
        texts = "\n".join(d["text"] for d in c.get("diags"))
        for text in ("could not be read", "1 jobs ended before they began",
                     "never had an agent, such as node2"):
            assert text in texts, texts
        # never a label of a metric
        h = http.client.HTTPConnection("127.0.0.1", c.tcp, timeout=30)
        h.request("GET", "/metrics")
        page = h.getresponse().read().decode()
        assert "lammps" not in page and 'job="' not in page

        # NCCL's reports from nodes of the job, and one that cannot be parsed
        agent.send("heartbeat", at_unix_ns=time.time_ns(), ras=[
            {"job": "7", "uid": 0, "addrs": [],
             "error": "cannot interpret the reply of NCCL 3.1.0"},
            {"job": "8_1", "uid": 0, "addrs": [], "error": "not its node"}])
        poll("a reply", 30, lambda: c.get("jobs/nccl"))
        assert "NCCL ?, 0 communicators" in coalctl(c, "job", "show", "7")
        assert "  cannot interpret the reply of NCCL 3.1.0\n" in \
            coalctl(c, "job", "show", "7")
        assert [j["job"] for j in ask(c, "jobs/nccl", "boss")[1]] == ["7"]
        assert ask(c, "jobs/nccl", "proxy", "bob")[1] == []
        assert ask(c, "jobs/nccl", "other", "ann")[0] == 403

        # operators see all jobs, readers none, the proxy the jobs of its user
        assert len(names(ask(c, "jobs", "boss"))) == 3
        for cert, user in ((None, None), (None, "ann"), ("other", "ann"),
                           ("proxy", None), ("proxy", "")):
            for path in ("jobs", "jobs/7", "jobs/worst"):
                assert ask(c, path, cert, user)[0] == 403, (cert, user)
        for cert, user, seen in ((None, None, None), ("boss", None, "all"),
                                 ("proxy", "ann", "own"), ("proxy", "", None),
                                 ("other", "ann", None)):
            assert ask(c, "version", cert, user)[1].get("jobs") == seen
        assert names(ask(c, "jobs", "proxy", "ann")) == ["7"]
        assert names(ask(c, "jobs", "proxy", "bob")) == ["8_1", "8_2"]
        assert names(ask(c, "jobs/8", "proxy", "bob")) == ["8_1", "8_2"]
        hidden = ask(c, "jobs/7", "proxy", "bob")
        assert hidden[0] == 404
        assert hidden == ask(c, "jobs/77", "proxy", "bob")  # no such job
        assert names(ask(c, "jobs?limit=1", "proxy", "ann")) == ["7"]

        # with the verdicts on its nodes
        agent.close()
        c.stop()
        db = sqlite3.connect(c.dir + "/state/coalmine.db")
        for ago, verdict in ((300, "bad"), (240, "ok")):
            db.execute(
                "INSERT INTO verdict (at_unix_ns, kind, subject, verdict, "
                "body) VALUES (?, 'node', 'node2', ?, ?)",
                ((now - ago) * 10**9, verdict, json.dumps({
                    "kind": "node", "subject": "node2", "verdict": verdict,
                    "text": f"node2: {verdict} for a test"})))
        # 2,100 jobs of one name and a test: more than the loop takes at once
        week = now // 604800 * 604800 - 3 * 86400
        for i in range(2100):
            at = (week - (i % 2) * 604800 - 10) * 10**9
            db.execute(
                "INSERT INTO occasion (job, at_unix_ns, test, name, body) "
                "VALUES (?, ?, 'mesh', 'bully', ?)", (str(i), at, json.dumps({
                    "job": str(i), "start_unix_ns": at, "name": "bully",
                    "test": "mesh", "at_unix_ns": at, "sign": 1,
                    "log_ratio": 0.1, "placebos": [0.01 * (i % 3 - 1)],
                    "seconds": 2.4e-6, "quiet_s": 3e-5,
                    "placebos_s": [1e-7 * (i % 3 - 1)],
                    "beside_node_s": 1.0})))
        db.commit()
        db.close()
        # The command fails at first: the known jobs stay.
        c.options["jobs.command"] = f"cat {said} || exit 3"
        os.rename(said, said + ".away")
        c.start()
        poll("a failure", 30, lambda: "exit 3" in "".join(
            d["text"] for d in c.get("diags")))
        assert len(c.get("jobs")) == 3
        text = coalctl(c, "job", "show", "7")
        assert "slow in 0.0 of" in text and \
            "during" in text and "node2: bad for a test" in text, text
        job = json.loads(coalctl(c, "job", "show", "7", "--json"))
        job = job[0] if isinstance(job, list) else job
        assert job["exposed_node_s"] == 120, job
        text = coalctl(c, "epilog", "7")
        assert text.startswith("job 7: 2 nodes for ") and \
            text.count("\n") == 1 and "; used: " in text, text
        text = coalctl(c, "advice")
        assert "No node is slow" in text, text
        assert "after" in coalctl(c, "job", "show", "8_1")
        assert "7" in coalctl(c, "job", "worst")
        assert "job not found" in coalctl(c, "job", "show", "77",
                                                 code=3)
        assert "expected a duration" in coalctl(c, "job", "list", "--since",
                                              "x", code=3)

        # the costs of all jobs: by name, by week, by job
        cost, = c.get("jobs/costs")
        assert cost["jobs"] == cost["placebos"] == 2100 and cost["blamed"]
        assert abs(cost["cost"] - 0.105) < 0.001, cost
        assert abs(cost["cost_s"] - 2.4e-6) < 1e-8 and \
            cost["lo_s"] < 2.4e-6 < cost["hi_s"], cost
        weeks = c.get("jobs/costs?by=week&name=bully")
        assert sorted(w["week_unix_ns"] // 10**9 for w in weeks) == [
            week - 14 * 86400, week - 7 * 86400], weeks
        assert sum(w["jobs"] for w in weeks) == 2100
        assert len(c.get("jobs/costs?by=job")) == 1000
        assert "costs   job 7, named bully: operations on shared links took " \
            "+10.5 % time" in coalctl(c, "job", "cost", "--by", "job")
        text = coalctl(c, "job", "cost")
        assert "in test mesh, 2.40 us (2" in text and \
            ") more than the usual 30.0 us;" in text, text
        assert "by: expected" in ask(c, "jobs/costs?by=x", "boss")[1][
            "error"]["message"]

        # jobs missing without an end, and listed again after the scheduler's
        # restart
        write("")
        poll("gone", 30, lambda: c.get("jobs/7")[0].get("end_is_guess"))
        assert "or later" in coalctl(c, "job", "show", "7")
        write(f"7|ann|RUNNING|{now - 600}||node[1-2]|lammps")
        poll("back", 30, lambda: "end_unix_ns" not in c.get("jobs/7")[0])
        write(f"7|ann|TIMEOUT|{now - 600}|{now}|node[1-2]|lammps")
        poll("over", 30,
             lambda: c.get("jobs/7")[0].get("end_unix_ns") == now * 10**9)
        c.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
