# SPDX-License-Identifier: Apache-2.0
"""Agents cannot use the descriptors that the collector reserves for orders; it
accepts agents again when some are free. A wrong clock is reported, and does not
prevent a start. A restart keeps the error budgets of objectives."""
import json
import os
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agent import Agent  # noqa: E402
from certificates import issue_until  # noqa: E402
from collector import BUILD, Collector, UnixConnection, poll  # noqa: E402
from runs import agents, close, to_running  # noqa: E402

FDS = 80


def is_accepted(c, name):
    try:
        Agent(c.pki, name, c.port, beat=False).wait("welcome")
    except (OSError, AssertionError):
        return False
    return True


def test_descriptors():
    with Collector(collector__silence="10m") as c:
        c.issue(f"n[1-{FDS}]", "agent")
        command = c.command
        c.command = lambda: ["prlimit", f"--nofile={FDS}", *command()]
        c.start()
        agents, refused = [], 0
        for i in range(1, FDS + 1):
            try:
                a = Agent(c.pki, f"n{i}", c.port, beat=False)
                a.wait("welcome")
                agents.append(a)
            except (OSError, AssertionError):
                refused += 1
                if refused == 3:
                    break
        assert refused == 3 and len(agents) > FDS / 4, len(agents)
        many = [UnixConnection(c.socket) for _ in range(5)]
        for conn in many:
            conn.connect()
        for conn in many:
            conn.request("GET", "/api/v1/version")
            assert conn.getresponse().status == 200
        agents.pop().close()
        poll("the port is open again", 60, lambda: is_accepted(c, f"n{FDS}"))
        c.stop()


def test_clock():
    with Collector() as c:
        c.options.update({"enroll.ca": c.pki + "/ca.pem",
                          "enroll.key": c.pki + "/ca.key"})
        over = int(time.time()) - 100
        issue_until(c, "node2", over)
        c.start()
        assert not any("dates" in d["text"] for d in c.get("diags"))
        try:
            Agent(c.pki, "node2", c.port).wait("welcome")
        except (OSError, AssertionError):
            pass
        else:
            raise AssertionError("an expired certificate was let in")
        said = [d for d in c.get("diags") if "dates" in d["text"]]
        assert len(said) == 1 and time.strftime("%Y-%m-%d", time.gmtime()) \
            in said[0]["text"] and "chrony" in said[0]["remedy"], said
        c.stop()
        # By its clock the collector's certificate has expired; it still starts.
        issue_until(c, "collector", over, "collector", "own")
        c.start()
        assert "collector.pem expired" in c.read_log(), c.read_log()
        c.stop()


def claim(c, name, term):
    """Open a session that reports this term."""
    a = Agent(c.pki, name, c.port, beat=False, hello=False)
    a.send("hello", version=1, node=name, boot="b1", software="0.1.0",
           inventory={}, runs=[], spool=[], term=term)
    a.wait("welcome")
    return a


def claims(c, kind):
    return [e for e in c.get("events?limit=10000")
            if e["kind"] == kind and "of term" in e["text"]]


def test_terms():
    """A term reported by one node raises no alarm, and does not suppress the
    true one."""
    with Collector() as c:
        c.issue("node[1-2]", "agent")
        c.start()
        for term in [2 ** 62, *range(2, 12)]:
            claim(c, "node1", term).close()
        assert not claims(c, "alarm"), claims(c, "alarm")
        assert 1 <= len(claims(c, "agent")) <= 100
        first, second = claim(c, "node1", 12), claim(c, "node2", 3)
        poll("two say so", 60, lambda: len(claims(c, "alarm")) == 1)
        assert claims(c, "alarm")[0]["subject"] == "node2"
        first.close()
        second.close()
        c.stop()


def coalctl(c, *args):
    r = subprocess.run([BUILD + "/ctl/coalctl", "--url", "unix:" + c.socket,
                        *args], capture_output=True, text=True)
    return r.returncode, r.stdout


def bandwidth(run):
    """The record of a test in which three nodes have the same bandwidth."""
    return {"run": run, "seq": 3, "probe": "canary", "test": "bw",
            "phase": "wild", "partners": "match", "unit": "B/s", "n": 2,
            "mean": 1e10, "min": 1e10, "p50": 1e10, "p90": 1e10, "p99": 1e10,
            "p999": 1e10, "max": 1e10, "hist": [[531, 2]], "pairs": [],
            "stopped_by": "time", "rounds": 8, "seed": 7,
            "interval": {"of": "p99", "level": 0.95, "lo": 1e10, "hi": 1e10},
            "nodes": [{"node": f"node{i}", "n": 2, "q75": 1e10, "partners": 2,
                       "slow_partners": 0} for i in (1, 2, 3)]}


def test_objectives():
    """A record of bandwidth starts the hours of an objective. The error budget
    is computed from the stored rows at each start, and its alert is an
    event."""
    with Collector() as c:
        c.options["objective.rows"] = (
            "links node 95% 99.5% 1d, all collective:2 95% 99.5% 1d promise")
        c.options["objective.report"] = c.dir + "/report.json"
        with open(c.dir + "/report.json", "w") as f:
            json.dump({"kind": "coalmine-acceptance", "version": 5,
                       "summary": {}, "nodes": [
                           {"node": f"node{i}", "rate": 1.25e10}
                           for i in (1, 2, 3)]}, f)
        c.issue("node[1-3]", "agent")
        c.campaign("quick")
        c.start()
        a = agents(c)
        run = to_running(c, a)
        assert c.get("objectives")[0]["good_hours"] == 0
        a[0].records(run, bandwidth(run))
        poll("hours", 60, lambda: c.get("objectives")[0]["good_hours"] > 0)
        close(a)
        # All nodes have 80 % of the rate at the acceptance.
        o = c.get("objectives")[1]
        assert o["of"] == "promise" and o["class"] == "collective:2", o
        assert o["bad_hours"] > 0 and o["good_hours"] == 0, o
        assert o["parts"][0]["subject"] == "all", o
        code, text = coalctl(c, "objective", "list")
        assert code == 1 and "undetermined: 0.0 of 0.8 hours" in text, text
        c.stop()
        now_ns = time.time_ns()
        slow = [{"kind": "node", "subject": "n1", "share": 0.5}]
        with sqlite3.connect(c.dir + "/state/coalmine.db") as db:
            rows = db.execute("SELECT body FROM share").fetchall()
            assert len(rows) == 1 and "node[1-3]" in rows[0][0], rows
            assert json.loads(rows[0][0])["promise"]["node"] == 0.8, rows
            db.execute("DELETE FROM share")
            for hours, rows in ((20, []), (2, slow)):
                at_ns = now_ns - hours * 3600 * 10 ** 9
                db.execute("INSERT INTO share VALUES (?, ?)", (
                    at_ns, json.dumps({"at_unix_ns": at_ns, "known": "n[1-4]",
                                       "slow": rows})))
        db.close()
        for _ in range(2):
            c.start()
            poll("fast", 30, lambda: c.get("objectives")[0]["state"] == "fast")
            o = c.get("objectives")[0]
            # 2 of 80 node-hours are bad; 0.4 are permitted.
            assert abs(o["good"] - 0.975) < 1e-3, o
            assert abs(o["budget"] + 4) < 0.2, o
            assert o["parts"][0]["subject"] == "n1", o
            c.stop()
        c.start()
        assert "now node n1 has 50 % of" in [
            e for e in c.get("events?limit=10000")
            if e["kind"] == "alarm" and e["subject"] == "links"][0]["text"]
        c.stop()


if __name__ == "__main__":
    test_objectives()
    test_terms()
    test_descriptors()
    test_clock()
