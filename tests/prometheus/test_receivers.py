#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alertmanager with the shipped alertmanager.yml notifies operators.

A critical alert and a warning are sent to a real Alertmanager. Mail, Slack and
PagerDuty are fake servers on the loopback; only the addresses in the example
are replaced. The critical alert arrives by all three, the warning by mail and
Slack. amtool detects a wrong name of a receiver.
"""
import http.server
import json
import os
import pathlib
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

WAIT_S = 120
got = {"mail": [], "slack": [], "pagerduty": []}


class Mail(socketserver.StreamRequestHandler):
    """The part of SMTP that Alertmanager uses."""

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def handle(self):
        self.say("220 stand-in")
        for line in self.rfile:
            word = line.split()[0].upper() if line.strip() else b""
            if word == b"DATA":
                self.say("354 send the message")
                body = b""
                while not body.endswith(b"\r\n.\r\n"):
                    body += self.rfile.readline()
                got["mail"].append(body.decode())
            elif word == b"QUIT":
                return self.say("221 bye")
            self.say("250 ok")


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        got[self.path.split("/")[1]].append(body.decode())
        self.send_response(202 if "pagerduty" in self.path else 200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args):
        pass


def serve(kind, handler):
    server = kind(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def amtool(path):
    return subprocess.run(["amtool", "check-config", path],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)


def site(work):
    """The example, with addresses of this machine."""
    text = (pathlib.Path(os.environ["COALMINE_SOURCE"]) /
            "etc/prometheus/alertmanager.yml").read_text()
    mail = serve(socketserver.ThreadingTCPServer, Mail)
    hook = serve(http.server.ThreadingHTTPServer, Hook)
    (work / "slack").write_text(f"http://127.0.0.1:{hook}/slack")
    (work / "key").write_text("0123456789abcdef0123456789abcdef")
    for old, new in ((
            "mail.example.org:25", f"127.0.0.1:{mail}"),
            ("/etc/prometheus/slack-url", str(work / "slack")),
            ("/etc/prometheus/pagerduty-key", str(work / "key")),
            ("global:\n", "global:\n  pagerduty_url: "
             f"http://127.0.0.1:{hook}/pagerduty\n"),
            ("group_wait: 30s", "group_wait: 1s")):
        assert text.count(old) == 1, f"{old} is not there once"
        text = text.replace(old, new)
    (work / "am.yml").write_text(text)
    (work / "spoilt.yml").write_text(text.replace("- name: slack",
                                                  "- name: slak"))


def seen(channel, word):
    return any(word in text for text in got[channel])


def tell(port):
    alerts = [("CoalmineLeafOutlier", "critical", "leaf7 is slow"),
              ("CoalmineNodeOutlier", "warning", "node5 is slow")]
    for name, severity, summary in alerts:
        subprocess.run(
            ["amtool", "alert", "add", f"alertname={name}",
             f"severity={severity}", f"--annotation=summary={summary}",
             f"--alertmanager.url=http://127.0.0.1:{port}"],
            check=True, timeout=60)


def main():
    for program in ("amtool", "prometheus-alertmanager"):
        if shutil.which(program) is None:
            print(f"skipped: no {program}; see lab/deps")
            return 77
    work = pathlib.Path(tempfile.mkdtemp())
    site(work)
    checked = amtool(work / "am.yml")
    assert checked.returncode == 0, checked.stdout
    assert amtool(work / "spoilt.yml").returncode != 0, "a spoilt file passes"
    with socketserver.TCPServer(("127.0.0.1", 0), None) as free:
        port = free.server_address[1]
    with open(work / "log", "w", encoding="utf-8") as log:
        daemon = subprocess.Popen(
            ["prometheus-alertmanager", f"--config.file={work}/am.yml",
             f"--storage.path={work}/data", "--cluster.listen-address=",
             f"--web.listen-address=127.0.0.1:{port}"],
            stdout=log, stderr=subprocess.STDOUT)
    end = time.monotonic() + WAIT_S
    try:
        while True:
            try:
                tell(port)
                break
            except subprocess.CalledProcessError:
                assert time.monotonic() < end, (work / "log").read_text()
                time.sleep(0.5)
        want = [("mail", "leaf7"), ("mail", "node5"), ("slack", "leaf7"),
                ("slack", "node5"), ("pagerduty", "leaf7")]
        while not all(seen(*w) for w in want):
            assert time.monotonic() < end, (
                f"received: {got}\n{(work / 'log').read_text()}")
            time.sleep(0.2)
        assert not seen("pagerduty", "node5"), "a warning was sent to PagerDuty"
        event = json.loads(got["pagerduty"][0])
        assert event["event_action"] == "trigger", event
        assert event["payload"]["severity"] == "critical", event
        assert "CoalmineLeafOutlier" in event["payload"]["summary"], event
        assert json.loads(got["slack"][0])["channel"] == "#network"
        assert any("Subject: [firing] CoalmineNodeOutlier" in m
                   for m in got["mail"]), got["mail"]
    finally:
        daemon.kill()
        daemon.wait()
        shutil.rmtree(work)
    print("mail, Slack and PagerDuty receive the expected alerts")
    return 0


sys.exit(main())
