#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of a simulated cluster in a real browser: every page shows its
contents, links lead to their targets, the keyboard reaches everything, colours
follow the reader's settings, 10,000 nodes are one picture, and the browser logs
no errors of the script or of the security policy. The design needs a human
check: with PICTURES=DIR in the environment screenshots of all pages are stored
there.
"""
import contextlib
import json
import os
import re
import select
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading

import browser

SERVE = os.path.join(os.environ["COALMINE_BUILD"],
                     "tests/bench/daemon/serve_page")
PICTURES = os.environ.get("PICTURES")
# One page of every kind, of the cluster that serve_page simulates.
PAGES = ("", "#/?test=lat&days=30", "#/run/gpcnet-quick-199",
         "#/run/gpcnet-quick-199?pairs=lat,%20isolated", "#/run/plans-1",
         "#/run/gpcnet-quick-195", "#/node/node7", "#/runs", "#/campaigns",
         "#/campaign/matrix", "#/forecast", "#/events", "#/run/none",
         "#/jobs", "#/job/4711", "#/links", "#/?leaf=leaf2",
         "#/run/gpcnet-quick-199?with=gpcnet-quick-198")


def forward(to):
    """Forward a TCP port to the operators' socket with this name, which a
    browser cannot open. Return the port."""
    class One(socketserver.BaseRequestHandler):
        def handle(self):
            # If one side has closed, the connection ends.
            with socket.socket(socket.AF_UNIX) as other, \
                    contextlib.suppress(OSError):
                other.connect(to)
                ways = {self.request: other, other: self.request}
                while True:
                    for ready in select.select(list(ways), [], [])[0]:
                        piece = ready.recv(1 << 16)
                        if piece == b"":
                            return
                        ways[ready].sendall(piece)

    socketserver.ThreadingTCPServer.daemon_threads = True
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), One)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


class Server:
    """serve_page with this number of simulated nodes. Its url is for
    operators."""

    def __init__(self, nodes):
        plans = os.path.join(os.path.dirname(__file__), "plans.json")
        self.child = subprocess.Popen([SERVE, "0", str(nodes), plans],
                                      stdout=subprocess.PIPE, text=True)
        self.reader_url = self.child.stdout.readline().strip()
        self.url = "http://127.0.0.1:%d/" % forward(
            self.child.stdout.readline().strip())

    def __enter__(self):
        Server.newest = self
        return self.url

    def __exit__(self, *_):
        self.child.send_signal(signal.SIGTERM)
        self.child.wait()
        self.child.stdout.close()


def keep(b, name):
    if PICTURES:
        b.picture(os.path.join(PICTURES, name + ".png"))


def check(ok, what):
    if not ok:
        raise AssertionError(what)


def shows(b, url, *patterns):
    b.go(url)
    text = b.run("document.getElementById('main').innerText")
    check(not re.search(r"\bundefined\b|\bNaN\b|\[object", text),
          "%s has a hole: %s" % (url, text[:800]))
    for pattern in patterns:
        check(re.search(pattern, text, re.I | re.S),
              "%s lacks %s: %s" % (url, pattern, text[:800]))


def test_overview(b, url):
    shows(b, url, "node7 is bad; 11 of 12 nodes report; congestion costs up "
          "to", "Outliers.*node7.*the node itself.*40 % slower than 5 of 5 "
          "partners.*3 h ago.*6 rounds", "leaf1.*leaf2.*leaf3",
          "1 agent lost: node9", "congested, bw-sync, 27 s left")
    check(b.run("document.querySelectorAll('.uplot canvas').length") == 1,
          "no plot of impact over time")
    check(b.run("document.querySelector('#verdict').dataset.verdict") ==
          "bad", "the verdict is not bad")
    keep(b, "overview")


@contextlib.contextmanager
def answer(b, what, rows):
    """The collector answers /api/v1/what with these rows."""
    script = b.call("Page.addScriptToEvaluateOnNewDocument", source=(
        "const real = window.fetch; window.fetch = (at, ...more) => at === "
        "'/api/v1/%s' ? Promise.resolve(new Response(%s)) : real(at, "
        "...more);" % (what, json.dumps(json.dumps(rows)))))
    b.call("Page.navigate", url="about:blank")
    yield
    b.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script[
        "identifier"])
    b.call("Page.navigate", url="about:blank")


def test_clusters(b, url):
    """Several clusters are a table with links; a single one has no table."""
    shows(b, url)
    check(b.run("!document.getElementById('clusters')"), "one is a table")
    rows = [{"cluster": c, "self": c == "east", "verdict": v, "text": t,
             "page": p, "collector": c + "1:17700", "at_unix_ns": 1.7e18}
            for c, v, t, p in (
                ("east", "warn", "11 of 12 nodes report, 1 lost, 1 outlier", ""),
                ("north", "bad", "no collector", "javascript:alert(1)"),
                ("south", "unknown", "4 of 4 nodes report, no measurement "
                 "yet", ""),
                ("west", "ok", "96 of 96 nodes report", "http://west:17701/"))]
    with answer(b, "clusters", rows):
        shows(b, url, "Clusters.*east.*warn.*1 lost.*north.*bad.*no collector."
              "*south.*unknown.*west.*ok.*96 of 96")
        check(b.run("[...document.querySelectorAll('#clusters a')].map(a => "
                    "a.href)") == ["http://west:17701/"], "not the link")
        keep(b, "clusters")


def test_objectives(b, url):
    """Each objective states what its bandwidth is compared with."""
    rows = [dict({"name": name, "class": "node", "share": 0.95, "target":
                  0.995, "state": "ok", "text": "good", "good": 1,
                  "budget": 1}, **more) for name, more in (
                      ("links", {"of": "promise"}), ("older", {}))]
    with answer(b, "objectives", rows):
        shows(b, url, "Least bandwidth.*links.*95.0 % of the promise.*99.5 %"
              ".*older.*95.0 % of the peers")
        keep(b, "objectives")


def test_choice_is_a_link(b, url):
    b.go(url)
    b.run("(e => { e.value = 'lat'; e.dispatchEvent(new Event('change')); })"
          "(document.getElementById('choose-test'))")
    b.wait("location.hash === '#/?test=lat'")
    b.wait("document.querySelectorAll('.u-series').length === 4",
           "one test with its interval")
    shows(b, url + "#/?test=lat&days=30")
    check(b.run("document.getElementById('choose-test').value") == "lat" and
          b.run("document.getElementById('choose-span-of-time').value") ==
          "30", "the address does not choose")
    keep(b, "one-test")


def test_one_run_is_an_hour(b, url):
    """The drawn axis of one run, or of two in a minute, has an hour."""
    b.go(url)
    spans = b.run("""import('/page/plot.js').then(async m => {
        const was = window.uPlot, spans = [];
        let drawn = null;
        window.uPlot = Object.assign(function(...a) {
            return drawn = new was(...a); }, was);
        for (const times of [[5e8], [5e8, 5e8 + 60], [5e8, 5e8 + 7200]]) {
            drawn = null;
            document.getElementById("main").append(m.impactPlot(times.map(
                (t, i) => ({ run: "r" + i, test: "lat", of: "p99", value: 2,
                             at_unix_ns: t * 1e9 })), ["lat"]));
            while (!drawn || drawn.scales.x.max === null ||
                   drawn.scales.x.max === undefined)
                await new Promise(r => setTimeout(r, 20));
            spans.push(drawn.scales.x.max - drawn.scales.x.min);
        }
        window.uPlot = was;
        return spans;
    })""")
    check(spans == [3600, 3600, 7200], "the drawn axes: %s" % spans)


def test_leaf_is_coloured(b, url):
    """A verdict on a leaf or its uplink colours its heading and frame."""
    b.go(url)
    got = b.run("""import('/page/grid.js').then(m => {
        const nodes = [1, 2, 3, 4].map(i => ({ node: "node" + i, state: "ok",
            verdict: "ok", leaf: "leaf" + (1 + i % 2) }));
        const card = m.gridCard(nodes, [{ kind: "leaf", subject: "leaf2",
            verdict: "bad" }], new URLSearchParams(), () => {});
        return [...card.querySelectorAll(".leaf")].map(l =>
            [l.className, l.querySelector("h3").textContent]);
    })""")
    check(["leaf bad", "leaf2: bad"] in got and ["leaf", "leaf1"] in got,
          "the leaves: %s" % got)


def test_run(b, url):
    shows(b, url + "#/run/gpcnet-quick-199", "Canaries", "Worst pairs",
          "isolated: p50.*congested: p50")
    for part in (".area.iso", ".area.con", ".heat .h9", ".span"):
        check(b.run("document.querySelectorAll('%s').length" % part) > 0,
              "a run lacks " + part)
    keep(b, "run")
    # The worst values of a rate are the low ones.
    shows(b, url + "#/run/gpcnet-quick-199", r"worst 1 %.*bw-sync\s+isolated\s"
          r"+[\d,]+\s+2[01]\S+ MiB/s\s+2[01]\S+ MiB/s\s+1\d\S+ MiB/s")
    shows(b, url + "#/run/gpcnet-quick-195", "silent for 10 s")
    shows(b, url + "#/run/none", "No answer")


def test_all_pairs(b, url):
    """A record of few nodes holds every pair: the slow one is a cross."""
    shows(b, url + "#/run/gpcnet-quick-199?pairs=lat,%20isolated", "Pairs "
          "median of each pair; empty: not measured")
    check(b.run("document.querySelectorAll('.heat td:not(.none)').length") ==
          12 * 11, "not every pair is shown")
    worst = b.run("[...document.querySelectorAll('.heat td.h9,.heat td.h8')]"
                  ".every(c => /node7 |node7:/.test(c.title))")
    check(worst, "the slow node's pairs are not the darkest")
    shows(b, url + "#/run/gpcnet-quick-199?pairs=bw-sync,%20isolated", "Pairs")
    worst = b.run("[...document.querySelectorAll('.heat td.h9')]"
                  ".every(c => /node7 |node7:/.test(c.title))")
    check(worst, "a low bandwidth is not dark")
    keep(b, "pairs")


def test_plans(b, url):
    shows(b, url + "#/run/plans-1", "Bandwidth.*predicted for dgx-a100.*"
          "stripe g=2.*14.1 % of 33.2 GiB/s",
          "Throughput.*allreduce of 1.00 MiB.*72.7 % of 1.30 GiB/s.*by "
          "MPI_Allreduce.*65.6 %.*stripe g=2.*4.7. GiB/s.*by direct",
          "Speed-up over the baseline.*"
          "MPI_Neighbor_allgather.*4.40×.*4.31 – 4.52",
          "Not measured.*rsg=0.05.*unsupported.*the count exceeds MPI's int",
          "Nodes of a plan.*node1.*13.8 %.*node2.*15.3 %.*28 times",
          "Bytes on the wire.*leader.*8.02 MiB.*8.00 MiB")
    check(b.run("document.querySelectorAll('.against .expected').length") == 4,
          "a model, a bound or the traffic of such graphs is not marked")
    shows(b, url + "#/run/plans-1", "Bandwidth over size.*group g=1",
          "Scaling.*dense out k=1")
    points = b.run("[...document.querySelectorAll('polyline.curve')].map(l =>"
                   "[...l.points].map(p => [p.x, p.y]))")
    check([len(line) for line in points] == [3, 2], "curves: %s" % points)
    # Larger sizes are further to the right, higher rates further up.
    (x1, y1), (x2, y2), (x3, y3) = points[0]
    check(x1 < x2 < x3 and y1 > y2 > y3 > 0, "curve: %s" % points[0])
    keep(b, "plans")


def test_reports(b, url):
    """The HTML report of a run is one file with the cards of its page, drawn
    without a network, in the reader's colours."""
    coalctl = os.path.join(os.environ["COALMINE_BUILD"], "ctl/coalctl")
    b.call("Network.enable")
    for run, words in (("gpcnet-quick-199", "Congestion impact.*Canaries"),
                       ("plans-1", "Bandwidth.*14.1 % of 33.2 GiB/s.*"
                        "Traffic between nodes.*5.00×.*of 4.80×.*"
                        "Not measured.*rsg=0.05.*unsupported"),
                       ("gpcnet-quick-195", "silent for 10 s.*Nothing was "
                        "measured")):
        with tempfile.NamedTemporaryFile(suffix=".html") as to:
            subprocess.run([coalctl, "-u", url.rstrip("/"), "report", run,
                            "--html", to.name], stderr=subprocess.DEVNULL)
            b.offline(True)
            b.call("Page.navigate", url="file://" + to.name)
            b.wait("document.title === '%s'" % run)
            text = b.run("document.body.innerText")
            check(re.search(words, text, re.S | re.I),
                  "%s: %s" % (run, text[:600]))
            check(not re.search(r"\bundefined\b|\bNaN\b|\[object", text),
                  "%s has a hole: %s" % (run, text[:800]))
            check(b.run("document.links.length") == 0, "a link leads nowhere")
            keep(b, "report-" + run)
            if run == "gpcnet-quick-199":
                check_report(b)
            b.offline(False)


