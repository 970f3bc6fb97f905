#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memxct.py - the patterns of MemXCT on 4 nodes, which cannot be shipped: their
known numbers of messages and elements, direct and striped over all devices of
a node.
"""
import collections
import os
import sys

sys.dont_write_bytecode = True
import worked  # noqa: E402

# ranks: elements in all, within ranks and between nodes; messages in all,
# within and between nodes, and of split, translate and assemble
KNOWN = {
    16: (23234920, 2067897, 15642747, 169, 51, 118, 64, 48, 64),
    24: (31743001, 2006425, 21329650, 323, 93, 230, 144, 72, 144),
    32: (35053415, 1403365, 23525691, 517, 162, 355, 256, 96, 256),
    48: (44072484, 1419020, 28972289, 974, 307, 667, 576, 144, 576),
}
NODES = 4


def know(path, ranks, known):
    cells, g = worked.read(path), ranks // NODES
    direct = worked.pattern(path, cells, g, 0, "all")
    intra = worked.pattern(path, cells, g, 0, "intra")
    inter = worked.pattern(path, cells, g, 0, "inter")
    striped = worked.pattern(path, cells, g, g, "inter")
    by_step = collections.Counter(at[0] for at in worked.summed(striped))

    def elements(moves):
        return sum(m[3] for m in moves) // 4

    def messages(moves):
        return len(worked.summed(moves))

    seen = (elements(direct), elements(m for m in intra if m[1] == m[2]),
            elements(inter), messages(direct), messages(intra),
            messages(inter), by_step[0], by_step[1], by_step[2])
    if seen != known:
        worked.fail(path, f"{seen} instead of {known}")


def main():
    data = worked.here + "/../../../../shared/data/memxct"
    if not os.path.isdir(data):
        print("skipped: no patterns of MemXCT in shared/data")
        sys.exit(77)
    for ranks, known in KNOWN.items():
        know(f"{data}/{ranks}x{ranks}_pattern.txt", ranks, known)
    print(f"{worked.cases} cases, {worked.bad} wrong")
    sys.exit(1 if worked.bad else 0)


main()
