# SPDX-License-Identifier: Apache-2.0
"""A real coalmined with faults of a real PostgreSQL: killed, cancelled, full,
behind a pool, cut off at a commit, misconfigured. Acknowledged records exist,
once; the error names the required action."""
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../../unit/daemon/store"]
from agent import Agent, end, phase  # noqa: E402
from collector import BUILD, Collector, free_port, poll  # noqa: E402
from on_postgresql import AS, Cluster, needed  # noqa: E402
from runs import agents, close, finish, seqs, to_running  # noqa: E402

WAIT_S = 90
PGBOUNCER = shutil.which("pgbouncer", path=os.environ["PATH"] + ":/usr/sbin")


class Stream:
    """Records of one run, a few at a time, during a fault; the head reconnects
    after a rejection, and sends unacknowledged records again."""

    def __init__(self, c):
        self.c, self.a = c, agents(c)
        self.run, self.seq, self.last = to_running(c, self.a), 2, 0
        self.highest = 2
        self.thread = threading.Thread(target=self.send, daemon=True)
        self.thread.start()

    def greeted(self):
        return any(m["type"] == "welcome" for m in self.a[0].log)

    def acked(self):
        return max([m["seq"] for m in self.a[0].log
                    if m["type"] == "ack" and m["run"] == self.run]
                   + [x["seq"] for m in self.a[0].log if m["type"] == "welcome"
                      for x in m["acks"] if x["run"] == self.run] + [0])

    def send(self):
        while not self.last or self.acked() < self.last:
            if not self.a[0].open:
                self.a[0].close()
                try:
                    self.a[0] = Agent(self.c.pki, "node1", self.c.port,
                                      runs=[self.run], spool=[
                                          {"run": self.run, "seq": self.seq}])
                except OSError:
                    time.sleep(0.1)
                    continue
                poll("welcome", WAIT_S, lambda: self.greeted() or
                     not self.a[0].open)
                if self.greeted():
                    self.seq = self.acked()
                continue
            if not self.last:
                self.a[0].records(self.run, *[
                    phase(self.run, self.seq + i) for i in range(1, 21)])
                self.seq += 20
                self.highest = max(self.highest, self.seq)
            elif self.seq < self.last:
                to = min(self.seq + 200, self.last)
                self.a[0].records(self.run, *[
                    phase(self.run, s) if s < self.last else end(self.run, s)
                    for s in range(self.seq + 1, to + 1)])
                self.seq = to
            time.sleep(0.02)

    def end(self):
        """Check that each record is stored exactly once."""
        self.last = self.highest + 41
        self.thread.join(WAIT_S)
        assert not self.thread.is_alive(), (self.acked(), self.last)
        self.c.wait_state(self.run, ["finished"], WAIT_S)
        had = seqs(self.c, self.run)
        assert had == list(range(1, self.last + 1)), (
            self.last, set(range(1, self.last + 1)).difference(had), len(had))
        assert self.c.get("runs/" + self.run)["records"] == self.last
        print(f"{self.last} records", flush=True)
        close(self.a)


def alarm(c, word):
    poll(f"alarm {word}", WAIT_S, lambda: word in str(c.get("diags")))


def is_well(c):
    poll("no alarm", WAIT_S, lambda: "cannot be written" not in
         str(c.get("diags")))


def orders(c, count, want=None):
    """Each is an event and a setting, in one transaction."""
    for i in range(count):
        status, o = c.request("POST", "schedule/quick/%s" % (
            "enable" if i % 2 else "disable"))
        assert status == want or not want and status // 100 == 2, (status, o)


def order_events(c):
    return len(c.get("events?kind=order&after_id=0&limit=1000"))


def test_killed(c, pg):
    for how in (signal.SIGQUIT, signal.SIGINT):
        s = Stream(c)
        time.sleep(1)
        pg.stop(how)
        time.sleep(2)
        pg.start()
        s.end()


