#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""worked.py - cases worked out a second time, from the definitions alone.

The transfers of groups, stripes, application patterns and composed collectives
are computed here from the definitions in coalmine-plan(7) and the papers, by
code that shares nothing with the builders, and compared with the output of
coalmine-probe: the bytes from each rank to each other in each step, the
reductions, that pieces are adjacent, and the volumes.
"""
import collections
import os
import random
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
build = os.environ.get("COALMINE_BUILD", here + "/../../../build/dev")
probe = build + "/probes/serial/coalmine-probe"
SIZES = {"int32": 4, "int64": 8, "float": 4, "double": 8, "half": 2}
bad = cases = 0


def fail(what, text):
    global bad
    bad += 1
    print(f"FAIL: {what}: {text}")


def pieces(count, parts):
    """What remains goes to the first ones, one each."""
    return [count // parts + (i < count % parts) for i in range(parts)]


def ask(words, form):
    out = subprocess.run(
        [probe, "plan"] + words.split() + ["--format", form],
        capture_output=True, text=True)
    if out.returncode != 0:
        fail(words, f"exit {out.returncode}: {out.stderr}")
    return out.stdout.splitlines()


def place(text):
    name, offset = text.rsplit("+", 1)
    return name, int(offset)


def listed(words):
    """Transfers as (step, src, dst, from, to, bytes), and reductions in the
    same form."""
    moves, folds = [], []
    for line in ask(words, "list"):
        f = line.split()
        if f[1] == "reduce":
            folds.append((int(f[0]), int(f[2]), len(f[3].split(",")),
                          int(f[5])))
        elif f[1] != "copy":
            moves.append((int(f[0]), int(f[1]), int(f[2]), place(f[3]),
                          place(f[4]), int(f[5])))
    return moves, folds


def printed(words):
    """Of --format matrix: bytes by (step, src, dst), the sum, the notes."""
    cells, total, notes = {}, {}, {}
    step, row = None, 0
    for line in ask(words, "matrix"):
        if line.startswith("# step ") or line.startswith("# sum"):
            step = None if line[2:5] == "sum" else int(line[7:].split(":")[0])
            row = 0
        elif line.startswith("# "):
            if line.count(": ") == 1:
                name, value = line[2:].split(": ")
                notes[name] = value.split()[0]
        else:
            for column, value in enumerate(line.split()):
                if int(value) > 0 and step is None:
                    total[row, column] = int(value)
                elif int(value) > 0:
                    cells[step, row, column] = int(value)
            row += 1
    return cells, total, notes


def summed(moves):
    cells = collections.Counter()
    for step, src, dst, size in moves:
        cells[step, src, dst] += size
    return {at: size for at, size in cells.items() if size > 0}


def compare(words, want, notes=None):
    """want: (step, src, dst, bytes), several of one pair add up."""
    global cases
    cases += 1
    moves, folds = listed(words)
    cells, total, printed_notes = printed(words)
    wanted = summed(want)
    if summed((m[0], m[1], m[2], m[5]) for m in moves) != wanted:
        fail(words, "the list is another")
    if cells != wanted:
        fail(words, "the matrix is another")
    if total != {a[1:]: n for a, n in
                 summed((0, s, d, n) for (_, s, d), n in
                        wanted.items()).items()}:
        fail(words, "the sum is another")
    order = [m[:3] + m[4:5] for m in moves]
    if order != sorted(order):
        fail(words, "the list is not sorted")
    for name, value in (notes or {}).items():
        if printed_notes.get(name) != str(value):
            fail(words, f"{name} is {printed_notes.get(name)}, not {value}")
    return moves, folds


def side_by_side(words, moves, end, size):
    """At one end of transfers every rank's pieces fill its buffer: no gap,
    nothing twice."""
    by_place = collections.defaultdict(list)
    for m in moves:
        at = m[3] if end == 1 else m[4]
        by_place[m[end], at[0]].append((at[1], m[5]))
    for (rank, name), parts in by_place.items():
        at = 0
        for off, count in sorted(parts):
            if off != at:
                fail(words, f"rank {rank} {name}: {off} instead of {at}")
                return
            at += count
        if at != size:
            fail(words, f"rank {rank} {name}: {at} of {size} bytes")


# ---- groups ----

def group_peers(pattern, g, k):
    if pattern == "rail":
        return [(i, i, 1, 0) for i in range(k)]
    width = g if pattern == "asymmetric" else k
    return [(i, j, width, j) for i in range(k) for j in range(width)]


def group(pattern, direction, n, g, k, count, kind="int32"):
    words = (f"group pattern={pattern} direction={direction} n={n} g={g} "
             f"k={k} count={count} type={kind}")
    pairs = {"out": [(0, b) for b in range(1, n)]}
    pairs["in"] = [(b, 0) for _, b in pairs["out"]]
    pairs["bi"] = pairs["out"] + pairs["in"]
    pairs["omni"] = [(a, b) for a in range(n) for b in range(n) if a != b]
    size, want = SIZES[kind], []
    for a, b in pairs[direction]:
        # To the first group is from it turned around.
        turn = direction != "omni" and b == 0
        near, far = (b, a) if turn else (a, b)
        other = far if far < near else far - 1
        for i, j, width, part in group_peers(pattern, g, k):
            # The asymmetric pattern has its count for every other group.
            if pattern == "asymmetric":
                cut = pieces(count, width)[part]
            else:
                cut = pieces(count, width * (n - 1))[other * width + part]
            ends = near * g + i, far * g + j
            want.append((0, *(ends[::-1] if turn else ends), cut * size))
    # What crosses the border of the first group.
    volume = sum(m[3] for m in want if min(m[1:3]) < g)
    moves, _ = compare(words, want, {
        "footprint": f"{sum(m[3] for m in want)}",
        "per_group": f"{volume}"})
    if direction == "out":
        each = count * size * (n - 1 if pattern == "asymmetric" else 1)
        side_by_side(words, moves, 1, each)


def groups():
    group("rail", "out", 2, 3, 2, 48)
    group("rail", "out", 2, 4, 3, 48)
    group("rail", "bi", 3, 5, 4, 1001, "int64")
    group("rail", "in", 4, 2, 2, 7)
    group("rail", "omni", 4, 3, 2, 100)
    group("asymmetric", "out", 2, 4, 2, 48)
    group("asymmetric", "in", 2, 3, 3, 50, "double")
    group("asymmetric", "bi", 3, 4, 2, 13)
    group("symmetric", "out", 2, 4, 3, 50)
    group("symmetric", "omni", 3, 2, 2, 48)
    group("symmetric", "omni", 2, 4, 4, 48)
    group("symmetric", "bi", 4, 6, 5, 997, "half")
    group("symmetric", "in", 3, 4, 2, 29)


# ---- one message striped ----

def stripe(g, count, kind=None):
    size = SIZES[kind] if kind else 1
    words = f"stripe g={g} " + (f"count={count} type={kind}" if kind
                                else f"bytes={count}")
    cut = [c * size for c in pieces(count, g)]
    want = [(0, 0, i, cut[i]) for i in range(1, g)]
    want += [(1, i, g + i, cut[i]) for i in range(g)]
    want += [(2, g + i, g, cut[i]) for i in range(1, g)]
    moves, _ = compare(words, want)
    starts = [sum(cut[:i]) for i in range(g)]
    for m in moves:
        off = m[3][1] if m[0] == 0 else m[4][1]
        rank = m[2] if m[0] == 0 else m[1] - g
        if m[0] != 1 and off != starts[rank]:
            fail(words, f"stripe {rank} at {off}, not {starts[rank]}")
    return moves


def stripes():
    stripe(4, 67108864)
    stripe(3, 10)
    stripe(5, 13, "double")
    stripe(7, 1000003, "half")
    stripe(1, 4096)
    stripe(8, 5 << 30)
    last = [m for m in stripe(12, 268435456, "int32") if m[0] == 2][-1]
    if last[4][1] != 4 * 246065835 or last[5] != 4 * 22369621:
        fail("stripe g=12", f"the last stripe is {last}")


# ---- patterns of applications ----

def sparse(work, ranks, g, count, scope, seed, kind="int32"):
    r = random.Random(seed)
    cells = [[r.choice([0, 0, r.randrange(1, 1000)]) for _ in range(ranks)]
             for _ in range(ranks)]
    path = f"{work}/{seed}.txt"
    with open(path, "w") as f:
        f.writelines(" ".join(map(str, row)) + "\n" for row in cells)
    pattern(path, cells, g, count, scope, kind)


def pattern(path, cells, g, count, scope, kind="int32"):
    """What it takes, as (step, src, dst, bytes)."""
    size, want = SIZES[kind], []
    for i, row in enumerate(cells):
        for j, elements in enumerate(row):
            inter = i // g != j // g
            if scope != "all" and inter != (scope == "inter"):
                continue
            if not inter or count == 0:
                want.append((0, i, j, elements * size))
                continue
            for k, cut in enumerate(pieces(elements, count)):
                a, b = i // g * g + k, j // g * g + k
                want += [(0, i, a, cut * size), (1, a, b, cut * size),
                         (2, b, j, cut * size)]
    words = (f"sparse file={path} g={g} stripes={count} scope={scope} "
             f"type={kind}")
    compare(words, want, {
        "footprint": sum(m[3] for m in want),
        "delivered": sum(m[3] for m in want if m[0] == 0)})
    return want


def read(path):
    with open(path) as f:
        return [list(map(int, line.split())) for line in f
                if line.strip() and not line.startswith("#")]


def patterns(work):
    shipped = read(here + "/../../../etc/patterns/halo8.txt")
    for count in 0, 2:
        pattern("halo8", shipped, 2, count, "all")
    sparse(work, 6, 3, 0, "all", 1)
    sparse(work, 8, 4, 4, "all", 2)
    sparse(work, 12, 4, 3, "all", 3, "int64")
    sparse(work, 9, 3, 2, "inter", 4, "half")
    sparse(work, 8, 2, 2, "intra", 5)
    sparse(work, 16, 4, 1, "inter", 6)


# ---- collectives composed of multicasts and reductions ----

class Machine:
    def __init__(self, factors, count, ring):
        self.factors, self.stripe, self.ring = factors, count, ring
        self.ranks = 1
        for f in factors:
            self.ranks *= f
        self.levels = len(factors)
        self.group = [self.ranks]
        for f in factors[:-1]:
            self.group.append(self.group[-1] // f)


def tree_down(m, casts, stages):
    """casts: (root, leaves, elements)."""
    for level in range(1, m.levels):
        size, moves, local, passed = m.group[level], [], [], []
        for root, leaves, n in casts:
            here = {x for x in leaves if x // size == root // size}
            if here:
                local.append((root, here, n))
            for at in sorted({x // size for x in leaves - here}):
                rest = {x for x in leaves if x // size == at}
                shadow = at * size + root % size
                moves.append((root, shadow, n))
                if rest - {shadow}:
                    passed.append((shadow, rest - {shadow}, n))
        casts = local + passed
        if moves:
            stages.append((moves, []))
    moves = [(root, leaf, n) for root, leaves, n in casts for leaf in leaves]
    if moves:
        stages.append((moves, []))


def ring_down(m, casts, stages):
    size = m.ranks // m.ring
    inner = []
    while casts:
        moves, passed = [], []
        for root, leaves, n in casts:
            here = {x for x in leaves if x // size == root // size}
            if here:
                inner.append((root, here, n))
            if leaves == here:
                continue
            after = (root // size + 1) % m.ring * size + root % size
            moves.append((root, after, n))
            if leaves - here - {after}:
                passed.append((after, leaves - here - {after}, n))
        if moves:
            stages.append((moves, []))
        casts = passed
    tree_down(m, inner, stages)


def multicasts(m, casts, stages):
    moves, cut = [], []
    for root, leaves, n in casts:
        base = root // m.stripe * m.stripe
        if all(x // m.stripe * m.stripe == base for x in leaves):
            cut.append((root, leaves, n))
            continue
        for t, part in enumerate(pieces(n, m.stripe)):
            owner = base + t
            if part > 0 and owner != root:
                moves.append((root, owner, part))
            rest = leaves if owner == root else leaves - {owner}
            if part > 0 and rest:
                cut.append((owner, rest, part))
    if moves:
        stages.append((moves, []))
    ring_down(m, cut, stages)


def tree_up(m, folds, low):
    """folds: (root, givers, elements, size of the largest group)."""
    stages = []
    for level in range(m.levels - 1, -1, -1):
        moves, done, up = [], [], []
        size = m.group[level]
        for root, givers, n in folds:
            next_givers = set()
            for at in sorted({x // size for x in givers}):
                if size > low:
                    next_givers |= {x for x in givers if x // size == at}
                    continue
                some = {x for x in givers if x // size == at}
                first = at * size + root % size
                next_givers.add(first)
                if some == {first} and level < m.levels - 1:
                    continue
                moves += [(x, first, n) for x in some
                          if x != first or some == {first}]
                if len(some) > 1:
                    done.append((first, len(some), n))
            up.append((root, next_givers, n))
        folds = up
        stages.append((moves, done))
    return stages


def reductions(m, folds, stages):
    """All ranks give, or those of one node: rings are for the former."""
    cut, merges = [], []
    for root, givers, n in folds:
        base = root // m.stripe * m.stripe
        if all(x // m.stripe * m.stripe == base for x in givers):
            cut.append((root, givers, n))
            continue
        for t, part in enumerate(pieces(n, m.stripe)):
            if part > 0:
                cut.append((base + t, givers, part))
            if part > 0 and base + t != root:
                merges.append((base + t, {root}, part))
    node = m.ranks // m.ring
    made = tree_up(m, cut, node)
    for hop in range(m.ring - 1, 0, -1):
        moves, done = [], []
        for root, _, n in cut:
            src = (root // node + hop) % m.ring * node + root % node
            dst = (root // node + hop - 1) % m.ring * node + root % node
            moves.append((src, dst, n))
            done.append((dst, 2, n))
        made.append((moves, done))
    stages += [s for s in made if s[0]]
    tree_down(m, merges, stages)


def primitives(name, p, c, root):
    """Epochs of (multicasts, reductions)."""
    every, ranks = set(range(p)), range(p)
    return {
        "gather": [([(i, {root}, c) for i in ranks], [])],
        "scatter": [([], [(j, {root}, c) for j in ranks])],
        "broadcast": [([(root, every, p * c)], [])],
        "reduce": [([], [(root, every, p * c)])],
        "alltoall": [([(i, {j}, c) for i in ranks for j in ranks], [])],
        "allgather": [([(i, every, c) for i in ranks], [])],
        "reduce-scatter": [([], [(j, every, c) for j in ranks])],
        "allreduce": [([], [(j, every, c) for j in ranks]),
                      ([(i, every - {i}, c) for i in ranks], [])],
    }[name]


def collective(name, factors, count, striped=1, ring=1, depth=1, root=0):
    m = Machine(factors, striped, ring)
    want, want_folds = [], []
    for b in range(depth):
        stages = []
        for casts, folds in primitives(name, m.ranks, count, root):
            part = [[(r, s, pieces(n, depth)[b]) for r, s, n in some]
                    for some in (casts, folds)]
            multicasts(m, [x for x in part[0] if x[2]], stages)
            reductions(m, [x for x in part[1] if x[2]], stages)
        for k, (moves, done) in enumerate(stages):
            want += [(b + k, s, d, n * 4) for s, d, n in moves]
            want_folds += [(b + k, r, inputs, n * 4) for r, inputs, n in done]
    words = (f"collective name={name} count={count} lean=no stripe={striped} "
             f"ring={ring} depth={depth} root={root} hierarchy="
             + ",".join(map(str, factors)))
    _, folds = compare(words, want)
    if sorted(folds) != sorted(want_folds):
        fail(words, "other reductions")


def collectives():
    for name in ("broadcast", "reduce"):
        collective(name, [2, 2, 3], 3, striped=3)
        collective(name, [4, 3], 3, striped=3, ring=4)
        collective(name, [2, 2, 4], 5, striped=4)
        collective(name, [2, 2, 2], 96, striped=2, depth=4, root=5)
        collective(name, [3, 4], 7, striped=2, ring=3, root=6)
        collective(name, [8], 1003, root=3)
    for name in ("gather", "scatter", "alltoall"):
        collective(name, [2, 4], 10, root=1)
        collective(name, [2, 2, 2], 9, striped=2, depth=3)
    for name in ("allgather", "reduce-scatter", "allreduce"):
        collective(name, [2, 4], 96, striped=4)
        collective(name, [4, 2], 11, striped=2, ring=4)
        collective(name, [2, 2, 2], 13)


def main():
    groups()
    stripes()
    with tempfile.TemporaryDirectory() as work:
        patterns(work)
    collectives()
    print(f"{cases} cases, {bad} wrong")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
