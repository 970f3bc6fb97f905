#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coalmine-keeper without an agent: it ends its child and all descendants.

Not covered: cgroups, which are missing on some machines.
"""
import fcntl
import os
import pty
import pwd
import signal
import socket
import subprocess
import termios
import time

import fake

# Leaves a stray that is its own session, twice removed, and ignores TERM.
STRAY = r"""
import os, signal, sys, time
if sys.argv[2] == "stay":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    for sig in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(sig, signal.SIG_IGN)
    open(sys.argv[1], "w").write(str(os.getpid()))
    time.sleep(600)
while not os.path.exists(sys.argv[1]) or not open(sys.argv[1]).read():
    time.sleep(0.01)
if sys.argv[2] == "stay":
    time.sleep(600)
sys.exit(int(sys.argv[2]))
"""


class Keeper:
    def __init__(self, *command, options=(), env=None, stdout=None,
                 before=None, stderr=False, pass_fds=()):
        ours, theirs = socket.socketpair()
        self.control = ours
        self.text = b""
        args = [os.path.join(fake.BUILD, "agents", "coalmine-keeper"),
                "--control=%d" % theirs.fileno(),
                "--agent=%d" % os.getpid()]
        self.proc = subprocess.Popen(
            args + list(options) + [command[0]] + list(command),
            stderr=subprocess.PIPE if stderr else None,
            pass_fds=[theirs.fileno(), *pass_fds], env=env or {"PATH": "/usr/bin:/bin"},
            stdout=stdout, preexec_fn=before)
        theirs.close()

    def line(self, limit=10):
        self.control.settimeout(limit * fake.LATE)
        while b"\n" not in self.text:
            part = self.control.recv(400)
            if not part:
                raise EOFError
            self.text += part
        line, self.text = self.text.split(b"\n", 1)
        return line.decode()

    def started(self):
        word, pid = self.line().split()
        assert word == "started"
        return int(pid)


def gone(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def stray_of(path):
    fake.wait_for(lambda: os.path.exists(path) and open(path).read())
    return int(open(path).read())


def exit_status(site):
    for command, status in ((("/bin/sh", "-c", "exit 7"), 7),
                            (("/bin/true",), 0),
                            (("/bin/sh", "-c", "kill -9 $$"), 137)):
        k = Keeper(*command)
        k.started()
        assert k.line() == "exited %d" % status
        assert k.proc.wait(5 * fake.LATE) == 0


def no_program(site):
    k = Keeper("/nonexistent/program")
    assert k.line() == "failed /nonexistent/program: No such file or " \
        "directory"
    assert k.proc.wait(5 * fake.LATE) == 3
    k = Keeper("/bin/true", options=["--uid=1"])
    assert k.proc.wait(5 * fake.LATE) == 2


def strays_after_exit(site):
    path = os.path.join(site.top, "stray")
    k = Keeper("/usr/bin/python3", "-c", STRAY, path, "5",
               options=["--grace-ms=300"])
    k.started()
    stray = stray_of(path)
    start = time.monotonic()
    assert k.line() == "exited 5"
    assert time.monotonic() - start < 3 * fake.LATE
    assert gone(stray)


def strays_on_end(site):
    path = os.path.join(site.top, "stray")
    k = Keeper("/usr/bin/python3", "-c", STRAY, path, "stay")
    child = k.started()
    stray = stray_of(path)
    k.control.send(b"end 200\n")
    assert k.line() == "exited 137"
    assert gone(stray) and gone(child)


def agent_dies(site):
    """The keeper ends all its processes as soon as the agent's socket
    closes."""
    path = os.path.join(site.top, "stray")
    k = Keeper("/usr/bin/python3", "-c", STRAY, path, "stay",
               options=["--grace-ms=100"])
    child = k.started()
    stray = stray_of(path)
    k.control.close()
    k.proc.wait(5 * fake.LATE)
    assert gone(stray) and gone(child)


def keeper_term(site):
    path = os.path.join(site.top, "stray")
    k = Keeper("/usr/bin/python3", "-c", STRAY, path, "stay",
               options=["--grace-ms=100"])
    k.started()
    stray = stray_of(path)
    k.proc.terminate()
    assert k.line() == "exited 137"
    assert gone(stray)


def keeper_killed(site):
    """The child dies with its keeper; the agent ends the descendants."""
    k = Keeper("/bin/sleep", "600")
    child = k.started()
    k.proc.kill()
    k.proc.wait(5 * fake.LATE)
    fake.wait_for(lambda: gone(child), 5)


def deadline(site):
    k = Keeper("/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done",
               options=["--deadline-ms=300", "--grace-ms=100"])
    k.started()
    start = time.monotonic()
    assert k.line() == "exited 137"
    assert time.monotonic() - start < 3 * fake.LATE


def wrong_parent(site):
    k = Keeper("/bin/true", options=["--agent=1"])
    assert k.line().startswith("failed ")


def child_state(site):
    """The child's user, groups, limits, environment and descriptors."""
    user = pwd.getpwnam("nobody")
    out = os.path.join(site.top, "out")
    script = ("id -u; id -g; id -G; ulimit -c; ls /proc/self/fd | wc -l; "
              "grep NoNewPrivs /proc/self/status; pwd; env | sort; "
              "readlink /proc/self/fd/0; ulimit -f; "
              "grep -i 'max processes' /proc/self/limits")
    with open(out, "w") as f:
        spare = os.open("/dev/null", os.O_RDONLY)
        os.set_inheritable(spare, True)
        k = Keeper("/bin/sh", "-c", script, stdout=f,
                   options=["--uid=%d" % user.pw_uid,
                            "--gid=%d" % user.pw_gid,
                            "--file-kib=77", "--processes=7777"],
                   env={"PATH": "/usr/bin:/bin", "ONE": "1"})
        k.started()
        assert k.line() == "exited 0"
        os.close(spare)
    got = open(out).read().split("\n")
    assert got[:3] == [str(user.pw_uid), str(user.pw_gid),
                       str(user.pw_gid)], got
    assert got[3] == "0", got
    assert got[4] == "4", got  # 0 1 2 and the one that ls opens
    assert got[5].split() == ["NoNewPrivs:", "1"], got
    assert got[6] == "/", got
    assert got[7:10] == ["ONE=1", "PATH=/usr/bin:/bin", "PWD=/"], got
    assert got[10] == "/dev/null", got
    assert got[11] == "154", got  # blocks of 512 bytes
    assert got[12].split()[2:4] == ["7777", "7777"], got