def check_report(b):
    """Choosing draws other pairs; a plot is a picture; dark is dark."""
    b.run("(e => { e.value = 'lat, isolated'; e.dispatchEvent(new Event("
          "'change')); })(document.getElementById('choose-pairs-of'))")
    check(b.run("document.getElementById('choose-pairs-of').value") ==
          "lat, isolated", "another choice of pairs is not drawn")
    for part in (".area.iso", ".area.con", ".heat .h9", ".span",
                 "[id^=export-][id$=-png]", "[id^=export-][id$=-csv]"):
        check(b.run("document.querySelectorAll('%s').length" % part) > 0,
              "a report lacks " + part)
    light = b.run("getComputedStyle(document.body).backgroundColor")
    b.dark(True)
    b.wait("getComputedStyle(document.body).backgroundColor !== '%s'" % light)
    keep(b, "report-dark")
    b.dark(False)


def test_node(b, url):
    shows(b, url + "#/node/node7", "node7: bad", "40 % slower", "Against its peers",
          r"Network.*mlx5_0\s+infiniband\s+ACTIVE\s+400 Gbit/s", "On the same leaf.*node5.*node6.*node8",
          "Runs with this node")
    b.wait("!!document.querySelector('.uplot')", "a node's history")
    keep(b, "node")
    shows(b, url + "#/node/node1", "node1: like its peers")


