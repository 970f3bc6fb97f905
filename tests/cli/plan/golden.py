#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golden.py - plans, proofs, predictions and refusals stay as they are.

golden/plans.txt has one plan a line: six digests of what coalmine-probe prints
about it, then its words, and behind @ the words of predict if these are not
"--machine perlmutter". golden/refusals.txt has rejected plans, each with its
message.

    golden.py              compare the built program with these files
    golden.py --write P    write the output of program P into these files
    golden.py OLD NEW      compare the output of two programs byte for byte,
                           and show the first different line

With a sanitizer the built program gets one plan in four, to save some minutes:
its output is the same.

Matrices by the names in MADE come from lab/make-matrix.

A new plan is a line with six words of any kind before it, then --write.
"""
import concurrent.futures
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
source = os.environ.get("COALMINE_SOURCE", here + "/../../..")
build = os.environ.get("COALMINE_BUILD", source + "/build/dev")
PLANS = here + "/golden/plans.txt"
REFUSALS = here + "/golden/refusals.txt"
MADE = {"ccc": "ccc", "debruijn": "debruijn", "delaunay": "delaunay",
        "crack": "crack", "delaunay-morton": "delaunay --morton",
        "crack-morton": "crack --morton"}
folder = tempfile.TemporaryDirectory()
COLUMNS = ("list", "matrix", "json", "svg", "check", "predict")
# Asked of two programs only: more digits than two compilers may agree on.
PACES = ("--pace data --format json", "--pace channels --format json",
         "--pace steps --format json")


def run(probe, words):
    """All it prints and its exit status, without the time that a proof took
    and without the folder of the installation."""
    out = subprocess.run(
        [probe] + shlex.split(words), cwd=folder.name,
        env=dict(os.environ, COALMINE_MACHINES=source + "/etc/machines"),
        capture_output=True, text=True, timeout=300)
    text = re.sub(r", in [0-9.]+[a-z]+$", "", out.stdout, flags=re.M)
    says = re.sub(r"/\S*/etc/coalmine/", "ETC/", out.stderr)
    return f"{text}{says}exit {out.returncode}\n"


def questions(words):
    """The command of each column."""
    plan, _, machine = words.partition(" @ ")
    of_machine = f"predict {plan} {machine or '--machine perlmutter'}"
    return ([f"plan {plan} --format {form}" for form in COLUMNS[:4]]
            + [f"check {plan}", of_machine + " --links 0"])


def digests(probe, words):
    return [hashlib.sha256(run(probe, q).encode()).hexdigest()[:12]
            for q in questions(words)]


def read():
    """Digests by the words of a plan, messages by the words of a refusal."""
    with open(PLANS) as f:
        plans = [line.split(maxsplit=len(COLUMNS)) for line in f
                 if not line.startswith("#")]
    with open(REFUSALS) as f:
        lines = f.read().splitlines()
    return ({p[-1].rstrip("\n"): p[:-1] for p in plans},
            {w: says.strip() for w, says in zip(lines[0::2], lines[1::2])})


def refusal(probe, words):
    return run(probe, words).strip().replace("\n", " | ")


def each(work, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(zip(items, pool.map(work, items)))


def test(probe, plans, refusals):
    bad = 0
    for words, now in each(lambda w: digests(probe, w), plans):
        other = [c for c, a, b in zip(COLUMNS, plans[words], now) if a != b]
        if other:
            bad += 1
            print(f"FAIL: {words}: other {', '.join(other)} than before")
    for words, now in each(lambda w: refusal(probe, w), refusals):
        if now != refusals[words]:
            bad += 1
            print(f"FAIL: {words}: {now}\n   instead of {refusals[words]}")
    return bad


def write(probe, plans, refusals):
    lines = [" ".join(d + [w]) for w, d in
             each(lambda w: digests(probe, w), plans)]
    with open(PLANS, "w") as f:
        f.write("# " + " ".join(c.ljust(12) for c in COLUMNS) + " words\n"
                + "\n".join(lines) + "\n")
    with open(REFUSALS, "w") as f:
        for words, says in each(lambda w: refusal(probe, w), refusals):
            f.write(f"{words}\n\t{says}\n")
    return 0


def differ(probes, words):
    """The first line in which two programs differ, or None."""
    a, b = (run(p, words).splitlines() for p in probes)
    if a == b:
        return None
    for n, (x, y) in enumerate(zip(a, b), 1):
        if x != y:
            return f"line {n}:\n  {x[:300]}\n  {y[:300]}"
    return f"{len(a)} lines and {len(b)}"


def compare(probes, plans, refusals):
    asked = list(refusals)
    for words in plans:
        q = questions(words)
        asked += q + [f"{q[-1]} {pace}" for pace in PACES]
    found = [(w, d) for w, d in each(lambda w: differ(probes, w), asked) if d]
    for words, text in found:
        print(f"FAIL: {words}: {text}")
    print(f"{len(asked)} outputs compared")
    return len(found)


def furnish():
    """All files that plans name, in the folder that programs run in."""
    shutil.copytree(here + "/golden", folder.name, dirs_exist_ok=True)
    for name, words in MADE.items():
        with open(f"{folder.name}/{name}", "w") as f:
            subprocess.run([source + "/lab/make-matrix"] + words.split(),
                           stdout=f, check=True)


def main():
    furnish()
    plans, refusals = read()
    names = [os.path.abspath(a) for a in sys.argv[1:] if a != "--write"]
    if sys.argv[1:2] == ["--write"] and len(names) == 1:
        bad = write(names[0], plans, refusals)
    elif len(names) == 2:
        bad = compare(names, plans, refusals)
    else:
        if os.environ.get("COALMINE_SANITIZE"):
            plans = dict(list(plans.items())[::4])
        bad = test(build + "/probes/serial/coalmine-probe", plans, refusals)
    print(f"{len(plans)} plans, {len(refusals)} refusals, {bad} wrong")
    return 1 if bad else 0


sys.exit(main())
