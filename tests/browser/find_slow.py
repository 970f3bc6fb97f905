#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""find_slow.py URL NODE - get from the page's headline to the slow node with
one click, like a new user of the page."""
import os
import sys

import browser


def picture(b, name):
    if os.environ.get("PICTURES"):
        b.picture(os.path.join(os.environ["PICTURES"], name + ".png"))


def main():
    url, node = sys.argv[1:3]
    b = browser.Browser()
    try:
        b.size(1180, 900)
        b.dark(False)
        b.go(url)
        b.wait("document.querySelector('#verdict h1').textContent.startsWith"
               "('%s is ')" % node, "the headline names the node")
        b.wait("document.querySelector('#outliers li').innerText.includes"
               "('slower')", "the evidence is there")
        picture(b, "slow-overview")
        at = b.run("(r => [r.x + 5, r.y + 5])(document.querySelector("
                   "'#outliers li a').getBoundingClientRect())")
        b.click(*at)
        b.wait("location.hash === '#/node/%s'" % node)
        b.wait("document.querySelector('#main h1').textContent.startsWith"
               "('%s: ')" % node)
        b.wait("!!document.querySelector('.uplot')", "its history is drawn")
        picture(b, "slow-node")
        if b.errors:
            print("page errors:", b.errors)
            return 1
    finally:
        b.close()
    return 0


sys.exit(main())