def test_campaigns_apart(b, url):
    b.go(url + "#/?campaign=matrix")
    b.wait("document.getElementById('choose-campaign').value === 'matrix'")
    b.wait("!document.querySelector('#impact').innerText.includes("
           "'allreduce')", "another campaign's tests are drawn")
    b.wait("[...document.querySelectorAll('h2')].some(h => "
           "/Congestion impact.*matrix/.test(h.innerText))")
    b.go(url)
    b.wait("document.getElementById('choose-campaign').value === "
           "'gpcnet-quick'", "not the newest campaign")


def test_lists(b, url):
    shows(b, url + "#/runs", "gpcnet-quick-199", "gpcnet-quick-177")
    shows(b, url + "#/campaigns", "broken.conf:3", "quick")
    shows(b, url + "#/campaign/quick", r"\[campaign\]")
    shows(b, url + "#/campaign/matrix", "Which congestor hurts which canary",
          "alltoall.*incast.*put-incast.*get-bcast", "31.7", "matrix-4")
    keep(b, "matrix")
    shows(b, url + "#/forecast", "The next 24 hours", "quick",
          "a blackout from 08:00")
    for start in ("fits", "misfits"):
        check(b.run("document.querySelectorAll('.lanes .%s').length" % start)
              == 1, "the forecast lacks what " + start)
    keep(b, "forecast")
    shows(b, url + "#/events", "Events")
    rows = b.run("""import('/page/overview.js').then(m => m.eventRows([
        { id: 5, kind: "run", subject: "r-2", text: "finished" },
        { id: 4, kind: "run", subject: "r-1", text: "failed" },
        { id: 3, kind: "agent", subject: "node1", text: "ok" },
        { id: 2, kind: "run", subject: "r-2", text: "running" },
        { id: 1, kind: "agent", subject: "node1", text: "late" }], "")
        .map(e => e.id))""")
    check(rows == [5, 4, 3, 1], "the events of a run: %s" % rows)