def test_cancelled(c, pg):
    s = Stream(c)
    for i in range(20):
        what = "terminate" if i % 5 == 4 else "cancel"
        pg.sql(f"SELECT pg_{what}_backend(pid) FROM pg_stat_activity"
               " WHERE application_name = 'coalmined' AND state = 'active'")
        time.sleep(0.1)
    s.end()


class Proxy:
    """A proxy in front of the server; it cuts a connection at the next of
    these words, or stays silent while it is deaf, as from the commit of data
    with the word hold."""

    def __init__(self, port, word=b"COMMIT"):
        self.to, self.port, self.cut = port, free_port(), None
        self.both, self.word, self.deaf, self.hold = [], word, False, None
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.listener.accept()[0]
            server = socket.create_connection(("127.0.0.1", self.to))
            pair = [client, server]
            self.both.append(pair)
            for a, b, is_up in ((client, server, True),
                                (server, client, False)):
                threading.Thread(target=self.pump, args=(a, b, pair, is_up),
                                 daemon=True).start()

    def pump(self, a, b, pair, is_up):
        held = False
        try:
            while True:
                data = a.recv(65536)
                while self.deaf:
                    time.sleep(0.05)
                held = is_up and self.hold and (held or self.hold in data)
                if held and b"COMMIT" in data:
                    self.deaf, self.hold = True, None
                if is_up and self.cut and self.word in data:
                    before, self.cut = self.cut == "before", None
                    pair[0].close()  # no answer
                    if not before:
                        pair[1].sendall(data)
                        time.sleep(0.5)
                    pair[1].close()
                    return
                if not data:
                    break
                b.sendall(data)
        except OSError:
            pass
        for s in pair:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def test_lost_commit(pg):
    """After a lost reply the store checks whether the commit happened."""
    proxy = Proxy(pg.port)
    with collector(pg, port=proxy.port) as c:
        c.start()
        had = order_events(c)
        for cut in ("before", "after") * 3:
            proxy.cut = cut
            orders(c, 1)
            had += 1
            poll("the cut", WAIT_S, lambda: proxy.cut is None)
            time.sleep(1.5)
            is_well(c)
            poll("the event", WAIT_S, lambda: order_events(c) >= had)
            time.sleep(1.5)
            assert order_events(c) == had, (cut, order_events(c), had)
        c.stop()


def test_away_at_start(pg):
    """While the settings cannot be read from the store, no agent is
    accepted."""
    proxy = Proxy(pg.port, b"NOT LIKE")
    with collector(pg, port=proxy.port) as c:
        c.start()
        c.request("POST", "schedule/quick/disable")
        c.stop()
        proxy.cut = "before"
        c.start()
        assert proxy.cut is None and "; retrying" in c.read_log()
        assert not c.get("schedule")[0]["enabled"], c.get("schedule")
        c.stop()


def pgbouncer(pg, mode):
    folder = tempfile.mkdtemp(prefix="coalmine-pgb-")
    port = free_port()
    with open(folder + "/conf", "w") as f:
        # With "any" every client is the user in the database's line.
        f.write("[databases]\ncoalmine = host=127.0.0.1 port=%d user=coalmine\n"
                "[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\n"
                "auth_type = any\nunix_socket_dir =\npool_mode = %s\n"
                "logfile = %s/log\n" % (pg.port, port, mode, folder))
    if os.geteuid() == 0:
        for x in (folder, folder + "/conf"):
            shutil.chown(x, "nobody", "nogroup")
    p = subprocess.Popen(AS + [PGBOUNCER, folder + "/conf"],
                         stderr=subprocess.DEVNULL)
    poll("pgbouncer", WAIT_S, lambda: socket.socket().connect_ex(
        ("127.0.0.1", port)) == 0)
    return p, port, folder


def test_pool(pg):
    if not PGBOUNCER:
        print("no pgbouncer: skipping pools")
        return
    for mode in ("session", "transaction", "statement"):
        p, port, folder = pgbouncer(pg, mode)
        try:
            with collector(pg, port=port) as c:
                if mode == "session":
                    c.start()
                    a = agents(c)
                    run = to_running(c, a)
                    finish(c, a, run)
                    close(a)
                    c.stop()
                else:
                    refused(c, "pool_mode = session")
        finally:
            p.terminate()
            p.wait()
            shutil.rmtree(folder, ignore_errors=True)


