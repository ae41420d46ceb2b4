"""The store of a soak: a file of SQLite, or a PostgreSQL server of its own with proxies before it."""
import glob
import json
import os
import signal
import sqlite3
import subprocess
import time

import proxies

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
LEFT_OUT = ("deployment_file", "line")  # tables that no check reads


def text_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


class File:
    """A database file on a disk of its own."""

    kind = "file"

    def __init__(self, world):
        self.path = os.path.join(world.disk, "soak.db")

    def begin(self):
        pass

    def url(self, _node=None):
        return "sqlite:" + self.path

    def flags(self, _node):
        return []

    def watch(self):
        """The store exists: from here on its triggers write down what happens."""
        store = sqlite3.connect(self.path)
        store.executescript(text_of("witness.sql"))
        store.close()

    def ask(self, sql, *values):
        """The rows, or None where the store cannot be asked now."""
        try:
            store = sqlite3.connect("file:%s?mode=ro" % self.path, uri=True, timeout=5)
            try:
                return store.execute(sql, values).fetchall()
            finally:
                store.close()
        except sqlite3.Error:
            return None

    def log_size(self):
        return os.path.getsize(self.path + "-wal")

    def dump(self):
        """All tables and what SQLite says of the file, after everybody has gone."""
        store = sqlite3.connect(self.path)
        store.text_factory = lambda raw: raw.decode("utf-8", "replace")
        tables = [row[0] for row in store.execute(
            "SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite_%'")]
        dump = {"integrity": [row[0] for row in store.execute("PRAGMA integrity_check")],
                "foreign": [list(row) for row in store.execute("PRAGMA foreign_key_check")]}
        for table in tables:
            if table in LEFT_OUT:
                continue
            rows = store.execute("SELECT * FROM %s" % table)
            names = [column[0] for column in rows.description]
            dump[table] = [dict(zip(names, map(plain, row))) for row in rows]
        store.close()
        return dump

    def end(self):
        pass