def test_jobs(b, url):
    shows(b, url + "#/jobs", "4713.*lammps.*RUNNING",
          "Cost of jobs to jobs on the same links.*lammps.*costs.*\\+9.42 %")
    check(b.run("!document.getElementById('nav-jobs').hidden"), "no link to it")
    keep(b, "jobs")
    shows(b, url + "#/job/4711", "Job 4711: .*user-3f9ac01b22.*node\\[5-8\\]",
          "before.*100 %.*during.*50.0 %.*node7 50.0 %")
    keep(b, "job")
    shows(b, url + "#/job/4712_3", "node9")
    # Readers cannot open this page.
    b.go(Server.newest.reader_url)
    b.wait("document.getElementById('version').textContent")
    check(b.run("document.getElementById('nav-jobs').hidden"),
          "readers see the link")


def choose(b, name, value):
    b.run("(e => { e.value = '%s'; e.dispatchEvent(new Event('change')); })"
          "(document.getElementById('choose-%s'))" % (value, name))


def test_links(b, url):
    shows(b, url + "#/links", "By class of node.*8 nvidia.*160",
          "The worst now.*node3.*symbol_error.*13.*31",
          "More than usual.*node3.*4,120.*7 of 7.*named.*node2.*link_downed")
    keep(b, "links")
    choose(b, "kind", "flap")
    b.wait("location.hash === '#/links?kind=flap'")
    b.wait("!document.getElementById('main').innerText.includes('4,120')")
    shows(b, url + "#/links?port=mlx5_0/1&leaf=leaf1", "4,120")
    shows(b, url + "#/node/node3", "Ports and GPUs.*mlx5_0/1.*ACTIVE.*"
          "400 Gbit/s.*gen 5 x8 of gen 5 x16.*symbol_error.*1,203.*3,900.*4,120.*named")


