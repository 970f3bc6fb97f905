#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every verb rejects a wrong command line before it contacts the collector.

The verbs, their operands and options are read from coalctl --dump. Nothing
listens at the address of the collector. A message names the option or operand.
"""
import os
import re
import subprocess
import sys
import tempfile

COALCTL = os.path.join(os.environ["COALMINE_BUILD"], "ctl/coalctl")
EMPTY = [""]
FILES_IN = ["", "none/file", ".", "-"]
FILES_OUT = ["", "none/file", "."]
HOSTS = ["", "n[1-", "n 1"]
NAMES = ["", "a/b", "a b"]
SPANS = ["", "never", "-1h"]
PARTS = ["", "n[1-"]
PATTERNS = ["", "a,,b"]

# Wrong values of the options that have one.
BAD = {
    "url": ["", "ftp://x", "unix:"],
    "ca": FILES_IN, "crl": FILES_IN, "cert": FILES_IN, "key": FILES_IN,
    "cluster": NAMES,
    "at": SPANS + ["100y", "36500d"],
    "bytes": ["", "0", "many", "-1"],
    "by": ["", "day"],
    "campaign": NAMES,
    "days": ["", "0", "36501", "x"],
    "down": PARTS, "drain": PARTS,
    "enrolled": FILES_IN,
    "every": ["", "0", "3601", "x"],
    "fail-on": ["", "ok"],
    "file": ["", "none/file", "."],
    "for": SPANS + ["0"],
    "format": ["", "table"],
    "from": ["", "dot"],
    "gbps": ["", "0", "fast", "100001"],
    "hours": ["", "0", "337", "x"],
    "html": FILES_OUT, "out": FILES_OUT,
    "job": EMPTY,
    "kind": ["", "x"],
    "limit": ["", "0", "10001", "x"],
    "machine": ["", "none/file", "a b", "-"],
    "margin": ["", "x", "-1", "101%", "2"],
    "node": HOSTS, "nodes": HOSTS,
    "op": ["", "sum"],
    "override": ["", "x", "time=2s", "canary.tmie=1", "canary.time=never"],
    "plan": ["", "=", "group count", "count=1"],
    "rails": PATTERNS, "skip": PATTERNS,
    "ranks": ["", "0", "x"],
    "ranks-per-node": ["", "0", "1025", "x"],
    "reason": ["", b"\xff", "x" * 201],
    "role": ["", "root"],
    "san": ["", "a b"],
    "since": SPANS + ["100y", "36500d"],
    "slow": ["", "n1", "n1=", "n1=0", "n1=2", "=0.5", "n[1-=0.5"],
    "sort": ["", "-", "a b", "a=1"],
    "state": ["", "broken"],
    "uses": ["", "0", "65537", "x"],
    "where": ["", "node", "=x", "node==x", "errors>x"],
    "window": ["", "22-6", "22:00"],
    "within": ["", "never", "1s", "11m"],
}
# Wrong values with some verbs only.
BAD_OF = {
    ("pki token", "for"): ["31d"], ("init", "for"): ["31d"],
    ("node maintain", "for"): ["367d"],
    ("node list", "state"): ["running"], ("run list", "state"): ["lost"],
    ("expect", "op"): ["gather"], ("preflight", "op"): ["scatter"],
}
# check prints the verdict unknown if the agent's file is missing.
FILE_MAY_BE_MISSING = {("check", "file")}
# Combinations and missing options.
WRONG = [
    (["preflight"], "--nodes"),
    (["expect", "n1"], "--machine"),
    (["whatif", "--down", "n1"], "--machine"),
    (["whatif", "--machine", "lab"], "--down"),
    (["whatif", "--machine", "lab", "--down", "n1", "--nodes", "n1",
      "--job", "7"], "--job"),
    (["pki", "token"], "--node"),
    (["pki", "issue", "dir", "n1"], "--role"),
    (["node", "maintain", "n1"], "--for"),
    (["node", "maintain", "n1", "--end", "--for", "8h"], "--end"),
    (["events", "--follow", "--where", "kind=run"], "--follow"),
    (["report", "last", "--json", "--csv"], "--csv"),
    (["sweep", "c", "canary.bytes", "1", "--json", "--csv"], "--csv"),
    (["check"], "--local"),
    (["campaign", "run"], "--file"),
    (["compare", "7d..1d", "1d..never"], "1d..never"),
    (["compare", "8d..7d", "now..7d"], "now..7d"),
    (["sweep", "c", "canary.tmie", "1"], "sweep: unknown key tmie"),
    (["sweep", "c", "canary.bytes", "x"], "sweep: canary.bytes = x"),
    (["status", ""], 'unexpected argument "": status takes'),
    ([""], 'unknown noun ""'),
    (["node", ""], 'unknown node verb ""'),
    (["--frob", "status", "--help"], "--frob: did you mean --from?\n"),
    (["status", "--no"], "--no: it can be --node --nodes\n"),
    (["compare", "1", "7d..1d"], "two runs or two periods"),
    (["compare", "7d..1d", "1"], "two runs or two periods"),
    (["status", "--xyzzy"], "--xyzzy; see coalctl --help"),
    (["run", "list", "-n"], "--limit needs a value: COUNT; see"),
    (["node", "show", "n1", "n2"], "unexpected argument n2: node show takes"),
]


def run(*words):
    return subprocess.run([COALCTL, *words], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, check=False)


def dump(what):
    return run("--dump", what).stdout.decode().splitlines()


def verbs_read():
    """[(words, operands, options)]"""
    verbs = []
    for line in dump("verbs"):
        item = re.fullmatch(r"\.It Cm ([a-z -]+?)(?: Ar (.*))?", line)
        option = re.match(r"\.Fl -(\S+)", line)
        if item:
            # "RUN RUN|FROM..TO FROM..TO" are two operands.
            operands = (item[2] or "").split("|")[0].split()
            verbs.append((item[1].split(), operands, []))
        elif option:
            verbs[-1][2].append(option[1])
    return verbs


def options_read():
    """{name: name of its value, or None}"""
    items = (re.fullmatch(r"\.It .*?Fl -(\S+)(?: Ar (.*))?", line)
             for line in dump("options"))
    return {item[1]: item[2] for item in items if item}


def good(operand):
    """A valid operand; no file has this name."""
    return {"KEY": "canary.bytes"}.get(operand.strip("[]."), "x1")


def cases(verbs, options):
    """Yield (command line, text of the message)."""
    own = {name for _, _, names in verbs for name in names}
    shared = sorted(set(options) - own)
    for words, operands, names in verbs:
        noun = " ".join(words)
        need = [good(o) for o in operands if o[0] != "["]
        line = words + need
        yield line + ["--frob"], "--frob"
        yield line + ["--" + min(own - set(names))], "--" + min(own - set(names))
        if need:
            yield words + need[:-1], operands[0]
        if not operands or not operands[-1].rstrip("]").endswith("..."):
            yield words + [good(o) for o in operands] + ["extra"], "extra"
        for i, operand in enumerate(operands):
            given = [good(o) for o in operands[:i]]
            name = operand.strip("[].")
            if name != "VALUE":
                yield words + given + [""] + need[i + 1:], name
            if name in ("HOSTS", "NODES", "NAMES"):
                yield words + given + ["n[1-"] + need[i + 1:], "n[1-"
        for name in names + (shared if noun == "diags" else []):
            flag = "--" + name
            if options[name] is None:
                yield line + [flag + "=yes"], flag
                continue
            yield line + [flag], flag
            for value in BAD[name] + BAD_OF.get((noun, name), []):
                if value == "" or (noun, name) not in FILE_MAY_BE_MISSING:
                    yield (line + [flag, value],
                           flag + (" is empty" if value == "" else ""))
    yield from WRONG


def fault(line, text):
    """Return the fault of the answer to a wrong command line, or None."""
    p = run("--url", "http://127.0.0.1:1", *line)
    says = p.stderr.decode()
    if p.returncode != 3:
        return f"exit code {p.returncode}, expected 3"
    if "cannot reach" in says or "Connection refused" in says:
        return "it contacted the collector"
    if says.count("\n") != 1 or not says.startswith("coalctl: ") or p.stdout:
        return "expected one message"
    if text not in says:
        return f"the message does not name {text}"
    return None


def main():
    verbs, options = verbs_read(), options_read()
    missing = [o for o, value in options.items() if value and o not in BAD]
    if missing or len(verbs) < 60:
        sys.exit(f"options without a wrong value: {missing}; {len(verbs)} verbs")
    bad = count = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for line, text in cases(verbs, options):
            count += 1
            why = fault(line, text)
            if why:
                bad += 1
                print(f"coalctl {line}: {why}: "
                      f"{run('--url', 'http://127.0.0.1:1', *line).stderr}")
    print(f"{bad} of {count} wrong command lines are not rejected as expected")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
