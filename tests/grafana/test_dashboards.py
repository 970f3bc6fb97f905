#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The built dashboards are valid against Grafana's schema, can be provisioned
without inputs, and all their queries parse. tests/lab/test_grafana.sh checks
that the queries find data.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ["COALMINE_SOURCE"]
BOARDS = os.path.join(os.environ["COALMINE_BUILD"], "etc/grafana")
SCHEMA = os.path.join(SOURCE,
                      "tests/grafana/third_party/dashboard.schema.json")
# Only attributes of the panels and of the document itself: the schema does not
# check attributes of plugins.
KINDS = {"timeseries", "stat", "table", "heatmap"}
bad = 0


def tell(*what):
    global bad
    bad = 1
    print(*what)


def boards():
    return {name: json.load(open(os.path.join(BOARDS, name)))
            for name in sorted(os.listdir(BOARDS))}


def check_schema():
    try:
        import jsonschema
    except ImportError:
        print("no python3-jsonschema: the schema is not checked")
        return False
    validator = jsonschema.Draft7Validator(json.load(open(SCHEMA)))
    for name, board in boards().items():
        for error in validator.iter_errors(board):
            tell(name, list(error.path), error.message[:200])
    spoilt = json.loads(json.dumps(boards()["coalmine-overview.json"]))
    spoilt["panels"][0]["gridPos"]["w"] = "wide"
    if not list(validator.iter_errors(spoilt)):
        tell("the schema finds no fault in a spoilt dashboard")
    return True


def check_panels(name, board):
    if board["uid"] + ".json" != name or len(board["uid"]) > 40:
        tell(name, "uid", board["uid"])
    if "__inputs" in board or "DS_" in json.dumps(board):
        tell(name, "needs inputs: cannot be provisioned")
    taken = set()
    for p in board["panels"]:
        at = p["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                 for y in range(at["y"], at["y"] + at["h"])}
        if at["x"] + at["w"] > 24 or cells & taken:
            tell(name, p["title"], "overlaps or is too wide")
        taken |= cells
        if p["type"] not in KINDS or not p["description"] or \
                not p["fieldConfig"]["defaults"]["unit"]:
            tell(name, p["title"], "lacks its kind, unit or description")
        for t in p["targets"]:
            if t["datasource"]["uid"] != "${datasource}" or \
                    'job=~"$job"' not in t["expr"]:
                tell(name, p["title"], "is bound to one source:", t["expr"])


def check_links(name, board):
    """Links of rows lead to a dashboard that exists; outliers have one."""
    links = [link["url"] for p in board["panels"]
             for link in p["fieldConfig"]["defaults"].get("links", [])]
    for url in links:
        if url.split("?")[0].removeprefix("/d/") + ".json" not in boards():
            tell(name, "a link to no dashboard:", url)
    if name == "coalmine-overview.json" and not links:
        tell(name, "outliers have no link to their node")


def check_verdicts(name, board):
    """Graphs show when a verdict named a part."""
    shown = [a["expr"] for a in board["annotations"]["list"]]
    for kind in ("node", "leaf", "spine"):
        if f'coalmine_{kind}_verdict{{job=~"$job"}}' not in shown:
            tell(name, "does not mark the verdicts of each", kind)


def plain(expr):
    """Return the query as sent by Grafana, with all variables set to All."""
    return re.sub(r"\$\w+", ".+", expr.replace("$__rate_interval", "5m"))


def check_queries():
    if shutil.which("promtool") is None:
        print("no promtool: the queries are not checked")
        return
    queries = [t["expr"] for b in boards().values() for t in [
        *b["annotations"]["list"], *(
            t for p in b["panels"] for t in p["targets"])]]
    rules = [{"record": "q:%d" % i, "expr": plain(expr)}
             for i, expr in enumerate(queries)]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as to:
        json.dump({"groups": [{"name": "q", "rules": rules}]}, to)
        to.flush()
        r = subprocess.run(["promtool", "check", "rules", to.name],
                           capture_output=True, text=True)
        if r.returncode != 0:
            tell(r.stdout, r.stderr)


if "--queries" in sys.argv:
    for name, board in boards().items():
        for p in board["panels"]:
            for t in p["targets"]:
                print(board["uid"], p["title"], plain(t["expr"]), sep="\t")
    sys.exit(0)
checked = check_schema()
for name, board in boards().items():
    check_panels(name, board)
    check_links(name, board)
    check_verdicts(name, board)
check_queries()
sys.exit(1 if bad else 0 if checked else 77)