def test_compare(b, url):
    shows(b, url + "#/run/gpcnet-quick-199?with=gpcnet-quick-198",
          "Compare against gpcnet-quick-198",
          r"lat, isolated\s+p99.*×.*(same|worse|better|unclear)")
    keep(b, "compare")
    choose(b, "run-to-compare-with", "")
    b.wait("location.hash === '#/run/gpcnet-quick-199'")
    choose(b, "run-to-compare-with", "gpcnet-quick-197")
    b.wait("document.getElementById('main').innerText.includes("
           "'against gpcnet-quick-197')")
    # Compared with itself, every value with an interval is the same; values
    # without an interval are not compared.
    shows(b, url + "#/run/gpcnet-quick-199?with=gpcnet-quick-199", "same",
          r"lat, isolated\s+p50\s[^\n]*×\s*\n")
    check(b.run("!/worse|better/.test([...document.querySelectorAll("
                "'.pill')].map(p => p.textContent).join())"),
          "a run differs from itself")
    # Missing data are reported, and the other parts are shown.
    shows(b, url + "#/run/gpcnet-quick-199?with=gone",
          "Cannot read the records of the other run.*lat"
          ".*Some data of this page is missing"
          ".*runs/gone/records: not found")


def test_filters(b, url):
    shows(b, url + "#/?leaf=leaf2", "4 nodes", "node5", "node8")
    check(not b.run("[...document.querySelectorAll('#grid .node b')].some("
                    "n => n.textContent === 'node1')"), "another leaf's node")
    choose(b, "leaf", "")
    choose(b, "nodes", "lost")
    b.wait("document.querySelectorAll('#grid .node').length === 1")
    shows(b, url + "#/runs", "gpcnet-quick-199")
    choose(b, "state", "failed")
    b.wait("location.hash === '#/runs?state=failed'")
    b.wait("[...document.querySelectorAll('tbody .pill')].every(p => "
           "p.textContent === 'failed')")
    choose(b, "span-of-time", "1")
    b.wait("location.hash.includes('days=1')")


def exported(b, what, card):
    return b.run("import('/page/export.js').then(m => m.%s(document."
                 "querySelector('%s')))" % (what, card))