def environment(site):
    """The keeper reads the program's environment from a file and does not
    apply it to itself."""
    env = os.memfd_create("env")
    os.write(env, b"ONE=1\0LD_LIBRARY_PATH=/evil\0")
    os.set_inheritable(env, True)
    k = Keeper("/bin/sh", "-c", "echo $PPID $ONE $LD_LIBRARY_PATH $TWO >&2; "
               "sleep 600", options=["--env=%d" % env], env={"TWO": "2"},
               stderr=True, pass_fds=[env])
    child = k.started()
    said = k.proc.stderr.readline().split()
    assert said == [b"%d" % k.proc.pid, b"1", b"/evil"], said
    with open("/proc/%d/environ" % k.proc.pid, "rb") as f:
        assert f.read() == b"TWO=2\0"
    k.control.send(b"end 0\n")
    k.proc.wait(5 * fake.LATE)
    assert gone(child)
    os.truncate(env, 9 << 20)  # no memory for one that no program can have
    k = Keeper("/bin/true", options=["--env=%d" % env], pass_fds=[env])
    assert k.proc.wait(5 * fake.LATE) == 2


def child_session(site):
    """The agent's session, unless that has a terminal; its own group."""
    path = os.path.join(site.top, "session")
    for terminal in False, True:
        ours, theirs = pty.openpty()

        def before():
            os.setsid()
            if terminal:
                fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

        with open(path, "w") as f:
            k = Keeper("/bin/sh", "-c", "ps -o sid=,pgid=,tty= -p $$",
                       stdout=f, before=before)
            child = k.started()
            assert k.line() == "exited 0"
        sid, group, tty = open(path).read().split()
        assert int(sid) == (child if terminal else k.proc.pid), terminal
        assert [int(group), tty] == [child, "?"], terminal
        os.close(theirs)
        os.close(ours)


if __name__ == "__main__":
    fake.main(exit_status, no_program, strays_after_exit, strays_on_end,
              agent_dies, keeper_term, keeper_killed, deadline, wrong_parent,
              child_state, environment, child_session)
