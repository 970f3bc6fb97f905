#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# calls.sh [TREE TABLES] - check the object files of the build that has TABLES
# like includes.sh checks includes: a file calls, or uses data of, only folders
# that its row in includes.sh allows. Neither files nor folders have cyclic
# calls. Exceptions are listed below; one that no longer occurs is an error.
# Calls through pointers are not detected, but a table that names a function
# counts as a call of it.
if [ $# = 0 ]; then # by hand, in a tree whose dev build is there
	root=$(cd "$(dirname "$0")/../.." && pwd)
	set -- "$root" "$root/build/dev/etc/coalmine-tables"
fi
table=$(sed -n "/^table='/,/^'/p" "$(dirname "$0")/includes.sh")
build=$(cd "$(dirname "$2")/.." && pwd)
. "$(dirname "$0")/lib.sh"
need nm

# Expressions that all members of a circle match.
circles='
# one module in several files
common/(log|str|xalloc)\.c
daemon/agents/.*
daemon/http/.*
daemon/store/.*
probes/collective/allreduce.*
probes/device/gpu/gpu.*
probes/job/(control|world)\.c
# a table of operations, and the functions that it names
daemon/react/.*
probes/transport/.*
probes/(main|verbs/.*)\.c
'
# A file, and the folder that it may call in addition to the folders of its row.
calls='
probes/job/world.c probes/device
'
if [ -d objects ]; then # of spoilt.sh, with no exceptions but its own
	build=$PWD/objects circles='' calls=$(cat exceptions 2>/dev/null)
fi

find "$build" -path "$build/tests" -prune -o -path '*/CMakeFiles/*.c.o' \
    -print | LC_ALL=C sort | xargs nm -A -P |
    TABLE=$table CIRCLES=$circles CALLS=$calls BUILD=$build python3 -c '
import collections, os, posixpath, re, sys

build, own, uses = os.environ["BUILD"], {}, collections.defaultdict(set)
several = set()
for line in sys.stdin:
    at, name, kind = re.match(r"(.*): (\S+) (\S)", line).groups()
    folder, _, rest = at[len(build) + 1:].rpartition("/CMakeFiles/")
    rest = rest.partition("/")[2].replace("__", "..")
    path = posixpath.normpath(folder + "/" + rest[:-len(".o")])
    if not os.path.exists(path):  # made by the build, or no longer there
        continue
    if kind == "U":
        uses[path].add(name)
    elif kind in "TDBRVWC" and name != "main":
        if own.setdefault(name, path) != path:
            several.add(name)
# The profiling shim defines the functions of MPI, plugins all the same entry.
for name in several | {n for n in own if n.startswith("MPI_")}:
    own.pop(name, None)
if not own and not several:
    sys.exit("calls.sh: no object files in " + build)

calls = collections.defaultdict(lambda: collections.defaultdict(list))
for path, names in sorted(uses.items()):
    for name in sorted(names & own.keys()):
        if own[name] != path:
            calls[path][own[name]].append(name)

bad = 0
rows = [row.split() for row in os.environ["TABLE"].split("\n")]
rows = [row for row in rows if len(row) == 3 and row[0][0] != "#"]


def allowed(path, other):
    program, folder = path.split("/")[0], posixpath.dirname(other)
    if folder in (posixpath.dirname(path), "common") or \
            folder == "schema" and program not in ("common", "lab") or \
            folder == "pki" and program in ("agents", "ctl", "daemon"):
        return True
    row = next((r for r in rows if re.match(r[0], path)), None)
    if row is None:
        return False
    if row[1] == "any":
        return folder.split("/")[0] == program or program == "etc"
    inside = "." if folder == program else folder[len(program) + 1:]
    return folder.split("/")[0] == program and inside in row[1].split(",")


known = [line.split() for line in os.environ["CALLS"].split("\n") if line]
kept = []
for path in calls:
    for other, names in calls[path].items():
        if allowed(path, other):
            continue
        kept.append([path, posixpath.dirname(other)])
        if kept[-1] not in known:
            print(f"{path}:1: must not call {names[0]} of {other}")
            bad = 1


def circles(graph):
    """Strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(graph.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            at = stack.index(v)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]
    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found


folders = collections.defaultdict(dict)
for path in calls:
    if posixpath.basename(path) == "main.c":  # nothing calls it, so that
        continue                              # it is above its own folder
    for other in calls[path]:
        a, b = posixpath.dirname(path), posixpath.dirname(other)
        if a != b:
            folders[a][b] = [f"{calls[path][other][0]} (in {path})"]
listed = [line for line in os.environ["CIRCLES"].split("\n")
          if line and line[0] != "#"]
for graph in calls, folders:
    for circle in circles(graph):
        home = [c for c in listed
                if all(re.fullmatch(c, member) for member in circle)]
        kept += home
        if home:
            continue
        print(circle[0] + ":1: in a circle of calls: " + " ".join(circle))
        for a in circle:
            for b in circle:
                if b in graph.get(a, {}):
                    print(f"  {a} calls {graph[a][b][0]} of {b}")
        bad = 1
# Objects not built here, such as plugins, cannot be in a circle.
there = set(calls) | set(folders)
for old in listed + known:
    word = old if isinstance(old, str) else re.escape(old[0])
    if old not in kept and any(re.fullmatch(word, path) for path in there):
        print("tests/lint/calls.sh:1: no longer occurs, remove it:", old)
        bad = 1
sys.exit(bad)
'