def test_exports(b, url):
    """The CSV of a table has the same rows; the PNG of a picture is not
    empty."""
    b.go(url + "#/runs")
    csv = exported(b, "csvOf", "main section")
    check(re.match("Run,Campaign,State,Started,", csv) and
          re.search(r"\r\ngpcnet-quick-199,gpcnet-quick,finished,"
                    r"20\d\d-\d\d-\d\dT", csv), csv[:300])
    check(csv.count("\r\n") == 1 + b.run(
        "document.querySelectorAll('tbody tr').length"), "not every row")
    check(b.run("!!document.getElementById('export-runs-csv')"),
          "nothing to click")
    b.go(url)
    b.wait("!!document.querySelector('.uplot')")
    for card in ("#impact", "#grid", "main section:has(.impacts)"):
        colours = b.run(
            "import('/page/export.js').then(async m => { const el = document."
            "querySelector('%s'); const p = await createImageBitmap(await "
            "m.pngOf(el)); const c = new OffscreenCanvas(p.width, p.height);"
            "const g = c.getContext('2d'); g.drawImage(p, 0, 0); const d = "
            "new Uint32Array(g.getImageData(0, 0, p.width, p.height).data"
            ".buffer); return [p.width, new Set(d).size]; })" % card)
        check(colours[0] > 1000 and colours[1] > 20,
              "%s as a picture: %s" % (card, colours))
    check(b.run("import('/page/export.js').then(m => { const t = document."
                "createElement('div'); t.innerHTML = '<table><tr><td>=1+1"
                "</td><td>-3</td><td>a,\"b</td></tr></table>'; return "
                "m.csvOf(t); })") == "'=1+1,-3,\"a,\"\"b\"\r\n",
          "formulas or quotes")


def test_keyboard(b, url):
    b.go(url)
    for key, place in (("r", "#/runs"), ("c", "#/campaigns"),
                       ("f", "#/forecast"), ("e", "#/events"),
                       ("l", "#/links"), ("o", "#/")):
        b.key(key)
        b.wait("location.hash === '%s'" % place)
    b.key("/")
    b.wait("document.activeElement.id === 'find'")
    for letter in "node11":
        b.key(letter)
    b.key("Enter")
    b.wait("location.hash === '#/node/node11'")
    b.go(url)
    b.run("document.querySelector('.node[href$=node3]').focus()")
    check(b.run("getComputedStyle(document.activeElement).outlineStyle") !=
          "none", "focus is not to be seen")
    b.key("Enter")
    b.wait("location.hash === '#/node/node3'")


def test_focus_outlives_a_renewal(b, url):
    b.go(url)
    b.run("document.querySelector('a[href$=gpcnet-quick-198]').focus()")
    b.run("window.dispatchEvent(new Event('visibilitychange'))")
    b.run("document.dispatchEvent(new Event('visibilitychange'))")
    b.wait("document.activeElement.getAttribute('href') === "
           "'#/run/gpcnet-quick-198'")


def lightness(b):
    rgb = b.run("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", rgb)[:3])) / 3


def test_colours(b, url):
    b.go(url)
    b.dark(False)
    check(lightness(b) > 200, "light is not light")
    b.wait("!!document.querySelector('.uplot')")
    b.run("document.querySelector('.uplot').dataset.was = 'light'")
    b.dark(True)
    check(lightness(b) < 60, "dark is not dark")
    b.wait("!document.querySelector('.uplot[data-was]') && "
           "!!document.querySelector('.uplot')", "plots stay light")
    keep(b, "dark")
    b.key("t")
    check(lightness(b) > 200, "light was chosen")
    b.go(url)
    check(lightness(b) > 200, "the choice is forgotten")
    b.key("t")
    b.dark(False)
    check(lightness(b) < 60, "dark was chosen")
    b.key("t")


# One interaction, up to the next drawn picture.
WATCHED = ("(async () => { const i = %d; %s; await new Promise(d => "
           "requestAnimationFrame(() => setTimeout(d, 0))); })()")
KEY = ("document.getElementById('grid-canvas').dispatchEvent(new "
       "KeyboardEvent('keydown', {key: i % 2 ? 'ArrowDown' : 'ArrowRight', "
       "bubbles: true}))")