def refused(c, *words):
    said = subprocess.run(c.command(), capture_output=True, text=True,
                          timeout=WAIT_S, check=False).stderr
    for w in words:
        assert w in said, (w, said)


def old_server(listener):
    """A fake server that only reports its version."""
    while True:
        try:
            s = listener.accept()[0]
        except OSError:
            return
        with s:
            size = struct.unpack(">I", s.recv(4))[0]
            if size == 8:  # of TLS
                s.recv(4)
                s.sendall(b"N")
                size = struct.unpack(">I", s.recv(4))[0]
            s.recv(size - 4)

            def message(kind, body):
                s.sendall(kind + struct.pack(">I", len(body) + 4) + body)
            message(b"R", struct.pack(">I", 0))
            for name, value in (("server_version", "9.6.24"),
                                ("server_encoding", "UTF8"),
                                ("default_transaction_read_only", "off"),
                                ("in_hot_standby", "off")):
                message(b"S", name.encode() + b"\0" + value.encode() + b"\0")
            message(b"Z", b"I")
            s.recv(100)


def test_refused(pg):
    url = pg.url()
    with collector(pg) as c:
        def of(new, *words, **more):
            c.options["store.url"] = new
            c.options.update({k.replace("__", "."): v
                              for k, v in more.items()})
            refused(c, *words)
            c.options["store.schema"] = "x"
        of(pg.url(port=free_port()), "Connection refused", "server is running")
        of(pg.url(role="nobody_here"), "nobody_here", "createuser")
        of(pg.url(db="nothing"), "nothing", "createdb")
        of("mysql://x/y", "store.url is not of the form postgresql://")
        of(url + "?nonsense=1", "nonsense")
        pg.sql("CREATE DATABASE latin TEMPLATE template0 ENCODING LATIN1"
               " LC_COLLATE 'C' LC_CTYPE 'C' OWNER coalmine")
        of(pg.url(db="latin"), "LATIN1", "UTF8")
        pg.sql("CREATE ROLE guest LOGIN")
        of(pg.url(role="guest"), "CREATE SCHEMA", "AUTHORIZATION guest")
        pg.sql("CREATE SCHEMA cookies AUTHORIZATION coalmine; SET ROLE"
               " coalmine; CREATE TABLE cookies.jar (a int)", "coalmine")
        of(url, "another program", "store.schema", store__schema="cookies")
        pg.sql("ALTER ROLE guest SET default_transaction_read_only = on")
        of(pg.url(role="guest"), "standby", "primary")
        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=old_server, args=(listener,),
                         daemon=True).start()
        of(pg.url(port=listener.getsockname()[1]), "PostgreSQL 9", "at least")
        listener.close()
        # Two, and a newer one.
        c.options.update({"store.url": url, "store.schema": "two"})
        c.start()
        with collector(pg) as second:
            second.options["store.schema"] = "two"
            refused(second, "another collector", "separate store.schema")
        c.stop()
        pg.sql("UPDATE two.leader SET version = 999", "coalmine")
        refused(c, "version 999", "install the newer program")


