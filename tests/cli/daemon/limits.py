# SPDX-License-Identifier: Apache-2.0
"""Agents that use up the collector's descriptors leave some for orders; a clock
that is far off is named, and is no reason not to start."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agent import Agent  # noqa: E402
from certificates import issue_until  # noqa: E402
from collector import Collector, UnixConnection  # noqa: E402

FDS = 80


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
        # By its clock the collector's own has ended: it starts nevertheless.
        issue_until(c, "collector", over, "collector", "own")
        c.start()
        assert "collector.pem expired" in c.read_log(), c.read_log()
        c.stop()


if __name__ == "__main__":
    test_descriptors()
    test_clock()
