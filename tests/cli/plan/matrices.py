#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""matrices.py - the output of lab/make-matrix, and the transfers of its
products.

Rows, nonzeros, symmetry, degrees and values of each kind; triangulations
against their definition; that the build's are the script's output; and the
dependencies between 32 ranks, 8 on a node, which
docs/algorithms-neighbor-multipath.md (5) counted from another program's
matrices.
"""
import importlib.machinery
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
source = os.environ.get("COALMINE_SOURCE", here + "/../../..")
build = os.environ.get("COALMINE_BUILD", source + "/build/dev")
probe = build + "/probes/serial/coalmine-probe"
script = source + "/lab/make-matrix"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("make_matrix", script)
made = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("make_matrix", loader))
loader.exec_module(made)

# words: rows, nonzeros, least and most of a row; edges, messages between nodes
# directly and through leaders, bytes of the largest
KINDS = {
    "ccc": (384, 1152, 3, 3, 160, 64, 64, 36864),
    "debruijn": (256, 1018, 2, 4, 122, 94, 64, 16384),
    "delaunay": (1024, 6112, 3, 20, 992, 768, 96, 262144),
    "delaunay --morton": (1024, 6112, 3, 20, 202, 78, 43, 262144),
    "crack": (10240, 60760, 3, 20, 992, 768, 96, 26214400),
    "crack --morton": (10240, 60760, 3, 20, None, None, None, None),
}


def check_matrix(words, text):
    rows, nonzeros, least, most = KINDS[words][:4]
    lines = text.splitlines()
    assert lines[0] == "%%MatrixMarket matrix coordinate integer symmetric"
    entries = [tuple(map(int, line.split())) for line in lines[3:]]
    assert lines[2] == f"{rows} {rows} {len(entries)}", lines[2]
    assert 2 * len(entries) == nonzeros, len(entries)
    assert len({e[:2] for e in entries}) == len(entries), "one place twice"
    assert all(rows >= a > b >= 1 and 1 <= v <= 7 for a, b, v in entries)
    degree = [0] * (rows + 1)
    for a, b, _ in entries:
        degree[a] += 1
        degree[b] += 1
    assert least <= min(degree[1:]) and max(degree) <= most, "degrees"


def check_product(words, path):
    edges, direct, leader, message = KINDS[words][4:]
    out = subprocess.run(
        [probe, "plan", "neighbor", "matrix=" + path, "ranks=32",
         "--format", "json"], capture_output=True, text=True, check=True)
    notes = {k: v["value"] for k, v in json.loads(out.stdout)["notes"].items()}
    found = notes["edges"], notes["wire_direct"], notes["wire"]
    assert edges is None or found == (edges, direct * message,
                                      leader * message), found


def check_triangulation(seed):
    """Few points, a third of the time in a square so small that many lie on
    one circle or line."""
    r = random.Random(seed)
    wide = 7 if seed % 3 == 0 else 1 << 30
    want = 2 + seed % 29
    points = set()
    while len(points) < want:
        points.add((r.randrange(wide), r.randrange(wide)))
    points = sorted(points, key=lambda p: r.random())
    d = made.Delaunay(points)
    edges = d.edges()
    turns = {(a, b): [d.turn(a, b, c) for c in range(want)]
             for a in range(want) for b in range(want) if a != b}
    hull = {a for (a, b), t in turns.items()
            if min(t) >= 0 or max(t) <= 0}
    line = all(x == 0 for t in turns.values() for x in t)
    assert len(edges) == (want - 1 if line else 3 * want - 3 - len(hull))
    for a, b in [] if line else edges:
        # some circle through both holds no other point; those through a
        # third point are enough to try
        assert any(
            t != 0 and not any(d.in_circle(*((a, b) if t > 0 else (b, a)),
                                           c, x) for x in range(want))
            for c, t in enumerate(turns[a, b])), "no empty circle"


def main():
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for words in KINDS:
            text = subprocess.run([script] + words.split(), check=True,
                                  capture_output=True, text=True).stdout
            path = folder + "/m"
            with open(path, "w") as f:
                f.write(text)
            try:
                check_matrix(words, text)
                check_product(words, path)
            except AssertionError as e:
                bad += 1
                print(f"FAIL: {words}: {e}")
            shipped = f"{build}/etc/matrices/{words}.mtx"
            if os.path.exists(shipped) and open(shipped).read() != text:
                bad += 1
                print(f"FAIL: {shipped} is not what lab/make-matrix makes")
    for seed in range(1, 301):
        try:
            check_triangulation(seed)
        except AssertionError as e:
            bad += 1
            print(f"FAIL: triangulation {seed}: {e}")
    print(f"{len(KINDS)} matrices, 300 triangulations, {bad} wrong")
    return 1 if bad else 0


sys.exit(main())
