#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""axe-core, which checks the requirements of screen readers and keyboards,
finds no serious problem in any page, light and dark, wide and narrow. It is
fetched from npm once, into the build folder.
"""
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile

import browser
from test_page import PAGES, Server

VERSION = "4.11.1"
SHA512 = "BASOg+YwO2C+346x3LZOeoovTIoTrRqEsqMa6fmfAV0P+U9mFr9NsyOEpiYvFjbc64NMrSswhV50WdXzdb/Z5A=="
WORSE = ("serious", "critical")


def source():
    """Return the text of axe.min.js, or None if it is not available."""
    folder = os.path.join(os.environ["COALMINE_BUILD"], "tests/browser")
    path = os.path.join(folder, "axe-core-%s.tgz" % VERSION)
    if not os.path.exists(path) and (shutil.which("npm") is None or
                                     subprocess.run(
            ["npm", "pack", "--silent", "axe-core@" + VERSION], cwd=folder,
            stdout=subprocess.DEVNULL, timeout=120).returncode != 0):
        return None
    with open(path, "rb") as f:
        digest = base64.b64encode(hashlib.sha512(f.read()).digest())
    if digest.decode() != SHA512:
        raise ValueError(path + " has a wrong checksum")
    with tarfile.open(path) as tar:
        return tar.extractfile("package/axe.min.js").read().decode()


def findings(b):
    """Return a line for each problem, with its rule and place."""
    found = b.run("axe.run(document, {resultTypes: ['violations']}).then(r =>"
                  " r.violations.map(v => [v.impact, v.id, v.help, v.nodes"
                  ".slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + "
                  "n.failureSummary.slice(0, 300))]))")
    return ["%s %s: %s\n    %s" % (impact, rule, text, "\n    ".join(where))
            for impact, rule, text, where in found if impact in WORSE]


def main():
    if browser.find() is None:
        print("skipped: no chromium here (apt-get install chromium)")
        return 77
    axe = source()
    if axe is None:
        print("skipped: axe-core cannot be had from npm")
        return 77
    b = browser.Browser()
    bad = 0
    try:
        with Server(12) as url:
            for page in PAGES:
                for dark, width in ((False, 1180), (True, 390)):
                    b.size(width, 900)
                    b.dark(dark)
                    b.go(url + page)
                    b.run(axe + "; 0")
                    for line in findings(b):
                        print("%s, %s, %d wide: %s" % (
                            page, "dark" if dark else "light", width, line))
                        bad = 1
    finally:
        b.close()
    return bad


if __name__ == "__main__":
    sys.exit(main())
