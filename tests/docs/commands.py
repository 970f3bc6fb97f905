#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""commands.py - the commands in the guides work, and print the shown output:
in a block "console" every line that begins with "$ " is run, and the lines
after it must be its output, where "..." matches any lines and any rest of a
line. coalctl connects to the fake collector of tests/cli with its fixtures; a
first line "# NAME.conf" of a block "ini" makes it a file of the page. Exit
status 3, wrong use, is a failure, and so is one above 125.

Blocks "sh" are not run: they need a cluster or root. Their verbs and options of
coalctl must be in its help."""
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

source = os.environ["COALMINE_SOURCE"]
build = os.environ["COALMINE_BUILD"]
bad = []


def blocks(path):
    """(line, kind, lines) of each fenced block."""
    kind = None
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if line.startswith("```"):
                if kind is not None:
                    yield start, kind, lines
                    kind = None
                else:
                    kind, start, lines = line[3:].strip(), number, []
            elif kind is not None:
                lines.append(line)


def matches(want, got):
    """Like a shell's pattern, with "..." for "*", line by line."""
    pattern = ""
    for line in want:
        if line == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.split("..."))) + r"[ ]*\n"
    return re.fullmatch(pattern, got) is not None


def run(where, command, want, cwd, env):
    shipped = command.replace("/etc/coalmine/coalmine",
                              f"{build}/etc/coalmine")
    shipped = shipped.replace("/etc/coalmine/", f"{source}/etc/")
    shipped = shipped.replace("/usr/share/coalmine/", f"{source}/etc/")
    done = subprocess.run(["sh", "-c", shipped], cwd=cwd, env=env, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    got = done.stdout.replace(f"{build}/etc/", "/etc/coalmine/")
    got = got.replace(f"{source}/etc/", "/etc/coalmine/")
    if done.returncode == 3 or done.returncode > 125:
        bad.append(f"{where}: {command}: exit {done.returncode}\n{got}")
    elif not matches(want, got if got.endswith("\n") or not got else got + "\n"):
        bad.append(f"{where}: {command} prints\n{got}and not\n" +
                   "\n".join(want))


def look_up(where, command, verbs, helps):
    """Return the verb, and its options with a long name."""
    words = re.split(r"[;|&>]", command)[0].split()[1:]
    name = next((v for v in verbs if words[:len(v)] == list(v)), None)
    if name is None:
        bad.append(f"{where}: {command}: no such verb")
        return
    noun = name[0]
    if noun not in helps:
        helps[noun] = coalctl("help", noun)
    for option in (w.split("=")[0] for w in words if w.startswith("--")):
        if option not in helps[noun]:
            bad.append(f"{where}: {command}: {noun} has no {option}")


def coalctl(*words):
    return subprocess.run([f"{build}/ctl/coalctl", *words], text=True,
                          stdout=subprocess.PIPE).stdout


def main():
    ran = 0
    verbs = [tuple(w for w in re.split(r"  ", line[2:])[0].split()
                   if w.islower() or "-" in w)
             for line in coalctl("--help").splitlines()
             if re.match(r"  [a-z]", line)]
    helps = {}
    with tempfile.TemporaryDirectory(prefix="coalmine-docs.") as work:
        env = dict(os.environ, LC_ALL="C.UTF-8", TERM="dumb",
                   COALMINE_URL=f"unix:{work}/sock",
                   PATH=f"{build}/ctl:{build}/probes/serial:{build}/daemon:" +
                   os.environ["PATH"])
        standin = subprocess.Popen([f"{build}/tests/cli/standin",
                                    f"{work}/sock",
                                    f"{source}/tests/cli/fixtures",
                                    f"{work}/requests"])
        try:
            while not os.path.exists(f"{work}/sock"):
                if standin.poll() is not None:
                    return "the stand-in ended"
                time.sleep(0.05)
            for path in sorted(glob.glob(f"{source}/docs/guide/*.md")):
                page = os.path.basename(path)
                cwd = os.path.join(work, page)
                os.mkdir(cwd)
                for start, kind, lines in blocks(path):
                    if kind == "ini" and re.match(r"# [\w-]+\.conf$", lines[0]):
                        with open(os.path.join(cwd, lines[0][2:]), "w",
                                  encoding="utf-8") as f:
                            f.write("\n".join(lines) + "\n")
                    for i, line in enumerate(lines):
                        where = f"docs/guide/{page}:{start + 1 + i}"
                        if kind == "sh" and line.startswith("coalctl "):
                            look_up(where, line.split("#")[0], verbs, helps)
                        if kind != "console" or not line.startswith("$ "):
                            continue
                        want = lines[i + 1:]
                        for n, text in enumerate(want):
                            if text.startswith("$ "):
                                want = want[:n]
                                break
                        run(where, line[2:], want, cwd, env)
                        ran += 1
        finally:
            standin.terminate()
            standin.wait()
    if ran == 0:
        bad.append("no command was found")
    print("\n".join(bad) or f"{ran} commands print the output in the guides")
    return 1 if bad else 0


sys.exit(main())
