# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over its debugging pipe: real clicks and keys.

The pipe carries JSON objects that end with a NUL byte. Nothing but the
standard library is needed.
"""
import base64
import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu",
         "--disable-background-networking", "--hide-scrollbars",
         "--no-first-run", "--force-color-profile=srgb",
         "--remote-debugging-pipe")
KEYS = {"Enter": 13, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}


def find():
    """Return the browser's path, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """limit_s is the limit for a hang. The first start on a machine reads
    400 MB from disk and builds the cache of fonts, which takes minutes on a
    busy disk."""

    def __init__(self, limit_s=400):
        self.limit_s = limit_s
        self.user = tempfile.mkdtemp(prefix="coalmine-browser-")
        to_read, self.to = os.pipe()
        self.answers, from_write = os.pipe()
        self.child = self._start(to_read, from_write)
        os.close(to_read)
        os.close(from_write)
        self.text, self.serial, self.errors = b"", 0, []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Performance.enable", timeDomain="threadTicks")

    def _start(self, to_read, from_write):
        # The browser reads from 3 and writes to 4; ours may have these numbers.
        a, b = os.dup(to_read), os.dup(from_write)
        line = 'exec 3<&%d 4>&%d "$@"' % (a, b)
        child = subprocess.Popen(
            ["bash", "-c", line, "bash", find(), *FLAGS,
             "--user-data-dir=" + self.user], pass_fds=(a, b),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(a)
        os.close(b)
        return child

    def _next(self, until):
        while b"\0" not in self.text:
            left = max(0, until - time.monotonic())
            if not select.select([self.answers], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.answers, 1 << 20)
            if piece == b"":
                raise EOFError("the browser has ended")
            self.text += piece
        line, self.text = self.text.split(b"\0", 1)
        return json.loads(line)

    def _hear(self, message):
        """Collect errors of the page: exceptions, and violations of its
        policy."""
        method, what = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            detail = what["exceptionDetails"]
            self.errors.append(detail.get("exception", {}).get(
                "description", detail["text"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.errors.append(what["entry"]["text"] + " " +
                                   what["entry"].get("url", ""))

    def call(self, method, **params):
        self.serial += 1
        order = {"id": self.serial, "method": method, "params": params}
        if self.session is not None:
            order["sessionId"] = self.session
        os.write(self.to, json.dumps(order).encode() + b"\0")
        until = time.monotonic() + self.limit_s
        while True:
            message = self._next(until)
            if message.get("id") == self.serial:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]
            self._hear(message)

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]
                               ["description"])
        return answer["result"].get("value")

    def wait(self, script, what=None):
        """Wait until the expression is true. Return its value."""
        until = time.monotonic() + self.limit_s
        while time.monotonic() < until:
            try:
                value = self.run(script)
            except RuntimeError as error:
                # A page does not answer during a navigation.
                if not re.search("context|navigated", str(error)):
                    raise
                value = None
            if value:
                return value
            time.sleep(0.1)
        raise TimeoutError((what or script) + "; the page says: " +
                           self.run("document.body.innerText")[:600])

    def worked(self):
        """Return the CPU time of the page's thread in milliseconds."""
        for metric in self.call("Performance.getMetrics")["metrics"]:
            if metric["name"] == "TaskDuration":
                return 1000 * metric["value"]
        raise RuntimeError("the browser has no TaskDuration")

    def go(self, url):
        """Open a page of the collector, and wait until it is complete."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("document.body && document.body.dataset.ready", url)

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=scale, mobile=False)

    def dark(self, yes):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if yes else "light"}])

    def offline(self, yes):
        self.call("Network.emulateNetworkConditions", offline=yes, latency=0,
                  downloadThroughput=-1, uploadThroughput=-1)

    def key(self, key):
        more = {"text": key} if len(key) == 1 else {
            "windowsVirtualKeyCode": KEYS[key],
            "text": "\r" if key == "Enter" else ""}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **more)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                      button="left", clickCount=1)

    def picture(self, path):
        """All of the page, however long, as PNG."""
        shot = self.call("Page.captureScreenshot", format="png",
                         captureBeyondViewport=True)
        with open(path, "wb") as to:
            to.write(base64.b64decode(shot["data"]))

    def close(self):
        self.child.terminate()
        self.child.wait()
        os.close(self.to)
        os.close(self.answers)
        shutil.rmtree(self.user, ignore_errors=True)
