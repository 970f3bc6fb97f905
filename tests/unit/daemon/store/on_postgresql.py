#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""on_postgresql.py COMMAND... - run the command with COALMINE_TEST_STORE_URL, a
database of a new server that ends with it. Exits with 77 without PostgreSQL."""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../.."))
from free_port import free_port  # noqa: E402

FOUND = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres") +
               glob.glob("/usr/pgsql-*/bin/postgres"))
BIN = os.path.dirname(FOUND[-1] if FOUND else shutil.which("postgres") or "")
# A server refuses to run as root. It ends when the test is killed.
AS = ["setpriv", "--pdeathsig", "QUIT"] + (
    ["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]
    if os.geteuid() == 0 else [])


class Cluster:
    """folder: an existing folder, for example a small disk; None: a new one."""

    def __init__(self, folder=None):
        # As an exception, so that "finally" blocks run.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        self.folder = folder or tempfile.mkdtemp(prefix="coalmine-pg-")
        self.data, self.port = self.folder + "/data", free_port()
        self.process = None
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody", "nogroup")
        subprocess.run(AS + [BIN + "/initdb", "-D", self.data, "-U", "admin",
                             "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                             "-N"], check=True, stdout=subprocess.DEVNULL)
        self.start()
        self.sql("CREATE ROLE coalmine LOGIN")
        self.sql("CREATE DATABASE coalmine OWNER coalmine")

    def url(self, port=None, role="coalmine", db="coalmine"):
        return "postgresql://%s@127.0.0.1:%d/%s" % (role, port or self.port, db)

    def start(self):
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen(
                AS + [BIN + "/postgres", "-D", self.data, "-p", str(self.port),
                      "-c", "listen_addresses=127.0.0.1",
                      "-c", "unix_socket_directories=" + self.folder,
                      "-c", "log_min_messages=warning"],
                stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + 120
        while subprocess.run([BIN + "/pg_isready", "-q", "-h", self.folder,
                              "-p", str(self.port)]).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > end:
                with open(self.folder + "/log") as log:
                    sys.exit("the server does not start: " + log.read())
            time.sleep(0.05)

    def replica(self):
        """Start a synchronous replica of this server."""
        r = Cluster.__new__(Cluster)
        r.folder = tempfile.mkdtemp(prefix="coalmine-pg-")
        r.data, r.port = r.folder + "/data", free_port()
        if AS:
            shutil.chown(r.folder, "nobody", "nogroup")
        subprocess.run(AS + [BIN + "/pg_basebackup", "-D", r.data, "-R", "-h",
                             self.folder, "-p", str(self.port), "-U", "admin",
                             "-c", "fast"], check=True)
        r.start()
        self.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.sql("SELECT pg_reload_conf()")
        return r

    def stop(self, how=signal.SIGINT):
        """SIGQUIT: as a crash."""
        self.process.send_signal(how)
        self.process.wait(60)

    def sql(self, text, db="postgres", schema="public"):
        return subprocess.run(
            [BIN + "/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", self.folder,
             "-p", str(self.port), "-U", "admin", "-d", db, "-c", text],
            check=True, stdout=subprocess.PIPE, text=True, env=dict(
                os.environ, PGOPTIONS="-csearch_path=" + schema)).stdout.strip()

    def end(self):
        if self.process.poll() is None:
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)


def needed():
    if not BIN or not os.access(BIN + "/postgres", os.X_OK):
        print("skipped: PostgreSQL not found")
        sys.exit(77)


def main():
    needed()
    cluster = Cluster()
    try:
        rc = subprocess.run(sys.argv[1:], env=dict(
            os.environ, COALMINE_TEST_STORE_URL=cluster.url(),
            COALMINE_PLUGIN_DIR=os.environ["COALMINE_BUILD"] + "/daemon",
        )).returncode
    finally:
        cluster.end()
    sys.exit(rc)


if __name__ == "__main__":
    main()