def test_views(c, pg):
    """Every column has a comment, and a reader needs no table."""
    a = agents(c)
    run = to_running(c, a)
    a[0].records(run, {
        "run": run, "seq": 3, "probe": "canary", "test": "lat", "phase": "wild",
        "unit": "s", "n": 2, "mean": 3e-05, "min": 2e-05, "p50": 2e-05,
        "p90": 4e-05, "p99": 4e-05, "p999": 4e-05, "max": 4e-05,
        "hist": [[-249, 1], [-233, 1]], "pairs": [], "stopped_by": "time",
        "nodes": [], "rounds": 8, "seed": 7,
        "interval": {"of": "p99", "level": 0.95, "lo": 2e-05, "hi": 4e-05}},
        end(run, 4))
    c.wait_state(run, ["finished"])
    close(a)
    schema = c.options["store.schema"]
    views = "runs canaries impacts verdicts events nodes".split()
    assert pg.sql("SELECT count(*) FROM pg_attribute WHERE attnum > 0 AND"
                  f" attrelid = ANY ('{{{','.join(views)}}}'::regclass[])"
                  " AND col_description(attrelid, attnum) IS NULL",
                  "coalmine", schema) == "0"
    pg.sql("CREATE ROLE grafana LOGIN; GRANT USAGE ON SCHEMA"
           f' "{schema}" TO grafana; GRANT SELECT ON {",".join(views)}'
           " TO grafana", "coalmine", schema)
    for view in views:
        pg.sql(f"SET ROLE grafana; SELECT * FROM {view} LIMIT 9", "coalmine",
               schema)
    assert pg.sql("SET ROLE grafana; SELECT run, test, n, p99,"
                  " now() - at < '1h' FROM canaries", "coalmine",
                  schema) == f"{run}|lat|2|4e-05|t"
    assert pg.sql("SELECT state, records FROM runs", "coalmine",
                  schema) == "finished|4"


def test_copy(pg):
    """Copy from a file to a server and back; an interrupted copy continues;
    rows that exist with other contents are reported."""
    with collector(pg) as c:
        url, schema = c.options["store.url"], c.options["store.schema"]

        def copy(a, b, word=", equal in source and target"):
            said = subprocess.run(
                [BUILD + "/ctl/coalctl", "db", "copy", a, b, c.config],
                capture_output=True, text=True, timeout=WAIT_S, check=False,
                env=dict(os.environ, PATH=BUILD + "/daemon:"
                         + os.environ["PATH"])).stderr
            assert word in said, said

        def sql(text):
            return pg.sql(text, "coalmine", schema)
        c.config = c.dir + "/conf"
        with open(c.config, "w") as f:
            f.write(f"[store]\nschema = {schema}\n")
        c.options["store.url"] = ""
        c.start()
        a = agents(c)
        runs = []
        for _ in range(2):
            runs.append(to_running(c, a))
            finish(c, a, runs[-1])
        close(a)
        events = c.get("events?after_id=0&limit=1000")
        copy(c.dir + "/state", url, "another collector uses")
        c.stop()
        copy(c.dir + "/nothing", url, "No such file")
        copy(c.dir + "/state", url, "copied")
        # Every column is copied.
        with open(HERE + "/../../../daemon/store/store_copy.c") as f:
            rows = dict(re.findall(r'\n\t{ "(\w+)", \d,(.*?)}', f.read(), re.S))
        for table, column in (x.split("|") for x in sql(
                "SELECT relname, attname FROM pg_class AS c JOIN pg_attribute"
                " ON attrelid = c.oid WHERE attnum > 0 AND NOT relispartition"
                " AND relkind IN ('r', 'p') AND relname <> 'leader' AND"
                f" relnamespace = '\"{schema}\"'::regnamespace"
                ).splitlines()):
            if column == "id" and table in ("run", "record"):
                continue  # each store has its own
            column = "run" if column == "run_id" else column
            assert f'"{column}"' in rows[table].replace("*", ""), \
                (table, column)
        sql("DELETE FROM record WHERE run_id = (SELECT max(id) FROM run)"
            " AND seq > 1; DELETE FROM counters; DELETE FROM event"
            " WHERE id > 3; DELETE FROM job")
        copy(c.dir + "/state", url, "copied")
        c.options["store.url"] = url
        c.start()
        assert [seqs(c, run) for run in runs] == [[1, 2, 3]] * 2
        assert c.get("events?after_id=0&limit=1000")[:len(events)] == events
        a = agents(c)
        runs.append(to_running(c, a))
        finish(c, a, runs[-1])
        close(a)
        copy(url, c.dir + "/state2", "another collector")
        c.stop()
        copy(url, c.dir + "/state2", "copied")
        sql("UPDATE run SET state = 'failed'")
        copy(c.dir + "/state2", url, "different contents")
        c.options.update({"store.url": "",
                          "collector.state_dir": c.dir + "/state2"})
        c.start()
        assert [seqs(c, run) for run in runs] == [[1, 2, 3]] * 3
        c.stop()


