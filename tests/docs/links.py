#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""links.py FOLDER - every link and picture of the HTML files below FOLDER leads
to an existing file, and to an existing anchor if the link has one. Nothing is
loaded from other sites. Links to other sites are not checked, because the
machine may have no network."""
import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        for key in ("id", "name"):
            if attrs.get(key):
                self.anchors.add(attrs[key])
        if attrs.get("src"):
            self.loads.append(attrs["src"])
        if attrs.get("href"):
            loads = tag == "link" and attrs.get("rel") != "canonical"
            (self.loads if loads else self.links).append(attrs["href"])


def main(top):
    pages, bad = {}, []
    for folder, _, names in os.walk(top):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                pages[path] = Page(path)
    for path, page in sorted(pages.items()):
        # The page for missing addresses has links from the root of a server.
        if os.path.basename(path) == "404.html":
            continue
        for link in page.links + page.loads:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.loads:
                    bad.append(f"{path}: loads {link}")
                continue
            to = path
            if url.path:
                to = os.path.normpath(
                    os.path.join(os.path.dirname(path), unquote(url.path)))
            if os.path.isdir(to):
                to = os.path.join(to, "index.html")
            if not os.path.exists(to):
                bad.append(f"{path}: {link} is not there")
            elif (url.fragment and to in pages and
                  unquote(url.fragment) not in pages[to].anchors):
                bad.append(f"{path}: {link}: no such anchor")
    print("\n".join(bad) or f"{len(pages)} pages, all links lead somewhere")
    return 1 if bad or not pages else 0


sys.exit(main(sys.argv[1]))
