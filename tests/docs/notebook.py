#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""notebook.py - the cells of docs/examples/bandwidth.ipynb run on the CSV of
coalctl, and their results are right. Skipped without pandas; the cell that
plots is skipped without matplotlib."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
COALCTL = os.path.join(os.environ.get("COALMINE_BUILD",
    os.path.join(TOP, "build", "dev")), "ctl", "coalctl")

with open(os.path.join(TOP, "docs", "examples", "bandwidth.ipynb")) as f:
    cells = ["".join(c["source"]) for c in json.load(f)["cells"]
             if c["cell_type"] == "code"]
for source in cells:
    compile(source, "cell", "exec")
if importlib.util.find_spec("pandas") is None:
    print("pandas is not installed")
    sys.exit(77)


def records(run, size, mean):
    """The output of the engine: a canary of bandwidth, and its impact."""
    canary = {"run": run, "probe": "canary", "test": "bw", "unit": "B/s",
              "n": 9, "bytes": size}
    return [
        {"run": run, "probe": "begin", "ranks": 2, "nodes": ["n1", "n2"]},
        dict(canary, phase="isolated", mean=mean),
        dict(canary, phase="congested", mean=mean / 2),
        {"run": run, "probe": "impact", "test": "bw", "of": "p99",
         "value": 2.0, "interval": {"level": 0.95, "lo": 1.5, "hi": 2.5}},
        {"run": run, "probe": "end", "records": 5, "status": "ok"},
    ]


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    lines = []
    for run, size, mean in ("r-1", 1024, 1e6), ("r-2", 65536, 8e6):
        with open(run + ".json", "w") as f:
            json.dump([dict(r, seq=i + 1)
                       for i, r in enumerate(records(run, size, mean))], f)
        out = subprocess.run([COALCTL, "report", "./" + run + ".json",
            "--csv"], check=True, capture_output=True, text=True).stdout
        lines += out.splitlines()[1 if lines else 0:]
    with open("sweep.csv", "w") as f:
        f.write("\n".join(lines) + "\n")
    names = {}
    for source in cells:
        if ".plot(" in source:
            if importlib.util.find_spec("matplotlib") is None:
                continue
            import matplotlib
            matplotlib.use("Agg")
        exec(source, names)
    bandwidth = names["bandwidth"]
    assert list(bandwidth.index) == [1024, 65536], bandwidth
    assert list(bandwidth["bw"]) == [1e6, 8e6], bandwidth
    assert list(names["impact"]["hi"]) == [2.5, 2.5], names["impact"]