def test_deposed(pg):
    """After another term, messages of the old collector have no effect."""
    with collector(pg) as c:
        c.start()
        schema = c.options["store.schema"]
        count = f'SELECT count(*) FROM "{schema}".event'
        pg.sql(f'UPDATE "{schema}".leader SET term = term + 1', "coalmine")
        # An idle collector detects it, too.
        poll("a restart", 20, lambda: c.read_log().count("ready:") == 2)
        pg.sql(f'UPDATE "{schema}".leader SET term = term + 1', "coalmine")
        had = pg.sql(count, "coalmine")
        try:
            status, _ = c.request("POST", "schedule/quick/disable")
            assert status in (202, 503), status
        except OSError:
            pass  # it restarted before the answer
        poll("the lost lease", WAIT_S, lambda: c.read_log().count(
            "lost the lease") == 2)
        assert pg.sql(count, "coalmine") == had
        poll("it is active again, with a new term", WAIT_S, lambda:
             c.read_log().count("ready:") == 3)
        c.kill()


def test_full():
    """A real disk of 96 MB, in a mount namespace of our own."""
    folder = tempfile.mkdtemp(prefix="coalmine-full-")
    if os.geteuid() != 0 or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=96m", "none", folder],
            check=False).returncode != 0:
        print("cannot mount a small disk: skipping a full disk")
        return
    pg = None
    try:
        pg = Cluster(folder)
        pg.sql("ALTER SYSTEM SET max_wal_size = '32MB'")
        pg.sql("SELECT pg_reload_conf()")
        with collector(pg) as c:
            c.start()
            s = Stream(c)
            free = os.statvfs(folder)
            with open(folder + "/ballast", "wb") as f:
                os.posix_fallocate(f.fileno(), 0,
                                   max(1, free.f_bavail * free.f_frsize
                                       - 300000))
            alarm(c, "cannot be written")
            orders(c, 1, 202)  # it waits here
            time.sleep(2)
            os.unlink(folder + "/ballast")
            if pg.process.poll() is not None:  # its log did not fit either
                pg.start()
            s.end()
            poll("the order", WAIT_S, lambda: order_events(c) > 0)
            c.stop()
    finally:
        if pg:
            pg.stop(signal.SIGQUIT)
        subprocess.run(["umount", "-l", folder], check=False)
        os.rmdir(folder)


def collector(pg, port=None):
    c = Collector(store__url=pg.url(port=port))
    c.issue("node[1-3]", "agent")
    c.campaign("quick", deadline="120s", more="[schedule]\nevery = 1d\n")
    return c


def main():
    needed()
    if os.geteuid() == 0 and "COALMINE_UNSHARED" not in os.environ:
        os.environ["COALMINE_UNSHARED"] = "1"
        if subprocess.run(["unshare", "-m", "true"],
                          check=False).returncode == 0:
            os.execvp("unshare", ["unshare", "-m", "--propagation", "private",
                                  sys.executable] + sys.argv)
    os.environ["COALMINE_PLUGIN_DIR"] = os.environ["COALMINE_BUILD"] + "/daemon"
    only = sys.argv[1:]
    pg = Cluster()
    try:
        for test in (test_refused, test_lost_commit, test_away_at_start,
                     test_pool, test_deposed, test_copy):
            if not only or test.__name__ in only:
                test(pg)
                print(test.__name__, flush=True)
        for test in (test_views, test_killed, test_cancelled):
            if not only or test.__name__ in only:
                with collector(pg) as c:
                    c.start()
                    test(c, pg)
                    c.stop()
                print(test.__name__, flush=True)
    finally:
        pg.end()
    if not only or "test_full" in only:
        test_full()
        print("test_full", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