POINT = ("document.getElementById('grid-canvas').dispatchEvent(new MouseEvent("
         "'mousemove', {clientX: 60 + 30 * i, clientY: 500}))")
FIND = ("(f => { f.value = 'node' + i; f.dispatchEvent(new Event('input')); })"
        "(document.getElementById('find'))")
# All the way: a new address, new data, a new picture.
CHOOSE = ("(e => { e.value = i % 2 ? '' : 'bad'; e.dispatchEvent(new Event("
          "'change')); })(document.getElementById('choose-nodes')); while ("
          "!!document.querySelector('#grid canvas') === (i % 2 === 0)) await "
          "new Promise(d => setTimeout(d, 1))")

# For comparison: the same browser writes and reads five times as many rows.
SLOW = 2
READ = ("JSON.parse(JSON.stringify(Array.from({length: 50000}, (_, k) => ({"
        "node: 'node' + k, leaf: 'leaf' + k, state: 'ok', z: [i, k / 7, 1 / k]"
        "}))))")


def work(b, script):
    """Return the minimum CPU milliseconds of the page's thread for one of nine
    interactions. Other load makes waits longer, but not CPU time."""
    took = []
    for i in range(9):
        before = b.worked()
        b.run(WATCHED % (i, script))
        took.append(b.worked() - before)
    return min(took)


def smooth(b, url):
    """No interaction with 10,000 nodes takes 100 ms of CPU, or on a slow
    machine twice what reading 50,000 rows takes."""
    b.go(url)
    b.wait("document.querySelector('#grid canvas').height > 300")
    b.run("document.getElementById('find').focus()")
    for name, script in (("key", KEY), ("point", POINT), ("find", FIND),
                         ("choose", CHOOSE)):
        least, read = work(b, script), work(b, READ)
        print("10,000 nodes: %s in %.1f ms, read in %.1f" % (name, least, read))
        check(0 < least < max(100, SLOW * read), "%s takes %.0f ms, and "
              "reading 50,000 rows %.0f" % (name, least, read))


def test_many_nodes(b):
    with Server(10000) as url:
        b.go(url)
        b.wait("document.querySelector('#grid canvas').height > 300")
        check(b.run("document.querySelectorAll('*').length") < 3000,
              "thousands of elements")
        check(b.run("document.querySelector('#grid canvas').clientHeight") <
              1300, "the grid is longer than two screens")
        keep(b, "many")
        b.run("document.getElementById('grid-canvas').focus()")
        for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
            b.key(key)
        said = b.run("document.querySelector('.said').textContent")
        check(said.startswith("node18: "), "arrow keys went to " + said)
        b.key("Enter")
        b.wait("location.hash === '#/node/node18'")
        smooth(b, url)


def test_narrow(b, url):
    b.size(390, 800)
    b.go(url)
    check(b.run("document.documentElement.scrollWidth") <= 390,
          "a telephone must scroll sideways")
    keep(b, "narrow")
    b.size(1180, 900)


TESTS = (test_overview, test_clusters, test_objectives,
         test_choice_is_a_link,
         test_one_run_is_an_hour, test_leaf_is_coloured,
         test_run,
         test_all_pairs, test_plans, test_reports, test_node,
         test_lists, test_campaigns_apart, test_jobs, test_links,
         test_compare, test_filters, test_exports, test_keyboard,
         test_focus_outlives_a_renewal,
         test_colours, test_narrow)


def main():
    if browser.find() is None:
        print("skipped: no chromium here (apt-get install chromium)")
        return 77
    b = browser.Browser()
    bad = 0
    try:
        b.size(1180, 900)
        b.dark(False)
        with Server(12) as url:
            cases = [(t, (b, url)) for t in TESTS] + [(test_many_nodes, (b,))]
            for test, given in cases:
                try:
                    test(*given)
                    # A missing run answers 404, which the browser logs.
                    faults = [c for c in b.errors
                              if "404" not in c]
                    check(not faults, "page errors: %s" % faults)
                except (AssertionError, TimeoutError, RuntimeError) as error:
                    print("%s: %s" % (test.__name__, error))
                    bad = 1
                b.errors.clear()
    finally:
        b.close()
    return bad


if __name__ == "__main__":
    sys.exit(main())