def plain(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


SCHEMA = "soak"
DIRECT = ("north", "south", "center")  # their proxies stand before both servers, the others' before pools
POOLS = {"east": "session", "west": "transaction"}
AWAY = 60  # seconds until a server that was killed answers again
# A process may be killed in the middle of a page, and a standby needs what was written meanwhile.
SETTINGS = " -c full_page_writes=on -c wal_keep_size=512MB -c wal_retrieve_retry_interval=200ms"


def installed():
    return bool(glob.glob("/usr/lib/postgresql/*/bin/initdb"))


def children(pid):
    """The processes whose parent it is."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="ascii", errors="replace") as file:
                words = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(words[1]) == pid:
            found.append(int(path.split("/")[2]))
    return found


class Server:
    """A PostgreSQL server in a folder of its own, with a synchronous standby where one is wanted.
    What starts, restarts and ends them is spec/support/postgres.lua, as it is for the specs."""

    kind = "server"

    def __init__(self, world, standby):
        self.world = world
        self.wants_standby = standby
        self.folder = None   # of the first server; the second has one in it
        self.hosts = []      # the folders of the servers, the primary first
        self.proxies = {}
        self.ports = {}

    def lua(self, code):
        """Runs Lua code that knows `postgres` and, once they are started, `server`, `primary` and
        `standby`: the first server, and both by what they are now."""
        done = subprocess.run(
            ["lua5.4", "-e", "package.path = './?.lua;' .. package.path\n"
             "local postgres = require 'spec.support.postgres'\n" + self._known() + code],
            cwd=SOURCE, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError("%s: %s" % (code, done.stderr.strip() or done.returncode))
        return done.stdout.strip()

    def _known(self):
        if not self.folder:
            return ""
        known = "local function of(folder) return { folder = folder, settings = '%s'," \
            " programs = postgres.programs() } end\n" % SETTINGS
        for name, folder in zip(("primary", "standby"), self.hosts):
            known += "local %s = of '%s'\n" % (name, folder)
        pools = ", ".join("'%s/pool-%s.pid'" % (self.folder, mode) for mode in self.ports)
        return known + "local server = of '%s'\nserver.pools = { %s }\n" % (self.folder, pools) + (
            "server.standbys = { of '%s/s' }\n" % self.folder if len(self.hosts) > 1 else "")

    def begin(self):
        self.folder = self.lua("io.write(postgres.start('%s').folder)" % SETTINGS)
        self.hosts = [self.folder]
        if self.wants_standby:
            self.lua("postgres.standby(server)")
            self.hosts.append(self.folder + "/s")
            self.await_standby()
        os.symlink(self.folder, self.folder + "/now")
        for node in DIRECT:
            self._proxy(node, 5432, self.hosts)
        pooled = os.path.exists("/usr/sbin/pgbouncer")
        for node, mode in POOLS.items() if pooled else ():
            self.ports[mode] = int(self.lua(
                "io.write(postgres.pool(server, '%s', '%s/now'))" % (mode, self.folder)))
            self._proxy(node, self.ports[mode], [self.folder])

    def _proxy(self, node, port, targets):
        ways = []
        for folder in targets:
            way = self._way(node, folder)
            os.makedirs(way)
            ways += ["%s/.s.PGSQL.%d" % (place, port) for place in (way, folder)]
        self.proxies[node] = proxies.Proxy(*ways)

    def _way(self, node, folder):
        """Where the socket of this server is for the node."""
        return "%s/%s%s" % (self.folder, node, folder[len(self.folder):])

    def url(self, node=None):
        """An executor comes through its proxy, all others come straight."""
        hosts = sorted(self.hosts)
        mode = POOLS.get(node) if node in self.proxies else None
        if mode:
            hosts = [self.folder]
        if node in self.proxies:
            hosts = [self._way(node, folder) for folder in hosts]
        return "postgres://owner@/postgres?host=%s&schema=%s" % (",".join(hosts), SCHEMA) + (
            "&port=%d&pool=%s" % (self.ports[mode], mode) if mode else
            "&target_session_attrs=read-write" if self.wants_standby else "")

    def flags(self, node):
        return ["--listen-url", self.url()] if POOLS.get(node) == "transaction" else []

    def psql(self, *words, timeout=30):
        return subprocess.run(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", self.hosts[0], "-U", "owner", "-d",
             "postgres", *words], text=True, capture_output=True, check=False, timeout=timeout,
            env=dict(os.environ, PGOPTIONS="-c search_path=" + SCHEMA))

    def watch(self):
        done = self.psql("-f", os.path.join(HERE, "witness_server.sql"))
        if done.returncode != 0:
            raise RuntimeError(done.stderr)

    def ask(self, sql, *values):
        for value in values:
            sql = sql.replace("?", "'%s'" % str(value).replace("'", "''"), 1)
        try:
            done = self.psql("-c", "SELECT row_to_json(asked) FROM (%s) AS asked" % sql)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0:
            return None
        return [tuple(value for _, value in json.loads(row, object_pairs_hook=list))
                for row in done.stdout.splitlines()]

    def log_size(self):
        return 0  # is the server's own affair

    def dump(self):
        dump = {"integrity": ["ok"], "foreign": []}  # `moonshift check` compares the tables
        for (table,) in self.ask("SELECT relname FROM pg_class WHERE relkind='r' AND relnamespace="
                                 "'%s'::regnamespace" % SCHEMA):
            if table not in LEFT_OUT:
                order = "ORDER BY seq" if table == "witness" else ""
                done = self.psql("-c", "SELECT row_to_json(t) FROM (SELECT * FROM \"%s\" %s) AS t" % (
                    table, order), timeout=300)
                if done.returncode != 0:
                    raise RuntimeError(done.stderr)
                dump[table] = [json.loads(row) for row in done.stdout.splitlines()]
        return dump

    def end(self):
        for proxy in self.proxies.values():
            proxy.end()
        if self.folder:
            self.lua("postgres.stop(server)")
            self.folder = None

    # ---- what is done to it

    def backends(self):
        """Processes of the server that serve executors and commands."""
        return [pid for (pid,) in self.ask(
            "SELECT pid FROM pg_stat_activity WHERE backend_type='client backend'"
            " AND pid<>pg_backend_pid() AND application_name<>'psql'") or []]

    def restart(self):
        """As often as it takes: a server that does not come back is no fault of what is tested."""
        for left in (2, 1, 0):
            try:
                self.lua("postgres.restart(primary)")
                return
            except RuntimeError:
                if not left:
                    raise

    def await_answer(self):
        self._await("the server answers", "SELECT 1")

    def kill(self, host):
        """The postmaster is killed; its children notice that, and are waited for."""
        with open(host + "/data/postmaster.pid", encoding="ascii") as file:
            pid = int(file.readline())
        left, end = children(pid), time.monotonic() + AWAY
        os.kill(pid, signal.SIGKILL)
        while any(os.path.exists("/proc/%d" % child) for child in left + [pid]):
            if time.monotonic() > end:
                raise RuntimeError("%s: its processes live on" % host)
            time.sleep(0.01)

    # ---- its standby

    def await_standby(self):
        """From here on each commit waits for the standby, and it has all of those before."""
        self.psql("-c", "ALTER SYSTEM SET synchronous_standby_names=standby",
                  "-c", "SELECT pg_reload_conf()")
        self._await("the standby takes part",
                    "SELECT 1 FROM pg_stat_replication WHERE sync_state='sync'")
        (end,), = self.ask("SELECT pg_current_wal_lsn()")
        self._await("the standby has all",
                    "SELECT 1 FROM pg_stat_replication WHERE flush_lsn>=?", end)

    def _await(self, what, sql, *values):
        end = time.monotonic() + AWAY * self.world.slow
        while not self.ask(sql, *values):
            if time.monotonic() > end:
                raise RuntimeError("waited for: " + what)
            time.sleep(0.05)

    def promote(self):
        """The primary is gone, the standby takes its place, and pools come to it."""
        self.kill(self.hosts[0])
        self.hosts.reverse()
        self.lua("postgres.promote(nil, primary)")
        os.symlink(self.hosts[0], self.folder + "/next")
        os.rename(self.folder + "/next", self.folder + "/now")

    def rebuild(self):
        """What was the primary becomes the standby of what was its own."""
        self.lua("postgres.follow(standby, primary)")
        self.await_standby()

    def restart_standby(self, seconds):
        """No commit ends while it is away."""
        self.kill(self.hosts[1])
        time.sleep(seconds)
        self.lua("postgres.restart(standby)")
        self._await("the standby takes part again",
                    "SELECT 1 FROM pg_stat_replication WHERE sync_state='sync'")
